// flags: -lcuda
// A graph's copy node returns its parameters as they were given: types of memory, offsets, and
// pitches and heights of 0. The copy that it makes is the same.
#include <cuda.h>

#include "tests/kernels/kernel_test.cuh"

namespace {

#define ANSWER(call) std::printf("%s = %d\n", #call, static_cast<int>(call))

char host[256];
CUdeviceptr memory;

const char* name(const void* pointer) {
  if (pointer == host) return "host";
  return CUdeviceptr(pointer) == memory ? "device" : pointer ? "other" : "null";
}
const char* name(CUdeviceptr pointer) { return name(reinterpret_cast<void*>(pointer)); }

void show(CUgraphNode node) {
  CUDA_MEMCPY3D box;
  ANSWER(cuGraphMemcpyNodeGetParams(node, &box));
  std::printf("from type %d: %s, at %zu %zu %zu, pitch %zu, height %zu\n", int(box.srcMemoryType),
              box.srcMemoryType == CU_MEMORYTYPE_HOST ? name(box.srcHost) : name(box.srcDevice),
              box.srcXInBytes, box.srcY, box.srcZ, box.srcPitch, box.srcHeight);
  std::printf("to type %d: %s, at %zu %zu %zu, pitch %zu, height %zu\n", int(box.dstMemoryType),
              box.dstMemoryType == CU_MEMORYTYPE_HOST ? name(box.dstHost) : name(box.dstDevice),
              box.dstXInBytes, box.dstY, box.dstZ, box.dstPitch, box.dstHeight);
  std::printf("%zu x %zu x %zu\n", box.WidthInBytes, box.Height, box.Depth);
}

void show_runtime(cudaGraphNode_t node) {
  cudaMemcpy3DParms box;
  ANSWER(cudaGraphMemcpyNodeGetParams(node, &box));
  std::printf(
      "kind %d, from %s pitch %zu rows %zu at %zu %zu %zu, to %s pitch %zu rows %zu at "
      "%zu %zu %zu, %zu x %zu x %zu\n",
      int(box.kind), name(box.srcPtr.ptr), box.srcPtr.pitch, box.srcPtr.ysize, box.srcPos.x,
      box.srcPos.y, box.srcPos.z, name(box.dstPtr.ptr), box.dstPtr.pitch, box.dstPtr.ysize,
      box.dstPos.x, box.dstPos.y, box.dstPos.z, box.extent.width, box.extent.height,
      box.extent.depth);
}

}  // namespace

int main() {
  CHECK(cudaFree(nullptr));
  CUcontext context;
  CUgraph graph;
  CUgraphNode in, out, boxed;
  CUgraphExec exec;
  ANSWER(cuCtxGetCurrent(&context));
  ANSWER(cuMemAlloc(&memory, sizeof host));
  ANSWER(cuMemsetD8(memory, 0, sizeof host));
  for (int i = 0; i < 256; ++i) host[i] = char(i);
  ANSWER(cuGraphCreate(&graph, 0));

  CUDA_MEMCPY3D to_device{};
  to_device.srcMemoryType = CU_MEMORYTYPE_HOST, to_device.srcHost = host;
  to_device.dstMemoryType = CU_MEMORYTYPE_DEVICE, to_device.dstDevice = memory;
  to_device.srcXInBytes = 8, to_device.dstXInBytes = 4;
  to_device.WidthInBytes = 16, to_device.Height = to_device.Depth = 1;
  ANSWER(cuGraphAddMemcpyNode(&in, graph, nullptr, 0, &to_device, context));
  show(in);

  CUDA_MEMCPY3D to_host{};
  to_host.srcMemoryType = CU_MEMORYTYPE_UNIFIED, to_host.srcDevice = memory;
  to_host.dstMemoryType = CU_MEMORYTYPE_HOST, to_host.dstHost = host;
  to_host.srcPitch = 4, to_host.dstPitch = 32, to_host.srcHeight = 6, to_host.dstHeight = 4;
  to_host.dstY = 2, to_host.dstZ = 1;
  to_host.WidthInBytes = 4, to_host.Height = 2, to_host.Depth = 1;
  ANSWER(cuGraphAddMemcpyNode(&out, graph, &in, 1, &to_host, context));
  show(out);

  ANSWER(cuGraphInstantiate(&exec, graph, 0));
  ANSWER(cuGraphLaunch(exec, nullptr));
  ANSWER(cuCtxSynchronize());
  // Row 2 of slice 1 is row 6 of all.
  for (int row = 6; row < 8; ++row)
    std::printf("%d: %d %d\n", row, host[row * 32], host[row * 32 + 1]);

  ANSWER(cuGraphMemcpyNodeSetParams(out, &to_device));
  show(out);
  ANSWER(cuGraphExecDestroy(exec));

  cudaMemcpy3DParms box{};
  box.srcPtr = make_cudaPitchedPtr(host, 16, 16, 2);
  box.dstPtr = make_cudaPitchedPtr(reinterpret_cast<void*>(memory), 64, 64, 2);
  box.srcPos = make_cudaPos(4, 1, 0), box.dstPos = make_cudaPos(32, 0, 1);
  box.extent = make_cudaExtent(8, 1, 1);
  box.kind = cudaMemcpyHostToDevice;
  ANSWER(cudaGraphAddMemcpyNode(&boxed, graph, nullptr, 0, &box));
  show_runtime(boxed);
  show(boxed);
  ANSWER(cuGraphDestroy(graph));
}
