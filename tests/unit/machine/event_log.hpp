// A listener that records its events, one line each, for tests of the machine's events.
#pragma once
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <string>
#include <string_view>
#include <vector>

#include "gpu/check/listener.hpp"
#include "tests/unit/check/enumerators.hpp"

namespace inflight::machine {

// "bar.sync @1.0/ffffffff sync id 0 ...": the opcode, block, warp and lanes, then the event's other
// data.
class EventLog : public check::Listener {
 public:
  explicit EventLog(check::Topic topics) : topics_(topics) {}
  check::Topic topics() const override { return topics_; }
  void kernel_begin(const check::KernelBegin& event) override { kernel_ = event.kernel; }

  void fenced(const check::Fence& e) override {
    std::string what = fmt::format("{} {} {}", name(e.kind), name(e.order), name(e.scope));
    if (e.kind == check::Fence::Kind::proxy)
      what += fmt::format(" {}->{}", name(e.from), name(e.to));
    if (e.limited) what += fmt::format(" only {}{}", name(e.space), e.own_only ? "::cta" : "");
    if (e.bytes) what += fmt::format(" {} bytes at {}", e.bytes, place(e.address));
    add(e.who, what);
  }
  void barrier(const check::Barrier& e) override {
    std::string what =
        fmt::format("{} {} {} expected {} arrived {} phase {} {}", name(e.kind), e.id, name(e.step),
                    e.expected, e.arrived, e.phase, name(e.order));
    if (e.given) what += fmt::format(" given {}", e.given);
    if (!e.aligned) what += " unaligned";
    add(e.who, what);
  }
  void collective(const check::Collective& e) override {
    add(e.who, fmt::format("{} of {:x}", name(e.kind), e.members));
  }
  void waited(const check::Wait& e) override {
    const bool begins = e.step == check::Wait::Step::begin;
    std::string what = fmt::format("{} waiting for {}", begins ? "begins" : "ends", name(e.what));
    if (e.what == check::Wait::For::barrier)
      what += e.kind == check::BarrierKind::cta ? fmt::format(" {}", e.id)
                                                : fmt::format(" of the {}", name(e.kind));
    if (e.what == check::Wait::For::mbarrier) what += fmt::format(" {} phase {}", e.id, e.parity);
    if (e.members) what += fmt::format(" {:x}", e.members);
    add(e.who, what);
  }

  void copy_issued(const check::CopyIssued& e) override {
    std::string what = fmt::format("issues #{} {} {}->{} {} bytes", small(e.id), name(e.completion),
                                   name(e.from), name(e.to), e.bytes);
    if (e.proxy != check::Proxy::generic) what += fmt::format(" {}", name(e.proxy));
    if (e.source_rank || e.destination_rank)
      what += fmt::format(" ranks {}->{}", e.source_rank, e.destination_rank);
    if (e.of_values) what += " of values";
    if (e.reduces) what += " reducing";
    if (e.left_out) what += fmt::format(" without {}", e.left_out);
    if (e.mbarrier != check::nothing)
      what += fmt::format(" mbarrier {}:{} counts {}", e.mbarrier_rank, e.mbarrier, e.tx_bytes);
    if (e.named_rank != e.mbarrier_rank) what += fmt::format(" named in {}", e.named_rank);
    if (e.tensor_map)
      what += fmt::format(" map {} at {}", place(e.tensor_map), fmt::join(e.coordinates, ","));
    add(e.who, what);
    e.for_each_run([&](const check::CopyRun& run) {
      lines.push_back(fmt::format("  {}: {} <- {} {}/{}", run.lane, place(run.destination),
                                  run.source_bytes ? place(run.source) : "nothing",
                                  run.source_bytes, run.bytes));
    });
  }
  void copy_committed(const check::CopyCommitted& e) override {
    add(e.who, fmt::format("commits {}", name(e.completion)));
  }
  void prefetched(const check::Prefetch& e) override {
    std::string what = fmt::format("prefetches {} bytes", e.bytes);
    if (e.left_out) what += fmt::format(" without {}", e.left_out);
    add(e.who, what);
  }
  void copy_completed(const check::CopyCompleted& e) override {
    add(e.who, fmt::format("completes #{}", small(e.id)));
  }
  void copy_waited(const check::CopyWaited& e) override {
    add(e.who, fmt::format("waited {} all but {}{}", name(e.completion),
                           static_cast<std::int32_t>(e.allowed), e.read_only ? " read" : ""));
  }
  void mbarrier(const check::MbarrierOp& e) override {
    std::string what = fmt::format("{} {}:{}", name(e.op), e.rank, e.address);
    if (e.copy) what += fmt::format(" by #{}", small(e.copy));
    if (e.tx_bytes) what += fmt::format(" {} bytes", e.tx_bytes);
    what += fmt::format(" -> phase {} pending {} tx {}", e.phase_parity, e.pending, e.tx_count);
    if (e.done) what += " done";
    if (e.violation != async::Violation::none) what += fmt::format(" {}", async::name(e.violation));
    add(e.who, what);
  }
  void accessed(const check::Access& e) override {
    std::string what = fmt::format("{} {} {} bytes", name(e.kind), name(e.space), e.bytes);
    if (e.order != check::Order::weak) what += fmt::format(" {} {}", name(e.order), name(e.scope));
    if (e.proxy != check::Proxy::generic) what += fmt::format(" {}", name(e.proxy));
    if (e.addresses)
      what += fmt::format(" at {}", place(e.addresses[std::countr_zero(e.who.mask)]));
    if (e.written && e.written != e.who.mask) what += fmt::format(" written by {:x}", e.written);
    const auto values = [&](std::string_view verb, const std::uint64_t* of_lanes) {
      if (!of_lanes) return;
      what += fmt::format(" {}", verb);
      for (check::Mask m = e.who.mask; m; m &= m - 1)
        what += fmt::format(" {}", of_lanes[std::countr_zero(m)]);
    };
    values("read", e.read);
    values("wrote", e.wrote);
    add(e.who, what);
  }
  void allocation(const check::Allocation& e) override {
    add(e.who, fmt::format("{} {} {} bytes", name(e.kind), name(e.step), e.bytes));
  }

  // Makes events print addresses in [address, address + bytes) by the name `what`.
  void call(std::string what, std::uint64_t address, std::uint64_t bytes) {
    named_.push_back({address, bytes, std::move(what)});
  }
  // Returns the lines that contain `part`.
  std::vector<std::string> with(std::string_view part) const {
    std::vector<std::string> found;
    std::ranges::copy_if(lines, std::back_inserter(found), [&](const std::string& line) {
      return line.find(part) != std::string::npos;
    });
    return found;
  }
  std::vector<std::string> lines;

 protected:
  // The highest bit of an id distinguishes bulk copies from cp.async.
  static std::uint64_t small(std::uint64_t id) { return id & ~(1ull << 63); }
  static std::string_view name(check::Completion c) {
    static constexpr std::array names{"group", "bulk group", "transaction"};
    static_assert(names.size() == check::completion_count);
    return names.at(static_cast<std::size_t>(c));
  }
  template <class Enum>
  static std::string_view name(Enum value) {
    return check::name_of(value);
  }
  std::string place(std::uint64_t address) const {
    for (const Named& n : named_)
      if (address - n.address < n.bytes) return fmt::format("{}+{}", n.name, address - n.address);
    return fmt::format("{}", address);
  }
  void add(const check::Who& who, std::string_view what) {
    std::string_view text = "-";
    if (kernel_ && who.instruction != check::nothing)
      text = kernel_->describe(*kernel_, who.instruction).text;
    lines.push_back(fmt::format("{} @{}.{}/{:x} {}", text, who.block, who.warp, who.mask, what));
  }

 private:
  struct Named {
    std::uint64_t address, bytes;
    std::string name;
  };
  check::Topic topics_;
  const check::Kernel* kernel_ = nullptr;
  std::vector<Named> named_;
};

}  // namespace inflight::machine
