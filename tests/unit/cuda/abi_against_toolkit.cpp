// Compares our declarations of CUDA's structures with those of a toolkit, of CUDA 12 or 13. Built
// only if one is found. A difference is a compile error.
#include <cuda.h>
#include <cuda_runtime_api.h>

#include "gpu/cuda/core/base/abi.hpp"
#include "gpu/cuda/core/base/profiles.hpp"
#include "gpu/cuda/core/base/status.hpp"
#include "gpu/cuda/core/calls/value_nodes.hpp"
#include "gpu/cuda/core/green/resource.hpp"
#include "gpu/cuda/driver/copy.hpp"

namespace abi = inflight::cuda::abi;
using inflight::cuda::property_bytes;
using inflight::cuda::PropertyLayout;

#define SAME_SIZE(ours, theirs) static_assert(sizeof(abi::ours) == sizeof(theirs))
#define SAME_PLACE(ours, our_field, theirs, their_field)                           \
  static_assert(offsetof(abi::ours, our_field) == offsetof(theirs, their_field) && \
                sizeof(abi::ours::our_field) == sizeof(theirs::their_field))

SAME_SIZE(Dim3, dim3);
SAME_SIZE(Extent, cudaExtent);
SAME_SIZE(Position, cudaPos);
SAME_SIZE(PitchedPointer, cudaPitchedPtr);
SAME_PLACE(PitchedPointer, pitch, cudaPitchedPtr, pitch);
SAME_PLACE(PitchedPointer, height, cudaPitchedPtr, ysize);
SAME_SIZE(Location, cudaMemLocation);
SAME_SIZE(ConditionalNode, cudaConditionalNodeParams);
SAME_PLACE(ConditionalNode, bodies, cudaConditionalNodeParams, phGraph_out);
static_assert(abi::location_device == cudaMemLocationTypeDevice &&
              abi::location_host == cudaMemLocationTypeHost &&
              abi::location_numa == cudaMemLocationTypeHostNuma &&
              abi::location_here == cudaMemLocationTypeHostNumaCurrent);

#if CUDART_VERSION >= 13000
using inflight::cuda::DevResource;
static_assert(sizeof(DevResource) == sizeof(CUdevResource) &&
              offsetof(DevResource, count) == offsetof(CUdevResource, sm.smCount) &&
              offsetof(DevResource, least) == offsetof(CUdevResource, sm.minSmPartitionSize) &&
              offsetof(DevResource, alignment) ==
                  offsetof(CUdevResource, sm.smCoscheduledAlignment) &&
              DevResource::multiprocessors == CU_DEV_RESOURCE_TYPE_SM);
#endif
using DriverCopy3D = inflight::cuda::driver::Copy3D;
using inflight::cuda::driver::MemoryType;
static_assert(sizeof(DriverCopy3D) == sizeof(CUDA_MEMCPY3D) &&
              sizeof(DriverCopy3D) == sizeof(CUDA_MEMCPY3D_PEER) &&
              offsetof(DriverCopy3D, from.type) == offsetof(CUDA_MEMCPY3D, srcMemoryType) &&
              offsetof(DriverCopy3D, from.context) == offsetof(CUDA_MEMCPY3D_PEER, srcContext) &&
              offsetof(DriverCopy3D, from.height) == offsetof(CUDA_MEMCPY3D, srcHeight) &&
              offsetof(DriverCopy3D, to.x) == offsetof(CUDA_MEMCPY3D, dstXInBytes) &&
              offsetof(DriverCopy3D, to.array) == offsetof(CUDA_MEMCPY3D, dstArray) &&
              offsetof(DriverCopy3D, width) == offsetof(CUDA_MEMCPY3D, WidthInBytes) &&
              int(MemoryType::unified) == CU_MEMORYTYPE_UNIFIED);
using inflight::cuda::ValueNode;
using inflight::cuda::ValueOperation;
static_assert(
    sizeof(ValueOperation) == sizeof(CUstreamBatchMemOpParams) &&
    offsetof(ValueOperation, fence_flags) ==
        offsetof(CUstreamBatchMemOpParams, memoryBarrier.flags) &&
    offsetof(ValueOperation, memory) == offsetof(CUstreamBatchMemOpParams, waitValue.address) &&
    offsetof(ValueOperation, value) == offsetof(CUstreamBatchMemOpParams, writeValue.value64) &&
    offsetof(ValueOperation, flags) == offsetof(CUstreamBatchMemOpParams, writeValue.flags) &&
    ValueOperation::barrier == CU_STREAM_MEM_OP_BARRIER &&
    ValueOperation::write_64 == CU_STREAM_MEM_OP_WRITE_VALUE_64);
static_assert(sizeof(ValueNode) == sizeof(CUDA_BATCH_MEM_OP_NODE_PARAMS) &&
              offsetof(ValueNode, list) == offsetof(CUDA_BATCH_MEM_OP_NODE_PARAMS, paramArray) &&
              offsetof(ValueNode, flags) == offsetof(CUDA_BATCH_MEM_OP_NODE_PARAMS, flags));
static_assert(abi::instantiate_structure == cudaGraphInstantiateInvalidStructure &&
              abi::instantiate_operation == cudaGraphInstantiateNodeOperationNotSupported);
static_assert(offsetof(abi::LaunchAttribute::Value, updatable.node) ==
              offsetof(cudaLaunchAttributeValue, deviceUpdatableKernelNode.devNode));

SAME_SIZE(Copy3D, cudaMemcpy3DParms);
SAME_PLACE(Copy3D, from, cudaMemcpy3DParms, srcPtr);
SAME_PLACE(Copy3D, to_array, cudaMemcpy3DParms, dstArray);
SAME_PLACE(Copy3D, to_position, cudaMemcpy3DParms, dstPos);
SAME_PLACE(Copy3D, to, cudaMemcpy3DParms, dstPtr);
SAME_PLACE(Copy3D, extent, cudaMemcpy3DParms, extent);
SAME_PLACE(Copy3D, kind, cudaMemcpy3DParms, kind);
SAME_SIZE(Copy3DPeer, cudaMemcpy3DPeerParms);
SAME_PLACE(Copy3DPeer, from_device, cudaMemcpy3DPeerParms, srcDevice);
SAME_PLACE(Copy3DPeer, to, cudaMemcpy3DPeerParms, dstPtr);
SAME_PLACE(Copy3DPeer, extent, cudaMemcpy3DPeerParms, extent);
#if CUDART_VERSION >= 12080
SAME_SIZE(CopyAttributes, cudaMemcpyAttributes);
SAME_SIZE(CopyAttributes, CUmemcpyAttributes);
SAME_PLACE(CopyAttributes, order, cudaMemcpyAttributes, srcAccessOrder);
SAME_PLACE(CopyAttributes, to_hint, cudaMemcpyAttributes, dstLocHint);
SAME_PLACE(CopyAttributes, flags, CUmemcpyAttributes, flags);
SAME_SIZE(CopyOperand3D, cudaMemcpy3DOperand);
SAME_SIZE(CopyOperand3D, CUmemcpy3DOperand);
SAME_PLACE(CopyOperand3D, pointer, CUmemcpy3DOperand, op.ptr);
SAME_PLACE(CopyOperand3D, pointer.row_length, cudaMemcpy3DOperand, op.ptr.rowLength);
SAME_PLACE(CopyOperand3D, pointer.layer_height, CUmemcpy3DOperand, op.ptr.layerHeight);
SAME_SIZE(BatchCopy3D, cudaMemcpy3DBatchOp);
SAME_SIZE(BatchCopy3D, CUDA_MEMCPY3D_BATCH_OP);
SAME_PLACE(BatchCopy3D, to, cudaMemcpy3DBatchOp, dst);
SAME_PLACE(BatchCopy3D, extent, CUDA_MEMCPY3D_BATCH_OP, extent);
SAME_PLACE(BatchCopy3D, order, CUDA_MEMCPY3D_BATCH_OP, srcAccessOrder);
SAME_PLACE(BatchCopy3D, flags, cudaMemcpy3DBatchOp, flags);
#endif
SAME_SIZE(ChannelFormat, cudaChannelFormatDesc);
#if CUDART_VERSION >= 13000
SAME_SIZE(PointerAttributes, cudaPointerAttributes);
SAME_PLACE(PointerAttributes, host_pointer, cudaPointerAttributes, hostPointer);
static_assert(property_bytes(PropertyLayout::cuda13) == sizeof(cudaDeviceProp));
#else
SAME_SIZE(PointerAttributes12, cudaPointerAttributes);
SAME_PLACE(PointerAttributes12, host_pointer, cudaPointerAttributes, hostPointer);
static_assert(property_bytes(PropertyLayout::cuda12) == sizeof(cudaDeviceProp));
static_assert(property_bytes(PropertyLayout::cuda11) ==
              offsetof(cudaDeviceProp, hostRegisterSupported));
#endif
SAME_SIZE(PoolProperties, cudaMemPoolProps);
SAME_PLACE(PoolProperties, location, cudaMemPoolProps, location);
SAME_PLACE(PoolProperties, max_size, cudaMemPoolProps, maxSize);
SAME_SIZE(PoolProperties, CUmemPoolProps);
SAME_SIZE(Location, CUmemLocation);
static_assert(int(abi::allocation_pinned) == CU_MEM_ALLOCATION_TYPE_PINNED &&
              int(abi::location_numa) == CU_MEM_LOCATION_TYPE_HOST_NUMA);
#if CUDART_VERSION >= 13000
static_assert(int(abi::allocation_managed) == CU_MEM_ALLOCATION_TYPE_MANAGED &&
              int(abi::location_none) == CU_MEM_LOCATION_TYPE_NONE);
#endif
SAME_SIZE(AccessDescription, cudaMemAccessDesc);
SAME_SIZE(AccessDescription, CUmemAccessDesc);

SAME_SIZE(FunctionAttributes, cudaFuncAttributes);
SAME_PLACE(FunctionAttributes, max_threads, cudaFuncAttributes, maxThreadsPerBlock);
SAME_PLACE(FunctionAttributes, max_dynamic_shared, cudaFuncAttributes, maxDynamicSharedSizeBytes);
SAME_PLACE(FunctionAttributes, cluster_must_be_set, cudaFuncAttributes, clusterDimMustBeSet);
SAME_PLACE(FunctionAttributes, non_portable_cluster, cudaFuncAttributes,
           nonPortableClusterSizeAllowed);
SAME_SIZE(LaunchAttribute, cudaLaunchAttribute);
SAME_SIZE(LaunchAttribute::Value, cudaLaunchAttributeValue);
SAME_PLACE(LaunchAttribute, value, cudaLaunchAttribute, val);
static_assert(abi::launch_cooperative == cudaLaunchAttributeCooperative &&
              abi::launch_cluster == cudaLaunchAttributeClusterDimension &&
              abi::launch_programmatic_serialization ==
                  cudaLaunchAttributeProgrammaticStreamSerialization &&
              abi::launch_priority == cudaLaunchAttributePriority &&
              abi::launch_completion_event == cudaLaunchAttributeLaunchCompletionEvent);
#if CUDART_VERSION >= 12080
static_assert(abi::launch_carveout == cudaLaunchAttributePreferredSharedMemoryCarveout);
#endif
#if CUDART_VERSION >= 13000
static_assert(abi::launch_nvlink == cudaLaunchAttributeNvlinkUtilCentricScheduling);
#endif
SAME_SIZE(LaunchConfig, cudaLaunchConfig_t);
SAME_PLACE(LaunchConfig, dynamic_shared, cudaLaunchConfig_t, dynamicSmemBytes);
SAME_PLACE(LaunchConfig, attributes, cudaLaunchConfig_t, attrs);
SAME_PLACE(LaunchConfig, attribute_count, cudaLaunchConfig_t, numAttrs);

SAME_SIZE(KernelNode, cudaKernelNodeParams);
SAME_SIZE(KernelNode, cudaKernelNodeParamsV2);
SAME_PLACE(KernelNode, arguments, cudaKernelNodeParams, kernelParams);
SAME_SIZE(FillNode, cudaMemsetParams);
SAME_SIZE(FillNode, cudaMemsetParamsV2);
SAME_PLACE(FillNode, value, cudaMemsetParams, value);
SAME_PLACE(FillNode, element, cudaMemsetParams, elementSize);
SAME_PLACE(FillNode, width, cudaMemsetParams, width);
SAME_SIZE(HostNode, cudaHostNodeParams);
SAME_SIZE(HostNode, cudaHostNodeParamsV2);
SAME_SIZE(CopyNode, cudaMemcpyNodeParams);
SAME_PLACE(CopyNode, copy, cudaMemcpyNodeParams, copyParams);
SAME_SIZE(AllocateNode, cudaMemAllocNodeParams);
SAME_SIZE(AllocateNode, cudaMemAllocNodeParamsV2);
SAME_PLACE(AllocateNode, bytes, cudaMemAllocNodeParams, bytesize);
SAME_PLACE(AllocateNode, pointer, cudaMemAllocNodeParams, dptr);
SAME_SIZE(GraphNode, cudaGraphNodeParams);
SAME_PLACE(GraphNode, kernel, cudaGraphNodeParams, kernel);
SAME_PLACE(GraphNode, allocate, cudaGraphNodeParams, alloc);
static_assert(
    abi::node_kernel == cudaGraphNodeTypeKernel && abi::node_copy == cudaGraphNodeTypeMemcpy &&
    abi::node_fill == cudaGraphNodeTypeMemset && abi::node_host == cudaGraphNodeTypeHost &&
    abi::node_graph == cudaGraphNodeTypeGraph && abi::node_empty == cudaGraphNodeTypeEmpty &&
    abi::node_wait == cudaGraphNodeTypeWaitEvent &&
    abi::node_record == cudaGraphNodeTypeEventRecord &&
    abi::node_allocate == cudaGraphNodeTypeMemAlloc && abi::node_free == cudaGraphNodeTypeMemFree &&
    abi::node_conditional == cudaGraphNodeTypeConditional);
SAME_SIZE(EdgeData, cudaGraphEdgeData);
SAME_SIZE(InstantiateParameters, cudaGraphInstantiateParams);
SAME_PLACE(InstantiateParameters, result, cudaGraphInstantiateParams, result_out);
SAME_SIZE(UpdateResult, cudaGraphExecUpdateResultInfo);
SAME_PLACE(UpdateResult, error_from_node, cudaGraphExecUpdateResultInfo, errorFromNode);

#define SAME_CODE(ours, theirs) static_assert(int(inflight::cuda::Status::ours) == int(theirs))
SAME_CODE(invalid_value, cudaErrorInvalidValue);
SAME_CODE(out_of_memory, cudaErrorMemoryAllocation);
SAME_CODE(not_initialized, cudaErrorInitializationError);
SAME_CODE(deinitialized, cudaErrorCudartUnloading);
SAME_CODE(invalid_configuration, cudaErrorInvalidConfiguration);
SAME_CODE(invalid_pitch, cudaErrorInvalidPitchValue);
SAME_CODE(invalid_symbol, cudaErrorInvalidSymbol);
SAME_CODE(invalid_direction, cudaErrorInvalidMemcpyDirection);
SAME_CODE(device_unavailable, cudaErrorDevicesUnavailable);
SAME_CODE(invalid_device_function, cudaErrorInvalidDeviceFunction);
SAME_CODE(no_device, cudaErrorNoDevice);
SAME_CODE(invalid_device, cudaErrorInvalidDevice);
SAME_CODE(invalid_image, cudaErrorInvalidKernelImage);
SAME_CODE(invalid_context, cudaErrorDeviceUninitialized);
SAME_CODE(no_binary_for_gpu, cudaErrorNoKernelImageForDevice);
SAME_CODE(unsupported_limit, cudaErrorUnsupportedLimit);
SAME_CODE(peer_access_unsupported, cudaErrorPeerAccessUnsupported);
SAME_CODE(invalid_ptx, cudaErrorInvalidPtx);
SAME_CODE(unsupported_ptx_version, cudaErrorUnsupportedPtxVersion);
SAME_CODE(invalid_source, cudaErrorInvalidSource);
SAME_CODE(file_not_found, cudaErrorFileNotFound);
SAME_CODE(invalid_handle, cudaErrorInvalidResourceHandle);
SAME_CODE(illegal_state, cudaErrorIllegalState);
SAME_CODE(not_found, cudaErrorSymbolNotFound);
SAME_CODE(not_ready, cudaErrorNotReady);
SAME_CODE(illegal_address, cudaErrorIllegalAddress);
SAME_CODE(launch_out_of_resources, cudaErrorLaunchOutOfResources);
SAME_CODE(launch_timeout, cudaErrorLaunchTimeout);
SAME_CODE(peer_access_already_enabled, cudaErrorPeerAccessAlreadyEnabled);
SAME_CODE(peer_access_not_enabled, cudaErrorPeerAccessNotEnabled);
SAME_CODE(assertion, cudaErrorAssert);
SAME_CODE(host_memory_already_registered, cudaErrorHostMemoryAlreadyRegistered);
SAME_CODE(host_memory_not_registered, cudaErrorHostMemoryNotRegistered);
SAME_CODE(hardware_stack_error, cudaErrorHardwareStackError);
SAME_CODE(illegal_instruction, cudaErrorIllegalInstruction);
SAME_CODE(misaligned_address, cudaErrorMisalignedAddress);
SAME_CODE(invalid_address_space, cudaErrorInvalidAddressSpace);
SAME_CODE(invalid_pc, cudaErrorInvalidPc);
SAME_CODE(launch_failed, cudaErrorLaunchFailure);
SAME_CODE(cooperative_launch_too_large, cudaErrorCooperativeLaunchTooLarge);
SAME_CODE(not_permitted, cudaErrorNotPermitted);
SAME_CODE(not_supported, cudaErrorNotSupported);
SAME_CODE(capture_unsupported, cudaErrorStreamCaptureUnsupported);
SAME_CODE(capture_invalidated, cudaErrorStreamCaptureInvalidated);
SAME_CODE(capture_merge, cudaErrorStreamCaptureMerge);
SAME_CODE(capture_unmatched, cudaErrorStreamCaptureUnmatched);
SAME_CODE(capture_unjoined, cudaErrorStreamCaptureUnjoined);
SAME_CODE(capture_isolation, cudaErrorStreamCaptureIsolation);
SAME_CODE(capture_implicit, cudaErrorStreamCaptureImplicit);
SAME_CODE(captured_event, cudaErrorCapturedEvent);
SAME_CODE(capture_wrong_thread, cudaErrorStreamCaptureWrongThread);
SAME_CODE(graph_exec_update_failure, cudaErrorGraphExecUpdateFailure);
SAME_CODE(invalid_cluster_size, cudaErrorInvalidClusterSize);
#if CUDART_VERSION >= 13000
SAME_CODE(invalid_resource_type, cudaErrorInvalidResourceType);
SAME_CODE(invalid_resource_configuration, cudaErrorInvalidResourceConfiguration);
#endif
SAME_CODE(unknown, cudaErrorUnknown);
