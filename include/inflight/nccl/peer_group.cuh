// The GPUs of an NCCL communicator as a group, with one process or thread for each. Inside a
// kernel: barriers, reductions and gathers among the GPUs of one host, on NCCL's device API.
// Between kernels: the same over all hosts, on NCCL's collectives. Needs NCCL 2.28 or later: its
// headers, and -lnccl.
//
//   inflight::peer_state state;                  // once, by every rank of the communicator
//   state.init(comm, host, blocks, threads);     // `host`: a number that the host's ranks share
//   kernel<<<blocks, threads, 0, stream>>>(state.handle(), ...);
//   state.reduce(mine, sums, count, inflight::plus<float>(), stream);    // over all hosts
//
//   __global__ void kernel(const __grid_constant__ inflight::peer_handle handle, ...) {
//     inflight::peer_group peers(handle);
//     float sum = peers.reduce(value, inflight::plus<float>());          // over this host's GPUs
//   }
#pragma once
#if !__has_include(<nccl.h>) || !__has_include(<nccl_device.h>)
#  error \
      "inflight/nccl/peer_group.cuh needs the headers of NCCL 2.28 or later (-I$NCCL_HOME/include)."
#endif
#include <nccl.h>
#include <nccl_device.h>

#include <inflight/bytes.cuh>
#include <inflight/impl/nccl_names.cuh>
#include <inflight/impl/require.cuh>
#include <inflight/operators.cuh>

namespace inflight {

// The kernel parameter that a peer_group is made from. Made by peer_state.
struct peer_handle {
  ncclDevComm comm;     // of the host's GPUs
  ncclWindow_t window;  // slots of every thread, and a round count of every block
  unsigned blocks, threads;
  unsigned world_rank, world_size;
};

namespace impl {

inline constexpr std::size_t peer_slot_bytes = 16;

// Layout of the window: two slots for each thread, one used in each round, then the round counts.
INFLIGHT_HOST_DEVICE constexpr std::size_t peer_slot(unsigned parity, unsigned block,
                                                     unsigned thread, unsigned blocks,
                                                     unsigned threads) {
  return ((std::size_t(parity) * blocks + block) * threads + thread) * peer_slot_bytes;
}
INFLIGHT_HOST_DEVICE constexpr std::size_t peer_rounds(unsigned blocks, unsigned threads) {
  return peer_slot(2, 0, 0, blocks, threads);
}

}  // namespace impl

// The blocks of the same index on each GPU of the host. Every thread of a block constructs one and
// calls each function, the same number of times on each GPU. A block has one at a time.
class peer_group {
 public:
  INFLIGHT_DEVICE explicit peer_group(const peer_handle& handle)
      : handle_(handle),
        barrier_(ncclCoopCta(), handle.comm, ncclTeamTagLsa(), blockIdx.x),
        round_(*rounds()) {
    INFLIGHT_REQUIRE(blockDim.y == 1 && blockDim.z == 1 && gridDim.y == 1 && gridDim.z == 1,
                     "a peer_group needs a one-dimensional grid and blocks");
    INFLIGHT_REQUIRE(gridDim.x <= handle.blocks && blockDim.x <= handle.threads,
                     "the peer_state was made for fewer blocks or threads");
  }
  INFLIGHT_DEVICE ~peer_group() {
    __syncthreads();  // every thread has read the count
    if (threadIdx.x == 0) *rounds() = round_;
  }
  peer_group(const peer_group&) = delete;
  peer_group& operator=(const peer_group&) = delete;

  // Rank of this GPU among the host's GPUs and their number; then the same over all hosts.
  INFLIGHT_DEVICE unsigned rank() const { return unsigned(handle_.comm.lsaRank); }
  INFLIGHT_DEVICE unsigned size() const { return unsigned(handle_.comm.lsaSize); }
  INFLIGHT_DEVICE unsigned world_rank() const { return handle_.world_rank; }
  INFLIGHT_DEVICE unsigned world_size() const { return handle_.world_size; }

  // Waits for the host's GPUs. What any thread wrote before, anywhere, is visible to all after.
  INFLIGHT_DEVICE void sync() { barrier_.sync(ncclCoopCta(), cuda::memory_order_acq_rel); }

  // Address, on peer `rank`, of an offset in a window that all registered with
  // peer_state::host_comm().
  template <class T>
  INFLIGHT_DEVICE T* at(ncclWindow_t window, std::size_t offset, unsigned rank) const {
    return static_cast<T*>(ncclGetLsaPointer(window, offset, int(rank)));
  }

  // Stores in out[] the values of the threads with the caller's index on each GPU, in rank order.
  // Costs one sync(), then reads of peer memory.
  template <class T>
  INFLIGHT_DEVICE void all_gather(const T& value, T* out) {
    const std::size_t slot = exchange(value);
    for (unsigned peer = 0; peer < size(); ++peer) out[peer] = of<T>(peer, slot);
  }

  // The same values combined in rank order: every GPU gets the same bits.
  template <class T, class Op>
  INFLIGHT_DEVICE T reduce(const T& value, Op op) {
    const std::size_t slot = exchange(value);
    T all = of<T>(0, slot);
    for (unsigned peer = 1; peer < size(); ++peer) all = op(all, of<T>(peer, slot));
    return all;
  }

 private:
  // Writes a value where the peers can read it, and waits for theirs. Two slots alternate: before a
  // thread writes a slot again, it passes a barrier that the peers reach only after reading the
  // slot.
  template <class T>
  INFLIGHT_DEVICE std::size_t exchange(const T& value) {
    static_assert(moves_as_bytes<T> && sizeof(T) <= impl::peer_slot_bytes,
                  "Peers exchange trivially copyable values of at most 16 bytes.");
    const std::size_t slot =
        impl::peer_slot(round_++ % 2, blockIdx.x, threadIdx.x, handle_.blocks, handle_.threads);
    *static_cast<T*>(ncclGetLocalPointer(handle_.window, slot)) = value;
    sync();
    return slot;
  }
  template <class T>
  INFLIGHT_DEVICE const T& of(unsigned peer, std::size_t slot) const {
    return *at<const T>(handle_.window, slot, peer);
  }
  INFLIGHT_DEVICE unsigned* rounds() const {
    return static_cast<unsigned*>(ncclGetLocalPointer(
               handle_.window, impl::peer_rounds(handle_.blocks, handle_.threads))) +
           blockIdx.x;
  }

  const peer_handle& handle_;
  ncclLsaBarrierSession<ncclCoopCta> barrier_;
  unsigned round_;
};

// The GPUs of collectives between kernels: all, or those of the caller's local rank on each host,
// where kernels have already reduced over each host's GPUs.
enum class peer_span { all, across_hosts };

// Host object, one for each GPU. A program calls its functions for all GPUs in the same order, with
// the communicator's GPU current; several GPUs of one process each from their own thread.
class peer_state {
 public:
  peer_state() = default;
  peer_state(const peer_state&) = delete;
  peer_state& operator=(const peer_state&) = delete;
  ~peer_state() { release(); }

  // For kernels of at most `blocks` blocks of at most `threads` threads. `host` is any number >= 0
  // that the ranks of one host, and no other's, share. Every host has the same number of GPUs.
  // Returns ncclInvalidUsage if the host's GPUs cannot access one another's memory.
  ncclResult_t init(ncclComm_t world, int host, unsigned blocks, unsigned threads) {
    release();
    world_ = world;
    ncclResult_t error = split(host);
    if (error == ncclSuccess) error = make_window(blocks, threads);
#ifdef NCCL_DEV_COMM_REQUIREMENTS_INITIALIZER
    ncclDevCommRequirements needs = NCCL_DEV_COMM_REQUIREMENTS_INITIALIZER;
#else
    ncclDevCommRequirements needs{};  // NCCL 2.28, whose structure has no version
#endif
    needs.lsaBarrierCount = int(blocks);
    if (error == ncclSuccess) error = ncclDevCommCreate(local_, &needs, &handle_.comm);
    made_ = error == ncclSuccess;
    if (made_ && handle_.comm.lsaSize != handle_.comm.nRanks) error = ncclInvalidUsage;
    if (error != ncclSuccess) release();
    return error;
  }
  // No kernel may be running on any of the GPUs.
  void release() {
    if (made_) ncclDevCommDestroy(local_, &handle_.comm);
    if (handle_.window) ncclCommWindowDeregister(local_, handle_.window);
    if (memory_) ncclMemFree(memory_);
    if (across_) ncclCommDestroy(across_);
    if (local_) ncclCommDestroy(local_);
    made_ = false, memory_ = nullptr, across_ = local_ = nullptr, handle_ = {};
  }

  const peer_handle& handle() const { return handle_; }
  // The communicator of the host's GPUs, to register windows of memory that kernels access by
  // peer_group::at.
  ncclComm_t host_comm() const { return local_; }

  // These run over all GPUs of all hosts, in the stream's order. `op` is plus, less or greater.
  // Every GPU gets the result of reduce(). all_gather() gives every GPU `count` elements of each
  // GPU, in rank order.
  ncclResult_t barrier(cudaStream_t stream) {
    return ncclAllReduce(word(), word(), 1, ncclUint32, ncclSum, world_, stream);
  }
  template <class T, class Op>
  ncclResult_t reduce(const T* in, T* out, std::size_t count, Op, cudaStream_t stream,
                      peer_span span = peer_span::all) {
    return ncclAllReduce(in, out, count, impl::nccl_type<T>, impl::nccl_operation<Op, T>,
                         over(span), stream);
  }
  template <class T>
  ncclResult_t all_gather(const T* in, T* out, std::size_t count, cudaStream_t stream,
                          peer_span span = peer_span::all) {
    static_assert(moves_as_bytes<T>, "all_gather() needs a trivially copyable type.");
    return ncclAllGather(in, out, count * sizeof(T), ncclInt8, over(span), stream);
  }

 private:
  ncclComm_t over(peer_span span) const { return span == peer_span::all ? world_ : across_; }
  unsigned* word() const { return static_cast<unsigned*>(memory_); }

  ncclResult_t split(int host) {
    int rank = 0, size = 0, local = 0;
    ncclResult_t error = ncclCommUserRank(world_, &rank);
    if (error == ncclSuccess) error = ncclCommCount(world_, &size);
    if (error == ncclSuccess) error = ncclCommSplit(world_, host, rank, &local_, nullptr);
    if (error == ncclSuccess) error = ncclCommUserRank(local_, &local);
    if (error == ncclSuccess) error = ncclCommSplit(world_, local, rank, &across_, nullptr);
    handle_.world_rank = unsigned(rank), handle_.world_size = unsigned(size);
    return error;
  }
  ncclResult_t make_window(unsigned blocks, unsigned threads) {
    handle_.blocks = blocks, handle_.threads = threads;
    const std::size_t rounds = blocks * sizeof(unsigned);
    const std::size_t bytes = impl::peer_rounds(blocks, threads) + rounds;
    ncclResult_t error = ncclMemAlloc(&memory_, bytes);
    if (error != ncclSuccess) return error;
    if (cudaMemset(memory_, 0, bytes) != cudaSuccess || cudaDeviceSynchronize() != cudaSuccess)
      return ncclUnhandledCudaError;
    return ncclCommWindowRegister(local_, memory_, bytes, &handle_.window, NCCL_WIN_COLL_SYMMETRIC);
  }

  ncclComm_t world_ = nullptr, local_ = nullptr, across_ = nullptr;
  void* memory_ = nullptr;
  peer_handle handle_{};
  bool made_ = false;
};

}  // namespace inflight
