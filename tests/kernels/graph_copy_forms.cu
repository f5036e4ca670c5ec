// A copy node as both APIs describe it, whichever made it, and captured copies.
// flags: -lcuda
#include <cuda.h>
#include <cuda_runtime.h>

#include <cstdio>

#define TELL(call) std::printf("%s = %d\n", #call, int(call))

static char host[4096];
static char* memory;

const char* name_of(const void* pointer) {
  return !pointer ? "null" : pointer == host ? "host" : pointer == memory ? "device" : "other";
}

void tell_side(const char* side, CUmemorytype type, const void* on_host, CUdeviceptr on_device,
               size_t x, size_t y, size_t z, size_t pitch, size_t height) {
  std::printf("  driver, %s: type %d, host %s, device %s, at %zu %zu %zu, pitch %zu, height %zu\n",
              side, type, name_of(on_host), name_of(reinterpret_cast<void*>(on_device)), x, y, z,
              pitch, height);
}
void tell_side(const char* side, const cudaPitchedPtr& p, const cudaPos& at) {
  std::printf("  runtime, %s: %s, pitch %zu, sizes %zu %zu, at %zu %zu %zu\n", side, name_of(p.ptr),
              p.pitch, p.xsize, p.ysize, at.x, at.y, at.z);
}

void tell(const char* what, cudaGraphNode_t node) {
  std::printf("%s\n", what);
  CUDA_MEMCPY3D box{};
  TELL(cuGraphMemcpyNodeGetParams(node, &box));
  tell_side("from", box.srcMemoryType, box.srcHost, box.srcDevice, box.srcXInBytes, box.srcY,
            box.srcZ, box.srcPitch, box.srcHeight);
  tell_side("to", box.dstMemoryType, box.dstHost, box.dstDevice, box.dstXInBytes, box.dstY,
            box.dstZ, box.dstPitch, box.dstHeight);
  std::printf("  %zu x %zu x %zu\n", box.WidthInBytes, box.Height, box.Depth);
  cudaMemcpy3DParms parameters{};
  const cudaError_t status = cudaGraphMemcpyNodeGetParams(node, &parameters);
  std::printf("  runtime: %d\n", status);
  cudaGetLastError();
  if (status != cudaSuccess) return;
  tell_side("from", parameters.srcPtr, parameters.srcPos);
  tell_side("to", parameters.dstPtr, parameters.dstPos);
  std::printf("  %zu x %zu x %zu, kind %d\n", parameters.extent.width, parameters.extent.height,
              parameters.extent.depth, parameters.kind);
}

int main() {
  cudaMalloc(&memory, sizeof host);
  const auto device = reinterpret_cast<CUdeviceptr>(memory);
  CUcontext context;
  cuCtxGetCurrent(&context);
  cudaGraph_t graph;
  cudaGraphCreate(&graph, 0);
  cudaGraphNode_t node;
  TELL(
      cudaGraphAddMemcpyNode1D(&node, graph, nullptr, 0, memory, host, 64, cudaMemcpyHostToDevice));
  tell("a line to the device", node);
  TELL(cudaGraphAddMemcpyNode1D(&node, graph, nullptr, 0, memory, host, 64, cudaMemcpyDefault));
  tell("a line by address", node);
  cudaMemcpy3DParms box{};
  box.srcPtr = make_cudaPitchedPtr(host, 64, 48, 8);
  box.dstPtr = make_cudaPitchedPtr(memory, 128, 100, 8);
  box.srcPos = make_cudaPos(4, 1, 1);
  box.dstPos = make_cudaPos(32, 0, 1);
  box.extent = make_cudaExtent(8, 2, 2);
  box.kind = cudaMemcpyHostToDevice;
  TELL(cudaGraphAddMemcpyNode(&node, graph, nullptr, 0, &box));
  tell("a box of the runtime", node);
  CUDA_MEMCPY3D given{};
  given.srcMemoryType = CU_MEMORYTYPE_HOST;
  given.srcHost = host;
  given.dstMemoryType = CU_MEMORYTYPE_UNIFIED;
  given.dstDevice = device;
  given.srcPitch = given.dstPitch = 64;
  given.dstHeight = 4;
  given.WidthInBytes = 16;
  given.Height = 2;
  given.Depth = 1;
  TELL(cuGraphAddMemcpyNode(&node, graph, nullptr, 0, &given, context));
  tell("a box of the driver, from the host to any memory", node);
  given.srcMemoryType = CU_MEMORYTYPE_UNIFIED;
  given.srcDevice = reinterpret_cast<CUdeviceptr>(host);
  TELL(cuGraphAddMemcpyNode(&node, graph, nullptr, 0, &given, context));
  tell("a box of the driver, any memory", node);

  cudaStream_t stream;
  cudaStreamCreate(&stream);
  cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed);
  TELL(cudaMemcpyAsync(memory, host, 64, cudaMemcpyHostToDevice, stream));
  TELL(cudaMemcpy2DAsync(memory, 64, host, 32, 16, 4, cudaMemcpyHostToDevice, stream));
  cudaStreamEndCapture(stream, &graph);
  cudaGraphNode_t nodes[2];
  size_t count = 2;
  cudaGraphGetNodes(graph, nodes, &count);
  tell("a captured line", nodes[0]);
  tell("captured rows", nodes[1]);
}
