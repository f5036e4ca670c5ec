// Copies of a warp's threads, for tests of the effects of a call.
#pragma once
#include <bit>

#include "gpu/async/thread_copies.hpp"

namespace inflight::async {

// The effects of a call.
struct Heard {
  bool moved = false, phase_completed = false;
  Violation violation = Violation::none;  // the first one, and its thread:
  std::uint32_t thread = 0;
  std::uint64_t tag = 0;
};

// A warp's copies. Calls return the events that their observer received.
class HeardCopies : Observer {
 public:
  explicit HeardCopies(Timing timing) : copies(Order(timing), *this) {}
  Heard issue(const Issue& i) {
    return hear([&] { copies.issue(i); });
  }
  void commit(std::uint32_t mask) { copies.commit(mask); }
  Heard wait_group(std::uint32_t mask, std::uint32_t allowed) {
    return hear([&] { copies.wait_group(mask, allowed); });
  }
  Heard wait_all(std::uint32_t mask) {
    return hear([&] { copies.wait_all(mask); });
  }
  Heard arrive(const ArriveIssue& i) {
    return hear([&] { copies.arrive(i); });
  }
  Heard flush_for(const mbarrier::Word* word) {
    return hear([&] { copies.flush_for(word); });
  }
  ThreadCopies copies;

 private:
  template <class Call>
  Heard hear(Call call) {
    heard_ = {};
    call();
    return heard_;
  }
  void completed(const Threads&, const Copy&) override { heard_.moved = true; }
  void phase_completed(std::uint32_t, std::uint32_t) override { heard_.phase_completed = true; }
  void broken(Violation violation, const Threads& threads, std::uint64_t tag) override {
    if (heard_.violation != Violation::none) return;
    heard_.violation = violation;
    heard_.thread = static_cast<std::uint32_t>(std::countr_zero(threads.mask));
    heard_.tag = tag;
  }
  Heard heard_;
};

}  // namespace inflight::async
