// Runs kernels of arbitrary instructions with hostile operands: addresses, sizes, masks, counts and
// tensor maps. No byte outside an allocation changes, and the launch ends normally or with a
// report.
#include <fmt/format.h>

#include <bit>
#include <cstring>
#include <fstream>
#include <optional>

#include "gpu/machine/link/program.hpp"
#include "tests/fuzz/guarded_device.hpp"
#include "tests/fuzz/launch_forms.hpp"
#include "tests/fuzz/reporting.hpp"

namespace {

using namespace inflight;
using fuzz::Choices;
using fuzz::GuardedDevice;
using fuzz::Role;
using fuzz::Slot;

const std::vector<std::string>& forms() {
  static const std::vector<std::string> all = [] {
    std::vector<std::string> list = fuzz::more_forms();
    std::ifstream in(INFLIGHT_FUZZ_FORMS);
    fuzz::require(in.good(), INFLIGHT_FUZZ_FORMS " can be read");
    for (std::string line; std::getline(in, line);) list.push_back(line);
    return list;
  }();
  return all;
}

// Strings for vprintf, in `large`.
constexpr std::uint32_t format_bytes = 64, formats = 8, formats_at = 4096;
void write_formats(GuardedDevice& device, Choices& choices) {
  static constexpr std::string_view parts[] = {
      "%d", "%s", "%f", "%*d", "%.*f", "%n",  "%5000d", "%-*s",  "%hhx", "%lld", "%p",
      "%c", "%%", "%",  "abc", "%.f",  "%La", "%zu",    "%+#0d", "%e",   "%1$d", "%.400f"};
  for (std::uint32_t i = 0; i < formats; ++i) {
    std::string text;
    for (std::uint32_t n = choices.below(6); n--;) text += choices.pick(parts);
    if (choices.one_in(6)) text.append(format_bytes, 'x');  // runs into the next
    text.resize(format_bytes);
    std::memcpy(reinterpret_cast<void*>(device.large.base + formats_at + i * format_bytes),
                text.data(), format_bytes);
  }
}

struct Value {
  std::uint64_t base = 0, stride = 0;
};

class Values {
 public:
  Values(Choices& choices, const GuardedDevice& device, const machine::Program& program)
      : choices_(choices), device_(device), program_(program) {}

  Value of(const Slot& slot, std::uint32_t hostile_percent) {
    const bool hostile = choices_.below(100) < hostile_percent;
    Value v{hostile ? wrong(slot.role) : right(slot), stride(slot.role)};
    if (hostile && choices_.one_in(3)) v.stride = choices_.pick(fuzz::extremes);
    return v;
  }

 private:
  std::uint64_t stride(Role role) {
    static constexpr std::uint64_t steps[] = {0, 1, 2, 4, 8, 16};
    switch (role) {
      case Role::global:
      case Role::shared:
      case Role::generic:
      case Role::local:
        return choices_.one_in(8) ? choices_.pick(steps) : 4ull << choices_.below(3);
      case Role::value:
        return choices_.pick(steps);
      default:
        return 0;
    }
  }

  std::uint64_t in_shared() {
    const std::uint64_t rank = choices_.one_in(4) ? choices_.below(2) : 0;
    const std::uint64_t line = choices_.one_in(3) ? 16 : 128;
    return rank << 24 | (fuzz::first_shared + line * choices_.below(fuzz::shared_bytes / line - 8));
  }
  std::uint64_t in_global() {
    const auto p = choices_.pick(device_.pieces());
    return p.base + 16 * choices_.below(p.size / 32);
  }

  std::uint64_t texel() {
    static constexpr float floats[] = {0, 0.5f, -0.5f, 1, 3.25f, 1e30f, -1e30f, 1e-40f, 65536.5f};
    switch (choices_.below(4)) {
      case 0:
        return std::bit_cast<std::uint32_t>(choices_.pick(floats));
      case 1:
        return choices_.pick(fuzz::extremes);
      case 2:
        return 0x7fc00000 | choices_.below(2) << 31;
      default:
        return choices_.below(4000);
    }
  }

  std::uint64_t right(const Slot& slot) {
    const machine::Windows& w = device_.memory.windows();
    switch (slot.role) {
      case Role::global:
        return in_global();
      case Role::shared:
        return in_shared();
      case Role::local:
        return choices_.below(fuzz::local_bytes);
      case Role::param:
        return 16 * choices_.below(fuzz::most_slots);
      case Role::barrier:
        return fuzz::first_mbarrier + 8 * choices_.below(fuzz::mbarriers);
      case Role::generic: {
        const std::uint64_t places[] = {in_global(),
                                        in_global(),
                                        w.shared + in_shared(),
                                        w.local + choices_.below(64),
                                        w.param + 8 * choices_.below(64),
                                        program_.symbol("g")->address,
                                        program_.symbol("c")->address};
        return choices_.pick(places);
      }
      case Role::map:
        far_.reset();
        if ((slot.detail == 2 || slot.detail == GuardedDevice::tile_maps) && choices_.one_in(2))
          far_ = device_.far(slot.detail, choices_);
        return far_ ? far_->map : device_.map(slot.detail, choices_);
      case Role::size:
        return 16 * (1 + choices_.below(64));
      case Role::texture:
        return device_.texture(choices_);
      case Role::surface:
        return device_.surface(choices_);
      case Role::texel:
        return texel();
      case Role::multicast:
        return device_.multicast.base + 16 * choices_.below(device_.multicast.size / 16);
      case Role::coordinate:
        if (far_ && slot.detail < 3) return far_->at[slot.detail];
        return slot.detail == 0 ? 16 * choices_.below(3) : choices_.below(6);
      case Role::lanes:
        return choices_.one_in(2) ? ~0ull : choices_.bits();
      case Role::ranks:
        return 1 + choices_.below(3);
      case Role::count:
        return choices_.one_in(2) ? 32 * choices_.below(3) : choices_.below(20);
      case Role::format:
        return device_.large.base + formats_at + format_bytes * choices_.below(formats);
      case Role::value:
        return choices_.bits();
    }
    return 0;
  }

  std::uint64_t wrong(Role role) {
    switch (role) {
      case Role::shared:
      case Role::barrier: {
        const std::uint64_t ends[] = {fuzz::first_shared,
                                      fuzz::first_mbarrier,
                                      fuzz::first_mbarrier + 8 * fuzz::mbarriers,
                                      288,
                                      (227 << 10) + fuzz::first_shared,
                                      1 << 24};
        return (choices_.below(5) << 24) +
               (choices_.one_in(2) ? choices_.pick(ends) : choices_.pick(fuzz::extremes)) -
               choices_.below(20);
      }
      case Role::local:
        return choices_.pick(fuzz::extremes) + choices_.below(80);
      case Role::global:
      case Role::generic:
      case Role::map:
      case Role::format:
      case Role::multicast:
      case Role::texture:
      case Role::surface:
        return device_.hostile_address(choices_);
      default:
        return choices_.one_in(4) ? choices_.bits() : choices_.pick(fuzz::extremes);
    }
  }

  Choices& choices_;
  const GuardedDevice& device_;
  const machine::Program& program_;
  std::optional<GuardedDevice::Far> far_;  // where the last map leads
};

void tally(const machine::Outcome& outcome) {
  using machine::FaultKind;
  fuzz::tally(outcome.ok()                          ? "launches well"
              : outcome.kind == FaultKind::refused  ? "launches refused"
              : outcome.kind == FaultKind::deadlock ? "launches deadlocked"
              : outcome.kind == FaultKind::timeout  ? "launches timed out"
                                                    : "launches faulted");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Choices choices(data, size);
  GuardedDevice device;
  const fuzz::GeneratedKernel kernel = fuzz::generate(choices, forms());
  fuzz::running() = kernel.text;
  const auto program = device.link(kernel.text);
  if (!program) {
    fuzz::tally("texts refused");
    return 0;
  }
  const machine::Kernel* const k = program->kernel("k");
  device.write_maps(choices);
  device.make_textures(choices);
  write_formats(device, choices);
  Values values(choices, device, *program);
  static constexpr std::uint32_t hostile_percent[] = {0, 12, 30, 60};
  for (const std::uint32_t percent : hostile_percent) {
    machine::Launch launch = fuzz::any_launch(choices, *k);
    std::vector<Value> all(fuzz::most_slots);
    for (std::size_t i = 0; i < kernel.slots.size(); ++i)
      all[i] = values.of(kernel.slots[i], percent);
    launch.parameters.resize(k->parameter_bytes);
    std::memcpy(launch.parameters.data(), all.data(),
                std::min(launch.parameters.size(), all.size() * sizeof(Value)));
    fuzz::running() = kernel.text;
    for (std::size_t i = 0; i < kernel.slots.size(); ++i)
      fuzz::running() +=
          fmt::format("// %x{}: 0x{:x} + t * 0x{:x}\n", i, all[i].base, all[i].stride);
    const machine::Outcome outcome = device.run(launch, fuzz::any_options(choices));
    tally(outcome);
    if (outcome.kind == machine::FaultKind::refused) break;
  }
  return 0;
}
