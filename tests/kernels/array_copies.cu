// CUDA arrays return what every form of copy writes: rows, boxes, runs of bytes, array to array,
// layers, levels of a mipmapped array, and copies as nodes of a graph.
#include <cuda_runtime.h>

#include <cstdio>
#include <cstring>
#include <numeric>
#include <vector>

#define CHECK(call)                                                            \
  do {                                                                         \
    cudaError_t e = (call);                                                    \
    if (e != cudaSuccess) std::printf("%s: %s\n", #call, cudaGetErrorName(e)); \
  } while (0)

constexpr int width = 20, height = 7, depth = 5;

std::vector<int> rising(int count, int from) {
  std::vector<int> v(count);
  std::iota(v.begin(), v.end(), from);
  return v;
}

void tell(const char* what, const std::vector<int>& v) {
  long sum = 0;
  for (std::size_t i = 0; i < v.size(); ++i) sum += v[i] * static_cast<long>(i + 1);
  std::printf("%-28s %ld first %d last %d\n", what, sum, v.front(), v.back());
}

std::vector<int> contents(cudaArray_t array, int w, int h) {
  std::vector<int> v(w * h, -1);
  CHECK(cudaMemcpy2DFromArray(v.data(), w * 4, array, 0, 0, w * 4, h, cudaMemcpyDeviceToHost));
  return v;
}

cudaMemcpy3DParms box(void* memory, cudaArray_t array, cudaExtent extent, cudaMemcpyKind kind) {
  cudaMemcpy3DParms p = {};
  const cudaPitchedPtr there =
      make_cudaPitchedPtr(memory, extent.width * 4, extent.width, extent.height);
  p.extent = extent, p.kind = kind;
  if (kind == cudaMemcpyHostToDevice) p.srcPtr = there, p.dstArray = array;
  else p.srcArray = array, p.dstPtr = there;
  return p;
}

void rows(cudaArray_t a, cudaArray_t b) {
  const std::vector<int> v = rising(width * height, 100);
  CHECK(cudaMemcpy2DToArray(a, 0, 0, v.data(), width * 4, width * 4, height, cudaMemcpyDefault));
  tell("rows", contents(a, width, height));
  const std::vector<int> patch = rising(6, 9000);
  CHECK(cudaMemcpy2DToArray(a, 5 * 4, 2, patch.data(), 12, 12, 2, cudaMemcpyHostToDevice));
  tell("a patch", contents(a, width, height));
  cudaStream_t stream;
  CHECK(cudaStreamCreate(&stream));
  int* device;
  CHECK(cudaMalloc(&device, width * height * 4));
  CHECK(cudaMemcpy2DFromArrayAsync(device, width * 4, a, 0, 0, width * 4, height,
                                   cudaMemcpyDeviceToDevice, stream));
  CHECK(cudaMemcpy2DToArrayAsync(b, 0, 0, device, width * 4, width * 4, height,
                                 cudaMemcpyDeviceToDevice, stream));
  CHECK(cudaStreamSynchronize(stream));
  tell("through device memory", contents(b, width, height));
  CHECK(cudaMemcpy2DArrayToArray(b, 0, 3, a, 4 * 4, 1, 8 * 4, 4, cudaMemcpyDeviceToDevice));
  tell("array to array", contents(b, width, height));
  CHECK(cudaFree(device));
  CHECK(cudaStreamDestroy(stream));
}

void boxes() {
  const cudaChannelFormatDesc format = cudaCreateChannelDesc<int>();
  for (unsigned flags : {0u, unsigned(cudaArrayLayered)}) {
    cudaArray_t array;
    const cudaExtent all = make_cudaExtent(width, height, depth);
    CHECK(cudaMalloc3DArray(&array, &format, all, flags));
    std::vector<int> v = rising(width * height * depth, 1);
    cudaMemcpy3DParms p = box(v.data(), array, all, cudaMemcpyHostToDevice);
    CHECK(cudaMemcpy3D(&p));
    std::vector<int> small(3 * 2 * 2, 7);
    p = box(small.data(), array, make_cudaExtent(3, 2, 2), cudaMemcpyHostToDevice);
    p.dstPos = make_cudaPos(10, 4, 3);
    CHECK(cudaMemcpy3D(&p));
    p = box(v.data(), array, all, cudaMemcpyDeviceToHost);
    CHECK(cudaMemcpy3DAsync(&p));
    CHECK(cudaDeviceSynchronize());
    tell(flags ? "layers" : "a volume", v);
    CHECK(cudaFreeArray(array));
  }
}

void levels() {
  const cudaChannelFormatDesc format = cudaCreateChannelDesc<int>();
  cudaMipmappedArray_t array;
  CHECK(cudaMallocMipmappedArray(&array, &format, make_cudaExtent(16, 8, 0), 4));
  for (int level = 0; level < 4; ++level) {
    cudaArray_t one;
    CHECK(cudaGetMipmappedArrayLevel(&one, array, level));
    const int w = 16 >> level, h = 8 >> level;
    const std::vector<int> v = rising(w * h, 1000 * level);
    CHECK(cudaMemcpy2DToArray(one, 0, 0, v.data(), w * 4, w * 4, h, cudaMemcpyHostToDevice));
  }
  for (int level = 0; level < 4; ++level) {
    cudaArray_t one;
    CHECK(cudaGetMipmappedArrayLevel(&one, array, level));
    tell("a level", contents(one, 16 >> level, 8 >> level));
  }
  CHECK(cudaFreeMipmappedArray(array));
}

void graph(cudaArray_t array) {
  std::vector<int> from = rising(width * height, 5000), to(width * height);
  const cudaExtent all = make_cudaExtent(width, height, 1);
  const cudaMemcpy3DParms in = box(from.data(), array, all, cudaMemcpyHostToDevice);
  const cudaMemcpy3DParms out = box(to.data(), array, all, cudaMemcpyDeviceToHost);
  cudaGraph_t g;
  cudaGraphNode_t first, second;
  cudaGraphExec_t exec;
  CHECK(cudaGraphCreate(&g, 0));
  CHECK(cudaGraphAddMemcpyNode(&first, g, nullptr, 0, &in));
  CHECK(cudaGraphAddMemcpyNode(&second, g, &first, 1, &out));
  cudaMemcpy3DParms got;
  CHECK(cudaGraphMemcpyNodeGetParams(second, &got));
  std::printf("node: its array %d, extent %zu %zu %zu\n", got.srcArray == array, got.extent.width,
              got.extent.height, got.extent.depth);
  CHECK(cudaGraphInstantiate(&exec, g, 0));
  CHECK(cudaGraphLaunch(exec, nullptr));
  CHECK(cudaDeviceSynchronize());
  tell("a graph", to);
  CHECK(cudaGraphExecDestroy(exec));
  CHECK(cudaGraphDestroy(g));
}

int main() {
  const cudaChannelFormatDesc format = cudaCreateChannelDesc<int>();
  cudaArray_t a, b;
  CHECK(cudaMallocArray(&a, &format, width, height));
  CHECK(cudaMallocArray(&b, &format, width, height));
  rows(a, b);
  boxes();
  levels();
  graph(a);
  CHECK(cudaFreeArray(a));
  CHECK(cudaFreeArray(b));
}
