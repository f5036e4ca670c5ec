// The structures that programs pass to the runtime, laid out as CUDA 13.0 documents them (CUDA
// runtime API, "Data types used by CUDA Runtime"); those whose names end in 12 differ in CUDA 12.
// Handles are plain pointers, enumerations ints.
#pragma once
#include <cstddef>
#include <cstdint>

#define INFLIGHT_API extern "C" __attribute__((visibility("default")))

namespace inflight::cuda::abi {

struct Dim3 {
  unsigned x = 1, y = 1, z = 1;
};
struct Extent {
  std::size_t width, height, depth;
};
struct Position {
  std::size_t x, y, z;
};
struct PitchedPointer {
  void* pointer;
  std::size_t pitch, width, height;  // cudaPitchedPtr: ptr, pitch, xsize, ysize
};
struct Location {
  int type;  // 0 none, 1 device, 2 host, 3 host NUMA node, 4 the current NUMA node
  int id;
};
enum AllocationType { allocation_pinned = 1, allocation_managed = 2 };
enum LocationType { location_none, location_device, location_host, location_numa, location_here };
constexpr bool is_on_host(int location) {
  return location >= location_host && location <= location_here;
}

// --- copies and memory ------------------------------------------------------------------------

struct Copy3D {  // cudaMemcpy3DParms
  void* from_array;
  Position from_position;
  PitchedPointer from;
  void* to_array;
  Position to_position;
  PitchedPointer to;
  Extent extent;
  int kind;
};
struct Copy3DPeer {  // cudaMemcpy3DPeerParms
  void* from_array;
  Position from_position;
  PitchedPointer from;
  int from_device;
  void* to_array;
  Position to_position;
  PitchedPointer to;
  int to_device;
  Extent extent;
};
struct CopyAttributes {  // cudaMemcpyAttributes
  int order;
  Location from_hint, to_hint;
  unsigned flags;
};
struct CopyOperand3D {  // cudaMemcpy3DOperand
  int type;             // 1 pointer, 2 array
  union {
    struct {
      void* pointer;
      std::size_t row_length, layer_height;
      Location hint;
    } pointer;
    struct {
      void* array;
      Position offset;
    } array;
  };
};
struct BatchCopy3D {  // cudaMemcpy3DBatchOp
  CopyOperand3D from, to;
  Extent extent;
  int order;
  unsigned flags;
};
struct ChannelFormat {  // cudaChannelFormatDesc
  int x, y, z, w, kind;
};
struct PointerAttributes {
  int type;  // 0 unregistered, 1 host, 2 device, 3 managed
  int device;
  void* device_pointer;
  void* host_pointer;
  long reserved[8];
};
struct PointerAttributes12 {  // cudaPointerAttributes, until CUDA 13
  int type, device;
  void *device_pointer, *host_pointer;
};
struct PoolProperties {  // cudaMemPoolProps
  int allocation_type;
  int handle_types;
  Location location;
  void* win32_security;
  std::size_t max_size;
  unsigned short usage;
  unsigned char reserved[54];
};
struct AccessDescription {  // cudaMemAccessDesc
  Location location;
  int flags;
};

// --- functions and launches -------------------------------------------------------------------

struct FunctionAttributes {  // cudaFuncAttributes
  std::size_t shared_bytes, constant_bytes, local_bytes;
  int max_threads, registers, ptx_version, binary_version, cache_mode_ca;
  int max_dynamic_shared, carveout;
  int cluster_must_be_set, cluster_width, cluster_height, cluster_depth, cluster_policy;
  int non_portable_cluster;
  int reserved[16];
};
struct LaunchAttribute {
  int id;
  char padding[4];
  union Value {
    char bytes[64];
    struct {
      unsigned x, y, z;
    } cluster;
    int integer;
    struct {
      void* event;
      int flags;
      int trigger_at_block_start;
    } event;
    struct {
      int asked;
      void* node;
    } updatable;
  } value;
};
enum LaunchAttributeId {
  launch_ignore = 0,
  launch_access_policy = 1,
  launch_cooperative = 2,
  launch_synchronization_policy = 3,
  launch_cluster = 4,
  launch_cluster_policy = 5,
  launch_programmatic_serialization = 6,
  launch_programmatic_event = 7,
  launch_priority = 8,
  launch_memory_domain_map = 9,
  launch_memory_domain = 10,
  launch_preferred_cluster = 11,
  launch_completion_event = 12,
  launch_device_updatable = 13,
  launch_carveout = 14,
  launch_nvlink = 16,
};
inline LaunchAttribute cooperative_attribute() {
  LaunchAttribute attribute{};
  attribute.id = launch_cooperative;
  attribute.value.integer = 1;
  return attribute;
}
struct LaunchConfig {  // cudaLaunchConfig_t
  Dim3 grid, block;
  std::size_t dynamic_shared;
  void* stream;
  LaunchAttribute* attributes;
  unsigned attribute_count;
};

// --- graphs -----------------------------------------------------------------------------------

struct KernelNode {  // cudaKernelNodeParams
  void* function;
  Dim3 grid, block;
  unsigned dynamic_shared;
  void** arguments;
  void** extra;
};
struct FillNode {  // cudaMemsetParams
  void* to;
  std::size_t pitch;
  unsigned value, element;
  std::size_t width, height;
};
struct HostNode {  // cudaHostNodeParams
  void (*function)(void*);
  void* data;
};
struct CopyNode {  // cudaMemcpyNodeParams
  int flags;
  int reserved[3];
  Copy3D copy;
};
struct AllocateNode {  // cudaMemAllocNodeParams
  PoolProperties pool;
  const AccessDescription* access;
  std::size_t access_count, bytes;
  void* pointer;
};
struct ConditionalNode {  // cudaConditionalNodeParams
  unsigned long long handle;
  int kind;
  unsigned size;
  void** bodies;
};
struct GraphNode {  // cudaGraphNodeParams
  int type;
  int reserved0[3];
  union {
    long long reserved1[29];
    KernelNode kernel;
    CopyNode copy;
    FillNode fill;
    HostNode host;
    void* graph;
    void* event;
    AllocateNode allocate;
    void* freed;
    ConditionalNode conditional;
  };
  long long reserved2;
};
enum NodeType {
  node_kernel,
  node_copy,
  node_fill,
  node_host,
  node_graph,
  node_empty,
  node_wait,
  node_record,
  node_semaphore_signal,
  node_semaphore_wait,
  node_allocate,
  node_free,
  node_batch,
  node_conditional,
};
struct EdgeData {  // cudaGraphEdgeData
  unsigned char from_port, to_port, type, reserved[5];
};
struct InstantiateParameters {  // cudaGraphInstantiateParams
  unsigned long long flags;
  void* upload_stream;
  void* error_node;
  int result;
};
enum InstantiateResult {  // cudaGraphInstantiateResult
  instantiate_success = 0,
  instantiate_error = 1,
  instantiate_structure = 2,
  instantiate_operation = 3,
};
struct UpdateResult {  // cudaGraphExecUpdateResultInfo
  int result;
  void* error_node;
  void* error_from_node;
};

}  // namespace inflight::cuda::abi
