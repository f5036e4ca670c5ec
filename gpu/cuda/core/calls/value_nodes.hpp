// Graph nodes that write values to memory and wait for values there.
#pragma once
#include "gpu/cuda/core/graph/graph.hpp"

namespace inflight::cuda {

// CUDA_BATCH_MEM_OP_NODE_PARAMS.
struct ValueNode {
  void* context;
  unsigned count;
  ValueOperation* list;
  unsigned flags;
};

// Copies the list (invalid_value: no parameters, no context, or a list that value_work() refuses).
Result<Work> value_node_work(const ValueNode* node);
// The node owns the list, which is valid until its parameters change or it is destroyed.
Status get_value_node(const void* node, ValueNode* place);

}  // namespace inflight::cuda
