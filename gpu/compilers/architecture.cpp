// Parses targets and the options that name them.
#include "gpu/compilers/architecture.hpp"

#include <charconv>

#include "gpu/compilers/register_limit.hpp"

namespace inflight::compilers {
namespace {

constexpr std::string_view real = "sm_", virtual_one = "compute_";

enum class Option { none, architecture, registers };

struct OptionName {
  std::string_view name;
  Option option;
};
constexpr OptionName names[] = {{"--gpu-architecture", Option::architecture},
                                {"-arch", Option::architecture},
                                {"--maxrregcount", Option::registers},
                                {"-maxrregcount", Option::registers}};

// The option in a word, and the offset of its value. If that is the end, the next word is the
// value.
struct Word {
  Option option = Option::none;
  std::size_t value = 0;
};

Word read_word(std::string_view word) {
  for (const OptionName& each : names) {
    if (word == each.name) return {each.option, word.size()};
    if (word.starts_with(each.name) && word[each.name.size()] == '=')
      return {each.option, each.name.size() + 1};
  }
  return {};
}

}  // namespace

std::optional<Target> read_target(std::string_view text) {
  Target result;
  result.machine_code = text.starts_with(real);
  if (!result.machine_code && !text.starts_with(virtual_one)) return std::nullopt;
  text.remove_prefix(result.machine_code ? real.size() : virtual_one.size());
  const char* end = text.data() + text.size();
  const auto number = std::from_chars(text.data(), end, result.architecture.number);
  if (number.ec != std::errc{} || result.architecture.number <= 0) return std::nullopt;
  const std::string_view suffix(number.ptr, std::size_t(end - number.ptr));
  result.architecture.specific = suffix == "a";
  result.architecture.family = suffix == "f";
  if (!suffix.empty() && !result.architecture.specific && !result.architecture.family)
    return std::nullopt;
  return result;
}

VirtualOptions without_machine_code(const std::vector<std::string>& words) {
  VirtualOptions result;
  Option pending = Option::none;  // option whose value is the next word
  for (const std::string& text : words) {
    const Word word = pending == Option::none ? read_word(text) : Word{pending, 0};
    std::string& out = result.words.emplace_back(text);
    const std::string_view value = std::string_view(text).substr(word.value);
    pending = Option::none;
    if (word.option != Option::none && value.empty()) {
      pending = word.option;
    } else if (word.option == Option::registers) {
      result.registers = register_limit(value);
    } else if (word.option == Option::architecture && value.starts_with(real)) {
      out.replace(word.value, real.size(), virtual_one);
      result.machine_code = true;
    }
  }
  return result;
}

}  // namespace inflight::compilers
