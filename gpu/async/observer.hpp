// Who hears of operations in flight: one interface for all kinds of them, to whoever runs the
// threads.
#pragma once
#include <cstdint>

#include "gpu/async/completion.hpp"
#include "gpu/async/mbarrier.hpp"
#include "gpu/async/violation.hpp"

namespace inflight::async {

struct Copy;
struct Arrival;
struct BulkCopy;

// Threads of one warp: who issues, commits or waits.
struct Threads {
  std::uint16_t rank = 0;  // of their block in the cluster
  std::uint16_t warp = 0;  // in the block
  std::uint32_t mask = 0;
};

// `tag` is of the instruction that did it, as the caller gave it.
class Observer {
 public:
  // Without `every_event`, it hears only of what changes how threads go on.
  explicit Observer(bool every_event = true) : wants_every_event(every_event) {}
  virtual ~Observer() = default;
  const bool wants_every_event;

  // An mbarrier of block `rank` has gone on to its next phase: its waiters can go on.
  virtual void phase_completed(std::uint32_t /*rank*/, std::uint32_t /*mbarrier*/) {}
  // A copy or an arrival breaks a rule.
  virtual void broken(Violation, const Threads&, std::uint64_t /*tag*/) {}
  // Nothing needs to move any more: asked before each copy, since thousands may be in flight.
  virtual bool stopped() const { return false; }

  // --- where it wants every event, in order ---
  virtual void issued(const Threads&, const Copy&) {}
  // The bytes of these threads have moved.
  virtual void completed(const Threads&, const Copy&) {}
  // An arrival that breaks a rule never comes.
  virtual void arrival_issued(const Threads&, const Arrival&, Violation) {}
  virtual void arrived(const Threads&, const Arrival&, const mbarrier::Step&) {}
  virtual void issued(const BulkCopy&) {}
  // `step` is what the copy's bytes did to its mbarrier.
  virtual void completed(const BulkCopy&, const mbarrier::Step&) {}
  virtual void committed(const Threads&, Completion, std::uint64_t /*tag*/) {}
  virtual void waited(const Threads&, const GroupWait&, std::uint64_t /*tag*/) {}
};

}  // namespace inflight::async
