// Detects registers of wgmma that are accessed while a multiplication may still use them, or used
// without wgmma.fence.
#include <fmt/format.h>

#include "gpu/check/detect/detector.hpp"

namespace inflight::check {
namespace {

class Multiplies : public Listener {
 public:
  explicit Multiplies(const Session& session) : session_(session) {}
  Topic topics() const override { return Topic::multiplies; }

  void register_touched(const RegisterTouched& event) override {
    const FindingKind kind = !event.written      ? FindingKind::read_before_wait
                             : event.accumulator ? FindingKind::write_while_in_flight
                                                 : FindingKind::source_modified_in_flight;
    Who issuer = event.who;
    issuer.instruction = event.issued_at;
    session_.findings.add({kind, session_.places.of(event.who), session_.places.of(issuer)}, [&] {
      Finding f;
      f.kind = kind;
      const bool shape = event.by_multiply && event.written && event.accumulator;
      f.sentence = shape ? "a wgmma uses accumulators that one of another shape may still be "
                           "writing: its warp has not waited for the multiplication"
                         : fmt::format(
                               "a register is {} while a wgmma may still be {} it: its "
                               "warp has not waited for the multiplication",
                               event.written ? "written" : "read",
                               event.accumulator ? "writing" : "reading");
      f.here = session_.places.party(
          event.who, fmt::format("{} {}", event.written ? "writes" : "reads", event.name));
      f.there.push_back(session_.places.party(
          issuer, event.accumulator ? "accumulates in it" : "reads it as a fragment of A"));
      f.remedy =
          "wgmma.commit_group after the multiplication, and wgmma.wait_group between that and this "
          "instruction, allowing no more groups than are committed after its own";
      f.rule = shape ? "PTX ISA, wgmma.fence: only multiplications of the same shape may share "
                       "accumulators without it, and wgmma.wait_group: until then, registers of "
                       "wgmma.mma_async must not be accessed"
                     : "PTX ISA, wgmma.wait_group: until then, registers of wgmma.mma_async, A's "
                       "too, must not be accessed";
      return f;
    });
  }

  void multiply_issued(const MultiplyIssued& event) override {
    if (event.unfenced.empty()) return;
    if (event.unfenced_by == nothing) return begins_unfenced(event);
    Who writer = event.who;
    writer.instruction = event.unfenced_by;
    const FindingKind kind = FindingKind::missing_proxy_fence;
    session_.findings.add({kind, session_.places.of(event.who), session_.places.of(writer)}, [&] {
      Finding f;
      f.kind = kind;
      f.sentence =
          "a wgmma uses registers that another instruction has written, and no wgmma.fence lies "
          "between";
      f.here = session_.places.party(event.who, fmt::format("uses {}", event.unfenced));
      f.there.push_back(session_.places.party(writer, fmt::format("writes {}", event.unfenced)));
      f.remedy =
          "wgmma.fence.sync.aligned between the last write to accumulators or fragments of A "
          "and the first wgmma.mma_async that uses them";
      f.rule = "PTX ISA, wgmma.fence";
      return f;
    });
  }

 private:
  // Compilers move the program's last write to the registers, or leave it out, so none is named.
  void begins_unfenced(const MultiplyIssued& event) {
    const FindingKind kind = FindingKind::missing_proxy_fence;
    session_.findings.add({kind, session_.places.of(event.who)}, [&] {
      Finding f;
      f.kind = kind;
      f.sentence = "a warpgroup's first wgmma in the kernel has no wgmma.fence before it";
      f.here = session_.places.party(event.who, fmt::format("uses {}", event.unfenced));
      f.remedy =
          "wgmma.fence.sync.aligned after the last write to accumulators and fragments of A, and "
          "before this wgmma.mma_async";
      f.rule =
          "PTX ISA, wgmma.fence: it must be executed before the first wgmma.mma_async of a kernel";
      return f;
    });
  }

  Session session_;
};

}  // namespace

std::unique_ptr<Listener> make_multiplies(const Session& session, const CheckOptions&) {
  return std::make_unique<Multiplies>(session);
}

}  // namespace inflight::check
