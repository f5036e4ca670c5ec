// The last events of each cluster, from which a finding gets its `moment`: the steps that led to
// it.
#pragma once
#include <tuple>
#include <vector>

#include "gpu/check/detect/blocks.hpp"
#include "gpu/check/finding/places.hpp"
#include "gpu/check/listener.hpp"
#include "gpu/check/shadow/spin.hpp"

namespace inflight::check {

// Records copies and synchronisation but no accesses. fill() adds the finding's own accesses.
class History : public Listener {
 public:
  explicit History(Places& places) : places_(places) {}
  Topic topics() const override {
    return Topic::copies | Topic::barriers | Topic::mbarriers | Topic::fences | Topic::blocks;
  }
  void copy_issued(const CopyIssued&) override;
  void copy_committed(const CopyCommitted&) override;
  void copy_completed(const CopyCompleted&) override;
  void copy_waited(const CopyWaited&) override;
  void barrier(const Barrier&) override;
  void mbarrier(const MbarrierOp&) override;
  void fenced(const Fence&) override;

  // Fills in the earlier events of the finding's warps and bytes, while no launch can end
  // (Findings::add).
  void fill(Finding& finding);

  void forget(const BlockEnd& block);
  void forget(const KernelEnd& launch);

 private:
  static constexpr std::size_t kept = 64;
  struct Event {
    Step::What what = Step::What::issued;
    Who who;
    std::uint64_t copy = 0;        // its id in its warp
    const char* detail = nullptr;  // the label's text after the instruction; "{}" is `number`
    std::uint64_t number = 0;
    Space space = Space::shared;
    std::uint64_t from = 0, to = 0;  // the range in `space`; empty if equal
  };
  using CopyName = std::tuple<std::uint64_t, std::uint32_t, std::uint64_t>;  // block, warp, id
  struct Ring {
    shadow::Spin lock;
    std::vector<Event> events;  // event i is at index i % kept
    std::uint64_t count = 0;    // events so far
  };
  std::uint64_t cluster_of(const Kernel& kernel, std::uint64_t block) const;
  Ring* ring_of(const Who& who);  // null: the launch is not known
  template <class Fill>
  void put(Step::What what, const Who& who, Fill&& fill);
  void add(Step::What what, const Who& who, const char* detail, std::uint64_t number = 0);
  Step step_of(const Event& event, std::vector<CopyName>& copies) const;

  Places& places_;
  Blocks<Ring> rings_;  // by the cluster's number
};

}  // namespace inflight::check
