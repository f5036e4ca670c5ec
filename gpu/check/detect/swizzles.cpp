// Detects tensor copies whose box begins in the middle of its swizzle's pattern (a warning).
#include <fmt/format.h>

#include "gpu/check/detect/detector.hpp"

namespace inflight::check {
namespace {

class Swizzles : public Listener {
 public:
  explicit Swizzles(const Session& session) : session_(session) {}
  Topic topics() const override { return Topic::copies; }

  void copy_issued(const CopyIssued& copy) override {
    const std::uint32_t period = copy.swizzle_period;
    if (copy.tensor_map == 0 || copy.box % period == 0) return;
    Places& places = session_.places;
    session_.findings.add({FindingKind::swizzle_alignment, places.of(copy.who)}, [&] {
      Finding finding;
      finding.kind = FindingKind::swizzle_alignment;
      finding.sentence = fmt::format(
          "a tensor copy with a swizzle of {} bytes begins at an address that is no multiple of "
          "{}, where its pattern begins: the pattern follows the bits of the address, so code that "
          "computes it from the index in the box finds other elements",
          period / rows, period);
      finding.here = places.party(copy.who, "issues the copy");
      finding.bytes = places.bytes(copy.who, Space::shared, copy.box, copy.bytes);
      finding.remedy = fmt::format(
          "align the box to {} bytes: alignas({}) for the array, and for dynamic shared memory "
          "__align__({}) and a start rounded up to it",
          period, period, period);
      finding.rule = "PTX ISA, Tensors: Swizzling Modes";
      return finding;
    });
  }

 private:
  static constexpr std::uint32_t rows = 8;  // of a pattern, each as wide as the swizzle
  Session session_;
};

}  // namespace

std::unique_ptr<Listener> make_swizzles(const Session& session, const CheckOptions&) {
  return std::make_unique<Swizzles>(session);
}

}  // namespace inflight::check
