// Compiles a kernel with asmjit, and installs the entries.
#include "gpu/machine/compile/compile.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include "gpu/host/instruction_set.hpp"
#include "gpu/machine/compile/emitter.hpp"
#include "gpu/machine/compile/helper.hpp"
#include "gpu/machine/compile/places.hpp"
#include "gpu/machine/compile/unwind.hpp"
#include "gpu/machine/run/compiled_entry.hpp"

// asmjit's own versions refer to stderr in a way that a shared library cannot have, as Debian
// builds its archive. With these, the linker leaves them out.
const char* asmjit::DebugUtils::errorAsString(Error error) noexcept {
  static thread_local char text[24];
  std::snprintf(text, sizeof text, "error %u", error);
  return text;
}
void asmjit::DebugUtils::debugOutput(const char*) noexcept {}
void asmjit::DebugUtils::assertionFailed(const char*, int, const char*) noexcept { std::abort(); }

namespace inflight::machine::compile {
namespace {

// Memory that is written at one address and executed at another, never both at one. It is never
// destroyed: kernels may live as long as the process.
asmjit::JitRuntime& runtime() {
  static auto& all = *[] {
    asmjit::JitAllocator::CreateParams how;
    how.options = asmjit::JitAllocatorOptions::kUseDualMapping;
    return new asmjit::JitRuntime(&how);
  }();
  return all;
}

// A process shares the memory of its code with those that it forks, so these make none.
bool is_forked() {
  static const pid_t process = getpid();
  return process != getpid();
}

class Made final : public Compiled {
 public:
  Made(const Code& code, BlockRows rows, bool whole, const Patience& patience) {
    const auto begin = std::chrono::steady_clock::now();
    places_ = std::make_unique<Places>(code, rows, whole, patience);
    instructions = places_->covered, handled = places_->handled;
    why_not = is_forked() ? "this process was forked" : places_->why_not;
    if (why_not.empty()) emit(patience);
    microseconds = static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::microseconds>(
                                                  std::chrono::steady_clock::now() - begin)
                                                  .count());
  }
  ~Made() override {
    if (base_) runtime().release(base_);
  }
  Made(const Made&) = delete;
  Made& operator=(const Made&) = delete;

 private:
  struct Errors final : asmjit::ErrorHandler {
    void handleError(asmjit::Error error, const char* message, asmjit::BaseEmitter*) override {
      if (!first.empty() || error == asmjit::kErrorOk) return;
      first = message;
    }
    std::string first;
  };

  void emit(const Patience& patience) {
    asmjit::CodeHolder holder;
    Errors errors;
    holder.init(runtime().environment());
    holder.setErrorHandler(&errors);
    Emitter emitter(*places_, holder);
    const auto labels = emitter.run(patience);
    spreads_ = std::move(emitter.spreads);
    if (errors.first.empty()) {
      const asmjit::Error error = runtime().add(&base_, &holder);
      if (error != asmjit::kErrorOk) {
        base_ = nullptr;
        errors.first = asmjit::DebugUtils::errorAsString(error);
      }
    }
    if (!errors.first.empty()) {
      why_not = "the assembler said: " + errors.first;
      return;
    }
    code_bytes = holder.codeSize();
    unwind_.emplace(base_, code_bytes);
    home_bytes = 16 * std::max(places_->homes, 1u);
    entries.resize(places_->ops.size());
    const auto address = [&](const asmjit::Label& label) {
      return reinterpret_cast<Handler>(static_cast<char*>(base_) + holder.labelOffset(label));
    };
    for (const auto& each : labels) entries[each.op] = {address(each.enter), address(each.resume)};
    entry_count = static_cast<std::uint32_t>(labels.size());
  }

  std::unique_ptr<const Places> places_;
  std::vector<std::unique_ptr<const Spread>> spreads_;
  void* base_ = nullptr;
  std::optional<Unwind> unwind_;
};

// What has been made of one function.
class Engine final : public OtherEngine, public Job {
 public:
  explicit Engine(const Code& code) : code_(code) {}
  ~Engine() override { Helper::get().forget(*this); }

  static Engine& of(const Code& code) {
    static std::mutex mutex;
    const std::lock_guard lock(mutex);
    if (!code.engine) code.engine = std::make_unique<Engine>(code);
    return static_cast<Engine&>(*code.engine);  // there is no other kind
  }

  const Compiled& make(BlockRows rows, bool whole, const Patience& patience) {
    const std::lock_guard lock(mutex_);
    auto& made = made_[static_cast<std::size_t>(rows)];
    if (made) return *made;
    made = std::make_unique<Made>(code_, rows, whole, patience);
    if (made->why_not.empty()) keep_handlers();
    code_.compiled[static_cast<std::size_t>(rows)].store(made.get(), std::memory_order_release);
    if (made->why_not.empty()) install(*made);
    return *made;
  }
  void compile(BlockRows rows, const Patience& patience) override { make(rows, false, patience); }

 private:
  void keep_handlers() {
    if (kept_) return;
    auto kept = std::make_unique<Interpreted>();
    for (const Op& op : code_.ops) kept->handlers.push_back(op.run);
    kept_ = std::move(kept);
    code_.interpreted.store(kept_.get(), std::memory_order_release);
  }
  // Launches may run the code. Who sees a new handler sees what was stored before it.
  void install(const Compiled& made) const {
    for (std::size_t k = 0; k < made.entries.size(); ++k)
      if (made.entries[k].enter)
        std::atomic_ref(const_cast<Op&>(code_.ops[k]).run)
            .store(&run_entry, std::memory_order_release);
  }

  const Code& code_;
  std::mutex mutex_;
  std::array<std::unique_ptr<const Compiled>, 4> made_;
  std::unique_ptr<const Interpreted> kept_;
};

}  // namespace

std::string unavailable() {
  static const std::string why = []() -> std::string {
    if (host::instruction_set() != host::InstructionSet::avx512)
      return "it needs a processor with AVX-512";
    const auto& features = asmjit::CpuInfo::host().features().x86();
    if (!features.hasAVX512_F() || !features.hasAVX512_BW() || !features.hasAVX512_DQ() ||
        !features.hasAVX512_VL())
      return "it needs a processor with AVX-512";
    // Some hosts forbid it.
    asmjit::VirtMem::DualMapping mapping{};
    const std::size_t page = asmjit::VirtMem::info().pageSize;
    if (asmjit::VirtMem::allocDualMapping(
            &mapping, page, asmjit::VirtMem::MemoryFlags::kAccessRWX) != asmjit::kErrorOk)
      return "this host forbids code that is made while a program runs";
    asmjit::VirtMem::releaseDualMapping(&mapping, page);
    return {};
  }();
  return why;
}

const Compiled& compiled(const Code& code, BlockRows rows, bool whole) {
  const Compiled* const made =
      code.compiled[static_cast<std::size_t>(rows)].load(std::memory_order_acquire);
  return made ? *made : Engine::of(code).make(rows, whole, {});
}

void request(const Code& code, BlockRows rows) { Helper::get().want(Engine::of(code), rows); }

}  // namespace inflight::machine::compile
