// The interface that is notified of asynchronous operations of all kinds.
#pragma once
#include <cstdint>

#include "gpu/async/completion.hpp"
#include "gpu/async/mbarrier.hpp"
#include "gpu/async/violation.hpp"

namespace inflight::async {

struct Copy;
struct Arrival;
struct BulkCopy;
struct TensorCommit;

// The threads of one warp that issue, commit or wait.
struct Threads {
  std::uint16_t rank = 0;  // of their block in the cluster
  std::uint16_t warp = 0;  // in the block
  std::uint32_t mask = 0;
};

// `tag` identifies the instruction; the caller sets it.
class Observer {
 public:
  // Without `every_event`, only the functions before the heading below are called.
  explicit Observer(bool every_event = true) : wants_every_event(every_event) {}
  virtual ~Observer() = default;
  const bool wants_every_event;

  // A phase of an mbarrier of block `rank` completed: its waiters can continue.
  virtual void phase_completed(std::uint32_t /*rank*/, std::uint32_t /*mbarrier*/) {}
  // A copy or an arrival breaks a rule.
  virtual void broken(Violation, const Threads&, std::uint64_t /*tag*/) {}
  // True if no more bytes need to move. Called before each copy, since thousands may be in flight.
  virtual bool stopped() const { return false; }

  // --- only if wants_every_event: all events, in order ---
  virtual void issued(const Threads&, const Copy&) {}
  // The bytes of these threads have moved.
  virtual void completed(const Threads&, const Copy&) {}
  // An arrival that breaks a rule is not made.
  virtual void arrival_issued(const Threads&, const Arrival&, Violation) {}
  virtual void arrived(const Threads&, const Arrival&, const mbarrier::Step&) {}
  virtual void issued(const BulkCopy&) {}
  // The Step is the effect of the copy's bytes on its mbarrier.
  virtual void completed(const BulkCopy&, const mbarrier::Step&) {}
  virtual void commit_issued(const TensorCommit&) {}
  virtual void commit_arrived(const TensorCommit&, const mbarrier::Step&) {}
  virtual void committed(const Threads&, Completion, std::uint64_t /*tag*/) {}
  virtual void waited(const Threads&, const GroupWait&, std::uint64_t /*tag*/) {}
};

}  // namespace inflight::async
