// flags: -Xcompiler -Wno-deprecated-declarations
// Calls of the runtime that have another form in CUDA 12, or that CUDA 13 removed.
#include <cooperative_groups.h>

#include "tests/kernels/kernel_test.cuh"

namespace cg = cooperative_groups;

__managed__ int counted[2];
__constant__ int factor;

__global__ void scale(int* data, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) data[i] = data[i] * factor + 1;
  if (i == 0) atomicAdd(&counted[0], 1);
}

__global__ void sum_in_steps(int* data, int* total) {
  cg::grid_group grid = cg::this_grid();
  const int i = int(grid.thread_rank());
  data[i] = i;
  grid.sync();
  if (i == 0)
    for (unsigned k = 0; k < grid.size(); ++k) *total += data[k];
}

__global__ void tell(int value) { printf("the kernel says %d\n", value); }

void launches() {
  int three = 3;
  CHECK(cudaMemcpyToSymbol(factor, &three, sizeof three));
  Buffer<int> data(std::vector<int>{1, 2, 3, 4});
  scale<<<2, 2>>>(data, 4);
  print("scaled", data.read());
  std::printf("counted %d\n", counted[0]);

  Buffer<int> ranks(64), total(1);
  int *ranks_at = ranks, *total_at = total;
  void* arguments[] = {&ranks_at, &total_at};
  CHECK(cudaLaunchCooperativeKernel((void*)sum_in_steps, dim3(2), dim3(32), arguments, 0, nullptr));
  print("summed", total.read());

  tell<<<1, 1>>>(12);
  CHECK(cudaThreadSynchronize());
  int blocks = 0;
  CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, scale, 256, 0));
  std::printf("occupancy: %d blocks of 256\n", blocks);
  cudaFuncAttributes attributes;
  CHECK(cudaFuncGetAttributes(&attributes, scale));
  std::printf("PTX %d, constants %zu\n", attributes.ptxVersion, attributes.constSizeBytes);
}

void managed_memory() {
  int* data = nullptr;
  CHECK(cudaMallocManaged(&data, 4096));
  CHECK(cudaMemAdvise(data, 4096, cudaMemAdviseSetReadMostly, 0));
  CHECK(cudaMemAdvise(data, 4096, cudaMemAdviseSetPreferredLocation, cudaCpuDeviceId));
  int where = -9;
  CHECK(cudaMemRangeGetAttribute(&where, sizeof where, cudaMemRangeAttributePreferredLocation, data,
                                 4096));
  std::printf("preferred: %d\n", where);
  CHECK(cudaMemPrefetchAsync(data, 4096, 0, nullptr));
  CHECK(cudaMemRangeGetAttribute(&where, sizeof where, cudaMemRangeAttributeLastPrefetchLocation,
                                 data, 4096));
  std::printf("prefetched to: %d\n", where);
  struct {
    cudaPointerAttributes attributes;
    int behind[16];
  } place;
  std::memset(&place, 0x11, sizeof place);
  CHECK(cudaPointerGetAttributes(&place.attributes, data));
  std::printf("pointer: type %d, device %d, the same %d, behind it %x\n", place.attributes.type,
              place.attributes.device,
              place.attributes.devicePointer == place.attributes.hostPointer, place.behind[0]);
  CHECK(cudaFree(data));
}

void graphs() {
  cudaGraph_t graph;
  CHECK(cudaGraphCreate(&graph, 0));
  Buffer<int> data(std::vector<int>{5, 6});
  int *at = data, count = 2;
  void* arguments[] = {&at, &count};
  cudaKernelNodeParams kernel{};
  kernel.func = (void*)scale;
  kernel.gridDim = dim3(1), kernel.blockDim = dim3(2);
  kernel.kernelParams = arguments;
  cudaGraphNode_t first, second;
  CHECK(cudaGraphAddKernelNode(&first, graph, nullptr, 0, &kernel));
  cudaGraphNodeParams any{};
  any.type = cudaGraphNodeTypeKernel;
  any.kernel.func = (void*)scale;
  any.kernel.gridDim = dim3(1), any.kernel.blockDim = dim3(2);
  any.kernel.kernelParams = arguments;
  CHECK(cudaGraphAddNode(&second, graph, nullptr, 0, &any));
  CHECK(cudaGraphAddDependencies(graph, &first, &second, 1));
  cudaGraphNode_t from[1], to[1];
  size_t edges = 1;
  CHECK(cudaGraphGetEdges(graph, from, to, &edges));
  std::printf("%zu edge, from the first %d, to the second %d\n", edges, from[0] == first,
              to[0] == second);
  size_t before = 1;
  CHECK(cudaGraphNodeGetDependencies(second, from, &before));
  std::printf("before the second: %zu\n", before);

  // The form of CUDA 10, which nvcc's headers of 12 still offer, and that of CUDA 12.
  cudaGraphExec_t exec, again;
  cudaGraphNode_t refused = nullptr;
  char log[64] = "";
  CHECK(cudaGraphInstantiate(&exec, graph, &refused, log, sizeof log));
  CHECK(cudaGraphInstantiate(&again, graph, 0ull));
  CHECK(cudaGraphLaunch(exec, nullptr));
  print("launched", data.read());
  cudaGraphExecUpdateResult updated;
  CHECK(cudaGraphExecUpdate(again, graph, &refused, &updated));
  CHECK(cudaGraphLaunch(again, nullptr));
  print("again", data.read());
}

void captures() {
  cudaStream_t stream;
  CHECK(cudaStreamCreate(&stream));
  Buffer<int> data(std::vector<int>{7});
  CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  scale<<<1, 1, 0, stream>>>(data, 1);
  cudaStreamCaptureStatus status;
  unsigned long long id = 0;
  cudaGraph_t inside, graph;
  const cudaGraphNode_t* tips = nullptr;
  size_t count = 0;
  CHECK(cudaStreamGetCaptureInfo_v2(stream, &status, &id, &inside, &tips, &count));
  std::printf("capturing %d, tips %zu\n", status == cudaStreamCaptureStatusActive, count);
  CHECK(cudaStreamUpdateCaptureDependencies(stream, nullptr, 0, cudaStreamSetCaptureDependencies));
  CHECK(cudaStreamGetCaptureInfo_v2(stream, &status, &id, &inside, &tips, &count));
  std::printf("tips now %zu\n", count);
  CHECK(cudaStreamEndCapture(stream, &graph));
  CHECK(cudaStreamDestroy(stream));
}

void several_devices() {
  cudaLaunchParams* none = nullptr;
  SAY(cudaLaunchCooperativeKernelMultiDevice(none, 0, 0));
  std::printf("the last error: %s\n", cudaGetErrorName(cudaGetLastError()));
  Buffer<int> data(std::vector<int>{7});
  int *p = data, by = 6;
  void* arguments[] = {&p, &by};
  cudaLaunchParams one{(void*)scale, dim3(1), dim3(1), arguments, 0, nullptr};
  CHECK(cudaStreamCreate(&one.stream));
  SAY(cudaLaunchCooperativeKernelMultiDevice(&one, 1, 0));
  SAY(cudaStreamSynchronize(one.stream));
  CHECK(cudaMemcpy(&by, p, sizeof by, cudaMemcpyDeviceToHost));
  std::printf("scaled: %d\n", by);
}

int main() {
  launches();
  managed_memory();
  graphs();
  captures();
  several_devices();
}
