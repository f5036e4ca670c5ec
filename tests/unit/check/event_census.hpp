// Which values of each kind of event a listener has seen, for tests that every one is emitted.
#pragma once
#include <fmt/format.h>

#include <mutex>
#include <set>
#include <string>
#include <string_view>

#include "gpu/check/listener.hpp"
#include "tests/unit/check/enumerators.hpp"

namespace inflight::check {

// "MbarrierOp.op try_wait": a struct, one of its fields, and an enumerator.
using Values = std::set<std::string>;

// All values of the fields that EventCensus looks at.
inline Values all_values() {
  Values all;
  const auto add = [&]<class Enum>(std::string_view field, Enum) {
    each_enumerator<Enum>(
        [&](Enum value) { all.insert(fmt::format("{} {}", field, name_of(value))); });
  };
  add("Access.kind", Access{}.kind);
  add("Access.space", Access{}.space);
  add("Access.order", Access{}.order);
  add("Access.scope", Access{}.scope);
  add("Access.proxy", Access{}.proxy);
  add("UndefinedUse.how", UndefinedUse{}.how);
  add("Fence.kind", Fence{}.kind);
  add("Fence.order", Fence{}.order);
  add("Fence.scope", Fence{}.scope);
  add("Fence.to", Fence{}.to);
  add("Allocation.kind", Allocation{}.kind);
  add("Allocation.step", Allocation{}.step);
  add("CopyIssued.completion", CopyIssued{}.completion);
  add("CopyCommitted.completion", CopyCommitted{}.completion);
  add("CopyWaited.completion", CopyWaited{}.completion);
  each_enumerator<BarrierKind>([&](BarrierKind kind) {
    add(fmt::format("Barrier {}", name_of(kind)), Barrier{}.step);
    all.insert(fmt::format("Wait for {}", name_of(kind)));
  });
  add("MbarrierOp.op", MbarrierOp{}.op);
  add("Collective.kind", Collective{}.kind);
  add("Wait.what", Wait{}.what);
  add("Wait.step", Wait{}.step);
  add("Stuck.why", Stuck{}.why);
  add("Fault.kind", Fault{}.kind);
  add("StreamEdge.kind", StreamEdge{}.kind);
  add("HostAccess.kind", HostAccess{}.kind);
  for (const char* what : {"global to shared", "shared to global", "shared to shared",
                           "values to shared", "reduction to shared", "reduction to global",
                           "reduction of values", "tensor to shared", "tensor to global"})
    all.insert(fmt::format("CopyIssued {}", what));
  return all;
}

class EventCensus : public Listener {
 public:
  void accessed(const Access& e) override {
    add("Access.kind", e.kind), add("Access.space", e.space), add("Access.order", e.order);
    add("Access.scope", e.scope), add("Access.proxy", e.proxy);
  }
  void undefined_used(const UndefinedUse& e) override { add("UndefinedUse.how", e.how); }
  void fenced(const Fence& e) override {
    add("Fence.kind", e.kind), add("Fence.order", e.order), add("Fence.scope", e.scope);
    add("Fence.to", e.to);
  }
  void allocation(const Allocation& e) override {
    add("Allocation.kind", e.kind), add("Allocation.step", e.step);
  }
  void copy_issued(const CopyIssued& e) override {
    add("CopyIssued.completion", e.completion);
    const std::string_view from = e.tensor_map  ? "tensor"
                                  : e.reduces   ? "reduction"
                                  : e.of_values ? "values"
                                                : name_of(e.from);
    if (e.reduces && e.of_values)
      add("CopyIssued reduction of values");
    else
      add(fmt::format("CopyIssued {} to {}", from, name_of(e.to)));
  }
  void copy_committed(const CopyCommitted& e) override {
    add("CopyCommitted.completion", e.completion);
  }
  void copy_waited(const CopyWaited& e) override { add("CopyWaited.completion", e.completion); }
  void barrier(const Barrier& e) override {
    add(fmt::format("Barrier {}", name_of(e.kind)), e.step);
  }
  void mbarrier(const MbarrierOp& e) override { add("MbarrierOp.op", e.op); }
  void collective(const Collective& e) override { add("Collective.kind", e.kind); }
  void waited(const Wait& e) override {
    add("Wait.what", e.what), add("Wait.step", e.step);
    if (e.what == Wait::For::barrier) add("Wait for", e.kind);
  }
  void stuck(const Stuck& e) override { add("Stuck.why", e.why); }
  void faulted(const Fault& e) override { add("Fault.kind", e.kind); }
  void stream_edge(const StreamEdge& e) override { add("StreamEdge.kind", e.kind); }
  void host_accessed(const HostAccess& e) override { add("HostAccess.kind", e.kind); }

  // The values that the events do not have. Of one struct only, if `of` is given.
  Values missing(std::string_view of = {}) const {
    const std::lock_guard lock(mutex_);
    Values missing;
    for (const std::string& value : all_values())
      if (value.starts_with(of) && !seen_.contains(value)) missing.insert(value);
    return missing;
  }

 private:
  void add(std::string value) {
    const std::lock_guard lock(mutex_);
    seen_.insert(std::move(value));
  }
  template <class Enum>
  void add(std::string_view field, Enum value) {
    add(fmt::format("{} {}", field, name_of(value)));
  }
  mutable std::mutex mutex_;
  Values seen_;
};

}  // namespace inflight::check
