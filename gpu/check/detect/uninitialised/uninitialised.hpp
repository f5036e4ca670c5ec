// Detects uses of bytes that nothing has written.
//
// A load alone is no mistake: programs read a whole vector and drop a part, or copy a struct with
// its padding. The machine follows undefined bits through registers (Access::undefined) and reports
// where they decide something. Where they are stored, the destination becomes undefined too, and a
// finding follows when it is used or copied to the host.
#pragma once
#include <mutex>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "gpu/check/detect/blocks.hpp"
#include "gpu/check/detect/detector.hpp"
#include "gpu/check/detect/uninitialised/state.hpp"

namespace inflight::check::uninitialised {

// The use of a value that was read.
struct User {
  const Who* who = nullptr;  // null: the read itself is the use
  std::string_view did;
  const Access* store = nullptr;
};

class Uninitialised : public PerBlock<UndefinedBlock> {
 public:
  explicit Uninitialised(const Session& session) : session_(session) {}
  // uninitialised.cpp: launches, blocks and accesses
  Topic topics() const override;
  void block_begin(const BlockBegin& event) override;
  void accessed(const Access& access) override;
  void barrier(const Barrier& event) override;
  void undefined_used(const UndefinedUse& event) override;  // values.cpp
  // copies.cpp
  void copy_issued(const CopyIssued& copy) override;
  void mbarrier(const MbarrierOp& op) override;
  void allocation(const Allocation& event) override;
  void host_accessed(const HostAccess& access) override;

 private:
  void block_ends(UndefinedBlock& block) override;
  void launch_ended(std::uint64_t launch) override;
  // The block whose shared memory was read, otherwise the block that read. Null if it has ended.
  UndefinedBlock* owner(const Origin& s) {
    UndefinedBlock* const block = find(s.who);
    return block && s.space == Space::shared ? block->peer(s.rank) : block;
  }

  // values.cpp: what happens to a loaded value
  void check_load(const Access& access, UndefinedBlock& block);
  void check_atomic(const Access& access, UndefinedBlock& block);
  static void remember_load(const Access& access, const UndefinedBlock& block, Mask lanes,
                            Loaded& loaded);
  static void judge_bits(const Access& access, const UndefinedBlock& block, const Loaded& loaded);
  std::uint32_t number(const Access& access, UndefinedBlock& block, Mask lanes);
  void stored(const Access& access, UndefinedBlock& block);
  void keep(const Access& access, UndefinedBlock& block, Mask lanes, Mask whole);
  void keep_causes(const Access& access, UndefinedBlock& block, const Origin& from, Mask lanes);
  void remember_store(const Access& access, const Origin& origin, Mask lanes);
  void remember(PlaceId place, Finding finding);  // of a kernel that stored an undefined value
  bool is_undefined(const CopyIssued& copy, const UndefinedBlock& block, std::uint64_t source,
                    std::uint64_t bytes) const;
  void check_reduced(const CopyIssued& copy, const CopyRun& run, UndefinedBlock& block);
  void copy_over(const CopyIssued& copy, const CopyRun& run, UndefinedBlock& block);
  void copy_undefined(const CopyIssued& copy, const CopyRun& run, UndefinedBlock& block);

  // reports.cpp
  void report(const Origin& s, const User& by);
  bool still_undefined(const UndefinedBlock& block, const PendingUse& use) const {
    return use.space == Space::global ? global_.undefined.has_any(use.address, use.bytes)
                                      : block.shared.has_any(use.address, use.bytes);
  }
  // `who` is about to write these bytes.
  void note_overwritten(UndefinedBlock& block, Space space, std::uint64_t at, std::uint64_t bytes,
                        const Who& who);
  // `who` writes these bytes: reports or drops the pending uses of them.
  void settle(UndefinedBlock& block, Space space, std::uint64_t at, std::uint64_t bytes,
              const Who& who);
  void settle(UndefinedBlock& block, const Access& access);
  bool known(PlaceId place) {
    const std::lock_guard lock(mutex_);
    return reported_.contains(place);
  }
  void report(PendingUse& use);
  Finding make(const Origin& last, const User& by);

  Session session_;
  UndefinedGlobal global_;
  Blocks<std::shared_ptr<UndefinedCluster>> clusters_;
  std::mutex mutex_;
  std::unordered_set<PlaceId> reported_;
  // Stores of undefined values: a finding by place, and the last place by page of global memory.
  static constexpr unsigned page_shift = 15;
  std::unordered_map<PlaceId, Finding> stores_;
  std::unordered_map<std::uint64_t, PlaceId> stored_by_;
};

}  // namespace inflight::check::uninitialised
