// Launches, uploads and instances of a graph while a stream captures, in each mode of the capture.
#include <cuda_runtime.h>

#include "tests/kernels/kernel_test.cuh"

__global__ void add_one(int* p) { *p += 1; }

void say_end(cudaStream_t stream) {
  cudaGraph_t captured = nullptr;
  SAY(cudaStreamEndCapture(stream, &captured));
  std::printf("captured: %d\n", captured != nullptr);
  cudaGetLastError();
}

int main() {
  Buffer<int> sum(1);
  cudaStream_t stream, other;
  CHECK(cudaStreamCreate(&stream));
  CHECK(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking));
  cudaGraph_t graph;
  CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  add_one<<<1, 1, 0, stream>>>(sum.device);
  CHECK(cudaStreamEndCapture(stream, &graph));
  cudaGraphExec_t exec, second;
  CHECK(cudaGraphInstantiate(&exec, graph, 0));
  for (auto mode : {cudaStreamCaptureModeGlobal, cudaStreamCaptureModeThreadLocal,
                    cudaStreamCaptureModeRelaxed}) {
    std::printf("mode %d\n", mode);
    CHECK(cudaStreamBeginCapture(stream, mode));
    SAY(cudaGraphLaunch(exec, stream));
    cudaStreamCaptureStatus status;
    SAY(cudaStreamIsCapturing(stream, &status));
    std::printf("status %d\n", status);
    say_end(stream);

    CHECK(cudaStreamBeginCapture(stream, mode));
    SAY(cudaGraphUpload(exec, stream));
    say_end(stream);

    CHECK(cudaStreamBeginCapture(stream, mode));
    SAY(cudaGraphLaunch(exec, other));
    SAY(cudaGraphInstantiate(&second, graph, 0));
    say_end(stream);
  }
  SAY(cudaDeviceSynchronize());
  std::printf("ran %d times\n", sum.read()[0]);
}
