// Spurious failures of mbarrier tests. A copy may take any time, so a test of an mbarrier that
// waits for copies may fail any number of times. Under check such a test does fail where the thread
// may go on after a failure, so that what the thread does then is checked too.
#pragma once
#include <cstdint>
#include <vector>

namespace inflight::machine {

struct Instruction;
struct Warp;

// Of one cluster.
class SpuriousFailures {
 public:
  // A copy has counted on the mbarrier in the phase of this parity.
  void copy_counted(std::uint32_t rank, std::uint32_t mbarrier, std::uint32_t parity);
  // A thread of the warp observes that the phase is complete. From now on no test of it fails.
  void observed(const Warp& warp, std::uint32_t mbarrier, std::uint32_t parity);
  // The mbarrier is initialised.
  void forget(std::uint32_t rank, std::uint32_t mbarrier);
  // Does this warp's test of the complete phase fail? `instruction` is the test.
  bool fails(const Warp& warp, const Instruction& instruction, std::uint32_t mbarrier,
             std::uint32_t parity);

 private:
  struct Phase {
    std::uint32_t rank = 0, mbarrier = 0, parity = 0;
    bool operator==(const Phase&) const = default;
  };
  struct OfWarp {
    Phase failing;              // the phase whose tests fail, if `failed` is not 0
    Phase exempt;               // the last phase chosen to have no failures
    std::uint32_t failed = 0;   // number of failed tests of `failing`
    std::uint32_t tests = 0;    // number of tests of any phase
    std::uint32_t last_at = 0;  // `tests` at the last test of `failing`
    std::uint32_t phases = 0;   // number of phases tested
  };
  OfWarp& of(const Warp& warp);

  std::vector<Phase> unobserved_;  // phases with copies that no thread has observed as complete
  std::vector<OfWarp> warps_;
};

}  // namespace inflight::machine
