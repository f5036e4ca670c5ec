// The operands that each instruction takes, and the text around it.
#include "tests/fuzz/launch_forms.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <span>
#include <string_view>
#include <unordered_map>

#include "gpu/ptx/instructions.hpp"
#include "tests/fuzz/guarded_device.hpp"

namespace inflight::fuzz {
namespace {

using ptx::Instruction;
using ptx::Mod;
using ptx::Space;
using ptx::Type;

// Operands of an opcode, in words:
//   d destination, D destination and predicate, p predicate destination, V as many as .x1 .x2 .x4
//   s source of the first type, t of the last, W as many as V, q predicate, x 64-bit value
//   A B address in the first and second space, G global, S shared, b mbarrier
//   M tensor map and coordinates, o offsets of im2col
//   T texture and coordinates, X surface and coordinates, l level of detail, I multicast address
//   z bytes, u count, w lanes, m ranks, P cache policy, F format string, k small constant
//   =text literal text; mod?word only if the form has the modifier
struct Row {
  std::string_view opcode, needs, operands;
};
constexpr Row rows[] = {
    {"ld", "", "d A L2::cache_hint?P"},
    {"ldu", "", "d A"},
    {"st", "", "A s L2::cache_hint?P"},
    {"atom", "", "d A s cas?s L2::cache_hint?P"},
    {"red", "", "A s L2::cache_hint?P"},
    {"prefetch", "", "A"},
    {"prefetch", ".tensormap", "G"},
    {"prefetchu", "", "A"},
    {"applypriority", "", "A =128"},
    {"discard", "", "A =128"},
    {"createpolicy.fractional", "", "d =0.5"},
    {"createpolicy.range", "", "d A u u"},
    {"createpolicy.cvt", "", "d x"},
    {"cvta", "", "d x"},
    {"isspacep", "", "p x"},
    {"mapa", "", "d s u"},
    {"getctarank", "", "d s"},
    {"cp.async", "", "A B =16 L2::cache_hint?P"},
    {"cp.async", ".ca", "A B =4"},
    {"cp.async", ".ca", "A B =8"},
    {"cp.async", "", "A B =16 u"},
    {"cp.async", ".ca", "A B =4 u"},
    {"cp.async", "", "A B =16 q"},
    {"cp.async.commit_group", "", ""},
    {"cp.async.wait_group", "", "k"},
    {"cp.async.wait_all", "", ""},
    {"cp.async.mbarrier.arrive", "", "b"},
    {"cp.async.bulk", "",
     "A B z mbarrier::complete_tx::bytes?b multicast::cluster?m L2::cache_hint?P cp_mask?m"},
    {"cp.reduce.async.bulk", "", "A B z mbarrier::complete_tx::bytes?b L2::cache_hint?P"},
    {"cp.async.bulk.prefetch", "", "A z L2::cache_hint?P"},
    {"cp.async.bulk.tensor", ".mbarrier::complete_tx::bytes",
     "A M b o multicast::cluster?m L2::cache_hint?P"},
    {"cp.async.bulk.tensor", ".bulk_group", "M B L2::cache_hint?P"},
    {"cp.reduce.async.bulk.tensor", "", "M B L2::cache_hint?P"},
    {"cp.async.bulk.prefetch.tensor", "", "M o L2::cache_hint?P"},
    {"cp.async.bulk.commit_group", "", ""},
    {"cp.async.bulk.wait_group", "", "k"},
    {"st.async", "", "A s b"},
    {"red.async", "", "A s b"},
    {"st.bulk", "", "A x =0"},
    {"tensormap.replace", "", "A t"},
    {"tensormap.replace", ".box_dim", "A k t"},
    {"tensormap.replace", ".global_dim", "A k t"},
    {"tensormap.replace", ".global_stride", "A k t"},
    {"tensormap.replace", ".element_stride", "A k t"},
    {"tensormap.replace", ".elemtype", "A k"},
    {"tensormap.replace", ".interleave_layout", "A k"},
    {"tensormap.replace", ".swizzle_mode", "A k"},
    {"tensormap.replace", ".fill_mode", "A k"},
    {"tensormap.cp_fenceproxy", "", "A B =128"},
    {"mbarrier.init", "", "b u"},
    {"mbarrier.inval", "", "b"},
    {"mbarrier.arrive", "", "d b"},
    {"mbarrier.arrive", "", "=_ A"},
    {"mbarrier.arrive", "", "d b u"},
    {"mbarrier.arrive", "", "=_ A u"},
    {"mbarrier.arrive_drop", "", "d b"},
    {"mbarrier.arrive_drop", "", "=_ A u"},
    {"mbarrier.expect_tx", "", "b u"},
    {"mbarrier.complete_tx", "", "b u"},
    {"mbarrier.test_wait", "", "p b x"},
    {"mbarrier.test_wait", ".parity", "p b u"},
    {"mbarrier.try_wait", "", "p b x"},
    {"mbarrier.try_wait", "", "p b x u"},
    {"mbarrier.try_wait", ".parity", "p b u"},
    {"mbarrier.try_wait", ".parity", "p b u u"},
    {"mbarrier.pending_count", "", "=%dr0 x"},
    {"ldmatrix", "", "V A"},
    {"stmatrix", "", "A W"},
    {"movmatrix", "", "d s"},
    {"shfl", "", "D s u u w"},
    {"vote", "", "p q w"},
    {"vote", ".ballot", "=%dr1 q w"},
    {"match", ".any", "=%dr2 s w"},
    {"match", ".all", "D s w"},
    {"redux", "", "d s w"},
    {"elect", "", "=%dr3|%dp3 w"},
    {"activemask", "", "d"},
    {"bar", ".sync", "u"},
    {"bar", ".sync", "u u"},
    {"bar", ".warp", "w"},
    {"bar", ".arrive", "u u"},
    {"bar", ".red", "=%dr4 u u q"},
    {"bar", ".pred", "p u u q"},
    {"barrier", ".sync", "u"},
    {"barrier", ".sync", "u u"},
    {"barrier", ".arrive", "u u"},
    {"barrier", ".red", "=%dr4 u u q"},
    {"barrier", ".pred", "p u q"},
    {"barrier.cluster.arrive", "", ""},
    {"barrier.cluster.wait", "", ""},
    {"fence", "", ""},
    {"fence.mbarrier_init", "", ""},
    {"fence.proxy", "", ""},
    {"fence.proxy", ".tensormap::generic.acquire", "G =128"},
    {"membar", "", ""},
    {"nanosleep", "", "u"},
    {"setmaxnreg", "", "=24"},
    {"griddepcontrol.wait", "", ""},
    {"griddepcontrol.launch_dependents", "", ""},
    {"trap", "", ""},
    {"brkpt", "", ""},
    {"exit", "", ""},
    {"ret", "", ""},
    {"pmevent", "", "k"},
    {"setp", "", "p s s"},
    {"selp", "", "d s s q"},
    {"slct", "", "d s s t"},
    {"testp", "", "p s"},
    {"lop3", "", "d s s s =0x96"},
    {"shf", "", "d s s u"},
    {"shl", "", "d s u"},
    {"shr", "", "d s u"},
    {"bfe", "", "d s u u"},
    {"bfi", "", "d s s u u"},
    {"cvt", "", "d t"},
    {"multimem.ld_reduce", "", "d I"},
    {"multimem.st", "", "I s"},
    {"multimem.red", "", "I s"},
    {"tex", "", "d T"},
    {"tex", ".level", "d T l"},
    {"tld4", "", "d T"},
    {"txq", "", "d x"},
    {"suld", "", "d X"},
    {"sust", "", "X s"},
    {"sured", "", "X s"},
    {"popc", "", "=%dr5 s"},
    {"clz", "", "=%dr6 s"},
    {"bfind", "", "=%dr7 s"},
};

// Whole statements. ~X is operand X of the rows above.
constexpr std::string_view statements[] = {
    "{ .param .b64 a; .param .b64 r; st.param.b64 [a], ~z; call.uni (r), malloc, (a); "
    "ld.param.b64 %dx1, [r]; st.u32 [%dx1], 7; st.param.b64 [a], %dx1; call.uni free, (a); }",
    "{ .param .b64 a; st.param.b64 [a], ~N; call.uni free, (a); }",
    "{ .param .b64 a; .param .b64 b; .param .b32 r; st.param.b64 [a], ~F; st.param.b64 [b], ~N; "
    "call.uni (r), vprintf, (a, b); }",
    "{ .param .b64 a; .param .b64 b; .param .b32 l; .param .b64 f; .param .b64 n; "
    "st.param.b64 [a], ~F; st.param.b64 [b], ~N; st.param.b32 [l], 7; st.param.b64 [f], ~N; "
    "st.param.b64 [n], 1; call.uni __assertfail, (a, b, l, f, n); }",
    "{ .param .align 8 .b8 a[24]; .param .b32 r; st.param.b64 [a + 8], ~x; "
    "call.uni (r), takes, (a); ld.param.b32 %dr1, [r]; }",
    "@~q bra BACK_@;\nBACK_@:",
    "bar.sync 0;",
    "mov.b64 {%dr1, %dr2}, ~x;",
    "cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;",
    "cp.async.wait_all;",
};

class Writer {
 public:
  explicit Writer(Choices& choices) : choices_(choices) {}

  void instruction(const std::string& form) {
    const ptx::Form decoded = ptx::decode(form);
    in_ = decoded.instruction;
    std::string operands;
    for (std::string_view rest = operands_of(form, decoded.base); !rest.empty();) {
      const std::size_t end = std::min(rest.find(' '), rest.size());
      const std::string text = operand(form, rest.substr(0, end));
      if (!text.empty()) operands += (operands.empty() ? " " : ", ") + text;
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    if (choices_.one_in(5)) body_ += "@" + guard() + " ";
    body_ += form + operands + ";\n";
  }

  void statement() {
    const std::string_view text = choices_.pick(statements);
    in_ = {};
    for (std::size_t i = 0; i < text.size(); ++i) {
      if (text[i] == '~' && i + 1 < text.size()) {
        body_ += wide(text[++i]);
      } else if (text[i] == '@' && i > 0 && text[i - 1] == '_') {
        body_ += std::to_string(labels_ / 2), ++labels_;
      } else {
        body_ += text[i];
      }
    }
    body_ += '\n';
  }

  GeneratedKernel finish() {
    return {fmt::format(head, most_slots * 16, shared_bytes, mbarriers, local_bytes, setup_, body_),
            std::move(slots_)};
  }

 private:
  static constexpr std::string_view head = R"(.version 8.7
.target sm_90a
.address_size 64
.extern .func (.param .b32 r) vprintf(.param .b64 a, .param .b64 b);
.extern .func (.param .b64 r) malloc(.param .b64 a);
.extern .func free(.param .b64 a);
.extern .func __assertfail(.param .b64 a, .param .b64 b, .param .b32 c, .param .b64 d, .param .b64 e);
.global .align 16 .b8 g[77];
.const .align 16 .b8 c[77];
.func (.param .b32 r) takes(.param .align 8 .b8 a[24]) {{
  .reg .b32 %q<2>;
  ld.param.b32 %q1, [a + 12];
  st.param.b32 [r], %q1;
  ret;
}}
.visible .entry k(.param .align 16 .b8 v[{0}]) {{
  .shared .align 1024 .b8 s[{1}];
  .shared .align 8 .b64 bars[{2}];
  .local .align 16 .b8 l[{3}];
  .reg .b16 %h<50>, %dh<8>;
  .reg .b32 %r<50>, %dr<8>, %t;
  .reg .b64 %x<50>, %dx<8>, %y, %t64;
  .reg .b128 %q<50>, %dq<8>;
  .reg .pred %p<50>, %dp<8>, %first;
  mov.u32 %dr0, s;
  mov.u32 %t, %tid.x;
  cvt.u64.u32 %t64, %t;
  setp.eq.u32 %first, %t, 0;
  @%first mbarrier.init.shared.b64 [bars], 1;
  @%first mbarrier.init.shared.b64 [bars + 8], 2;
  @%first mbarrier.init.shared.b64 [bars + 16], 1048575;
{4}  bar.sync 0;
{5}  ret;
}}
)";

  std::string_view operands_of(const std::string& form, ptx::Opcode base) {
    const std::string_view name = ptx::spelling(base);
    std::vector<std::string_view> fitting;
    std::size_t longest = 0;
    for (const Row& row : rows) {
      if (row.opcode != name || form.find(row.needs) == form.npos) continue;
      // The rows with the most requirements apply. If none has any, all rows without requirements
      // do.
      if (row.needs.size() > longest) fitting.clear(), longest = row.needs.size();
      if (row.needs.size() == longest || row.needs == ".ca") fitting.push_back(row.operands);
    }
    if (!fitting.empty()) return choices_.pick(fitting);
    static constexpr std::string_view plain[] = {"", "d", "d t", "d s s", "d s s s", "d s s s s"};
    const unsigned count = ptx::rule(base).min_operands;
    return plain[std::min<std::size_t>(count, std::size(plain) - 1)];
  }

  std::string operand(const std::string& form, std::string_view word) {
    if (const std::size_t mark = word.find('?'); mark != word.npos) {
      if (form.find("." + std::string(word.substr(0, mark))) == form.npos) return {};
      word.remove_prefix(mark + 1);
    }
    if (word[0] == '=') return std::string(word.substr(1));
    const Type first = in_.type(), last = in_.type(in_.type_count ? in_.type_count - 1u : 0u);
    switch (word[0]) {
      case 'd':
        return many(in_.vector, [&](unsigned i) { return target(first, i); });
      case 'D':
        return target(first, 0) + "|%dp1";
      case 'p':
        return "%dp2";
      case 'V':
        return braced(matrices(), [&](unsigned i) { return target(Type::b32, i); });
      case 'W':
        return braced(matrices(), [&](unsigned) { return slot(Role::value, Type::b32); });
      case 's':
        return many(in_.vector, [&](unsigned) { return slot(Role::value, first); });
      case 't':
        return slot(Role::value, last);
      case 'q':
        return slot(Role::lanes, Type::pred);
      case 'x':
        return slot(Role::value, Type::b64);
      case 'A':
        return address(in_.space(0));
      case 'B':
        return address(in_.space(1));
      case 'G':
        return address(Space::global);
      case 'b':
        return "[" + slot(Role::barrier, choices_.one_in(6) ? Type::b64 : Type::b32) + "]";
      case 'M':
        return tensor();
      case 'T':
        return texels(form, Role::texture, last);
      case 'X':
        return texels(form, Role::surface, Type::b32);
      case 'l':
        return slot(Role::texel, Type::f32);
      case 'I':
        return fmt::format("[{}]", slot(Role::multicast, Type::b64));
      case 'o':
        return in_.mods.has(Mod::im2col) ? offsets() : std::string();
      case 'z':
        return slot(Role::size, Type::b32);
      case 'u':
        return choices_.one_in(6) ? constant() : slot(Role::count, Type::b32);
      case 'w':
        return choices_.one_in(3) ? "0xffffffff" : slot(Role::lanes, Type::b32);
      case 'm':
        return slot(Role::ranks, Type::b16);
      case 'P':
        return slot(Role::value, Type::b64);
      default:
        return constant();
    }
  }

  // A 64-bit operand of a statement.
  std::string wide(char letter) {
    switch (letter) {
      case 'z':
        return slot(Role::size, Type::b64);
      case 'N':
        return slot(Role::generic, Type::b64);
      case 'F':
        return slot(Role::format, Type::b64);
      case 'q':
        return slot(Role::lanes, Type::pred);
      default:
        return slot(Role::value, Type::b64);
    }
  }

  std::string constant() {
    return choices_.one_in(4) ? std::to_string(choices_.pick(extremes))
                              : std::to_string(choices_.below(5));
  }

  template <class Each>
  std::string braced(unsigned count, Each each) {
    std::string text = "{";
    for (unsigned i = 0; i < count; ++i) text += (i ? ", " : "") + each(i);
    return text + "}";
  }
  template <class Each>
  std::string many(unsigned count, Each each) {
    return count == 1 ? each(0) : braced(count, each);
  }
  unsigned matrices() const { return in_.mods.has(Mod::x4) ? 4 : in_.mods.has(Mod::x2) ? 2 : 1; }

  static char letter_of(Type type) {
    if (type == Type::pred) return 'p';
    const unsigned size = ptx::size_of(type);
    return size <= 2 ? (size ? 'h' : 'r') : size <= 4 ? 'r' : size <= 8 ? 'x' : 'q';
  }
  static std::string target(Type type, unsigned i) {
    return fmt::format("%d{}{}", letter_of(type), i % 8);
  }

  std::string address(Space space) {
    static constexpr std::string_view names[] = {"g", "c", "s", "l", "v", "bars"};
    if (choices_.one_in(10)) return fmt::format("[{} + {}]", choices_.pick(names), constant());
    Role role = Role::global;
    Type type = Type::b64;
    if (space == Space::generic) role = Role::generic;
    if (space == Space::local) role = Role::local;
    if (space == Space::param || space == Space::param_entry) role = Role::param;
    if (ptx::is_shared(space)) {
      role = Role::shared;
      if (!choices_.one_in(6)) type = Type::b32;
    }
    const std::string offset = choices_.one_in(6) ? " + " + constant() : "";
    return "[" + slot(role, type) + offset + "]";
  }

  std::string tensor() {
    static constexpr Mod dimensions[] = {Mod::_1d, Mod::_2d, Mod::_3d, Mod::_4d, Mod::_5d};
    unsigned rank = 1;
    for (unsigned i = 0; i < 5; ++i)
      if (in_.mods.has(dimensions[i])) rank = i + 1;
    const bool im2col = in_.mods.has(Mod::im2col) || in_.mods.has(Mod::im2col_no_offs);
    const std::uint32_t number =
        im2col ? GuardedDevice::tile_maps + std::max(rank, 3u) - 3 : rank - 1;
    const std::string map = slot(Role::map, Type::b64, number);
    return fmt::format("[{}, {}]", map, braced(rank, [&](unsigned i) {
                         return slot(Role::coordinate, Type::b32, i);
                       }));
  }
  // Coordinates of the form's geometry.
  std::string texels(const std::string& form, Role object, Type type) {
    static constexpr std::pair<std::string_view, unsigned> geometries[] = {
        {".1d", 1}, {".2d", 2}, {".3d", 4}, {".a1d", 2}, {".a2d", 4}, {".cube", 4}, {".acube", 4}};
    unsigned count = 1;
    for (const auto& [name, coordinates] : geometries)
      if (form.find(name) != form.npos) count = coordinates;
    const std::string handle = slot(object, Type::b64);
    return fmt::format("[{}, {}]", handle,
                       braced(count, [&](unsigned) { return slot(Role::texel, type); }));
  }
  std::string offsets() {
    unsigned rank = 3 + in_.mods.has(Mod::_4d) + 2 * in_.mods.has(Mod::_5d);
    return braced(rank - 2, [&](unsigned) { return slot(Role::coordinate, Type::b16, 1); });
  }

  // A register whose value the launch decides.
  std::string slot(Role role, Type type, std::uint32_t detail = 0) {
    std::uint32_t i = static_cast<std::uint32_t>(slots_.size());
    if (i == most_slots) return std::string("%") + letter_of(type) + "0";
    slots_.push_back({role, detail});
    setup_ += fmt::format(
        "  ld.param.b64 %x{0}, [v + {1}];\n  ld.param.b64 %y, [v + {2}];\n"
        "  mad.lo.s64 %x{0}, %y, %t64, %x{0};\n",
        i, i * 16, i * 16 + 8);
    switch (letter_of(type)) {
      case 'h':
        setup_ += fmt::format("  cvt.u16.u64 %h{0}, %x{0};\n", i);
        break;
      case 'r':
        setup_ += fmt::format("  cvt.u32.u64 %r{0}, %x{0};\n", i);
        break;
      case 'q':
        setup_ += fmt::format("  mov.b128 %q{0}, {{%x{0}, %x{0}}};\n", i);
        break;
      case 'p':  // lane t of the mask
        setup_ += fmt::format(
            "  shr.u64 %x{0}, %x{0}, %t;\n  and.b64 %x{0}, %x{0}, 1;\n"
            "  setp.ne.u64 %p{0}, %x{0}, 0;\n",
            i);
        break;
    }
    return fmt::format("%{}{}", letter_of(type), i);
  }
  std::string guard() { return slot(Role::lanes, Type::pred); }

  Choices& choices_;
  Instruction in_;
  std::string setup_, body_;
  std::vector<Slot> slots_;
  unsigned labels_ = 0;
};

// Returns the form with one type, space or modifier replaced by another of the opcode.
std::string neighbour(const std::string& form, Choices& choices) {
  const ptx::Form decoded = ptx::decode(form);
  const ptx::Rule& rule = ptx::rule(decoded.base);
  std::vector<std::string> words;
#define X(name, size, text) \
  if (rule.types >> unsigned(Type::name) & 1) words.push_back(text);
  INFLIGHT_PTX_TYPES(X)
#undef X
  static constexpr std::pair<Space, std::string_view> spaces[] = {
      {Space::constant, "const"},
      {Space::global, "global"},
      {Space::local, "local"},
      {Space::param, "param"},
      {Space::shared, "shared"},
      {Space::shared_cta, "shared::cta"},
      {Space::shared_cluster, "shared::cluster"}};
  for (const auto& [space, text] : spaces)
    if (rule.spaces >> unsigned(space) & 1) words.emplace_back(text);
  for (const int n : {1, 2, 3})
    if (rule.vectors >> n & 1) words.push_back("v" + std::to_string(1 << n));
  rule.mods.for_each([&](Mod m) { words.emplace_back(ptx::spelling(m)); });
  const std::size_t opcode = ptx::spelling(decoded.base).size();
  if (words.empty() || opcode >= form.size()) return form;
  std::vector<std::size_t> dots;
  for (std::size_t at = opcode; at < form.size(); at = form.find('.', at + 1)) {
    if (at == form.npos) break;
    dots.push_back(at);
  }
  const std::size_t from = choices.pick(dots), to = std::min(form.find('.', from + 1), form.size());
  const std::string word = choices.one_in(6) ? "" : "." + choices.pick(words);
  return form.substr(0, from) + word + form.substr(choices.one_in(8) ? from : to);
}

// Forms by opcode, so that the many forms of `ld` do not crowd out the others.
using ByOpcode = std::vector<std::vector<std::string>>;
ByOpcode by_opcode(const std::vector<std::string>& forms) {
  std::unordered_map<unsigned, std::size_t> place;
  ByOpcode all;
  // Unsupported opcodes, and control flow, which `statements` covers.
  static constexpr std::string_view left_out[] = {"tcgen05", "wmma", "wgmma", "mma",
                                                  "cluster", "bra",  "brx",   "call"};
  for (const std::string& form : forms) {
    const auto starts = [&](std::string_view prefix) { return form.starts_with(prefix); };
    if (std::ranges::any_of(left_out, starts)) continue;
    const auto opcode = unsigned(ptx::decode(form).base);
    const auto [it, fresh] = place.emplace(opcode, all.size());
    if (fresh) all.emplace_back();
    all[it->second].push_back(form);
  }
  return all;
}

}  // namespace

const std::vector<std::string>& more_forms() {
  static const std::vector<std::string> forms = [] {
    std::vector<std::string> all = {"atom.shared::cluster.add.u32",
                                    "atom.shared::cluster.cas.b64",
                                    "atom.local.add.u32",
                                    "atom.global.exch.b128",
                                    "atom.global.cas.b128",
                                    "atom.cas.b16",
                                    "atom.add.noftz.f16x2",
                                    "atom.add.noftz.bf16",
                                    "atom.shared.cas.b16",
                                    "red.global.add.f64",
                                    "red.shared.add.u32",
                                    "red.shared::cluster.or.b32",
                                    "red.add.noftz.f16",
                                    "red.global.add.v4.f32",
                                    "red.global.add.noftz.v4.f16x2",
                                    "atom.global.add.noftz.v8.bf16",
                                    "ld.const.u32",
                                    "ld.const.v4.f32",
                                    "ld.shared::cluster.u32",
                                    "ld.shared::cluster.v4.u32",
                                    "ld.shared::cta.b128",
                                    "st.shared::cluster.u32",
                                    "st.shared::cluster.v4.f32",
                                    "st.shared::cta.b128",
                                    "ld.b128",
                                    "st.b128",
                                    "ld.local.b128",
                                    "st.local.b128",
                                    "ldu.global.u32",
                                    "ldu.global.v4.f32",
                                    "ld.param.v4.u32",
                                    "ld.param.b128",
                                    "bar.arrive",
                                    "bar.red.popc.u32",
                                    "bar.red.and.pred",
                                    "barrier.arrive",
                                    "barrier.red.popc.u32",
                                    "barrier.red.or.pred",
                                    "bar.sync.aligned",
                                    "barrier.cta.sync",
                                    "match.all.sync.b32",
                                    "match.all.sync.b64",
                                    "redux.sync.min.u32",
                                    "redux.sync.and.b32",
                                    "redux.sync.or.b32",
                                    "redux.sync.xor.b32",
                                    "vote.sync.uni.pred",
                                    "mapa.u64",
                                    "mapa.shared::cluster.u64",
                                    "getctarank.u64",
                                    "getctarank.shared::cluster.u64",
                                    "isspacep.local",
                                    "isspacep.const",
                                    "isspacep.param",
                                    "isspacep.shared::cluster",
                                    "prefetch.local.L1",
                                    "prefetch.L2",
                                    "prefetchu.L1",
                                    "applypriority.global.L2::evict_normal",
                                    "discard.global.L2",
                                    "createpolicy.range.global.L2::evict_last.b64",
                                    "createpolicy.cvt.L2.b64",
                                    "mbarrier.arrive_drop.shared.b64",
                                    "mbarrier.arrive_drop.b64",
                                    "mbarrier.arrive_drop.noComplete.shared.b64",
                                    "mbarrier.arrive_drop.expect_tx.shared.b64",
                                    "mbarrier.pending_count.b64",
                                    "mbarrier.complete_tx.shared::cta.b64",
                                    "mbarrier.inval.b64",
                                    "mbarrier.init.b64",
                                    "mbarrier.test_wait.b64",
                                    "mbarrier.try_wait.parity.b64",
                                    "cp.async.ca.shared.global.L2::cache_hint",
                                    "cp.async.mbarrier.arrive.noinc.shared.b64",
                                    "cp.async.bulk.prefetch.L2.global",
                                    "cp.async.bulk.prefetch.L2.global.L2::cache_hint",
                                    "cp.async.bulk.global.shared::cta.bulk_group.L2::cache_hint",
                                    "fence.proxy.async.global",
                                    "pmevent",
                                    "griddepcontrol.launch_dependents",
                                    "szext.clamp.u32",
                                    "fns.b32",
                                    "sad.u32",
                                    "mul24.lo.u32",
                                    "mad24.hi.s32",
                                    "cnot.b32",
                                    "slct.f32.s32",
                                    "rem.s64",
                                    "div.s64",
                                    "rem.u16",
                                    "bfe.s64",
                                    "bfi.b64",
                                    "shf.l.wrap.b32",
                                    "vadd.u32.u32.u32"};
    for (const char* geometry : {"1d", "2d", "3d", "a1d", "a2d", "cube", "acube"})
      for (const char* types : {"f32.f32", "u32.f32", "s32.f32", "f32.s32", "u32.s32"})
        if (!std::string_view(geometry).ends_with("cube") ||
            !std::string_view(types).ends_with("s32"))
          all.push_back(fmt::format("tex.{}.v4.{}", geometry, types));
    for (const char* form :
         {"tex.level.2d.v4.f32.f32", "tex.level.1d.v4.u32.f32", "tld4.r.2d.v4.f32.f32",
          "tld4.a.2d.v4.u32.f32", "txq.width.b32", "txq.height.b32",
          "multimem.st.weak.global.v4.f32", "multimem.ld_reduce.weak.global.add.v4.f32",
          "multimem.red.relaxed.sys.global.add.v4.f32"})
      all.push_back(form);
    for (const char* geometry : {"1d", "2d", "3d", "a1d", "a2d"})
      for (const char* clamp : {"trap", "clamp", "zero"}) {
        for (const char* type : {"b8", "b32", "v2.b16", "v4.b32", "v2.b64"}) {
          all.push_back(fmt::format("suld.b.{}.{}.{}", geometry, type, clamp));
          all.push_back(fmt::format("sust.b.{}.{}.{}", geometry, type, clamp));
        }
        all.push_back(fmt::format("sured.b.add.{}.u32.{}", geometry, clamp));
        all.push_back(fmt::format("sured.b.min.{}.s32.{}", geometry, clamp));
      }
    for (const int rank : {1, 2, 3, 4, 5})
      all.push_back(fmt::format("cp.async.bulk.prefetch.tensor.{}d.L2.global.tile", rank));
    for (const int rank : {3, 4, 5}) {
      for (const char* mode : {"im2col", "im2col_no_offs"}) {
        const bool offsets = std::string_view(mode) == "im2col";
        if (!offsets)
          all.push_back(
              fmt::format("cp.async.bulk.tensor.{}d.global.shared::cta.{}.bulk_group", rank, mode));
        if (!offsets)
          all.push_back(fmt::format(
              "cp.reduce.async.bulk.tensor.{}d.global.shared::cta.add.{}.bulk_group", rank, mode));
        if (!offsets) continue;
        for (const char* cast : {"", ".multicast::cluster"})
          all.push_back(
              fmt::format("cp.async.bulk.tensor.{}d.shared::cluster.global.{}.mbarrier::"
                          "complete_tx::bytes{}",
                          rank, mode, cast));
        all.push_back(fmt::format("cp.async.bulk.prefetch.tensor.{}d.L2.global.{}", rank, mode));
      }
    }
    return all;
  }();
  return forms;
}

GeneratedKernel generate(Choices& choices, const std::vector<std::string>& forms) {
  static const ByOpcode all = by_opcode(forms);
  // What accesses much memory by one instruction comes more often.
  static const ByOpcode copies = [] {
    static constexpr std::string_view starts[] = {"cp.", "multimem.", "tex.", "su"};
    ByOpcode some;
    for (const auto& opcode : all)
      if (std::ranges::any_of(starts, [&](auto start) { return opcode[0].starts_with(start); }) &&
          !opcode[0].starts_with("sub"))
        some.push_back(opcode);
    return some;
  }();
  // Stores of tensors whose maps can lead anywhere.
  static const std::vector<std::string> far = [&] {
    std::vector<std::string> some;
    std::ranges::copy_if(forms, std::back_inserter(some), [](const std::string& form) {
      return form.find(".3d.global.shared::cta") != form.npos;
    });
    return some;
  }();
  Writer writer(choices);
  for (std::uint32_t n = 1 + choices.below(4); n--;) {
    if (choices.one_in(8)) {
      writer.statement();
      continue;
    }
    const std::string form =
        choices.pick(choices.one_in(12) ? far : choices.pick(choices.one_in(3) ? copies : all));
    writer.instruction(choices.one_in(6) ? neighbour(form, choices) : form);
  }
  return writer.finish();
}

}  // namespace inflight::fuzz
