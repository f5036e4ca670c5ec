// The ports and type of a graph's edges.
#pragma once
#include <map>

namespace inflight::cuda {

struct Node;

// The ports and the type of an edge, with cudaGraphEdgeData's numbers. All zeros: a plain edge, so
// the second node waits for all of the first.
struct EdgeKind {
  unsigned char from_port = 0, to_port = 0, type = 0;
  bool plain() const { return *this == EdgeKind{}; }
  bool programmatic() const { return type == 1; }  // the second may begin early (overlap.hpp)
  // The second node waits for the begin of the first, and does not learn of its end.
  bool after_begin() const { return from_port == 2 && !programmatic(); }
  bool operator==(const EdgeKind&) const = default;
};
// Between two kernels: the second may start when the first allows it, or once the first has begun.
inline constexpr EdgeKind programmatic_edge{1, 0, 1}, programmatic_begin_edge{2, 0, 1};
// The second starts once all blocks of the first, a kernel, have begun.
inline constexpr EdgeKind begin_edge{2, 0, 0};

// The kinds of a node's incoming edges that are not plain.
using EdgeKinds = std::map<const Node*, EdgeKind>;

}  // namespace inflight::cuda
