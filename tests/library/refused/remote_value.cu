// arch: sm_90a
// error: An asynchronous store moves a value of 4, 8 or 16 bytes
// Twelve bytes to another block.
#include <inflight/copy.cuh>
struct three {
  int a, b, c;
};
__global__ void kernel() {
  __shared__ three there;
  __shared__ inflight::barrier<> done;
  inflight::store_to_block(&there, three{1, 2, 3}, 1, done);
}
