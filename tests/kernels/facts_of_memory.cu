// flags: -lcuda
// CU_POINTER_ATTRIBUTE_CONTEXT is the context in which memory was allocated, whichever is
// current at the query. Booleans have four bytes. A query may ask for only one of the memory's
// sizes.
#include "tests/kernels/kernel_test.cuh"

#include <cuda.h>

#include <cstring>

void say(const char* what, CUdeviceptr memory, CUcontext made_in) {
  CUcontext owner = nullptr;
  const CUresult result = cuPointerGetAttribute(&owner, CU_POINTER_ATTRIBUTE_CONTEXT, memory);
  std::printf("%s: %d, its own: %s\n", what, result, owner == made_in ? "yes" : "no");
}

int main() {
  CUcontext primary, created;
  cuInit(0);
  cuDevicePrimaryCtxRetain(&primary, 0);
  cuCtxSetCurrent(primary);
  CUdeviceptr first, second, managed, again;
  void* pinned;
  cuMemAlloc(&first, 100);
#if CUDA_VERSION >= 13000
  cuCtxCreate(&created, nullptr, 0, 0);
#else
  cuCtxCreate(&created, 0, 0);
#endif
  cuMemAlloc(&second, 100);
  cuMemAllocManaged(&managed, 100, CU_MEM_ATTACH_GLOBAL);
  cuMemAllocHost(&pinned, 100);
  cuCtxSetCurrent(primary);
  say("of the primary context", first, primary);
  say("of a created one", second, created);
  say("managed", managed, created);
  say("pinned", reinterpret_cast<CUdeviceptr>(pinned), created);
  for (CUdeviceptr memory : {first, managed})
    for (const CUpointer_attribute which :
         {CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, CU_POINTER_ATTRIBUTE_IS_MANAGED,
          CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE, CU_POINTER_ATTRIBUTE_MAPPED,
          CU_POINTER_ATTRIBUTE_IS_HW_DECOMPRESS_CAPABLE}) {
      unsigned char bytes[8];
      std::memset(bytes, 0xaa, sizeof bytes);
      std::printf("attribute %d: %d:", which, cuPointerGetAttribute(bytes, which, memory));
      for (const unsigned char each : bytes) std::printf(" %02x", each);
      std::printf("\n");
    }
  std::size_t free = 0, total = 0, all = 0;
  cuMemGetInfo(&free, &all);
  std::printf("free: %d\n", cuMemGetInfo(&free, nullptr));
  std::printf("total: %d", cuMemGetInfo(nullptr, &total));
  std::printf(", the same: %d, more than free: %d\n", total == all, total > free);
  cuMemFree(second);
  cuMemAlloc(&again, 100);
  say("allocated again", again, primary);
}
