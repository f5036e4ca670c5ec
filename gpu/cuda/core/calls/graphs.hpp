// Operations on graphs, instantiated graphs and captures, called by both APIs' entry points.
// Objects are named by handles. An invalid handle or a null place is invalid_value.
#pragma once
#include <cstddef>

#include "gpu/cuda/core/base/abi.hpp"
#include "gpu/cuda/core/base/status.hpp"

namespace inflight::cuda {

class Stream;

Status create_graph(void** place, unsigned flags);
Status destroy_graph(const void* graph);
Status clone_graph(void** place, const void* graph);
Status find_in_clone(void** place, const void* original, const void* clone);
// Writes the graph in Graphviz's language, with the details that `flags` (cudaGraphDebugDotFlags)
// select (operating_system: the file cannot be written).
Status print_graph(const void* graph, const char* path, unsigned flags);

// A list is stored as CUDA does. If its place is null, `count` gets its length. Otherwise at most
// `count` entries are stored, with nulls in the rest. The place for edges' data may be null
// (lossy_query: an edge is not plain).
Status get_nodes(const void* graph, void** place, std::size_t* count);
Status get_root_nodes(const void* graph, void** place, std::size_t* count);
Status get_edges(const void* graph, void** from, void** to, abi::EdgeData* data,
                 std::size_t* count);
Status get_dependencies(const void* node, void** place, abi::EdgeData* data, std::size_t* count);
Status get_dependents(const void* node, void** place, abi::EdgeData* data, std::size_t* count);
Status get_node_type(const void* node, int* type);

Status add_dependencies(const void* graph, void* const* from, void* const* to,
                        const abi::EdgeData* data, std::size_t count);
Status remove_dependencies(const void* graph, void* const* from, void* const* to,
                           const abi::EdgeData* data, std::size_t count);
Status destroy_node(const void* node);

// Instantiated graphs.
Status instantiate(void** place, const void* graph, unsigned long long flags);
Status instantiate(void** place, const void* graph, abi::InstantiateParameters* parameters);
Status destroy_exec(const void* exec);
Status get_exec_flags(const void* exec, unsigned long long* flags);
Status update_exec(const void* exec, const void* graph, abi::UpdateResult* result);
Status set_enabled(const void* exec, const void* node, unsigned enabled);
Status get_enabled(const void* exec, const void* node, unsigned* enabled);
Status launch_graph(Stream& stream, const void* exec);
Status upload_graph(const Stream& stream, const void* exec);

// Captures, with the numbers of cudaStreamCaptureMode and cudaStreamCaptureStatus.
Status begin_capture(Stream& stream, int mode);
Status begin_capture_to_graph(Stream& stream, const void* graph, void* const* dependencies,
                              const abi::EdgeData* data, std::size_t count, int mode);
Status end_capture(Stream& stream, void** graph);
Status get_capture_state(const Stream& stream, int* state);
// Every pointer except `state` may be null. The lists are valid until the thread's next call.
struct CaptureInfo {
  int* state = nullptr;
  unsigned long long* id = nullptr;
  void** graph = nullptr;
  void* const** tips = nullptr;
  const abi::EdgeData** edges = nullptr;
  std::size_t* count = nullptr;
};
Status get_capture_info(Stream& stream, const CaptureInfo& info);
Status update_capture(Stream& stream, void* const* tips, const abi::EdgeData* data,
                      std::size_t count, unsigned flags);
Status exchange_capture_mode(int* mode);

}  // namespace inflight::cuda
