// error: no suitable user-defined conversion|no instance of function template|cannot be converted
// A bulk copy on a barrier in ordinary memory: copies complete on mbarriers only.
#include <inflight/copy.cuh>
__global__ void kernel(inflight::barrier<inflight::thread_scope_device>* bar, const int* in) {
  alignas(16) __shared__ int tile[4];
  inflight::bulk_load(tile, in, 16, *bar);
}
