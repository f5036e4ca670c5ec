// Splits PTX into words and statements and mutates them.
#include "tests/fuzz/ptx_mutator.hpp"

#include <algorithm>
#include <cctype>
#include <random>
#include <string_view>
#include <vector>

#include "gpu/ptx/instructions.hpp"
#include "tests/fuzz/choices.hpp"

namespace inflight::fuzz {
namespace {

using Random = std::minstd_rand;
using Words = std::vector<std::string>;  // each with the blanks and comments after it

std::size_t below(Random& random, std::size_t n) { return n ? random() % n : 0; }
bool one_in(Random& random, std::size_t n) { return below(random, n) == 0; }
template <class T>
const auto& pick(Random& random, const T& values) {
  return values[below(random, std::size(values))];
}

// --- words ---

bool in_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '$' || c == '.' ||
         c == '%' || c == ':';
}

std::size_t skip_blanks(std::string_view text, std::size_t at) {
  while (at < text.size()) {
    if (std::isspace(static_cast<unsigned char>(text[at]))) {
      ++at;
    } else if (text.substr(at, 2) == "//") {
      at = std::min(text.find('\n', at), text.size());
    } else if (text.substr(at, 2) == "/*") {
      const std::size_t end = text.find("*/", at + 2);
      at = end == text.npos ? text.size() : end + 2;
    } else {
      break;
    }
  }
  return at;
}

Words words_of(std::string_view text) {
  Words words;
  for (std::size_t at = skip_blanks(text, 0); at < text.size();) {
    std::size_t end = at + 1;
    if (text[at] == '"') {
      end = std::min(text.find('"', end), text.size() - 1) + 1;
    } else if (in_word(text[at])) {
      while (end < text.size() && in_word(text[end])) ++end;
    }
    const std::size_t next = skip_blanks(text, end);
    words.emplace_back(text.substr(at, next - at));
    at = next;
  }
  return words;
}

std::string_view bare(const std::string& word) {
  std::size_t end = 0;
  if (!word.empty() && in_word(word[0]))
    while (end < word.size() && in_word(word[end])) ++end;
  else
    end = std::min<std::size_t>(1, word.size());
  return std::string_view(word).substr(0, end);
}
void put(std::string& word, std::string_view bare_word) {
  word = std::string(bare_word) + word.substr(bare(word).size());
}

// The kind of a word. Words of one kind may replace one another.
enum class Kind { number, reg, opcode, directive, name, punctuation };
Kind kind_of(const std::string& word) {
  const std::string_view w = bare(word);
  if (w.empty() || !in_word(w[0])) return Kind::punctuation;
  if (std::isdigit(static_cast<unsigned char>(w[0]))) return Kind::number;
  if (w[0] == '%') return Kind::reg;
  if (w[0] == '.') return Kind::directive;
  return w.find('.') != w.npos ? Kind::opcode : Kind::name;
}

// Finds a word of this kind. Returns words.size() if none is found soon.
std::size_t find(const Words& words, Kind kind, Random& random) {
  for (int tries = 0; tries < 40; ++tries) {
    const std::size_t at = below(random, words.size());
    if (at < words.size() && kind_of(words[at]) == kind) return at;
  }
  return words.size();
}

// The statement around a position, including its ; { or }.
struct Range {
  std::size_t begin, end;
};
bool ends_statement(const std::string& word) {
  const std::string_view w = bare(word);
  return w == ";" || w == "{" || w == "}";
}
Range statement(const Words& words, std::size_t at) {
  Range r{at, at};
  while (r.begin > 0 && !ends_statement(words[r.begin - 1])) --r.begin;
  while (r.end < words.size() && !ends_statement(words[r.end])) ++r.end;
  r.end = std::min(r.end + 1, words.size());
  return r;
}
// From a word to the closing brace of the next block.
Range block(const Words& words, std::size_t at) {
  Range r = statement(words, at);
  std::size_t depth = 0;
  for (r.end = r.begin; r.end < words.size(); ++r.end) {
    const std::string_view w = bare(words[r.end]);
    if (w == "{") ++depth;
    if (w == "}" && depth > 0 && --depth == 0) break;
  }
  r.end = std::min(r.end + 1, words.size());
  return r;
}

const Words& components() {
  static const Words all = [] {
    Words list;
#define MOD(name, text) list.push_back(text);
#include "gpu/ptx/modifiers.def"
#undef MOD
#define X(name, size, text) list.push_back(text);
    INFLIGHT_PTX_TYPES(X)
    INFLIGHT_PTX_TYPES(X)  // types twice, since they break more
#undef X
    for (const char* space : {"const", "global", "local", "param", "shared", "shared::cta",
                              "shared::cluster", "v2", "v4", "v8", "reg", "sreg"})
      list.insert(list.end(), 4, space);
    return list;
  }();
  return all;
}

const Words& opcodes() {
  static const Words all = {
#define OPCODE(name, text, ...) text,
#include "gpu/ptx/opcodes.def"
#undef OPCODE
  };
  return all;
}

// --- ways to mutate ---

void change_number(Words& words, Random& random) {
  const std::size_t at = find(words, Kind::number, random);
  if (at == words.size()) return;
  const std::string old(bare(words[at]));
  switch (below(random, 4)) {
    case 0:
      return put(words[at], "-" + old);
    case 1:
      return put(words[at], std::to_string(std::strtoull(old.c_str(), nullptr, 0) + 1));
    case 2:
      return put(words[at], std::to_string(std::strtoull(old.c_str(), nullptr, 0) * 2));
    default:
      return put(words[at], std::to_string(pick(random, extremes)));
  }
}

// Changes one part of an opcode such as `ld.global.v4.f32`: replaces or removes a type, space or
// modifier, adds one, or replaces the opcode.
void change_component(Words& words, Random& random) {
  std::size_t at = find(words, Kind::opcode, random);
  if (at == words.size() || one_in(random, 6)) at = find(words, Kind::directive, random);
  if (at == words.size()) return;
  const std::string w(bare(words[at]));
  std::vector<std::string> parts;
  for (std::size_t from = 0; from <= w.size();) {
    const std::size_t dot = std::min(w.find('.', from), w.size());
    parts.push_back(w.substr(from, dot - from));
    from = dot + 1;
  }
  const std::size_t part = below(random, parts.size());
  switch (below(random, 5)) {
    case 0:
      parts.erase(parts.begin() + static_cast<std::ptrdiff_t>(part));
      break;
    case 1:
      parts.insert(parts.begin() + static_cast<std::ptrdiff_t>(part), pick(random, components()));
      break;
    default:
      parts[part] = part == 0 && w[0] != '.' ? pick(random, opcodes()) : pick(random, components());
      break;
  }
  std::string joined;
  for (const std::string& p : parts) joined += (joined.empty() && w[0] != '.' ? "" : ".") + p;
  if (w[0] == '.' && joined.starts_with("..")) joined.erase(0, 1);
  put(words[at], joined);
}

// Replaces a register, name or number by another, or swaps the two.
void change_operand(Words& words, Random& random) {
  static constexpr Kind kinds[] = {Kind::reg, Kind::reg, Kind::reg, Kind::name, Kind::number};
  const std::size_t to = find(words, pick(random, kinds), random),
                    from = find(words, pick(random, kinds), random);
  if (to == words.size() || from == words.size()) return;
  const std::string old(bare(words[to])), other(bare(words[from]));
  put(words[to], other);
  if (one_in(random, 2)) put(words[from], old);
}

void take_out(Words& words, Range r) {
  words.erase(words.begin() + static_cast<std::ptrdiff_t>(r.begin),
              words.begin() + static_cast<std::ptrdiff_t>(r.end));
}
void put_in(Words& words, std::size_t at, const Words& some) {
  words.insert(words.begin() + static_cast<std::ptrdiff_t>(std::min(at, words.size())),
               some.begin(), some.end());
}

void move_statement(Words& words, Random& random) {
  const Range from = statement(words, below(random, words.size()));
  const Words copy(words.begin() + static_cast<std::ptrdiff_t>(from.begin),
                   words.begin() + static_cast<std::ptrdiff_t>(from.end));
  const Range to = statement(words, below(random, words.size()));
  switch (below(random, 3)) {
    case 0:
      return take_out(words, from);
    case 1:
      take_out(words, to);
      return put_in(words, to.begin, copy);
    default:
      return put_in(words, to.begin, copy);
  }
}

// Copies one function's body, parameters or declaration over another's.
void copy_block(Words& words, Random& random) {
  if (words.size() > 20000) return;
  const Range from = block(words, below(random, words.size()));
  const Words copy(words.begin() + static_cast<std::ptrdiff_t>(from.begin),
                   words.begin() + static_cast<std::ptrdiff_t>(from.end));
  if (one_in(random, 3)) return take_out(words, from);
  put_in(words, statement(words, below(random, words.size())).begin, copy);
}

// Changes the elements of vectors, parameters and subscripts.
void change_punctuation(Words& words, Random& random) {
  static constexpr std::string_view marks[] = {"{", "}", "[", "]", "(", ")", ",", ";", "+",
                                               "-", "@", "!", "|", "=", "<", ">", ":", "_"};
  const std::size_t at = below(random, words.size());
  switch (below(random, 3)) {
    case 0:
      return put_in(words, at, {std::string(pick(random, marks)) + " "});
    case 1:
      return take_out(words, {at, at + 1});
    default:  // adds or removes `, x`
      if (bare(words[at]) != "," || at + 2 > words.size()) return;
      return one_in(random, 2) ? put_in(words, at, {words[at], words[at + 1]})
                               : take_out(words, {at, at + 2});
  }
}

void add_declaration(Words& words, Random& random) {
  static constexpr std::string_view lines[] = {
      ".reg .b32 %r<100000>;\n",
      ".local .align 16 .b8 fuzz_l[70000];\n",
      ".shared .align 16 .b8 fuzz_s[40000];\n",
      ".extern .shared .align 16 .b8 fuzz_d[];\n",
      ".param .align 8 .b8 fuzz_p[40];\n",
      ".global .align 8 .u64 fuzz_g[2] = {fuzz_g, 7};\n",
      ".const .b32 fuzz_c = 5;\n",
      ".extern .func (.param .b64 x) malloc (.param .b64 y);\n",
      ".func fuzz_f(.param .align 8 .b8 a[24]) { .reg .b32 %q; ld.param.b32 %q, [a + 20]; ret; }\n",
      ".maxntid 1, 1, 1\n",
      ".reqnctapercluster 2, 1, 1\n"};
  put_in(words, statement(words, below(random, words.size())).begin,
         {std::string(pick(random, lines))});
}

// Changes letters at random.
void change_letters(Words& words, Random& random) {
  std::string& word = words[below(random, words.size())];
  if (word.empty() || one_in(random, 2))
    word.insert(below(random, word.size() + 1), 1, static_cast<char>(random()));
  else
    word.erase(below(random, word.size()), 1 + below(random, 3));
}

constexpr void (*ways[])(Words&, Random&) = {
    change_number,  change_number,   change_number,      change_component, change_component,
    change_operand, change_operand,  change_operand,     move_statement,   move_statement,
    copy_block,     add_declaration, change_punctuation, change_letters};

}  // namespace

std::string mutate_ptx(const std::string& text, unsigned seed) {
  Random random(seed % 0x7ffffffe + 1);
  random.discard(3);
  Words words = words_of(text);
  for (std::size_t n = 1 + below(random, 4); n-- && !words.empty();)
    pick(random, ways)(words, random);
  std::string result;
  for (const std::string& word : words) result += word;
  return result;
}

std::size_t mutate_ptx(std::uint8_t* data, std::size_t size, std::size_t most, unsigned seed) {
  const std::string text = mutate_ptx(std::string(reinterpret_cast<const char*>(data), size), seed);
  const std::size_t kept = std::min(text.size(), most);
  std::copy_n(text.begin(), kept, data);
  return kept;
}

}  // namespace inflight::fuzz
