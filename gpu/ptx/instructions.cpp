// The table of instructions, with its words and rows, and the decoder of opcodes as written.
#include "gpu/ptx/instructions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>

#include "gpu/ptx/assembled.hpp"
#include "gpu/ptx/lexer.hpp"

namespace inflight::ptx {

namespace {

constexpr std::string_view kOpcodeNames[] = {
#define OPCODE(name, text, ...) text,
#include "gpu/ptx/opcodes.def"
#undef OPCODE
};
constexpr std::string_view kModNames[] = {
#define MOD(name, text) text,
#include "gpu/ptx/modifiers.def"
#undef MOD
};

struct SpaceName {
  Space space;
  std::string_view text;
};
constexpr SpaceName kSpaceNames[] = {
    {Space::reg, "reg"},
    {Space::sreg, "sreg"},
    {Space::constant, "const"},
    {Space::global, "global"},
    {Space::local, "local"},
    {Space::param, "param"},
    {Space::param_entry, "param::entry"},
    {Space::param_func, "param::func"},
    {Space::shared, "shared"},
    {Space::shared_cta, "shared::cta"},
    {Space::shared_cluster, "shared::cluster"},
    {Space::tex, "tex"},
};

// Groups of words for instructions.def. Each ends with a space.
#define BYTES "b8 u8 s8 "
#define BITS "b16 b32 b64 "
#define INTS "u16 u32 u64 s16 s32 s64 "
#define FLOATS "f16 bf16 f32 f64 "
#define PACKED "f16x2 bf16x2 "
#define INT_PAIRS "u16x2 s16x2 "
#define SMALL_FLOATS \
  "e4m3 e5m2 e4m3x2 e5m2x2 e2m1x2 e2m3x2 e3m2x2 ue8m0x2 e4m3x4 e5m2x4 e2m1x4 e2m3x4 e3m2x4 "
#define ROUND "rn rz rm rp "
#define COMPARE "eq ne lt le gt ge lo ls hi hs equ neu ltu leu gtu geu num nan "
#define SPACES \
  "const global local param param::entry param::func shared shared::cta shared::cluster "
#define VECTORS "v2 v4 v8 "
#define ORDER "weak volatile relaxed acquire release mmio "
#define SCOPE "cta cluster gpu sys "
#define PREFETCH "L2::64B L2::128B L2::256B "
#define CACHE                                                                                 \
  "ca cg cs lu cv wb wt L1::evict_first L1::evict_last L1::evict_normal L1::evict_unchanged " \
  "L1::no_allocate L2::evict_first L2::evict_last L2::evict_normal L2::evict_unchanged "      \
  "L2::cache_hint " PREFETCH
#define REDUCE "add min max and or xor inc dec "
#define ATOMIC                                                                     \
  REDUCE SCOPE                                                                     \
      "relaxed acquire release acq_rel global shared shared::cta shared::cluster " \
      "noftz L2::cache_hint b32 b64 u32 s32 u64 s64 f16 bf16 f16x2 bf16x2 f32 f64 "
#define MBARRIER "cta cluster relaxed shared shared::cta shared::cluster b64 "
#define BULK                                                                    \
  "shared::cluster shared::cta global mbarrier::complete_tx::bytes bulk_group " \
  "multicast::cluster L2::cache_hint "
#define TENSOR                                                                        \
  "1d 2d 3d 4d 5d tile tile::gather4 tile::scatter4 im2col im2col::w im2col::w::128 " \
  "im2col_no_offs "
#define MATRIX "sync aligned m8n8 x1 x2 x4 trans shared shared::cta b16 b8 "
#define WMMA                                                                                   \
  "sync aligned row col row.row row.col col.row col.col m16n16k16 m32n8k16 m8n32k16 m16n16k8 " \
  "m8n8k4 m8n8k32 m8n8k128 "                                                                   \
  "f16 bf16 tf32 f32 f64 u8 s8 u4 s4 b1 s32 "
#define MMA                                                                                     \
  "sync aligned row col row.row row.col col.row col.col satfinite xor and popc m8n8k4 m8n8k16 " \
  "m8n8k32 m8n8k128 m16n8k4 "                                                                   \
  "m16n8k8 m16n8k16 m16n8k32 m16n8k64 m16n8k128 m16n8k256 f16 bf16 tf32 f32 f64 u8 s8 u4 s4 "   \
  "b1 s32 e4m3 e5m2 e2m1 e2m3 e3m2 kind::f8f6f4 kind::mxf4 kind::mxf4nvf4 kind::mxf8f6f4 "      \
  "block_scale scale_vec::1X scale_vec::2X scale_vec::4X ue8m0 ue4m3 "
#define WGMMA "sync aligned satfinite and popc f16 bf16 tf32 f32 s32 u8 s8 b1 e4m3 e5m2 "
#define TCGEN05 "cta_group::1 cta_group::2 "
#define TMEM "sync aligned 16x64b 16x128b 16x256b 32x32b 16x32bx2 x1 x2 x4 x8 x16 x32 x64 x128 "
#define COLLECTOR(b)                                                                         \
  "collector::" b "::discard collector::" b "::fill collector::" b "::lastuse collector::" b \
  "::use "
#define TCGEN05_MMA                                                               \
  TCGEN05                                                                         \
  "kind::f16 kind::tf32 kind::f8f6f4 kind::i8 kind::mxf8f6f4 kind::mxf4 "         \
  "kind::mxf4nvf4 block_scale scale_vec::1X scale_vec::2X scale_vec::4X block16 " \
  "block32 ashift " COLLECTOR("a") COLLECTOR("b0") COLLECTOR("b1") COLLECTOR("b2") COLLECTOR("b3")
#define GEOMETRY "1d 2d 3d a1d a2d cube acube 2dms a2dms "
#define TEXTURE GEOMETRY "v2 v4 f16x2 f16 u32 s32 f32 "
#define SURFACE \
  GEOMETRY "v2 v4 b8 b16 b32 b64 u32 s32 u64 s64 f32 trap clamp zero ca cg cs cv wb wt "
#define QUERY                                                                             \
  "width height depth channel_data_type channel_order normalized_coords "                 \
  "force_unnormalized_coords filter_mode addr_mode_0 addr_mode_1 addr_mode_2 array_size " \
  "num_mipmap_levels num_samples memory_layout "
#define VIDEO "u32 s32 sat add min max "

struct Row {
  Opcode opcode;
  std::uint8_t min_operands, max_operands, min_types, max_types;
  std::string_view words;
};

constexpr Row kRows[] = {
#define INSTRUCTION(name, o0, o1, t0, t1, words) {Opcode::name, o0, o1, t0, t1, words},
#include "gpu/ptx/instructions.def"
#undef INSTRUCTION
};

struct NamedWord {
  std::string_view text;
  Word word;
};

std::vector<NamedWord> all_words() {
  std::vector<NamedWord> words;
  auto add = [&](std::string_view text, Word::Kind kind, unsigned value) {
    words.push_back({text, {kind, std::uint16_t(value)}});
  };
#define X(name, size, text) add(text, Word::Kind::type, unsigned(Type::name));
  INFLIGHT_PTX_TYPES(X)
#undef X
  for (auto [space, text] : kSpaceNames) add(text, Word::Kind::space, unsigned(space));
  add("v2", Word::Kind::vector, 2), add("v4", Word::Kind::vector, 4);
  add("v8", Word::Kind::vector, 8);
  for (unsigned m = 0; m < std::size(kModNames); ++m) add(kModNames[m], Word::Kind::mod, m);
  return words;
}

// Finds a text's index in the table that the map is made from.
struct Index {
  NameMap names;
  explicit Index(std::span<const std::string_view> texts) {
    for (auto t : texts) names.insert(t, hash(t));
  }
  std::uint32_t find(std::string_view t) const { return names.find(t, hash(t)); }
};

struct WordIndex {
  std::vector<NamedWord> words = all_words();
  NameMap names;
  WordIndex() {
    for (const NamedWord& w : words) names.insert(w.text, hash(w.text));
  }
};

void allow(Rule& r, Word w) {
  switch (w.kind) {
    case Word::Kind::type:
      r.types |= std::uint64_t{1} << w.value;
      break;
    case Word::Kind::space:
      r.spaces |= 1u << w.value;
      break;
    case Word::Kind::vector:
      r.vectors |= std::uint8_t(w.value);
      break;
    case Word::Kind::mod:
      r.mods.insert(Mod(w.value));
      break;
    case Word::Kind::unknown:
      break;
  }
}

bool allows(const Rule& r, Word w) {
  switch (w.kind) {
    case Word::Kind::type:
      return r.types >> w.value & 1;
    case Word::Kind::space:
      return r.spaces >> w.value & 1;
    case Word::Kind::vector:
      return r.vectors & w.value;
    case Word::Kind::mod:
      return r.mods.has(Mod(w.value));
    case Word::Kind::unknown:
      return false;
  }
  return false;
}

template <class F>
void split(std::string_view text, char separator, F f) {
  while (!text.empty()) {
    const auto n = std::min(text.find(separator), text.size());
    if (n) f(text.substr(0, n));
    text.remove_prefix(std::min(n + 1, text.size()));
  }
}

Rule make_rule(const Row& row) {
  Rule r{.opcode = row.opcode,
         .min_operands = row.min_operands,
         .max_operands = row.max_operands,
         .min_types = row.min_types,
         .max_types = row.max_types,
         .mods = {}};
  split(row.words, ' ', [&](std::string_view text) {
    const Word w = find_word(text);
    if (w.kind == Word::Kind::unknown) r.mistake = text;
    allow(r, w);
  });
  return r;
}

std::array<Rule, unsigned(Opcode::count_)> make_rules() {
  std::array<Rule, unsigned(Opcode::count_)> rules{};
  for (const Row& row : kRows) rules[unsigned(row.opcode)] = make_rule(row);
  return rules;
}

// `m64n128k16` → {64, 128, 16}. Zeros if `text` is not a shape.
std::array<std::uint16_t, 3> shape_of(std::string_view text) {
  std::array<std::uint16_t, 3> shape{};
  std::size_t at = 0;
  for (int i = 0; i < 3; ++i) {
    if (at >= text.size() || text[at++] != "mnk"[i]) return {};
    unsigned n = 0, digits = 0;
    for (; at < text.size() && is(text[at], kDigit) && digits < 4; ++at, ++digits)
      n = n * 10 + unsigned(text[at] - '0');
    shape[i] = std::uint16_t(n);
  }
  return at == text.size() ? shape : std::array<std::uint16_t, 3>{};
}

// wgmma has 32 widths for each depth, so arithmetic replaces a table (PTX ISA 9.7.15.2).
bool is_wgmma_shape(Opcode o, const std::array<std::uint16_t, 3>& s) {
  if (o != Opcode::wgmma_mma_async && o != Opcode::wgmma_mma_async_sp) return false;
  const bool depth = std::has_single_bit(s[2]) && s[2] >= 8 && s[2] <= 512;
  return s[0] == 64 && s[1] >= 8 && s[1] <= 256 && s[1] % 8 == 0 && depth;
}

// Removes the longest run of leading components that is an opcode from `text` and returns it. The
// part of a component after `::` may be its own modifier: `tcgen05.wait::ld`,
// `mma.sp::ordered_metadata`.
Opcode take_opcode(std::string_view& text) {
  static const Index& index = *new Index(kOpcodeNames);
  constexpr int kMostComponents = 5;
  std::size_t ends[kMostComponents * 2];
  int count = 0;
  std::size_t end = text.find_first_of(".:");
  for (int parts = 0; parts < kMostComponents && count < kMostComponents; ++parts) {
    ends[count++] = std::min(end, text.size());
    if (end == text.npos) break;
    end = text.find_first_of(".:", text[end] == ':' ? end + 2 : end + 1);
  }
  while (count--) {
    const auto found = index.find(text.substr(0, ends[count]));
    if (found == NameMap::absent || found == 0) continue;
    text.remove_prefix(ends[count]);
    if (text.starts_with("::")) text.remove_prefix(2);
    return Opcode(found);
  }
  return Opcode::unknown;
}

// Is it a number of dimensions, as `6d`? No PTX has more than those in the tables.
bool is_dimension(std::string_view text) {
  const auto letters = text.find_first_not_of("0123456789");
  return letters != 0 && letters != text.npos && text.substr(letters) == "d";
}

// Words that ptxas 13.0 knows and that are no modifiers here. It was asked for every word that its
// compilers write. Later PTX has more.
constexpr int kWordsVersion = 90;
bool is_word_of_assembler(std::string_view text) {
  constexpr std::string_view words[] = {"alloc",     "b2",    "cp",       "dealloc",       "dis",
                                        "en",        "inv",   "mbarrier", "mbarrier_init", "mma",
                                        "multicast", "shift", "sp",       "thread",        "wait"};
  if (text.find_first_of("0123456789") == 0) return !is_dimension(text);
  return std::find(std::begin(words), std::end(words), text) != std::end(words);
}

class Decoder {
 public:
  explicit Decoder(std::string_view text) : text_(text) { form_.instruction.name = text; }

  Form run() {
    std::string_view rest = text_;
    form_.base = take_opcode(rest);
    if (form_.base == Opcode::unknown) {
      form_.assembler_refusal = unknown_opcode_mistake(text_);
      return refuse(fmt::format("`{}` is not a known instruction", text_));
    }
    form_.instruction.opcode = form_.base;
    split(rest, '.', [&](std::string_view w) { component(w); });
    if (std::string why = assembly_mistake(form_.base, text_, rest); !why.empty()) {
      form_.assembler_refusal = std::move(why);
      form_.refused_until = kAssembledVersion;
    }
    if (text_.ends_with('.') || text_.find("..") != text_.npos)
      refuse(fmt::format("`{}` has a dot with nothing after it", text_));
    check_types();
    return std::move(form_);
  }

 private:
  const Rule& row() const { return rule(form_.base); }
  Instruction& in() { return form_.instruction; }

  Form& refuse(std::string why) {
    if (form_.refusal.empty()) form_.refusal = std::move(why);
    in().opcode = Opcode::unknown;
    return form_;
  }

  void component(std::string_view text) {
    if (form_.base == Opcode::mma && (text == "sp" || text == "sp::ordered_metadata")) {
      in().opcode = form_.base = Opcode::mma_sp;  // `mma.sync.aligned.kind::mxf4.sp::...`
      if (text != "sp") in().mods.insert(Mod::ordered_metadata);
      return;
    }
    const Word w = find_word(text);
    const auto shape = shape_of(text);
    if (shape[0]) in().shape = shape;
    if (is_wgmma_shape(form_.base, shape)) return;
    if (w.kind == Word::Kind::unknown) {
      refuse(fmt::format("`.{}` in `{}` is not a known modifier", text, text_));
      if (!is_listed(form_.base) && !is_word_of_assembler(text)) {
        form_.assembler_refusal = form_.refusal;
        form_.refused_until = is_dimension(text) ? kAssembledVersion : kWordsVersion;
      }
    } else if (!allows(row(), w)) {
      std::string why =
          fmt::format("`{}` takes no `.{}` (in `{}`)", spelling(form_.base), text, text_);
      if (form_.assembler_refusal.empty() && is_foreign(form_.base, text_, text)) {
        form_.assembler_refusal = why;
        form_.refused_until = kAssembledVersion;
      }
      refuse(std::move(why));
    } else {
      take(w);
    }
  }

  void take(Word w) {
    if (w.kind == Word::Kind::mod) add(Mod(w.value));
    if (w.kind == Word::Kind::vector) in().vector = std::uint8_t(w.value);
    if (w.kind == Word::Kind::type) add(in().types, in().type_count, Type(w.value), "types");
    if (w.kind == Word::Kind::space)
      add(in().spaces, in().space_count, Space(w.value), "state spaces");
  }

  // A set keeps no order, so the layouts of two matrices become one modifier: `.row.col`.
  void add(Mod m) {
    struct Pair {
      Mod first, second, both;
    };
    static constexpr Pair kPairs[] = {{Mod::row, Mod::row, Mod::row_row},
                                      {Mod::row, Mod::col, Mod::row_col},
                                      {Mod::col, Mod::row, Mod::col_row},
                                      {Mod::col, Mod::col, Mod::col_col}};
    for (const Pair& p : kPairs)
      if (m == p.second && in().mods.has(p.first)) {
        in().mods.erase(p.first);
        m = p.both;
        break;
      }
    in().mods.insert(m);
  }

  template <class T, std::size_t N>
  void add(std::array<T, N>& list, std::uint8_t& count, T value, std::string_view what) {
    if (count == N)
      refuse(fmt::format("`{}` has more than {} {}", text_, N, what));
    else
      list[count++] = value;
  }

  void check_types() {
    const unsigned n = in().type_count;
    if (n >= row().min_types && n <= row().max_types) return;
    refuse(fmt::format(
        "`{}` has {} type{}; `{}` takes {}{}", text_, n, n == 1 ? "" : "s", spelling(form_.base),
        row().min_types,
        row().max_types == row().min_types ? "" : fmt::format(" to {}", row().max_types)));
  }

  std::string_view text_;
  Form form_;
};

}  // namespace

std::string_view spelling(Opcode o) {
  return unsigned(o) < std::size(kOpcodeNames) ? kOpcodeNames[unsigned(o)] : "";
}
std::string_view spelling(Mod m) {
  return unsigned(m) < std::size(kModNames) ? kModNames[unsigned(m)] : "";
}

Word find_word(std::string_view component) {
  static const WordIndex& index = *new WordIndex;  // threads may decode while the program ends
  const auto found = index.names.find(component, hash(component));
  return found == NameMap::absent ? Word{} : index.words[found].word;
}

const Rule& rule(Opcode o) {
  static const auto rules = make_rules();
  return rules[unsigned(o)];
}

Form decode(std::string_view opcode) { return Decoder(opcode).run(); }

const Form& FormCache::find(std::string_view opcode, std::uint32_t hash) {
  const std::uint32_t id = names_.insert(opcode, hash);
  if (id == forms_.size()) forms_.push_back(decode(opcode));
  return forms_[id];
}

}  // namespace inflight::ptx
