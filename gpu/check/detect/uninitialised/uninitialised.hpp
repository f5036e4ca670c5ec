// Reads of bytes that nothing has written, where something comes of them.
//
// A load alone is no mistake: programs read a whole vector and drop a part, or copy a struct with
// its padding. So a lane that loads an element of which no byte was written is a suspect until one
// of the instructions that use the value (Kernel::value_sinks) runs for it. A plain copy makes its
// destination undefined again, and it is reported when that is used, or copied to the host.
#pragma once
#include <map>
#include <mutex>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "gpu/check/detect/blocks.hpp"
#include "gpu/check/detect/detector.hpp"
#include "gpu/check/detect/uninitialised/state.hpp"

namespace inflight::check::uninitialised {

// The loads of a launch that were found to read such bytes.
class Loads {
 public:
  const LoadedValue* of(const Kernel& kernel, std::uint32_t instruction) {
    const std::lock_guard lock(mutex_);
    auto& value = values_[instruction];
    if (value) return value.get();
    value = std::make_unique<LoadedValue>();
    if (kernel.value_sinks)
      value->elements = kernel.value_sinks(
          kernel, instruction, &value->sinks, [](void* to, const ValueSink& sink) {
            static_cast<std::vector<ValueSink>*>(to)->push_back(sink);
          });
    return value.get();
  }

 private:
  std::mutex mutex_;
  std::unordered_map<std::uint32_t, std::unique_ptr<LoadedValue>> values_;
};

class Uninitialised : public PerBlock<UndefinedBlock> {
 public:
  explicit Uninitialised(const Session& session) : session_(session) {}
  // uninitialised.cpp: launches, blocks and accesses
  Topic topics() const override;
  void kernel_begin(const KernelBegin& event) override;
  void block_begin(const BlockBegin& event) override;
  void accessed(const Access& access) override;
  void barrier(const Barrier& event) override;
  // copies.cpp
  void copy_issued(const CopyIssued& copy) override;
  void mbarrier(const MbarrierOp& op) override;
  void allocation(const Allocation& event) override;
  void host_accessed(const HostAccess& access) override;

 private:
  void block_ends(UndefinedBlock& block) override;
  void launch_ended(std::uint64_t launch) override;
  // The block whose memory it is, or that read it; null: it has ended.
  UndefinedBlock* owner(const Suspect& s) {
    UndefinedBlock* const block = find(s.who);
    return block && s.space == Space::shared ? block->peer(s.rank) : block;
  }

  // values.cpp: what becomes of a value that was loaded
  void check_load(const Access& access, UndefinedBlock& block, UndefinedWarp& warp);
  void check_atomic(const Access& access, UndefinedBlock& block);
  void suspect(const Access& access, UndefinedBlock& block, UndefinedWarp& warp, Mask partly);
  // What `access` makes of values that its warp's suspects loaded; after it has written.
  void use(const Access& access, UndefinedBlock& block, UndefinedWarp& warp);
  // A block keeps in its own memory what was computed from undefined bytes.
  void keep_derived(const Access& access, UndefinedBlock& block, Mask mask);
  void store(const Access& access, UndefinedBlock& block, Suspect& s, Mask lanes,
             const ValueSink& sink);
  void remember(PlaceId place, Finding finding);  // that a kernel has written such a value
  void copy_run(const CopyIssued& copy, const CopyRun& run, UndefinedBlock& block);

  // reports.cpp
  void report(Suspect s, Mask lanes, const Access* by);
  bool still_undefined(const UndefinedBlock& block, const PendingUse& use) const {
    return use.space == Space::global ? global_.undefined.has_any(use.address, use.bytes)
                                      : block.shared.has_any(use.address, use.bytes);
  }
  // `who` writes these bytes.
  void settle(UndefinedBlock& block, Space space, std::uint64_t at, std::uint64_t bytes,
              const Who& who);
  void settle(UndefinedBlock& block, const Access& access);
  bool known(PlaceId place) {
    const std::lock_guard lock(mutex_);
    return told_.contains(place);
  }
  void report(PendingUse& use);
  Finding make(const Suspect& s, const Access* by);

  Session session_;
  UndefinedGlobal global_;
  Blocks<std::shared_ptr<UndefinedCluster>> clusters_;
  std::mutex mutex_;
  std::unordered_map<std::uint64_t, std::unique_ptr<Loads>> loads_;  // by launch
  std::unordered_set<PlaceId> told_;
  // Who stored such values, by page of global memory.
  static constexpr unsigned page_shift = 15;
  std::unordered_map<PlaceId, Finding> stores_;
  std::unordered_map<std::uint64_t, PlaceId> stored_by_;
};

}  // namespace inflight::check::uninitialised
