// Driver API: graphs, instantiated graphs and stream capture.
#include "gpu/cuda/core/calls/graphs.hpp"
#include "gpu/cuda/core/graph/capture.hpp"
#include "gpu/cuda/core/graph/conditional.hpp"
#include "gpu/cuda/core/graph/graph_memory.hpp"
#include "gpu/cuda/driver/forward.hpp"

namespace inflight::cuda::driver {

using Count = std::size_t*;
using Edges = abi::EdgeData*;

INFLIGHT_FORWARD_2(cuGraphCreate, create_graph, Handle*, unsigned)
INFLIGHT_CU_AT(context ? context_of(context, false) : of_any(), cuGraphConditionalHandleCreate,
               (std::uint64_t * place, Handle graph, Handle context, unsigned value,
                unsigned flags),
               { return make_condition(place, graph, value, flags); })
INFLIGHT_FORWARD_1(cuGraphDestroy, destroy_graph, Handle)
INFLIGHT_FORWARD_2(cuGraphClone, clone_graph, Handle*, Handle)
INFLIGHT_FORWARD_3(cuGraphNodeFindInClone, find_in_clone, Handle*, Handle, Handle)
INFLIGHT_FORWARD_3(cuGraphGetNodes, get_nodes, Handle, Handle*, Count)
INFLIGHT_FORWARD_3(cuGraphGetRootNodes, get_root_nodes, Handle, Handle*, Count)
INFLIGHT_FORWARD_5(cuGraphGetEdges_v2, get_edges, Handle, Handle*, Handle*, Edges, Count)
INFLIGHT_FORWARD_2(cuGraphNodeGetType, get_node_type, Handle, int*)
INFLIGHT_FORWARD_4(cuGraphNodeGetDependencies_v2, get_dependencies, Handle, Handle*, Edges, Count)
INFLIGHT_FORWARD_4(cuGraphNodeGetDependentNodes_v2, get_dependents, Handle, Handle*, Edges, Count)
INFLIGHT_FORWARD_5(cuGraphAddDependencies_v2, add_dependencies, Handle, const Handle*,
                   const Handle*, const abi::EdgeData*, std::size_t)
INFLIGHT_FORWARD_5(cuGraphRemoveDependencies_v2, remove_dependencies, Handle, const Handle*,
                   const Handle*, const abi::EdgeData*, std::size_t)
INFLIGHT_FORWARD_1(cuGraphDestroyNode, destroy_node, Handle)
INFLIGHT_CU_AT(of_any(), cuGraphDebugDotPrint, (Handle graph, const char* path, unsigned flags),
               { return print_graph(graph, path, flags); })

// Before CUDA 12.3 edges had no data.
INFLIGHT_CU_AT(of_any(), cuGraphGetEdges, (Handle graph, Handle* from, Handle* to, Count count),
               { return get_edges(graph, from, to, nullptr, count); })
INFLIGHT_CU_AT(of_any(), cuGraphNodeGetDependencies, (Handle node, Handle* to, Count count),
               { return get_dependencies(node, to, nullptr, count); })
INFLIGHT_CU_AT(of_any(), cuGraphNodeGetDependentNodes, (Handle node, Handle* to, Count count),
               { return get_dependents(node, to, nullptr, count); })
INFLIGHT_CU_AT(of_any(), cuGraphAddDependencies,
               (Handle graph, const Handle* from, const Handle* to, std::size_t count),
               { return add_dependencies(graph, from, to, nullptr, count); })
INFLIGHT_CU_AT(of_any(), cuGraphRemoveDependencies,
               (Handle graph, const Handle* from, const Handle* to, std::size_t count),
               { return remove_dependencies(graph, from, to, nullptr, count); })

// --- instantiated graphs ---

INFLIGHT_CU(cuGraphInstantiateWithFlags, (Handle * exec, Handle graph, unsigned long long flags),
            { return instantiate(exec, graph, flags); })
INFLIGHT_CU_TWO(cuGraphInstantiate, cuGraphInstantiate_v2,
                (Handle * exec, Handle graph, Handle* error_node, char* log, std::size_t bytes), {
                  if (error_node) *error_node = nullptr;
                  if (log && bytes) *log = '\0';
                  return instantiate(exec, graph, 0ull);
                })
INFLIGHT_CU_TWO(cuGraphInstantiateWithParams, cuGraphInstantiateWithParams_ptsz,
                (Handle * exec, Handle graph, abi::InstantiateParameters* parameters),
                { return instantiate(exec, graph, parameters); })
INFLIGHT_FORWARD_1(cuGraphExecDestroy, destroy_exec, Handle)
INFLIGHT_FORWARD_2(cuGraphExecGetFlags, get_exec_flags, Handle, unsigned long long*)
INFLIGHT_FORWARD_3(cuGraphExecUpdate_v2, update_exec, Handle, Handle, abi::UpdateResult*)
INFLIGHT_CU_AT(of_any(), cuGraphExecUpdate,
               (Handle exec, Handle graph, Handle* error_node, int* result), {
                 abi::UpdateResult updated{};
                 Status status = update_exec(exec, graph, &updated);
                 if (error_node) *error_node = updated.error_node;
                 if (result) *result = updated.result;
                 return status;
               })
INFLIGHT_FORWARD_3(cuGraphNodeSetEnabled, set_enabled, Handle, Handle, unsigned)
INFLIGHT_FORWARD_3(cuGraphNodeGetEnabled, get_enabled, Handle, Handle, unsigned*)

INFLIGHT_CU_TWO_AT(of_stream(stream), cuGraphLaunch, cuGraphLaunch_ptsz,
                   (Handle exec, Handle stream), {
                     return with_stream(stream, second,
                                        [&](Stream& s) { return launch_graph(s, exec); });
                   })
INFLIGHT_CU_TWO_AT(of_stream(stream), cuGraphUpload, cuGraphUpload_ptsz,
                   (Handle exec, Handle stream), {
                     return with_stream(stream, second,
                                        [&](Stream& s) { return upload_graph(s, exec); });
                   })
INFLIGHT_CU_INIT(cuDeviceGetGraphMemAttribute, (int device, int attribute, void* value), {
  if (!device_at(device)) return Status::invalid_device;
  return get_graph_memory_attribute(device, attribute, value);
})
INFLIGHT_CU_INIT(cuDeviceSetGraphMemAttribute, (int device, int attribute, void* value), {
  if (!device_at(device)) return Status::invalid_device;
  return set_graph_memory_attribute(device, attribute, value);
})
INFLIGHT_CU_INIT(cuDeviceGraphMemTrim, (int device), {
  if (!device_at(device)) return Status::invalid_device;
  trim_graph_memory(device);
  return Status::success;
})

// --- capture ---

INFLIGHT_FORWARD_1(cuThreadExchangeStreamCaptureMode, exchange_capture_mode, int*)

constexpr int global_mode = 0;

INFLIGHT_CU_TWO_AT(of_stream(stream), cuStreamBeginCapture, cuStreamBeginCapture_ptsz,
                   (Handle stream), {
                     return with_stream(stream, second,
                                        [&](Stream& s) { return begin_capture(s, global_mode); });
                   })
INFLIGHT_CU_TWO_AT(of_stream(stream), cuStreamBeginCapture_v2, cuStreamBeginCapture_v2_ptsz,
                   (Handle stream, int mode), {
                     return with_stream(stream, second,
                                        [&](Stream& s) { return begin_capture(s, mode); });
                   })
INFLIGHT_CU_TWO_AT(of_stream(stream), cuStreamBeginCaptureToGraph, cuStreamBeginCaptureToGraph_ptsz,
                   (Handle stream, Handle graph, const Handle* nodes, const abi::EdgeData* edges,
                    std::size_t count, int mode),
                   {
                     return with_stream(stream, second, [&](Stream& s) {
                       return begin_capture_to_graph(s, graph, nodes, edges, count, mode);
                     });
                   })
INFLIGHT_CU_TWO_AT(of_stream(stream), cuStreamEndCapture, cuStreamEndCapture_ptsz,
                   (Handle stream, Handle* graph), {
                     return with_stream(stream, second,
                                        [&](Stream& s) { return end_capture(s, graph); });
                   })
INFLIGHT_CU_TWO_AT(of_stream(stream), cuStreamIsCapturing, cuStreamIsCapturing_ptsz,
                   (Handle stream, int* state), {
                     return with_stream(stream, second,
                                        [&](Stream& s) { return get_capture_state(s, state); });
                   })
INFLIGHT_CU_TWO_AT(of_stream(stream), cuStreamGetCaptureInfo, cuStreamGetCaptureInfo_ptsz,
                   (Handle stream, int* state, unsigned long long* id), {
                     return with_stream(stream, second, [&](Stream& s) {
                       return get_capture_info(s, {state, id, nullptr, nullptr, nullptr, nullptr});
                     });
                   })
INFLIGHT_CU_TWO_AT(of_stream(stream), cuStreamGetCaptureInfo_v2, cuStreamGetCaptureInfo_v2_ptsz,
                   (Handle stream, int* state, unsigned long long* id, Handle* graph,
                    const Handle** nodes, Count count),
                   {
                     return with_stream(stream, second, [&](Stream& s) {
                       return get_capture_info(s, {state, id, graph, nodes, nullptr, count});
                     });
                   })
INFLIGHT_CU_TWO_AT(of_stream(stream), cuStreamGetCaptureInfo_v3, cuStreamGetCaptureInfo_v3_ptsz,
                   (Handle stream, int* state, unsigned long long* id, Handle* graph,
                    const Handle** nodes, const abi::EdgeData** edges, Count count),
                   {
                     return with_stream(stream, second, [&](Stream& s) {
                       return get_capture_info(s, {state, id, graph, nodes, edges, count});
                     });
                   })
INFLIGHT_CU_TWO_AT(of_stream(stream), cuStreamUpdateCaptureDependencies,
                   cuStreamUpdateCaptureDependencies_ptsz,
                   (Handle stream, Handle* nodes, std::size_t count, unsigned flags), {
                     return with_stream(stream, second, [&](Stream& s) {
                       return update_capture(s, nodes, nullptr, count, flags);
                     });
                   })
INFLIGHT_CU_TWO_AT(of_stream(stream), cuStreamUpdateCaptureDependencies_v2,
                   cuStreamUpdateCaptureDependencies_v2_ptsz,
                   (Handle stream, Handle* nodes, const abi::EdgeData* edges, std::size_t count,
                    unsigned flags),
                   {
                     return with_stream(stream, second, [&](Stream& s) {
                       return update_capture(s, nodes, edges, count, flags);
                     });
                   })

}  // namespace inflight::cuda::driver
