// Shared by the multicast tests: memory of several devices behind one multicast object.
#pragma once
#include <cuda.h>

#include "tests/kernels/kernel_test.cuh"

constexpr size_t page = 2 << 20;

inline char* mapped(CUmemGenericAllocationHandle handle, size_t bytes, int device) {
  CUdeviceptr at = 0;
  CUmemAccessDesc access = {};
  access.location.type = CU_MEM_LOCATION_TYPE_DEVICE, access.location.id = device;
  access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
  if (cuMemAddressReserve(&at, bytes, 0, 0, 0) || cuMemMap(at, bytes, 0, handle, 0) ||
      cuMemSetAccess(at, bytes, &access, 1))
    std::printf("mapping fails\n");
  return (char*)at;
}

// Memory of a device, filled with zeros, and the address of its mapping.
struct Memory {
  CUmemGenericAllocationHandle handle = 0;
  char* at = nullptr;
  explicit Memory(int device) {
    CHECK(cudaSetDevice(device));
    CUmemAllocationProp p = {};
    p.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    p.location.type = CU_MEM_LOCATION_TYPE_DEVICE, p.location.id = device;
    if (cuMemCreate(&handle, page, &p, 0)) std::printf("cuMemCreate fails\n");
    at = mapped(handle, page, device);
    CHECK(cudaMemset(at, 0, page));
    CHECK(cudaDeviceSynchronize());
  }
};

// An object over memory of the first two devices, mapped on the first one, which is current.
struct Pair {
  CUmemGenericAllocationHandle object = 0;
  Memory memory[2] = {Memory(0), Memory(1)};
  char* all = nullptr;
  Pair() {
    CUmulticastObjectProp p = {};
    p.numDevices = 2, p.size = page;
    if (cuMulticastCreate(&object, &p)) std::printf("cuMulticastCreate fails\n");
    for (int d = 0; d < 2; ++d)
      if (cuMulticastAddDevice(object, d)) std::printf("cuMulticastAddDevice fails\n");
    for (Memory& each : memory)
      if (cuMulticastBindMem(object, 0, each.handle, 0, page, 0)) std::printf("binding fails\n");
    CHECK(cudaSetDevice(0));
    all = mapped(object, page, 0);
  }
};
