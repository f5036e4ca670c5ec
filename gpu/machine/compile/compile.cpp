// Compiles a kernel with asmjit, and installs the entries.
#include "gpu/machine/compile/compile.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <mutex>

#include "gpu/host/instruction_set.hpp"
#include "gpu/machine/compile/emitter.hpp"
#include "gpu/machine/compile/places.hpp"
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

class Made final : public Compiled {
 public:
  Made(const Code& code, BlockRows rows, bool whole)
      : places_(std::make_unique<Places>(code, rows, whole)) {
    const auto begin = std::chrono::steady_clock::now();
    instructions = places_->covered, handled = places_->handled;
    why_not = places_->why_not;
    if (why_not.empty()) emit();
    microseconds = static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::microseconds>(
                                                  std::chrono::steady_clock::now() - begin)
                                                  .count());
  }
  ~Made() override {
    if (base_) runtime().release(base_);
  }
  Made(const Made&) = delete;
  Made& operator=(const Made&) = delete;
  const Places& places() const { return *places_; }

 private:
  struct Errors final : asmjit::ErrorHandler {
    void handleError(asmjit::Error error, const char* message, asmjit::BaseEmitter*) override {
      if (!first.empty() || error == asmjit::kErrorOk) return;
      first = message;
    }
    std::string first;
  };

  void emit() {
    asmjit::CodeHolder holder;
    Errors errors;
    holder.init(runtime().environment());
    holder.setErrorHandler(&errors);
    Emitter emitter(*places_, holder);
    const auto labels = emitter.run();
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
    home_bytes = 16 * std::max(places_->homes, 1u);
    entries.resize(places_->ops.size());
    const auto address = [&](const asmjit::Label& label) {
      return reinterpret_cast<Handler>(static_cast<char*>(base_) + holder.labelOffset(label));
    };
    for (const auto& each : labels) entries[each.op] = {address(each.enter), address(each.resume)};
  }

  std::unique_ptr<const Places> places_;
  std::vector<std::unique_ptr<const Spread>> spreads_;
  void* base_ = nullptr;
};

void install(const Code& code, const Places& places) {
  auto kept = std::make_unique<Interpreted>();
  for (const Op& op : code.ops) kept->handlers.push_back(op.run);
  code.interpreted = std::move(kept);
  for (std::uint32_t k = 0; k < places.ops.size(); ++k)
    if (places.ops[k].entry)
      std::atomic_ref(const_cast<Op&>(code.ops[k]).run)
          .store(&run_entry, std::memory_order_release);
}

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
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  auto& made = code.compiled[static_cast<std::size_t>(rows)];
  if (made) return *made;
  auto fresh = std::make_unique<Made>(code, rows, whole);
  if (fresh->why_not.empty() && !code.interpreted) install(code, fresh->places());
  made = std::move(fresh);
  return *made;
}

}  // namespace inflight::machine::compile
