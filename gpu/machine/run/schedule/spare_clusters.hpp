// Clusters that a host thread keeps for the next launch of the same kernel.
#pragma once
#include <memory>
#include <vector>

#include "gpu/machine/run/cluster.hpp"

namespace inflight::machine {

// The ended clusters of one worker. A launch of the same kernel and block shape starts with those
// that the host thread kept, because to create a cluster, its blocks and its warps takes longer
// than to run a small block.
class SpareClusters {
 public:
  explicit SpareClusters(Grid& grid);
  // The host thread keeps some of them.
  ~SpareClusters();
  SpareClusters(const SpareClusters&) = delete;
  SpareClusters& operator=(const SpareClusters&) = delete;

  // A cluster to start, used or new.
  std::unique_ptr<Cluster> take();
  void give_back(std::unique_ptr<Cluster> cluster) { clusters_.push_back(std::move(cluster)); }

 private:
  Grid& grid_;
  std::vector<std::unique_ptr<Cluster>> clusters_;
};

}  // namespace inflight::machine
