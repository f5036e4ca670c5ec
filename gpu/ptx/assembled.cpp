// Decides whether the driver's assembler takes an opcode with its words, and says which word is
// wrong. The assembler takes words in any order, except types.
#include "gpu/ptx/assembled.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <optional>
#include <vector>

#include "gpu/ptx/instructions.hpp"

namespace inflight::ptx {

namespace {

// Groups of words for assembled.def.
#define ANY_COMPARISON "eq|ne|lt|le|gt|ge|equ|neu|ltu|leu|gtu|geu|num|nan"
#define ANY_ROUNDING "rn|rz|rm|rp"

struct AssembledForm {
  Opcode opcode;
  std::string_view items;
};
constexpr AssembledForm kForms[] = {
#define FORM(opcode, items) {Opcode::opcode, items},
#define OTHER(name)
#define REPEATED(word)
#define ANYWHERE(word)
#include "gpu/ptx/assembled.def"
#undef FORM
#undef OTHER
#undef REPEATED
#undef ANYWHERE
};
constexpr std::string_view kOthers[] = {
#define FORM(opcode, items)
#define OTHER(name) name,
#define REPEATED(word)
#define ANYWHERE(word)
#include "gpu/ptx/assembled.def"
#undef FORM
#undef OTHER
#undef REPEATED
#undef ANYWHERE
};
constexpr std::string_view kRepeated[] = {
#define FORM(opcode, items)
#define OTHER(name)
#define REPEATED(word) word,
#define ANYWHERE(word)
#include "gpu/ptx/assembled.def"
#undef FORM
#undef OTHER
#undef REPEATED
#undef ANYWHERE
};
constexpr std::string_view kAnywhere[] = {
#define FORM(opcode, items)
#define OTHER(name)
#define REPEATED(word)
#define ANYWHERE(word) word,
#include "gpu/ptx/assembled.def"
#undef FORM
#undef OTHER
#undef REPEATED
#undef ANYWHERE
};

struct AssembledWords {
  Opcode opcode;
  std::string_view words;
};
constexpr AssembledWords kTaken[] = {
#define WORDS(opcode, words) {Opcode::opcode, words},
#include "gpu/ptx/assembled_words.def"
#undef WORDS
};

using Words = std::vector<std::string_view>;

// One word or one of a choice of words.
struct Item {
  Words choices;
  bool optional = false;
  bool types = false;
};
using Items = std::vector<Item>;

// Takes the text up to the next `separator` from `rest`.
std::string_view take_until(std::string_view& rest, char separator) {
  const auto end = rest.find(separator);
  const auto first = rest.substr(0, end);
  rest.remove_prefix(end == rest.npos ? rest.size() : end + 1);
  return first;
}

Words words_between(std::string_view text, char separator) {
  Words words;
  while (!text.empty())
    if (const auto word = take_until(text, separator); !word.empty()) words.push_back(word);
  return words;
}

// Types that no instruction here has are types too: `.s2f6x2`, `.u8x4`.
bool is_type(std::string_view word) {
  const Word::Kind kind = find_word(word).kind;
  if (kind != Word::Kind::unknown) return kind == Word::Kind::type;
  const auto digits = word.find_first_of("0123456789");
  return digits == 1 && std::string_view("busfe").find(word[0]) != std::string_view::npos &&
         word.find('x') != word.npos;
}

// Is it an instruction of the assembler that opcodes.def does not have?
bool is_other(std::string_view name) {
  return std::any_of(std::begin(kOthers), std::end(kOthers), [&](std::string_view other) {
    return name.starts_with(other) && (name.size() == other.size() || name[other.size()] == '.');
  });
}

bool has(const Words& words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

Items items_of(std::string_view text) {
  Items items;
  for (std::string_view item : words_between(text, ' ')) {
    const bool optional = item.ends_with('?');
    if (optional) item.remove_suffix(1);
    Words choices = words_between(item, '|');
    const bool types = is_type(choices.front());
    items.push_back({std::move(choices), optional, types});
  }
  return items;
}

const std::vector<Items>& rows_of(Opcode opcode) {
  static const auto& all = *[] {
    auto* rows = new std::array<std::vector<Items>, std::size_t(Opcode::count_)>;
    for (const AssembledForm& row : kForms)
      (*rows)[std::size_t(row.opcode)].push_back(items_of(row.items));
    return rows;
  }();
  return all[std::size_t(opcode)];
}

// Every word has an item of its own, and every item that must be there a word. Types keep their
// order, so an item of types takes the first type that is left.
bool fits(const Items& items, Words words) {
  for (const Item& item : items) {
    std::size_t at = 0;
    while (at < words.size() && (item.types ? !is_type(words[at]) : !has(item.choices, words[at])))
      ++at;
    if (at < words.size() && has(item.choices, words[at]))
      words.erase(words.begin() + std::ptrdiff_t(at));
    else if (!item.optional)
      return false;
  }
  return words.empty();
}

template <std::size_t N>
bool is_one_of(const std::string_view (&list)[N], std::string_view word) {
  return std::find(std::begin(list), std::end(list), word) != std::end(list);
}

// Drops what the assembler does not look at.
void drop_overlooked(Words& words) {
  Words kept;
  for (std::string_view word : words)
    if (!is_one_of(kAnywhere, word) && !(is_one_of(kRepeated, word) && has(kept, word)))
      kept.push_back(word);
  words = std::move(kept);
}

bool fits(Opcode opcode, const Words& words) {
  const auto& rows = rows_of(opcode);
  return std::any_of(rows.begin(), rows.end(), [&](const Items& row) { return fits(row, words); });
}

Words without(const Words& words, std::size_t at) {
  Words rest = words;
  rest.erase(rest.begin() + std::ptrdiff_t(at));
  return rest;
}

Words words_of(Opcode opcode) {
  Words all;
  for (const Items& row : rows_of(opcode))
    for (const Item& item : row)
      for (std::string_view word : item.choices)
        if (!has(all, word)) all.push_back(word);
  return all;
}

using TakenByOpcode = std::array<std::optional<Words>, std::size_t(Opcode::count_)>;

// The words that the assembler may take on this opcode, besides types. None: not known.
const std::optional<Words>& taken_by(Opcode opcode) {
  static const auto& all = *[] {
    auto* taken = new TakenByOpcode;
    for (const AssembledWords& each : kTaken)
      (*taken)[std::size_t(each.opcode)] = words_between(each.words, ' ');
    return taken;
  }();
  return all[std::size_t(opcode)];
}

// Was the assembler asked for this word on every opcode of assembled_words.def? It was for all that
// an instruction here has, besides types and shapes.
bool was_asked(std::string_view word) {
  const Word::Kind kind = find_word(word).kind;
  return kind == Word::Kind::mod || kind == Word::Kind::space || kind == Word::Kind::vector;
}

// How many letters to change, add or remove to make one word of the other.
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i + 1;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t above = row[j + 1];
      row[j + 1] = std::min({above + 1, row[j] + 1, diagonal + (a[i] != b[j])});
      diagonal = above;
    }
  }
  return row.back();
}

// "; did you mean `.lo`?" if one known word is near.
template <class List>
std::string suggestion(std::string_view word, const List& known, std::string_view prefix) {
  std::string_view nearest;
  std::size_t least = word.size() < 4 ? 1 : word.size() < 7 ? 2 : 3;
  for (std::string_view each : known)
    if (const std::size_t d = distance(word, each); d < least || (d == least && nearest.empty()))
      least = d, nearest = each;
  if (nearest.empty() || nearest == word) return {};
  return fmt::format("; did you mean `{}{}`?", prefix, nearest);
}

}  // namespace

bool is_listed(Opcode opcode) { return !rows_of(opcode).empty(); }

bool has_words(Opcode opcode) { return taken_by(opcode).has_value(); }

bool is_foreign(Opcode opcode, std::string_view name, std::string_view word) {
  return has_words(opcode) && was_asked(word) && !has(*taken_by(opcode), word) &&
         !is_one_of(kAnywhere, word) && !is_other(name);
}

std::string assembly_mistake(Opcode opcode, std::string_view name, std::string_view text) {
  if (!is_listed(opcode) || is_other(name)) return {};
  Words words = words_between(text, '.');
  if (fits(opcode, words)) return {};
  drop_overlooked(words);
  if (fits(opcode, words)) return {};
  const Words known = words_of(opcode);
  for (std::string_view word : words)
    if (!has(known, word)) {
      const bool anywhere = find_word(word).kind != Word::Kind::unknown;
      return fmt::format(
          "`.{}` in `{}` is not a {}{}", word, name,
          anywhere ? fmt::format("word of `{}`", spelling(opcode)) : "known modifier",
          suggestion(word, known, "."));
    }
  for (std::size_t i = words.size(); i-- > 0;)
    if (std::count(words.begin(), words.end(), words[i]) > 1 && fits(opcode, without(words, i)))
      return fmt::format("`{}` says `.{}` twice", name, words[i]);
  // The rows lack combinations that ptxas takes (`setp.gt.or.f16`), so these are left to the
  // kernel.
  return {};
}

std::string precision_mistake(std::string_view name) {
  return fmt::format("`{}` needs a precision: a rounding such as `.rn`, or `.approx`", name);
}

std::string unknown_opcode_mistake(std::string_view name) {
  if (name.starts_with('_') || is_other(name)) return {};
  Words known;
  for (unsigned o = 1; o < unsigned(Opcode::count_); ++o)
    if (spelling(Opcode(o)).find('.') == std::string_view::npos)
      known.push_back(spelling(Opcode(o)));
  const std::string near = suggestion(name.substr(0, name.find('.')), known, "");
  return near.empty() ? near : fmt::format("`{}` is not a known instruction{}", name, near);
}

}  // namespace inflight::ptx
