// flags: -Xlinker -l:libcufft.so.12
// stderr: cuFFT transforms are computed by
// Order in streams, stream capture, and plans that are destroyed before their work is done.
#include "common.cuh"

namespace {

__global__ void fill(cufftComplex* x, int n, float value) {
  for (int spin = 0; spin < 200; ++spin) __nanosleep(100);
  for (int i = threadIdx.x; i < n; i += blockDim.x) x[i] = {value, 0};
}
__global__ void add(const cufftComplex* x, float* sum) { *sum += x[0].x; }

const int n = 256;

// The first element of a transform is the sum of all.
void order() {
  cudaStream_t stream;
  cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  cufftHandle plan;
  GOOD(cufftPlan1d(&plan, n, CUFFT_C2C, 1));
  GOOD(cufftSetStream(plan, stream));
  const On<cufftComplex> x(n), y(n);
  const On<float> sum(std::vector<float>{0});
  fill<<<1, 64, 0, stream>>>(x.data, n, 3);
  GOOD(cufftExecC2C(plan, x.data, y.data, CUFFT_FORWARD));
  fill<<<1, 64, 0, stream>>>(x.data, n, 7);
  cudaStreamSynchronize(stream);
  expect(y.host()[0].x == 3 * n, "a transform runs between the kernels around it");

  cudaGraph_t graph;
  cudaGraphExec_t exec;
  cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
  fill<<<1, 64, 0, stream>>>(x.data, n, 1);
  GOOD(cufftExecC2C(plan, x.data, y.data, CUFFT_FORWARD));
  add<<<1, 1, 0, stream>>>(y.data, sum.data);
  expect(cudaStreamEndCapture(stream, &graph) == cudaSuccess, "the end of the capture");
  expect(cudaGraphInstantiate(&exec, graph, 0) == cudaSuccess, "instantiation");
  expect(y.host()[0].x == 3 * n, "a captured transform does not run");
  GOOD(cufftDestroy(plan));  // the graph keeps what it needs
  for (int i = 0; i < 3; ++i) cudaGraphLaunch(exec, stream);
  cudaStreamSynchronize(stream);
  expect(sum.host()[0] == 3 * n, "a graph runs it each time");
  cudaGraphExecDestroy(exec);
  cudaGraphDestroy(graph);

  GOOD(cufftPlan1d(&plan, n, CUFFT_C2C, 1));
  GOOD(cufftSetStream(plan, stream));
  fill<<<1, 64, 0, stream>>>(x.data, n, 5);
  GOOD(cufftExecC2C(plan, x.data, y.data, CUFFT_FORWARD));
  GOOD(cufftDestroy(plan));
  cudaStreamSynchronize(stream);
  expect(y.host()[0].x == 5 * n, "a plan that is destroyed at once");
  cudaStreamDestroy(stream);
}

}  // namespace

int main() {
  order();
  return finish();
}
