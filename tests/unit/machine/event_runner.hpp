// Runs a kernel written as PTX text and returns the events that a listener received.
#pragma once
#include <numeric>
#include <string>
#include <vector>

#include "tests/unit/machine/event_log.hpp"
#include "tests/unit/machine/kernel_runner.hpp"

namespace inflight::machine {

class EventRunner : public KernelRunner {
 protected:
  static constexpr std::uint32_t out_bytes = 4096;
  void SetUp() override { options.workers = 1; }

  // Runs an entry `k` around `body`. %d0 is the address of `out`, out_bytes bytes of global memory
  // with the words 0, 1, 2 ...; %d1 that of `map`, 128 bytes more; and %r0 is the thread's number.
  std::vector<std::string> events(check::Topic topics, Shape shape, const std::string& body,
                                  const std::string& declarations = {}) {
    EventLog log(topics);
    options.listener = &log;
    std::vector<std::uint32_t> words(out_bytes / 4);
    std::iota(words.begin(), words.end(), 0);
    const std::uint64_t out = upload(words), map = make_map(out);
    log.call("out", out, out_bytes);
    log.call("map", map, 128);
    const Outcome o = run(link(declarations + entry(2, R"(
  .reg .b32 %r<20>; .reg .pred %p<6>; .reg .b64 %d<12>;
  ld.param.u64 %d0, [p0];
  ld.param.u64 %d1, [p1];
  mov.u32 %r0, %tid.x;
)" + body + "\n  ret;"),
                               target),
                          shape, {out, map});
    EXPECT_TRUE(o.ok()) << o.report;
    return log.lines;
  }
  std::string target = "sm_90a";
  // The contents at %d1, if a test needs a tensor map of `out`.
  virtual std::uint64_t make_map(std::uint64_t /*out*/) {
    const auto base = memory.allocate(0, 128, AllocationKind::device);
    std::memset(reinterpret_cast<void*>(*base), 0, 128);
    return *base;
  }
};

}  // namespace inflight::machine
