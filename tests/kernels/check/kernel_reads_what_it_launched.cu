// flags: -rdc=true -lcudadevrt
// Kernels that launch kernels: later accesses of the launching thread, and accesses of other
// threads, are not ordered with the child. The grid's streams and tail launches are.
#include "tests/kernels/check/check_test.cuh"

__global__ void write(int* x) { x[threadIdx.x] = 1; }                        // [write]
__global__ void add(int* x) { x[threadIdx.x] += 1; }                         // [add]
__global__ void read(const int* x, int* out) { out[threadIdx.x] = x[threadIdx.x]; }  // [read]

// The parent reads at once.
__global__ void reads_at_once(int* x, int* out) {
  if (threadIdx.x == 0) write<<<1, 32>>>(x);
  __syncthreads();
  out[threadIdx.x] = x[threadIdx.x];  // [parent reads]
}
__global__ void reads_after(int* x, int* out) {
  if (threadIdx.x == 0) write<<<1, 32>>>(x);
  if (threadIdx.x == 0) read<<<1, 32, 0, cudaStreamTailLaunch>>>(x, out);
}

// The child is launched before another thread has written the child's input.
template <bool right>
__global__ void launches_too_soon(int* x, int* out) {
  x[threadIdx.x] = threadIdx.x;  // [parent writes]
  if (right) __syncthreads();
  if (threadIdx.x == 0) read<<<1, 64>>>(x, out);
}

// Two streams, and one.
template <bool right>
__global__ void streams(int* x) {
  cudaStream_t a, b;
  cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking);
  cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking);
  add<<<1, 32, 0, a>>>(x);
  add<<<1, 32, 0, right ? a : b>>>(x);
}
__global__ void event(int* x) {
  cudaStream_t a, b;
  cudaEvent_t done;
  cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking);
  cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking);
  cudaEventCreateWithFlags(&done, cudaEventDisableTiming);
  add<<<1, 32, 0, a>>>(x);
  cudaEventRecord(done, a);
  cudaStreamWaitEvent(b, done, 0);
  add<<<1, 32, 0, b>>>(x);
}

// Blocks launch into their own null streams.
__global__ void blocks(int* x) {
  if (threadIdx.x == 0) add<<<1, 32>>>(x);
}

// A grandchild ends before the work after its parent in the stream starts.
__global__ void adds_below(int* x) {
  if (threadIdx.x == 0) add<<<1, 32, 0, cudaStreamFireAndForget>>>(x);
}
__global__ void below(int* x, int* out) {
  adds_below<<<1, 32>>>(x);
  read<<<1, 32>>>(x, out);
}

// A fill, and a reader after it or concurrent with it.
template <bool right>
__global__ void fills(int* x, int* out) {
  cudaMemsetAsync(x, 0, 128);  // [fill]
  if (right)
    read<<<1, 32>>>(x, out);
  else
    read<<<1, 32, 0, cudaStreamFireAndForget>>>(x, out);
}

// A kernel of the host follows `launch`, and so everything that it launched.
template <class Launch>
void with_memory(Launch launch) {
  Buffer<int> x(64), out(64);
  CHECK(cudaMemset(x, 0, 64 * sizeof(int)));
  CHECK(cudaDeviceSynchronize());
  launch(x, out);
  read<<<1, 32>>>(x, out);
  CHECK(cudaDeviceSynchronize());
}

#define CASE(name, ...) \
  { name, [] { with_memory([](int* x, int* out) { static_cast<void>(out), __VA_ARGS__; }); } }

int main(int argc, char** argv) {
  return run_case(argc, argv,
                  {CASE("parent", (reads_at_once<<<1, 32>>>(x, out))),
                   CASE("parent_twin", (reads_after<<<1, 32>>>(x, out))),
                   CASE("too_soon", (launches_too_soon<false><<<1, 64>>>(x, out))),
                   CASE("too_soon_twin", (launches_too_soon<true><<<1, 64>>>(x, out))),
                   CASE("streams", (streams<false><<<1, 1>>>(x))),
                   CASE("streams_twin", (streams<true><<<1, 1>>>(x))),
                   CASE("event_twin", (event<<<1, 1>>>(x))),
                   CASE("blocks", (blocks<<<2, 32>>>(x))),
                   CASE("blocks_twin", (blocks<<<1, 32>>>(x))),
                   CASE("below_twin", (below<<<1, 1>>>(x, out))),
                   CASE("fills", (fills<false><<<1, 1>>>(x, out))),
                   CASE("fills_twin", (fills<true><<<1, 1>>>(x, out)))});
}
