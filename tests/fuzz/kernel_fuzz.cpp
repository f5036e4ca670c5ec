// Links and runs arbitrary PTX, in which sizes, types, spaces, calls and declarations may not
// match. It is refused, or its launches end normally or with a report, and no byte outside an
// allocation changes.
#include <cstring>
#include <string>

#include "gpu/machine/link/program.hpp"
#include "tests/fuzz/guarded_device.hpp"
#include "tests/fuzz/ptx_mutator.hpp"
#include "tests/fuzz/reporting.hpp"

using namespace inflight;
using fuzz::Choices;
using fuzz::GuardedDevice;

namespace {

// Fills 64-bit words with addresses, small numbers or extremes.
void fill_parameters(std::vector<std::byte>& bytes, Choices& choices, const GuardedDevice& device) {
  for (std::size_t at = 0; at + 8 <= bytes.size(); at += 8) {
    const auto piece = choices.pick(device.pieces());
    const std::uint64_t words[] = {piece.base,
                                   piece.base,
                                   piece.base,
                                   choices.below(100),
                                   device.map(choices.below(2), choices),
                                   device.hostile_address(choices)};
    const std::uint64_t word = choices.pick(words);
    std::memcpy(bytes.data() + at, &word, sizeof word);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  Choices choices = Choices::seeded_by(data, size);
  GuardedDevice device;
  device.write_maps(choices);
  const auto program = device.link(text);
  if (!program) {
    fuzz::tally("texts refused");
    return 0;
  }
  for (const machine::Kernel& kernel :
       program->kernels().first(std::min<std::size_t>(program->kernels().size(), 4))) {
    const machine::Unsupported missing = machine::unsupported(kernel);
    for (const auto* list : {&missing.kernel, &missing.instructions})
      for (const std::string& why : *list)
        fuzz::require(!why.empty(), "what is not supported is named");
    machine::Launch launch = fuzz::any_launch(choices, kernel);
    launch.parameters.resize(kernel.parameter_bytes);
    fill_parameters(launch.parameters, choices, device);
    const machine::Outcome outcome = device.run(launch, fuzz::any_options(choices));
    fuzz::tally(outcome.ok() ? "launches well" : "launches with a report");
  }
  return 0;
}

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t most, unsigned seed) {
  return fuzz::mutate_ptx(data, size, most, seed);
}
