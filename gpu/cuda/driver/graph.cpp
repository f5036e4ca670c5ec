// Driver API: graphs, instantiated graphs and stream capture.
#include "gpu/cuda/core/graph/graph_memory.hpp"
#include "gpu/cuda/driver/forward.hpp"

namespace inflight::cuda::driver {

using Count = std::size_t*;
using Edges = abi::EdgeData*;

INFLIGHT_FORWARD_2(cuGraphCreate, cudaGraphCreate, Handle*, unsigned)
INFLIGHT_FORWARD_1(cuGraphDestroy, cudaGraphDestroy, Handle)
INFLIGHT_FORWARD_2(cuGraphClone, cudaGraphClone, Handle*, Handle)
INFLIGHT_FORWARD_3(cuGraphNodeFindInClone, cudaGraphNodeFindInClone, Handle*, Handle, Handle)
INFLIGHT_FORWARD_3(cuGraphGetNodes, cudaGraphGetNodes, Handle, Handle*, Count)
INFLIGHT_FORWARD_3(cuGraphGetRootNodes, cudaGraphGetRootNodes, Handle, Handle*, Count)
INFLIGHT_FORWARD_5(cuGraphGetEdges_v2, cudaGraphGetEdges, Handle, Handle*, Handle*, Edges, Count)
INFLIGHT_FORWARD_2(cuGraphNodeGetType, cudaGraphNodeGetType, Handle, int*)
INFLIGHT_FORWARD_4(cuGraphNodeGetDependencies_v2, cudaGraphNodeGetDependencies, Handle, Handle*,
                   Edges, Count)
INFLIGHT_FORWARD_4(cuGraphNodeGetDependentNodes_v2, cudaGraphNodeGetDependentNodes, Handle, Handle*,
                   Edges, Count)
INFLIGHT_FORWARD_5(cuGraphAddDependencies_v2, cudaGraphAddDependencies, Handle, const Handle*,
                   const Handle*, const abi::EdgeData*, std::size_t)
INFLIGHT_FORWARD_5(cuGraphRemoveDependencies_v2, cudaGraphRemoveDependencies, Handle, const Handle*,
                   const Handle*, const abi::EdgeData*, std::size_t)
INFLIGHT_FORWARD_1(cuGraphDestroyNode, cudaGraphDestroyNode, Handle)
INFLIGHT_FORWARD_3(cuGraphDebugDotPrint, cudaGraphDebugDotPrint, Handle, const char*, unsigned)

// Before CUDA 12.3 edges had no data.
INFLIGHT_CU_AT(of_any(), cuGraphGetEdges, (Handle graph, Handle* from, Handle* to, Count count),
               { return runtime(cudaGraphGetEdges(graph, from, to, nullptr, count)); })
INFLIGHT_CU_AT(of_any(), cuGraphNodeGetDependencies, (Handle node, Handle* to, Count count),
               { return runtime(cudaGraphNodeGetDependencies(node, to, nullptr, count)); })
INFLIGHT_CU_AT(of_any(), cuGraphNodeGetDependentNodes, (Handle node, Handle* to, Count count),
               { return runtime(cudaGraphNodeGetDependentNodes(node, to, nullptr, count)); })
INFLIGHT_CU_AT(of_any(), cuGraphAddDependencies,
               (Handle graph, const Handle* from, const Handle* to, std::size_t count),
               { return runtime(cudaGraphAddDependencies(graph, from, to, nullptr, count)); })
INFLIGHT_CU_AT(of_any(), cuGraphRemoveDependencies,
               (Handle graph, const Handle* from, const Handle* to, std::size_t count),
               { return runtime(cudaGraphRemoveDependencies(graph, from, to, nullptr, count)); })

// --- instantiated graphs ---

extern "C" int cudaGraphInstantiateWithFlags(Handle*, Handle, unsigned long long);
extern "C" int cudaGraphInstantiateWithParams(Handle*, Handle, abi::InstantiateParameters*);
INFLIGHT_CU(cuGraphInstantiateWithFlags, (Handle * exec, Handle graph, unsigned long long flags),
            { return runtime(cudaGraphInstantiateWithFlags(exec, graph, flags)); })
INFLIGHT_CU_TWO(cuGraphInstantiate, cuGraphInstantiate_v2,
                (Handle * exec, Handle graph, Handle* error_node, char* log, std::size_t bytes), {
                  if (error_node) *error_node = nullptr;
                  if (log && bytes) *log = '\0';
                  return runtime(cudaGraphInstantiateWithFlags(exec, graph, 0));
                })
INFLIGHT_CU_TWO(cuGraphInstantiateWithParams, cuGraphInstantiateWithParams_ptsz,
                (Handle * exec, Handle graph, abi::InstantiateParameters* parameters),
                { return runtime(cudaGraphInstantiateWithParams(exec, graph, parameters)); })
INFLIGHT_FORWARD_1(cuGraphExecDestroy, cudaGraphExecDestroy, Handle)
INFLIGHT_FORWARD_2(cuGraphExecGetFlags, cudaGraphExecGetFlags, Handle, unsigned long long*)
INFLIGHT_FORWARD_3(cuGraphExecUpdate_v2, cudaGraphExecUpdate, Handle, Handle, abi::UpdateResult*)
INFLIGHT_CU_AT(of_any(), cuGraphExecUpdate,
               (Handle exec, Handle graph, Handle* error_node, int* result), {
                 abi::UpdateResult updated{};
                 Status status = runtime(cudaGraphExecUpdate(exec, graph, &updated));
                 if (error_node) *error_node = updated.error_node;
                 if (result) *result = updated.result;
                 return status;
               })
INFLIGHT_FORWARD_3(cuGraphNodeSetEnabled, cudaGraphNodeSetEnabled, Handle, Handle, unsigned)
INFLIGHT_FORWARD_3(cuGraphNodeGetEnabled, cudaGraphNodeGetEnabled, Handle, Handle, unsigned*)

extern "C" int cudaGraphLaunch(Handle, Handle);
extern "C" int cudaGraphUpload(Handle, Handle);
INFLIGHT_CU_TWO_AT(of_stream(stream), cuGraphLaunch, cuGraphLaunch_ptsz,
                   (Handle exec, Handle stream),
                   { return runtime(cudaGraphLaunch(exec, at(stream, second))); })
INFLIGHT_CU_TWO_AT(of_stream(stream), cuGraphUpload, cuGraphUpload_ptsz,
                   (Handle exec, Handle stream),
                   { return runtime(cudaGraphUpload(exec, at(stream, second))); })
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

INFLIGHT_FORWARD_1(cuThreadExchangeStreamCaptureMode, cudaThreadExchangeStreamCaptureMode, int*)

extern "C" {
int cudaStreamBeginCapture(Handle, int mode);
int cudaStreamBeginCaptureToGraph(Handle, Handle graph, const Handle*, const abi::EdgeData*,
                                  std::size_t, int mode);
int cudaStreamEndCapture(Handle, Handle* graph);
int cudaStreamIsCapturing(Handle, int*);
int cudaStreamGetCaptureInfo(Handle, int*, unsigned long long* id, Handle* graph,
                             const Handle** nodes, const abi::EdgeData**, Count);
int cudaStreamUpdateCaptureDependencies(Handle, Handle*, const abi::EdgeData*, std::size_t,
                                        unsigned flags);
}

constexpr int global_mode = 0;

INFLIGHT_CU_TWO_AT(of_stream(stream), cuStreamBeginCapture, cuStreamBeginCapture_ptsz,
                   (Handle stream),
                   { return runtime(cudaStreamBeginCapture(at(stream, second), global_mode)); })
INFLIGHT_CU_TWO_AT(of_stream(stream), cuStreamBeginCapture_v2, cuStreamBeginCapture_v2_ptsz,
                   (Handle stream, int mode),
                   { return runtime(cudaStreamBeginCapture(at(stream, second), mode)); })
INFLIGHT_CU_TWO_AT(of_stream(stream), cuStreamBeginCaptureToGraph, cuStreamBeginCaptureToGraph_ptsz,
                   (Handle stream, Handle graph, const Handle* nodes, const abi::EdgeData* edges,
                    std::size_t count, int mode),
                   {
                     return runtime(cudaStreamBeginCaptureToGraph(at(stream, second), graph, nodes,
                                                                  edges, count, mode));
                   })
INFLIGHT_CU_TWO_AT(of_stream(stream), cuStreamEndCapture, cuStreamEndCapture_ptsz,
                   (Handle stream, Handle* graph),
                   { return runtime(cudaStreamEndCapture(at(stream, second), graph)); })
INFLIGHT_CU_TWO_AT(of_stream(stream), cuStreamIsCapturing, cuStreamIsCapturing_ptsz,
                   (Handle stream, int* state),
                   { return runtime(cudaStreamIsCapturing(at(stream, second), state)); })
INFLIGHT_CU_TWO_AT(of_stream(stream), cuStreamGetCaptureInfo, cuStreamGetCaptureInfo_ptsz,
                   (Handle stream, int* state, unsigned long long* id), {
                     return runtime(cudaStreamGetCaptureInfo(at(stream, second), state, id, nullptr,
                                                             nullptr, nullptr, nullptr));
                   })
INFLIGHT_CU_TWO_AT(of_stream(stream), cuStreamGetCaptureInfo_v2, cuStreamGetCaptureInfo_v2_ptsz,
                   (Handle stream, int* state, unsigned long long* id, Handle* graph,
                    const Handle** nodes, Count count),
                   {
                     return runtime(cudaStreamGetCaptureInfo(at(stream, second), state, id, graph,
                                                             nodes, nullptr, count));
                   })
INFLIGHT_CU_TWO_AT(of_stream(stream), cuStreamGetCaptureInfo_v3, cuStreamGetCaptureInfo_v3_ptsz,
                   (Handle stream, int* state, unsigned long long* id, Handle* graph,
                    const Handle** nodes, const abi::EdgeData** edges, Count count),
                   {
                     return runtime(cudaStreamGetCaptureInfo(at(stream, second), state, id, graph,
                                                             nodes, edges, count));
                   })
INFLIGHT_CU_TWO_AT(of_stream(stream), cuStreamUpdateCaptureDependencies,
                   cuStreamUpdateCaptureDependencies_ptsz,
                   (Handle stream, Handle* nodes, std::size_t count, unsigned flags), {
                     return runtime(cudaStreamUpdateCaptureDependencies(at(stream, second), nodes,
                                                                        nullptr, count, flags));
                   })
INFLIGHT_CU_TWO_AT(of_stream(stream), cuStreamUpdateCaptureDependencies_v2,
                   cuStreamUpdateCaptureDependencies_v2_ptsz,
                   (Handle stream, Handle* nodes, const abi::EdgeData* edges, std::size_t count,
                    unsigned flags),
                   {
                     return runtime(cudaStreamUpdateCaptureDependencies(at(stream, second), nodes,
                                                                        edges, count, flags));
                   })

}  // namespace inflight::cuda::driver
