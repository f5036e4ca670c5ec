// Attributes of the links between devices and between a device and the host.
#pragma once
#include "gpu/cuda/core/base/status.hpp"

namespace inflight::cuda {

// An attribute of the link between two devices, by cudaDeviceP2PAttr (invalid_device: one of them
// does not exist, or they are the same).
Status get_link_attribute(int* value, int attribute, int from, int to);

// For each of `count` operations (cudaAtomicOperation), stores the forms that the link supports
// natively, as bits of cudaAtomicOperationCapability.
Status get_link_atomics(unsigned* forms, const int* operations, unsigned count, int from, int to);
Status get_host_link_atomics(unsigned* forms, const int* operations, unsigned count, int device);

}  // namespace inflight::cuda
