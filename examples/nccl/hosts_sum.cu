// A sum over the GPUs of all hosts, with one process for each GPU under MPI. Every GPU sums its
// part, the GPUs of a host add up their sums inside the kernel, and NCCL adds up the hosts' sums.
// Then each GPU gathers the sums of all GPUs.
//   mpirun -n GPUS hosts_sum [GPUs a host] [MiB each]
// Built with NCCL 2.28 or later and MPI (docs/library/9-several-gpus.md).
#include <mpi.h>

#include <inflight/groups.cuh>
#include <inflight/nccl/peer_group.cuh>

#include "examples/example.cuh"

#define CHECK_NCCL(call)                                                         \
  do {                                                                           \
    ncclResult_t check_result = (call);                                          \
    if (check_result != ncclSuccess) {                                           \
      std::fprintf(stderr, "%s: %s\n", #call, ncclGetErrorString(check_result)); \
      MPI_Abort(MPI_COMM_WORLD, 1);                                              \
    }                                                                            \
  } while (0)

namespace {

constexpr unsigned blocks = 8, threads = 256;
using sum_type = unsigned long long;

// Sums the part of this GPU into of_gpu, and those of all GPUs of this host into of_host.
__global__ void sum(const __grid_constant__ inflight::peer_handle handle, const unsigned* mine,
                    std::size_t count, sum_type* of_gpu, sum_type* of_host) {
  inflight::peer_group peers(handle);
  auto grid = inflight::this_grid();
  auto warp = inflight::tiled_partition<32>(inflight::this_thread_block());
  sum_type value = 0;
  for (std::size_t i = grid.thread_rank(); i < count; i += grid.num_threads()) value += mine[i];
  atomicAdd(of_gpu, value);
  value = peers.reduce(value, inflight::plus<sum_type>());
  for (unsigned lanes = 16; lanes > 0; lanes /= 2) value += warp.shfl_xor(value, lanes);
  if (warp.thread_rank() == 0) atomicAdd(of_host, value);
}

struct Place {
  int rank, ranks, host, local;
};

// Gets from MPI which GPUs are on the same host.
Place find_place() {
  Place place;
  MPI_Comm host;
  MPI_Comm_rank(MPI_COMM_WORLD, &place.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &place.ranks);
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, place.rank, MPI_INFO_NULL, &host);
  MPI_Comm_rank(host, &place.local);
  place.host = place.rank;
  MPI_Bcast(&place.host, 1, MPI_INT, 0, host);  // rank of the host's first process
  MPI_Comm_free(&host);
  return place;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  Place place = find_place();
  if (argc > 1 && std::atoi(argv[1]) > 0) {  // splits a host of MPI into several
    place.host = place.rank / std::atoi(argv[1]);
    place.local = place.rank % std::atoi(argv[1]);
  }
  const std::size_t count = (argc > 2 ? std::atoi(argv[2]) : 1) * std::size_t(1 << 18);
  CHECK(cudaSetDevice(place.local));
  ncclUniqueId id;
  if (place.rank == 0) CHECK_NCCL(ncclGetUniqueId(&id));
  MPI_Bcast(&id, sizeof id, MPI_BYTE, 0, MPI_COMM_WORLD);
  ncclComm_t comm;
  CHECK_NCCL(ncclCommInitRank(&comm, place.ranks, id, place.rank));
  bool good = true;
  {
    inflight::peer_state state;
    CHECK_NCCL(state.init(comm, place.host, blocks, threads));

    sum_type right = 0, right_here = 0;
    std::vector<unsigned> values(count);
    for (int rank = 0; rank < place.ranks; ++rank) {
      sum_type part = 0;
      for (std::size_t i = 0; i < count; ++i) {
        const unsigned value = unsigned((rank * count + i) * 2654435761u >> 7);
        part += value;
        if (rank == place.rank) values[i] = value;
      }
      right += part;
      if (rank == place.rank) right_here = part;
    }
    const unsigned* mine = device_copy(values);
    sum_type* sums = device_copy(std::vector<sum_type>(3));  // of this GPU, the host, all
    sum_type* gathered = device_copy(std::vector<sum_type>(place.ranks));

    CHECK_NCCL(state.barrier(nullptr));
    const double seconds = seconds_of([&] {
      sum<<<blocks, threads>>>(state.handle(), mine, count, sums, sums + 1);
      CHECK_NCCL(state.reduce(sums + 1, sums + 2, 1, inflight::plus<sum_type>(), nullptr,
                              inflight::peer_span::across_hosts));
      CHECK_NCCL(state.all_gather(sums, gathered, 1, nullptr));
    });

    sum_type all = 0;
    for (const sum_type part : host_copy(gathered, place.ranks)) all += part;
    const auto found = host_copy(sums, 3);
    good = found[0] == right_here && found[2] == right && all == right;
    char what[64];
    std::snprintf(what, sizeof what, "GPU %d of %d: a sum over all", place.rank, place.ranks);
    report(what, double(count) * place.ranks * sizeof(unsigned), seconds, good);
  }
  CHECK_NCCL(ncclCommDestroy(comm));
  MPI_Finalize();
  return good ? 0 : 1;
}
