// The cache of descriptions and decoded functions.
#include "gpu/machine/decode/prepared.hpp"

#include <fmt/format.h>

#include <atomic>

#include "gpu/check/names.hpp"
#include "gpu/machine/decode/decode.hpp"

namespace inflight::machine {

Prepared::Prepared(const Program& program)
    : program_(program), functions_(program.function_count()) {}

Prepared::Ready* Prepared::ready(CodeForm form) {
  std::atomic<Ready*>& ready = ready_[form.number()];
  if (Ready* const by_function = ready.load(std::memory_order_acquire)) return by_function;
  const std::lock_guard lock(mutex_);
  auto& made = made_[form.number()];
  if (!made) made = std::make_unique<Ready[]>(program_.function_count());
  ready.store(made.get(), std::memory_order_release);
  return made.get();
}

// Describing runs outside the lock. Of two threads that describe the same function at once, the
// first to finish is kept.
const Function& Prepared::function(Program::FunctionRef ref, const Patience& patience) {
  std::atomic<const Function*>& known = functions_[program_.function_index(ref)];
  if (const Function* const description = known.load(std::memory_order_acquire))
    return *description;
  const ptx::Module& module = *program_.modules()[ref.module];
  auto made = describe(module, module.functions[ref.function], patience);
  const std::lock_guard lock(mutex_);
  if (const Function* const first = known.load(std::memory_order_relaxed)) return *first;
  known.store(made.get(), std::memory_order_release);
  return *described_.emplace_back(std::move(made));
}

// Decodes outside the lock, in the same way.
const Prepared::Decoded& Prepared::decoded(Program::FunctionRef ref, CodeForm form,
                                           const Patience& patience) {
  const std::uint64_t key =
      std::uint64_t{program_.function_index(ref)} * CodeForm::count + form.number();
  {
    const std::lock_guard lock(mutex_);
    if (const auto it = decoded_.find(key); it != decoded_.end()) return it->second;
  }
  Decoded made;
  const ptx::Function& text = program_.modules()[ref.module]->functions[ref.function];
  if (text.has_body) {
    Decoder decoder(program_, ref, function(ref, patience), form);
    decoder.run(patience);
    made = {decoder.take_code(), decoder.take_errors()};
    static std::atomic<std::uint64_t> last{0};
    if (made.code) made.code->id = ++last;
  } else {
    made.errors.push_back(fmt::format("function '{}' is declared, but no module defines it",
                                      check::readable(text.name)));
  }
  const std::lock_guard lock(mutex_);
  return decoded_.try_emplace(key, std::move(made)).first->second;
}

tl::expected<const Code*, std::string> Prepared::code(Program::FunctionRef ref, CodeForm form,
                                                      const Patience& patience) {
  Ready& ready = this->ready(form)[program_.function_index(ref)];
  if (const Code* code = ready.load(std::memory_order_acquire)) return code;
  const Decoded& made = decoded(ref, form, patience);
  if (!made.errors.empty()) return tl::unexpected(made.errors.front());
  ready.store(made.code.get(), std::memory_order_release);
  return made.code.get();
}

bool Prepared::is_ready(Program::FunctionRef ref, CodeForm form) {
  return ready(form)[program_.function_index(ref)].load(std::memory_order_acquire) != nullptr;
}

Prepared& prepared(const Program& program) {
  return static_cast<Prepared&>(program.extension([](const Program& p) {
    return std::unique_ptr<Program::Extension>(std::make_unique<Prepared>(p));
  }));
}

}  // namespace inflight::machine
