// Every field of CUDA 12's cudaDeviceProp that an attribute tells too says the same as the
// attribute, the fields that CUDA 13 took out among them.
#include "tests/kernels/kernel_test.cuh"

struct Field {
  const char* name;
  long long value;
  cudaDeviceAttr attribute;
};

int main() {
  cudaDeviceProp p;
  std::memset(&p, 0xff, sizeof p);
  CHECK(cudaGetDeviceProperties(&p, 0));
#define FIELD(field, attribute) \
  { #field, (long long)(p.field), cudaDevAttr##attribute }
  const Field fields[] = {
      FIELD(sharedMemPerBlock, MaxSharedMemoryPerBlock),
      FIELD(regsPerBlock, MaxRegistersPerBlock),
      FIELD(warpSize, WarpSize),
      FIELD(memPitch, MaxPitch),
      FIELD(maxThreadsPerBlock, MaxThreadsPerBlock),
      FIELD(maxThreadsDim[2], MaxBlockDimZ),
      FIELD(maxGridSize[0], MaxGridDimX),
      FIELD(maxGridSize[2], MaxGridDimZ),
      FIELD(clockRate, ClockRate),
      FIELD(totalConstMem, TotalConstantMemory),
      FIELD(major, ComputeCapabilityMajor),
      FIELD(minor, ComputeCapabilityMinor),
      FIELD(textureAlignment, TextureAlignment),
      FIELD(texturePitchAlignment, TexturePitchAlignment),
      FIELD(deviceOverlap, GpuOverlap),
      FIELD(multiProcessorCount, MultiProcessorCount),
      FIELD(kernelExecTimeoutEnabled, KernelExecTimeout),
      FIELD(integrated, Integrated),
      FIELD(canMapHostMemory, CanMapHostMemory),
      FIELD(computeMode, ComputeMode),
      FIELD(maxTexture1D, MaxTexture1DWidth),
      FIELD(maxTexture1DLinear, MaxTexture1DLinearWidth),
      FIELD(maxTexture2D[1], MaxTexture2DHeight),
      FIELD(maxTexture3D[2], MaxTexture3DDepth),
      FIELD(maxSurfaceCubemapLayered[1], MaxSurfaceCubemapLayeredLayers),
      FIELD(surfaceAlignment, SurfaceAlignment),
      FIELD(concurrentKernels, ConcurrentKernels),
      FIELD(ECCEnabled, EccEnabled),
      FIELD(pciBusID, PciBusId),
      FIELD(pciDomainID, PciDomainId),
      FIELD(tccDriver, TccDriver),
      FIELD(asyncEngineCount, AsyncEngineCount),
      FIELD(unifiedAddressing, UnifiedAddressing),
      FIELD(memoryClockRate, MemoryClockRate),
      FIELD(memoryBusWidth, GlobalMemoryBusWidth),
      FIELD(l2CacheSize, L2CacheSize),
      FIELD(persistingL2CacheMaxSize, MaxPersistingL2CacheSize),
      FIELD(maxThreadsPerMultiProcessor, MaxThreadsPerMultiProcessor),
      FIELD(streamPrioritiesSupported, StreamPrioritiesSupported),
      FIELD(sharedMemPerMultiprocessor, MaxSharedMemoryPerMultiprocessor),
      FIELD(regsPerMultiprocessor, MaxRegistersPerMultiprocessor),
      FIELD(managedMemory, ManagedMemory),
      FIELD(hostNativeAtomicSupported, HostNativeAtomicSupported),
      FIELD(singleToDoublePrecisionPerfRatio, SingleToDoublePrecisionPerfRatio),
      FIELD(pageableMemoryAccess, PageableMemoryAccess),
      FIELD(concurrentManagedAccess, ConcurrentManagedAccess),
      FIELD(computePreemptionSupported, ComputePreemptionSupported),
      FIELD(cooperativeLaunch, CooperativeLaunch),
      FIELD(cooperativeMultiDeviceLaunch, CooperativeMultiDeviceLaunch),
      FIELD(sharedMemPerBlockOptin, MaxSharedMemoryPerBlockOptin),
      FIELD(maxBlocksPerMultiProcessor, MaxBlocksPerMultiprocessor),
      FIELD(accessPolicyMaxWindowSize, MaxAccessPolicyWindowSize),
      FIELD(reservedSharedMemPerBlock, ReservedSharedMemoryPerBlock),
      FIELD(hostRegisterSupported, HostRegisterSupported),
      FIELD(memoryPoolsSupported, MemoryPoolsSupported),
      FIELD(clusterLaunch, ClusterLaunch),
  };
  int agree = 0;
  for (const Field& field : fields) {
    int value = -1;
    CHECK(cudaDeviceGetAttribute(&value, field.attribute, 0));
    if (value == field.value)
      ++agree;
    else
      std::printf("%s is %lld, its attribute %d\n", field.name, field.value, value);
  }
  std::printf("%d of %zu fields agree\n", agree, sizeof fields / sizeof fields[0]);
  std::size_t available = 0, total = 0;
  CHECK(cudaMemGetInfo(&available, &total));
  std::printf("%s, %d.%d\n", p.name, p.major, p.minor);
  int tail = 0;
  for (int each : p.reserved) tail |= each;
  std::printf("reserved: %d\n", tail);

  // The program says what it was compiled with, the runtime what it is.
  int runtime = 0, driver = 0;
  CHECK(cudaRuntimeGetVersion(&runtime));
  CHECK(cudaDriverGetVersion(&driver));
  std::printf("compiled with %d, runs with %d: %s\n", CUDART_VERSION / 1000, runtime / 1000,
              CUDART_VERSION <= runtime && runtime <= driver ? "a driver that is new enough"
                                                             : "the driver is too old");
}
