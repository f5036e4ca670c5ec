// flags: -lcuda
// Branches of a graph use the same memory: one waits for a value that the other writes after its
// data, or does not wait.
#include <cuda.h>

#include "tests/kernels/check/check_test.cuh"

__global__ void writes(int* data) { data[threadIdx.x] = threadIdx.x; }  // [writes]
__global__ void writes_again(int* data) { data[threadIdx.x] = 1; }      // [again]
__global__ void reads(const int* data, int* out) {
  out[threadIdx.x] = data[threadIdx.x ^ 1];  // [reads]
}

template <bool right>
void captured() {
  Buffer<int> data(64), out(64), flag(1);
  CHECK(cudaMemset(flag, 0, sizeof(int)));
  CHECK(cudaDeviceSynchronize());
  cudaStream_t a, b;
  CHECK(cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking));
  CHECK(cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking));
  cudaEvent_t fork, join;
  CHECK(cudaEventCreate(&fork));
  CHECK(cudaEventCreate(&join));
  int* const where = flag;
  const auto address = reinterpret_cast<CUdeviceptr>(where);
  CHECK(cudaStreamBeginCapture(a, cudaStreamCaptureModeThreadLocal));
  CHECK(cudaEventRecord(fork, a));
  CHECK(cudaStreamWaitEvent(b, fork));
  if (right && cuStreamWaitValue32(a, address, 1, CU_STREAM_WAIT_VALUE_EQ) != CUDA_SUCCESS)
    std::exit(1);
  reads<<<1, 64, 0, a>>>(data, out);
  writes<<<1, 64, 0, b>>>(data);
  if (cuStreamWriteValue32(b, address, 1, 0) != CUDA_SUCCESS) std::exit(1);
  CHECK(cudaEventRecord(join, b));
  CHECK(cudaStreamWaitEvent(a, join));
  cudaGraph_t graph;
  CHECK(cudaStreamEndCapture(a, &graph));
  cudaGraphExec_t exec;
  CHECK(cudaGraphInstantiate(&exec, graph, 0));
  CHECK(cudaGraphLaunch(exec, nullptr));
  CHECK(cudaDeviceSynchronize());
}

// The other branch writes after the value, and answers. The first one writes again after the
// answer, or does not wait for it.
template <bool right>
void answered() {
  Buffer<int> data(64), out(64), flags(2);
  CHECK(cudaMemset(flags, 0, 2 * sizeof(int)));
  CHECK(cudaDeviceSynchronize());
  cudaStream_t a, b;
  CHECK(cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking));
  CHECK(cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking));
  cudaEvent_t fork, join;
  CHECK(cudaEventCreate(&fork));
  CHECK(cudaEventCreate(&join));
  int* const where = flags;
  const auto asked = reinterpret_cast<CUdeviceptr>(where);
  const CUdeviceptr answer = asked + sizeof(int);
  const auto tell = [](CUresult result) {
    if (result != CUDA_SUCCESS) std::exit(1);
  };
  CHECK(cudaStreamBeginCapture(a, cudaStreamCaptureModeThreadLocal));
  CHECK(cudaEventRecord(fork, a));
  CHECK(cudaStreamWaitEvent(b, fork));
  writes<<<1, 64, 0, a>>>(data);
  tell(cuStreamWriteValue32(a, asked, 1, 0));
  if (right) tell(cuStreamWaitValue32(a, answer, 1, CU_STREAM_WAIT_VALUE_EQ));
  writes_again<<<1, 64, 0, a>>>(data);
  tell(cuStreamWaitValue32(b, asked, 1, CU_STREAM_WAIT_VALUE_EQ));
  reads<<<1, 64, 0, b>>>(data, out);
  tell(cuStreamWriteValue32(b, answer, 1, 0));
  CHECK(cudaEventRecord(join, b));
  CHECK(cudaStreamWaitEvent(a, join));
  cudaGraph_t graph;
  CHECK(cudaStreamEndCapture(a, &graph));
  cudaGraphExec_t exec;
  CHECK(cudaGraphInstantiate(&exec, graph, 0));
  CHECK(cudaGraphLaunch(exec, nullptr));
  CHECK(cudaDeviceSynchronize());
}

int main(int argc, char** argv) {
  return run_case(argc, argv,
                  {{"captured", captured<false>},
                   {"captured_twin", captured<true>},
                   {"answered", answered<false>},
                   {"answered_twin", answered<true>}});
}
