// Between the machine and the model of bulk and tensor copies.
#pragma once
#include <cstdint>
#include <memory>

#include "gpu/async/bulk_copies.hpp"
#include "gpu/machine/run/cluster.hpp"

namespace inflight::machine {

// A cluster's bulk copies in flight, and who hears of them.
class ClusterCopies final : async::BulkObserver {
 public:
  explicit ClusterCopies(Cluster& cluster);

  // Issues a copy; who waits for its mbarrier already gets another look.
  void issue(const async::BulkCopy& copy);
  async::BulkCopies model;
  async::TensorMaps maps;  // as the cluster's threads read them

 private:
  void issued(const async::BulkCopy& copy) override;
  void completed(const async::BulkCopy& copy, const async::mbarrier::Step& step) override;
  void source_modified(const async::BulkCopy& copy) override;
  void committed(std::uint32_t thread, std::uint64_t instruction) override;
  void waited(std::uint32_t thread, std::uint32_t allowed, bool read_only,
              std::uint64_t instruction) override;
  bool stopped() const override { return cluster_.grid->stop.load(std::memory_order_relaxed); }
  const Observation* observation() const { return cluster_.grid->observation; }
  bool wants(check::Topic topic) const;
  void report_completed(const async::BulkCopy& copy, const async::mbarrier::Step& step);
  check::Who who(std::uint32_t thread, std::uint64_t instruction) const;

  Cluster& cluster_;
};

// The cluster's copies: made on first use.
ClusterCopies& bulk_copies(Cluster& cluster);

// A thread's number in its cluster, as async::BulkCopy counts.
constexpr std::uint32_t cluster_thread(std::uint32_t rank, std::uint32_t thread) {
  return rank << 10 | thread;
}

}  // namespace inflight::machine
