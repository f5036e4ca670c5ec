// arch: sm_80
// An A100 has no bulk copies: each function reports that and the call. Each call has its own Chip
// argument here, because nvcc reports an error for a type only once.
// error: Bulk copies need sm_90 or later: compile with -arch=sm_90a
// error: inflight::bulk_load\(
// error: inflight::bulk_multicast\(
// error: inflight::bulk_to_block\(
// error: inflight::bulk_store\(
// error: inflight::bulk_prefetch\(
// error: inflight::bulk_commit\(
// error: inflight::bulk_wait\b
// error: inflight::bulk_wait_read\b
// error: inflight::bulk_reduce\b
// error: inflight::bulk_reduce_to_block\b
// error: inflight::release_to_async\(
// error: inflight::transaction::load\(
// error: inflight::transaction::arrive\(
// error: Thread block clusters need sm_90 or later
// error: inflight::barrier<.*>::arrive_at\(
#include <inflight/copy.cuh>

template <int>
struct chip;

__global__ void kernel(float* out) {
  alignas(16) __shared__ float x[32];
  __shared__ unsigned y[32];
  __shared__ inflight::barrier<> ready;
  inflight::bulk_load<chip<0>>(x, out, 128, ready);
  inflight::bulk_multicast<chip<1>>(x, out, 128, ready, 3);
  inflight::bulk_to_block<chip<2>>(x, x, 64, 1, ready);
  inflight::bulk_store<chip<3>>(out, x, 128);
  inflight::bulk_prefetch<chip<4>>(out, 128);
  inflight::bulk_commit<chip<5>>();
  inflight::bulk_wait<0, chip<6>>();
  inflight::bulk_wait_read<0, chip<7>>();
  inflight::bulk_reduce<inflight::reduction_op::add>(out, x, 128);
  inflight::bulk_reduce_to_block<inflight::reduction_op::add>(y, y, 128, 1, ready);
  inflight::release_to_async<chip<8>>();
  inflight::transaction copies(ready);
  copies.load<chip<9>>(x, out, 128);
  copies.arrive<chip<10>>();
  ready.arrive_at<chip<11>>(1);
}
