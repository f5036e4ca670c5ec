// Completions that threads hear of late. A copy may take as long as it likes, so a test of an
// mbarrier that waits for copies may fail any number of times. Under check, tests on which a thread
// may go on although they failed do fail, so that what it does then is checked too.
#pragma once
#include <cstdint>
#include <vector>

namespace inflight::machine {

struct Instruction;
struct Warp;

// Of one cluster.
class LateNews {
 public:
  // A copy has counted on the mbarrier in the phase of this parity.
  void counted(std::uint32_t rank, std::uint32_t mbarrier, std::uint32_t parity);
  // A thread of the warp is told that the phase is complete. From now on all are.
  void told(const Warp& warp, std::uint32_t mbarrier, std::uint32_t parity);
  // The mbarrier is initialised.
  void forget(std::uint32_t rank, std::uint32_t mbarrier);
  // Does a test of the complete phase by this warp at `instruction` fail?
  bool withheld(const Warp& warp, const Instruction& instruction, std::uint32_t mbarrier,
                std::uint32_t parity);

 private:
  struct Phase {
    std::uint32_t rank = 0, mbarrier = 0, parity = 0;
    bool operator==(const Phase&) const = default;
  };
  struct Listener {            // a warp
    Phase late;                // what it does not hear of, if `failed` is not 0
    Phase at_once;             // the last phase of which it was to hear at once
    std::uint32_t failed = 0;  // number of failed tests of `late`
    std::uint32_t asked = 0;   // number of tests, and that at the last one of `late`
    std::uint32_t asked_late = 0;
    std::uint32_t phases = 0;  // that it has asked for
  };
  Listener& listener(const Warp& warp);

  std::vector<Phase> counted_;  // phases with copies that no thread knows to be complete
  std::vector<Listener> listeners_;
};

}  // namespace inflight::machine
