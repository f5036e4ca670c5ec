// Detects copies and prefetches of a size that PTX does not define: bulk ones whose size is no
// multiple of 16 bytes, and a src-size of cp.async above its cp-size.
#include <fmt/format.h>

#include "gpu/check/detect/detector.hpp"

namespace inflight::check {
namespace {

class CopySizes : public Listener {
 public:
  explicit CopySizes(const Session& session) : session_(session) {}
  Topic topics() const override { return Topic::copies; }

  void copy_issued(const CopyIssued& copy) override {
    if (copy.violation != async::Violation::none) [[unlikely]]
      too_large(copy);
    if (copy.left_out == 0) return;
    const std::uint32_t asked = copy.bytes + copy.left_out;
    add(FindingKind::misaligned, copy.who, [&](Finding& finding) {
      finding.sentence = fmt::format(
          "a bulk copy of {} bytes: its size must be a multiple of 16 (an H200 copies and counts "
          "{}, and leaves out the last {})",
          asked, copy.bytes, copy.left_out);
      finding.here =
          session_.places.party(copy.who, fmt::format("issues a copy of {} bytes", asked));
      finding.remedy = fmt::format(
          "copy {} bytes if both ends have room for them, and expect as many on the mbarrier; or "
          "copy {} and the rest with plain loads and stores",
          copy.bytes + 16, copy.bytes);
      finding.rule = "PTX ISA, cp.async.bulk: size must be a multiple of 16";
    });
  }
  void prefetched(const Prefetch& prefetch) override {
    if (prefetch.left_out == 0) return;
    const std::uint32_t asked = prefetch.bytes + prefetch.left_out;
    add(FindingKind::misaligned, prefetch.who, [&](Finding& finding) {
      finding.sentence =
          fmt::format("a bulk prefetch of {} bytes: its size must be a multiple of 16", asked);
      finding.here = session_.places.party(prefetch.who, fmt::format("prefetches {} bytes", asked));
      finding.remedy = fmt::format("prefetch {} or {} bytes", prefetch.bytes, prefetch.bytes + 16);
      finding.rule = "PTX ISA, cp.async.bulk.prefetch: size must be a multiple of 16";
    });
  }

 private:
  void too_large(const CopyIssued& copy) {
    Who who = copy.who;
    who.mask = copy.breaking;
    add(FindingKind::out_of_bounds, who, [&](Finding& finding) {
      finding.sentence = fmt::format("a cp.async of {} bytes is to read {} bytes of its source: {}",
                                     copy.bytes, copy.source_size, async::sentence(copy.violation));
      finding.here =
          session_.places.party(who, fmt::format("issues a copy of {} bytes", copy.bytes));
      finding.remedy = fmt::format(
          "let src-size be at most {}, the number of bytes to read before the rest is filled with "
          "zeros",
          copy.bytes);
      finding.rule = "PTX ISA, cp.async: src-size is at most cp-size";
    });
  }
  // `tell` completes the finding.
  template <class F>
  void add(FindingKind kind, const Who& who, F tell) {
    session_.findings.add({kind, session_.places.of(who)}, [&] {
      Finding finding;
      finding.kind = kind;
      tell(finding);
      return finding;
    });
  }
  Session session_;
};

}  // namespace

std::unique_ptr<Listener> make_copy_sizes(const Session& session, const CheckOptions&) {
  return std::make_unique<CopySizes>(session);
}

}  // namespace inflight::check
