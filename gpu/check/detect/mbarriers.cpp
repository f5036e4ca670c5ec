// mbarriers: rules that an operation broke.
#include <fmt/format.h>

#include "gpu/check/detect/detector.hpp"

namespace inflight::check {
namespace {

using async::Violation;

FindingKind kind_of(Violation violation) {
  switch (violation) {
    case Violation::too_many_arrivals:
    case Violation::drop_below_zero:
    case Violation::pending_overflow:
      return FindingKind::arrival_count;
    case Violation::tx_operand_range:
    case Violation::tx_overflow:
    case Violation::tx_underflow:
      return FindingKind::transaction_count;
    default:
      return FindingKind::barrier_misuse;
  }
}

class Mbarriers : public Listener {
 public:
  explicit Mbarriers(const Session& session) : session_(session) {}
  Topic topics() const override { return Topic::mbarriers; }

  void mbarrier(const MbarrierOp& op) override {
    if (op.violation == Violation::none) return;
    Places& places = session_.places;
    session_.findings.add({kind_of(op.violation), places.of(op.who), no_place,
                           static_cast<std::uint64_t>(op.violation)},
                          [&] {
                            Finding finding;
                            finding.kind = kind_of(op.violation);
                            finding.sentence =
                                fmt::format("an mbarrier operation breaks a rule: {}",
                                            async::sentence(op.violation));
                            finding.here = places.party(op.who, "operates on an mbarrier");
                            finding.bytes = Bytes{Space::shared, op.address, 8, {}, 0};
                            return finding;
                          });
  }

 private:
  Session session_;
};

}  // namespace

std::unique_ptr<Listener> make_mbarriers(const Session& session, const CheckOptions&) {
  return std::make_unique<Mbarriers>(session);
}

}  // namespace inflight::check
