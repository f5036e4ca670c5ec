// peer_group and peer_state over ranks in one or several processes on one or several hosts,
// compared with the expected results.
//
//   peers RANKS FIRST COUNT ID
//
// This process has COUNT of the RANKS, from number FIRST on, with a thread for each, on devices of
// those numbers (less FIRST if DEVICES_FROM_0 is set, where FIRST also names the host). With
// PEERS_TIME set, it also prints the time of a barrier.
#include <inflight/groups.cuh>
#include <inflight/nccl/peer_group.cuh>
#include <thread>

#include "tests/nccl/meeting.hpp"

namespace {

constexpr unsigned blocks = 5, threads = 96, rounds = 7;

struct pair_of_words {  // 16 bytes, with an operator that depends on the order
  unsigned long long first, second;
};
struct append {
  __device__ pair_of_words operator()(pair_of_words a, pair_of_words b) const {
    return {a.first * 31 + b.first, a.second ^ (b.second << 1)};
  }
};

__host__ __device__ unsigned value_of(unsigned rank, unsigned block, unsigned thread,
                                      unsigned round) {
  return (rank * 7919 + block * 131 + thread * 17 + round * 3) % 1000;
}

// Every block exchanges values of several types in turn, in an odd number of rounds, so that
// launches start with either slot.
__global__ void exchange(const __grid_constant__ inflight::peer_handle handle, unsigned first_rank,
                         unsigned* wrong) {
  inflight::peer_group peers(handle);
  const unsigned block = blockIdx.x, thread = threadIdx.x;
  const auto value = [&](unsigned rank, unsigned round) {
    return value_of(first_rank + rank, block, thread, round);
  };
  unsigned bad = peers.rank() + first_rank != peers.world_rank();
#pragma unroll 1
  for (unsigned round = 0; round < rounds; ++round) {
    const unsigned mine = value(peers.rank(), round);
    unsigned sum = 0, most = 0;
    pair_of_words order{};
    for (unsigned rank = 0; rank < peers.size(); ++rank) {
      const unsigned each = value(rank, round);
      sum += each, most = each > most ? each : most;
      order = rank == 0 ? pair_of_words{each, each} : append()(order, {each, each});
    }
    bad += peers.reduce(mine, inflight::plus<unsigned>()) != sum;
    bad += peers.reduce(double(mine), inflight::greater<double>()) != double(most);
    const pair_of_words got = peers.reduce(pair_of_words{mine, mine}, append());
    bad += got.first != order.first || got.second != order.second;
    unsigned short all[8];
    peers.all_gather((unsigned short)(mine), all);
    for (unsigned rank = 0; rank < peers.size(); ++rank) bad += all[rank] != value(rank, round);
  }
  if (bad) atomicAdd(wrong, bad);
}

// Data written to the others' memory before a barrier is visible after it.
__global__ void write_to_all(const __grid_constant__ inflight::peer_handle handle,
                             ncclWindow_t window, unsigned* wrong) {
  inflight::peer_group peers(handle);
  const auto offset = [&](unsigned writer) {
    return ((blockIdx.x * 8 + writer) * threads + threadIdx.x) * sizeof(unsigned);
  };
#pragma unroll 1
  for (unsigned round = 0; round < rounds; ++round) {
    for (unsigned rank = 0; rank < peers.size(); ++rank)
      *peers.at<unsigned>(window, offset(peers.rank()), rank) =
          value_of(peers.rank(), blockIdx.x, threadIdx.x, round);
    peers.sync();
    for (unsigned rank = 0; rank < peers.size(); ++rank)
      if (*peers.at<unsigned>(window, offset(rank), peers.rank()) !=
          value_of(rank, blockIdx.x, threadIdx.x, round))
        atomicAdd(wrong, 1u);
    peers.sync();
  }
}

__global__ void many_barriers(const __grid_constant__ inflight::peer_handle handle,
                              unsigned count) {
  inflight::peer_group peers(handle);
#pragma unroll 1
  for (unsigned i = 0; i < count; ++i) peers.sync();
}

template <class T>
T* device_memory(const std::vector<T>& values) {
  T* memory;
  CHECK(cudaMalloc(&memory, values.size() * sizeof(T)));
  CHECK(cudaMemcpy(memory, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice));
  return memory;
}
template <class T>
std::vector<T> values_of(const T* memory, std::size_t count) {
  std::vector<T> values(count);
  CHECK(cudaMemcpy(values.data(), memory, count * sizeof(T), cudaMemcpyDeviceToHost));
  return values;
}

// Collectives between kernels, over all ranks and over the ranks with the same number on each host.
unsigned wrong_over_hosts(inflight::peer_state& state, const Job& job, unsigned rank,
                          unsigned here) {
  constexpr unsigned count = 1000;
  std::vector<float> mine(count);
  for (unsigned i = 0; i < count; ++i) mine[i] = float(value_of(rank, 0, i, 0));
  float* in = device_memory(mine);
  float* sums = device_memory(std::vector<float>(count));
  float* across = device_memory(std::vector<float>(count));
  float* all = device_memory(std::vector<float>(count * job.ranks));
  cudaStream_t stream;
  CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  CHECK(state.barrier(stream));
  CHECK(state.reduce(in, sums, count, inflight::plus<float>(), stream));
  CHECK(state.reduce(in, across, count, inflight::plus<>(), stream,
                     inflight::peer_span::across_hosts));
  CHECK(state.all_gather(in, all, count, stream));
  CHECK(cudaStreamSynchronize(stream));
  const auto got = values_of(sums, count), got_across = values_of(across, count),
             gathered = values_of(all, count * job.ranks);
  unsigned wrong = 0;
  for (unsigned i = 0; i < count; ++i) {
    float sum = 0, sum_across = 0;
    for (unsigned r = 0; r < unsigned(job.ranks); ++r) {
      const float each = float(value_of(r, 0, i, 0));
      sum += each;
      if (r % here == rank % here) sum_across += each;
      wrong += gathered[r * count + i] != each;
    }
    wrong += got[i] != sum;
    wrong += got_across[i] != sum_across;
  }
  for (float* memory : {in, sums, across, all}) CHECK(cudaFree(memory));
  CHECK(cudaStreamDestroy(stream));
  return wrong;
}

void time_barriers(const inflight::peer_handle& handle, unsigned rank) {
  constexpr unsigned count = 1000;
  cudaEvent_t begin, end;
  CHECK(cudaEventCreate(&begin));
  CHECK(cudaEventCreate(&end));
  float ms = 0;
  for (int turn = 0; turn < 2; ++turn) {  // the first is a warm-up
    CHECK(cudaEventRecord(begin));
    many_barriers<<<blocks, threads>>>(handle, count);
    CHECK(cudaEventRecord(end));
    CHECK(cudaEventSynchronize(end));
    CHECK(cudaEventElapsedTime(&ms, begin, end));
  }
  printf("rank %u: a barrier of %u blocks takes %.2f us\n", rank, blocks, ms * 1000 / count);
}

unsigned wrong_in(const Job& job, int rank, const ncclUniqueId& id) {
  const bool hosts = getenv("DEVICES_FROM_0");
  const int host = hosts ? job.first : 0, here = hosts ? job.count : job.ranks;
  CHECK(cudaSetDevice(hosts ? rank - job.first : rank));
  ncclComm_t comm;
  CHECK(ncclCommInitRank(&comm, job.ranks, id, rank));
  unsigned* wrong = device_memory(std::vector<unsigned>(1));
  unsigned over_hosts = 0;
  {
    inflight::peer_state state;
    CHECK(state.init(comm, host, blocks, threads));
    for (int launch = 0; launch < 3; ++launch)
      exchange<<<blocks, threads>>>(state.handle(), unsigned(host), wrong);
    CHECK(cudaDeviceSynchronize());
    void* memory;
    ncclWindow_t window;
    const std::size_t bytes = blocks * 8 * threads * sizeof(unsigned);
    CHECK(ncclMemAlloc(&memory, bytes));
    CHECK(
        ncclCommWindowRegister(state.host_comm(), memory, bytes, &window, NCCL_WIN_COLL_SYMMETRIC));
    write_to_all<<<blocks, threads>>>(state.handle(), window, wrong);
    CHECK(cudaDeviceSynchronize());
    if (getenv("PEERS_TIME")) time_barriers(state.handle(), unsigned(rank));
    over_hosts = wrong_over_hosts(state, job, unsigned(rank), unsigned(here));
    CHECK(ncclCommWindowDeregister(state.host_comm(), window));
    CHECK(ncclMemFree(memory));
  }
  CHECK(ncclCommDestroy(comm));
  return values_of(wrong, 1)[0] + over_hosts;
}

}  // namespace

int main(int, char** words) {
  const Job job{atoi(words[1]), atoi(words[2]), atoi(words[3])};
  const ncclUniqueId id = meet(job, words[4]);
  std::vector<unsigned> wrong(job.count);
  std::vector<std::thread> ranks;
  for (int k = 0; k < job.count; ++k)
    ranks.emplace_back([&, k] { wrong[k] = wrong_in(job, job.first + k, id); });
  for (std::thread& each : ranks) each.join();
  unsigned all = 0;
  for (const unsigned each : wrong) all += each;
  printf("ranks %d to %d of %d: %d right, %u wrong\n", job.first, job.first + job.count - 1,
         job.ranks, job.count, all);
  return all != 0;
}
