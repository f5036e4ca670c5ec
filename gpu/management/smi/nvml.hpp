// The functions of NVML that nvidia-smi calls.
#pragma once
#include "gpu/management/abi.hpp"

extern "C" {
int nvmlInit_v2();
int nvmlSystemGetDriverVersion(char* to, unsigned bytes);
int nvmlSystemGetCudaDriverVersion(int* version);
int nvmlDeviceGetCount_v2(unsigned* count);
int nvmlDeviceGetHandleByIndex_v2(unsigned index, inflight::management::Handle** to);
int nvmlDeviceGetName(inflight::management::Handle*, char* to, unsigned bytes);
int nvmlDeviceGetUUID(inflight::management::Handle*, char* to, unsigned bytes);
int nvmlDeviceGetPciInfo_v3(inflight::management::Handle*, inflight::management::PciInfo* to);
int nvmlDeviceGetMemoryInfo(inflight::management::Handle*, inflight::management::Memory1* to);
int nvmlDeviceGetCudaComputeCapability(inflight::management::Handle*, int* major, int* minor);
}
