// flags: -rdc=true -lcudadevrt
// Graph nodes changed by kernels of the same graph: parameters, grid, whether they run.
#include <cstdio>
#include <cstdlib>
#include <cstring>

#define CHECK(call)                                                \
  do {                                                             \
    if (const cudaError_t e = (call); e != cudaSuccess) {          \
      std::printf("line %d: %s\n", __LINE__, cudaGetErrorName(e)); \
      std::exit(1);                                                \
    }                                                              \
  } while (0)

__device__ cudaGraphDeviceNode_t node;
__device__ unsigned count;
__device__ int noted[256];
__device__ void note(int what) { noted[atomicAdd(&count, 1)] = what; }

__global__ void says(int what, int other) { note(what + other); }

enum What { parameter, grid, off, on, several, past_the_end, no_grid };
__global__ void changes(int what, int value) {
  cudaError_t e = cudaSuccess;
  if (what == parameter) e = cudaGraphKernelNodeSetParam(node, 4, value);
  if (what == grid) e = cudaGraphKernelNodeSetGridDim(node, dim3(value));
  if (what == off || what == on) e = cudaGraphKernelNodeSetEnabled(node, what == on);
  if (what == several) {
    alignas(cudaGraphKernelNodeUpdate) char room[2 * sizeof(cudaGraphKernelNodeUpdate)];
    auto* updates = reinterpret_cast<cudaGraphKernelNodeUpdate*>(room);
    updates[0].node = updates[1].node = node;
    updates[0].field = cudaGraphKernelNodeFieldGridDim;
    updates[0].updateData.gridDim = dim3(2, 2);
    updates[1].field = cudaGraphKernelNodeFieldParam;
    updates[1].updateData.param.pValue = &value;
    updates[1].updateData.param.offset = 4;
    updates[1].updateData.param.size = sizeof value;
    e = cudaGraphKernelNodeUpdatesApply(updates, 2);
  }
  if (what == past_the_end) e = cudaGraphKernelNodeSetParam(node, 6, value);
  if (what == no_grid) e = cudaGraphKernelNodeSetGridDim(node, dim3(0));
  if (e) note(-int(e));
}

void print(const char* title) {
  unsigned n;
  int all[256];
  CHECK(cudaDeviceSynchronize());
  CHECK(cudaMemcpyFromSymbol(&n, count, sizeof n));
  CHECK(cudaMemcpyFromSymbol(all, noted, sizeof all));
  std::printf("%s:", title);
  for (unsigned i = 0; i < n; ++i) std::printf(" %d", all[i]);
  std::printf("\n");
  n = 0;
  CHECK(cudaMemcpyToSymbol(count, &n, sizeof n));
}

// changes -> says(100, 1) -> says(500, 0). The middle node may be changed.
void run(const char* title, int what, int value) {
  cudaStream_t stream;
  CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  changes<<<1, 1, 0, stream>>>(what, value);
  cudaLaunchAttribute attribute;
  std::memset(&attribute, 0, sizeof attribute);
  attribute.id = cudaLaunchAttributeDeviceUpdatableKernelNode;
  attribute.val.deviceUpdatableKernelNode.deviceUpdatable = 1;
  cudaLaunchConfig_t config = {dim3(1), dim3(1), 0, stream, &attribute, 1};
  CHECK(cudaLaunchKernelEx(&config, says, 100, 1));
  says<<<1, 1, 0, stream>>>(500, 0);
  cudaGraph_t graph;
  CHECK(cudaStreamEndCapture(stream, &graph));
  CHECK(cudaMemcpyToSymbol(node, &attribute.val.deviceUpdatableKernelNode.devNode, sizeof node));
  cudaGraphExec_t exec;
  CHECK(cudaGraphInstantiate(&exec, graph, 0));
  CHECK(cudaGraphUpload(exec, stream));
  CHECK(cudaGraphLaunch(exec, stream));
  print(title);
  CHECK(cudaGraphExecDestroy(exec));
  CHECK(cudaGraphDestroy(graph));
  CHECK(cudaStreamDestroy(stream));
}

// A node made changeable by an attribute. A kernel of no graph tries, and it stays as created.
void from_elsewhere() {
  cudaGraph_t graph;
  cudaGraphNode_t first;
  CHECK(cudaGraphCreate(&graph, 0));
  int what = 10, other = 2;
  void* arguments[] = {&what, &other};
  cudaKernelNodeParams p = {};
  p.func = reinterpret_cast<void*>(says);
  p.gridDim = p.blockDim = dim3(1);
  p.kernelParams = arguments;
  CHECK(cudaGraphAddKernelNode(&first, graph, nullptr, 0, &p));
  cudaKernelNodeAttrValue value;
  std::memset(&value, 0, sizeof value);
  value.deviceUpdatableKernelNode.deviceUpdatable = 1;
  CHECK(cudaGraphKernelNodeSetAttribute(first, cudaKernelNodeAttributeDeviceUpdatableKernelNode,
                                        &value));
  CHECK(cudaMemcpyToSymbol(node, &value.deviceUpdatableKernelNode.devNode, sizeof node));
  cudaGraphExec_t exec, second;
  CHECK(cudaGraphInstantiate(&exec, graph, 0));
  std::printf("a second executable: %d\n", cudaGraphInstantiate(&second, graph, 0) != 0);
  cudaStream_t stream;
  CHECK(cudaStreamCreate(&stream));
  CHECK(cudaGraphUpload(exec, stream));
  CHECK(cudaGraphLaunch(exec, stream));
  print("as made");
  changes<<<1, 1, 0, stream>>>(parameter, 30);
  CHECK(cudaGraphLaunch(exec, stream));
  print("changed");
  CHECK(cudaGraphLaunch(exec, stream));
  print("still");
  value.deviceUpdatableKernelNode.deviceUpdatable = 0;
  std::printf("no longer: %d\n",
              cudaGraphKernelNodeSetAttribute(
                  first, cudaKernelNodeAttributeDeviceUpdatableKernelNode, &value) != 0);
  std::printf("removed: %d\n", cudaGraphDestroyNode(first) != 0);
}

int main() {
  run("a parameter", parameter, 23);
  run("the grid", grid, 3);
  run("off", off, 0);
  run("on", on, 0);
  run("several", several, 7);
  run("past the end", past_the_end, 7);
  run("no grid", no_grid, 0);
  from_elsewhere();
}
