// The second translation unit of separate_compilation.cu.
__device__ int shared_counter = 5;
__constant__ int other_constants[4] = {100, 200, 300, 400};
extern __device__ int from_main(int);
static __device__ int hidden(int v) { return v * v; }
__device__ int triple(int v) { return v * 3; }
__device__ int (*other_pointer)(int) = hidden;

__global__ void other_kernel(int* out) {
  out[threadIdx.x] = from_main(threadIdx.x) + hidden(threadIdx.x) + shared_counter;
}
