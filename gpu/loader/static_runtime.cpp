// Recognises the runtime by names. Internal functions are named libcudart_static_ and 40
// hexadecimal digits. Public ones have the names that the shared runtime exports.
#include "gpu/loader/static_runtime.hpp"

#include "gpu/loader/runtime_names.hpp"

namespace inflight::loader {
namespace {

constexpr std::string_view internal_prefix = "libcudart_static_";
constexpr std::size_t internal_digits = 40;
constexpr std::string_view registration = "__cudaRegisterFatBinary";
constexpr unsigned current_major = 13;

// The whole archive of the runtime is linked, so one name is enough to identify its version.
struct ReleaseMark {
  std::string_view name;
  unsigned major;  // the last major version that has it
};
constexpr ReleaseMark release_marks[] = {{"cudaBindTexture", 11}, {"cudaThreadSynchronize", 12}};

// Compares like strcmp. `known` is NUL-terminated, `wanted` is not.
int order(const char* known, std::string_view wanted) {
  for (char c : wanted) {
    if (*known != c) return static_cast<unsigned char>(*known) - static_cast<unsigned char>(c);
    ++known;
  }
  return *known;
}

bool looks_public(std::string_view name) {
  if (name.starts_with("__")) name.remove_prefix(2);
  return name.size() > 4 && name.starts_with("cuda") && name[4] >= 'A' && name[4] <= 'Z';
}

}  // namespace

const char* public_name(std::string_view name) {
  if (!looks_public(name)) return nullptr;
  // This runs for every symbol of every table, so it avoids computing lengths.
  const auto* found = std::lower_bound(
      std::begin(runtime_names), std::end(runtime_names), name,
      [](const char* known, std::string_view wanted) { return order(known, wanted) < 0; });
  return found != std::end(runtime_names) && order(*found, name) == 0 ? *found : nullptr;
}

bool imports(const ElfView& elf, std::string_view name) {
  bool found = false;
  elf.each_symbol(SHT_DYNSYM,
                  [&](const Symbol& symbol) { found |= !symbol.defined && symbol.name == name; });
  return found;
}

StaticRuntime::StaticRuntime(const ElfView& elf) : elf_(elf) {
  elf_.each_symbol(SHT_SYMTAB, [&](const Symbol& symbol) {
    if (!symbol.function || !symbol.defined || !looks_public(symbol.name)) return;
    present_ |= symbol.name == registration;
    for (const ReleaseMark& each : release_marks) {
      if (symbol.name == each.name && (major_ == 0 || each.major < major_)) major_ = each.major;
    }
    if (!public_name(symbol.name) && unknown_count_ < unknown_functions_.size())
      unknown_functions_[unknown_count_++].address = symbol.address;
  });
  if (!present_ && (nameless_ = NamelessRuntime::in(elf_))) {
    present_ = true;
    major_ = nameless_->major();
    return;
  }
  if (present_ && major_ == 0) major_ = current_major;
  if (present_ && unknown_count_ > 0) find_neighbours();
}

void StaticRuntime::find_neighbours() {
  elf_.each_symbol(SHT_SYMTAB, [&](const Symbol& symbol) {
    if (!symbol.function || !symbol.defined) return;
    const bool runtime = is_internal(symbol) || public_name(symbol.name);
    const bool unknown = !runtime && looks_public(symbol.name);
    if (unknown) return;
    for (unsigned i = 0; i < unknown_count_; ++i) {
      UnknownFunction& each = unknown_functions_[i];
      if (symbol.address < each.address && symbol.address >= each.below)
        each.below = symbol.address, each.after_runtime = runtime;
      if (symbol.address > each.address && symbol.address <= each.above)
        each.above = symbol.address, each.before_runtime = runtime;
    }
  });
}

bool StaticRuntime::is_internal(const Symbol& symbol) {
  if (!symbol.function || !symbol.defined || !symbol.name.starts_with(internal_prefix) ||
      symbol.name.size() != internal_prefix.size() + internal_digits)
    return false;
  std::string_view digits = symbol.name;
  digits.remove_prefix(internal_prefix.size());
  return std::all_of(digits.begin(), digits.end(), [](char digit) {
    return (digit >= '0' && digit <= '9') || (digit >= 'a' && digit <= 'f');
  });
}

bool StaticRuntime::is_public(const Symbol& symbol) const {
  if (!symbol.function || !symbol.defined || !looks_public(symbol.name)) return false;
  if (public_name(symbol.name)) return true;
  for (unsigned i = 0; i < unknown_count_; ++i) {
    const UnknownFunction& each = unknown_functions_[i];
    if (each.address == symbol.address) return each.after_runtime && each.before_runtime;
  }
  return false;
}

std::uint64_t StaticRuntime::room(const Symbol& function) const {
  if (nameless_) return NamelessRuntime::room;
  std::uint64_t end = ~std::uint64_t{0};
  elf_.each_function(SHT_SYMTAB, [&](std::uint64_t address) {
    if (address > function.address) end = std::min(end, address);
  });
  return end - function.address;
}

}  // namespace inflight::loader
