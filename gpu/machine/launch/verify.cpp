// Runs a launch by both engines, and looks for the first block and entry that make a difference.
#include "gpu/machine/launch/verify.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "gpu/check/names.hpp"
#include "gpu/machine/builtins/builtins.hpp"
#include "gpu/machine/compile/compile.hpp"
#include "gpu/machine/decode/prepared.hpp"
#include "gpu/machine/launch/memory_copy.hpp"

namespace inflight::machine {
namespace {

// More memory than this is not copied for each launch.
constexpr std::uint64_t most_bytes = std::uint64_t{4} << 30;
// With longer runs, the place of a difference is not looked for.
constexpr std::chrono::seconds long_run{5};

// Functions that kernels may call in both runs: what they print is compared.
bool may_call(const Builtin& builtin) {
  return builtin.name == "vprintf" || builtin.name == "__assertfail";
}

// A load that may wait for the host or another device: that would not come twice.
const ptx::Instruction* waiting_load(const Code& code) {
  if (!code.loops) return nullptr;
  for (const Instruction& in : code.description->body) {
    if (!in.text || (in.opcode != ptx::Opcode::ld && in.opcode != ptx::Opcode::atom)) continue;
    const ptx::ModSet mods = in.text->mods;
    const ptx::Space space = in.text->space();
    if (space != ptx::Space::generic && space != ptx::Space::global) continue;
    if (mods.has(ptx::Mod::sys) || mods.has(ptx::Mod::volatile_) || mods.has(ptx::Mod::mmio))
      return in.text;
  }
  return nullptr;
}

// Why the function or one that it calls cannot run twice; empty if it can.
std::string why_not_twice(const Launch& launch, const Code& entry) {
  Prepared& functions = prepared(*launch.kernel->program);
  std::vector<const Code*> queue{&entry};
  std::set<const Code*> seen{&entry};
  while (!queue.empty()) {
    const Code& code = *queue.back();
    queue.pop_back();
    if (const ptx::Instruction* const load = waiting_load(code))
      return fmt::format("it may wait for the host or another device, by {} at line {}", load->name,
                         load->line);
    for (const CallSite& site : code.calls) {
      if (site.builtin && !may_call(*site.builtin))
        return fmt::format("it calls {}", site.builtin->name);
      if (site.builtin) continue;
      if (site.callee.module == ptx::none) return "it calls functions by their addresses";
      const auto callee = functions.code(site.callee, CodeForm{});
      if (callee && seen.insert(*callee).second) queue.push_back(*callee);
    }
  }
  return {};
}

class Verification {
 public:
  Verification(const Launch& launch, const Limits& limits, const Options& options, RunPart run)
      : launch_(launch), limits_(limits), options_(options), run_(run) {}

  Outcome compare(const Code& code, const std::function<void(std::string_view)>& print) {
    const Memory& memory = launch_.kernel->program->memory();
    begin_ = launch_.clock ? launch_.clock->load() : first_cycle;
    const auto from = std::chrono::steady_clock::now();
    copy_.emplace(memory);
    expected_ = once(Compile::never, {});
    copy_->keep_result();
    const auto took = std::chrono::steady_clock::now() - from;
    if (!depends_on_time(expected_.outcome)) judge(code, took < long_run);
    copy_->restore_result();
    set_clock();
    if (!expected_.printed.empty()) print(expected_.printed);
    return expected_.outcome;
  }

 private:
  struct Result {
    Outcome outcome;
    std::string printed;
    std::uint64_t clock = 0;
  };

  static bool depends_on_time(const Outcome& outcome) {
    return outcome.kind == FaultKind::timeout || outcome.kind == FaultKind::interrupted;
  }

  // What is asked of the stream's other launches, and the device's clock, is told once: at the end.
  Result once(Compile compile, RunGrid::Part part) const {
    Launch launch = launch_;
    std::atomic<std::uint64_t> clock{begin_};
    if (launch.clock) launch.clock = &clock;
    launch.dependents = nullptr;
    Options options = options_;
    options.compile = compile;
    options.workers = 1;
    options.progress = false;
    if (compile == Compile::always) options.advise = nullptr;
    Result result;
    result.outcome = run_(
        launch, limits_, options, [&](std::string_view text) { result.printed += text; }, part);
    result.clock = clock;
    return result;
  }

  // In words; nothing if the run agrees with the first.
  std::optional<std::string> difference(Compile compile, RunGrid::Part part) const {
    copy_->restore();
    const Result found = once(compile, part);
    const Outcome &a = expected_.outcome, &b = found.outcome;
    if (depends_on_time(b)) return {};
    if (a.kind != b.kind || a.report != b.report)
      return fmt::format("interpreted it ended {}, and in host code {}", ended(a), ended(b));
    if (auto memory = copy_->difference()) return memory;
    if (expected_.printed != found.printed)
      return fmt::format("interpreted it printed \"{}\", and in host code \"{}\"",
                         expected_.printed, found.printed);
    if (expected_.clock != found.clock)
      return fmt::format("its last block ended at cycle {} interpreted and {} in host code",
                         expected_.clock - begin_, found.clock - begin_);
    return {};
  }
  static std::string ended(const Outcome& outcome) {
    return outcome.ok() ? "well" : fmt::format("with \"{}\"", outcome.report);
  }

  void judge(const Code& code, bool search) const {
    const auto what = difference(Compile::always, {});
    if (!what) return;
    const std::string name(check::readable(launch_.kernel->name));
    if (const auto own = difference(Compile::never, {})) {
      advise(
          fmt::format("Kernel {} was not compared with its host code: two runs by the "
                      "interpreter differ too, so its results depend on more than its input.",
                      name));
      return;
    }
    if (!options_.differs) return;
    options_.differs(fmt::format(
        "Kernel {} has other results in host code than interpreted{}: {}. The interpreter's are "
        "kept. This is a mistake of Inflight. Please report this sentence, with the kernel's PTX "
        "(inflight ptx PROGRAM).",
        name, search ? place(code) : std::string{}, *what));
  }

  void advise(const std::string& sentence) const {
    if (options_.advise) options_.advise(sentence, sentence);
  }

  // The least number up to `most` with which the runs differ. They do with `most`.
  template <class Differs>
  static std::uint64_t least(std::uint64_t most, Differs differs) {
    std::uint64_t low = 0;
    while (most - low > 1) {
      const std::uint64_t middle = low + (most - low) / 2;
      (differs(middle) ? most : low) = middle;
    }
    return most;
  }

  std::string place(const Code& code) const {
    const Dim3& grid = launch_.grid;
    RunGrid::Part part;
    part.blocks = least(grid.count(), [&](std::uint64_t blocks) {
      return difference(Compile::always, {blocks}).has_value();
    });
    part.ops = least(code.ops.size(), [&](std::uint64_t ops) {
      return difference(Compile::always, {part.blocks, ops}).has_value();
    });
    const std::uint64_t block = part.blocks - 1;
    const std::uint32_t instruction = code.ops[part.ops - 1].instruction;
    const auto& body = code.description->body;
    const ptx::Instruction* const text =
        instruction < body.size() ? body[instruction].text : nullptr;
    return fmt::format(" from block ({}, {}, {}) on{}", block % grid.x, block / grid.x % grid.y,
                       block / grid.x / grid.y,
                       text ? fmt::format(", entered at line {} of its PTX", text->line) : "");
  }

  void set_clock() const {
    if (!launch_.clock) return;
    std::uint64_t now = launch_.clock->load();
    while (now < expected_.clock && !launch_.clock->compare_exchange_weak(now, expected_.clock)) {
    }
  }

  const Launch& launch_;
  const Limits& limits_;
  const Options& options_;
  const RunPart run_;
  std::uint64_t begin_ = 0;
  std::optional<MemoryCopy> copy_;
  Result expected_;
};

// Why the launch is only interpreted; empty if it is compared. `code`: null if it cannot begin.
std::string why_not_compared(const Launch& launch, const Options& options, const Code* code) {
  if (!code) return "it cannot begin";
  if (options.listener) return "something counts or watches what it does";
  if (options.turns.kind != Turns::Kind::chip) return "--turns counts its instructions";
  if (launch.cluster.count() > 1) return "its blocks form clusters";
  if (launch.grids.count != 0) return "it runs on several devices at once";
  if (launch.prerequisites && !launch.prerequisites->complete())
    return "it began before an earlier launch had ended";
  if (const std::string why = why_not_twice(launch, *code); !why.empty()) return why;
  const std::uint64_t bytes = MemoryCopy::bytes(launch.kernel->program->memory());
  if (bytes > most_bytes)
    return fmt::format("the program's {} MiB of memory are too many to be copied", bytes >> 20);
  return {};
}

}  // namespace

Outcome run_verified(const Launch& launch, const Limits& limits, const Options& options,
                     const std::function<void(std::string_view)>& print, RunPart run) {
  Options interpreted = options;
  interpreted.compile = Compile::never;
  const auto say = [&](const std::string& sentence) {
    if (options.advise) options.advise(sentence, sentence);
  };
  const Kernel& kernel = *launch.kernel;
  const auto code = prepared(*kernel.program).code({kernel.module, kernel.function}, CodeForm{});
  const std::string unavailable = compile::unavailable();
  std::string why = unavailable;
  if (why.empty()) why = why_not_compared(launch, options, code ? *code : nullptr);
  if (!unavailable.empty())
    say("Kernels are not compiled: " + unavailable + ".");
  else if (code && !why.empty())
    say(fmt::format("Kernel {} was not compared with its host code: {}.",
                    check::readable(kernel.name), why));
  if (!why.empty()) return run(launch, limits, interpreted, print, {});
  const Dim3& block = launch.block;
  const BlockRows rows = block_rows(block.x, block.y, block.z);
  if (!compile::compiled(**code, rows).why_not.empty())
    return run(launch, limits, interpreted, print, {});
  return Verification(launch, limits, options, run).compare(**code, print);
}

}  // namespace inflight::machine
