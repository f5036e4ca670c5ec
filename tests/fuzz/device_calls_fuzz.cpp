// Runs kernels that call CUDA's device runtime with arguments whose sums wrap, and with handles of
// any kind. No byte outside an allocation is read or changed, and each launch ends.
#include "gpu/machine/link/program.hpp"
#include "tests/fuzz/device_calls.hpp"
#include "tests/fuzz/reporting.hpp"
#include "tests/unit/machine/test_runtime.hpp"

using namespace inflight;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::Choices choices(data, size);
  fuzz::GuardedDevice device;
  const std::string text = fuzz::kernel_of_calls(choices, device);
  fuzz::running() = text;
  const auto program = device.link(text);
  fuzz::require(program != nullptr, "the kernel is valid");
  machine::TestRuntime runtime;
  static constexpr std::uint64_t places[] = {2048, 2048, 4, 1};
  runtime.places = choices.pick(places);
  machine::Launch launch;
  launch.kernel = program->kernel("k");
  static constexpr std::uint32_t threads[] = {1, 1, 2, 32};
  launch.block.x = choices.pick(threads);
  launch.runtime = &runtime;
  const machine::Outcome outcome = device.run(launch, fuzz::any_options(choices));
  fuzz::require(!device.holds_guard_bytes(), "a kernel reads only memory of allocations");
  fuzz::tally(outcome.ok()                                  ? "launches well"
              : outcome.kind == machine::FaultKind::timeout ? "launches timed out"
                                                            : "launches faulted");
  return 0;
}
