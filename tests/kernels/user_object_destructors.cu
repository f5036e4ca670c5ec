// The thread and the order of user objects' destructors, and CUDA calls in them.
// flags: -lcuda
#include <cuda.h>
#include <cuda_runtime.h>

#include <cstdio>
#include <thread>

#define TELL(call) std::printf("%s = %d\n", #call, int(call))

static std::thread::id dropping;
static void destroy(void* number) {
  std::printf("destroy %zu, on the thread that drops the graph: %d\n", size_t(number),
              std::this_thread::get_id() == dropping);
}
static void call_cuda(void*) {
  CUcontext context = nullptr;
  void* memory = nullptr;
  TELL(cuCtxGetCurrent(&context));
  TELL(cudaMalloc(&memory, 16));
  TELL(cudaDeviceSynchronize());
}

int main() {
  cudaFree(nullptr);
  dropping = std::this_thread::get_id();
  CUgraph graph;
  cuGraphCreate(&graph, 0);
  CUuserObject object;
  for (size_t i = 0; i < 4; ++i) {
    cuUserObjectCreate(&object, reinterpret_cast<void*>(i), destroy, 1,
                       CU_USER_OBJECT_NO_DESTRUCTOR_SYNC);
    cuGraphRetainUserObject(graph, object, 1, CU_GRAPH_USER_OBJECT_MOVE);
  }
  TELL(cuGraphDestroy(graph));
  cuUserObjectCreate(&object, nullptr, call_cuda, 1, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC);
  TELL(cuUserObjectRelease(object, 1));
  CUcontext context = nullptr;
  TELL(cuCtxGetCurrent(&context));
}
