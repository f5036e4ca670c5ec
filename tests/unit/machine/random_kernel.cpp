// Writes statements at random, in the scopes that keep the kernel well-formed.
#include "tests/unit/machine/random_kernel.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <random>
#include <utility>
#include <vector>

namespace inflight::machine {
namespace {

class Writer {
 public:
  Writer(std::uint32_t seed, bool defined) : random_(seed), defined_(defined) {}

  std::string run() {
    for (int i = 0; i < words; ++i) line("mov.u32 %r{}, {};", i, i < 3 ? special() : number());
    for (int i = 0; i < wides; ++i) line("mov.u64 %d{}, {};", i, constant());
    for (int i = 0; i < predicates; ++i) line("setp.lt.u32 %p{}, %tid.x, {};", i, pick(40));
    for (int i = 0; i < floats; ++i) line("mov.f32 %f{}, 0f3F800000;", i);
    line("ld.param.u64 %base, [table];");
    line("mov.u32 %window, buffer;");
    if (defined_) line("add.cc.u32 %where, %window, 0;");
    for (int i = 0; defined_ && i < 4; ++i)
      line("st.local.v4.u32 [own+{}], {{%r0, %r1, %r2, %r3}};", 16 * i);
    statements(6 + pick(10), {.alike = true});
    label("END");
    line("ret;");
    return R"(
.func (.param .b32 result) twist(.param .b32 value)
{
  .reg .b32 %a, %b; .reg .pred %q;
  ld.param.u32 %a, [value];
  and.b32 %b, %a, 3;
  setp.eq.u32 %q, %b, 1;
  @%q bra ODD;
  add.u32 %a, %a, 7;
  bra DONE;
ODD:
  nanosleep.u32 20;
  mul.lo.u32 %a, %a, 3;
DONE:
  st.param.b32 [result], %a;
  ret;
}
.visible .entry k(.param .u64 table)
{
  .reg .b64 %base; .reg .b32 %window, %where, %mask;
  .shared .align 16 .b8 buffer[1024]; .local .align 16 .b8 own[64];
)" +
           fmt::format(
               "  .reg .b32 %r<{}>; .reg .b64 %d<{}>; .reg .pred %p<{}>; .reg .f32 %f<{}>;\n",
               words + fresh_, wides + fresh_, predicates + fresh_, floats) +
           text_ + "}\n";
  }

 private:
  // Where a statement stands.
  struct Place {
    bool alike = false;  // all threads of the block come here, and as often
    int depth = 0;
    int loop = -1;  // the number of the innermost loop
  };
  static constexpr int words = 8, wides = 4, predicates = 4, floats = 3;

  std::uint32_t pick(std::uint32_t count) { return random_() % count; }
  bool chance(std::uint32_t percent) { return pick(100) < percent; }
  template <class... T>
  void line(fmt::format_string<T...> form, T&&... values) {
    text_ += "  " + fmt::format(form, std::forward<T>(values)...) + "\n";
  }
  void label(const std::string& name) { text_ += name + ":\n"; }
  std::string new_label() { return fmt::format("L{}", labels_++); }

  std::uint32_t constant() {
    constexpr std::uint32_t some[] = {0,  1,    2,          3,          4,          7,
                                      8,  15,   16,         31,         32,         64,
                                      96, 1024, 0x80000001, 0xfffffff0, 0x7fffffff, 0xffffffff};
    return some[pick(std::size(some))];
  }
  std::string number() { return fmt::format("{}", constant()); }
  // A register to write: one that others write too, or a new one.
  int to(int common) {
    if (!chance(60)) return static_cast<int>(pick(static_cast<unsigned>(common)));
    return common + fresh_++;
  }
  struct Pool {
    int common;
    std::vector<int> known;
  };
  int any(Pool& pool) {
    if (!pool.known.empty() && chance(60)) {
      // More often a late one.
      const auto size = static_cast<unsigned>(pool.known.size());
      const unsigned back = std::min(pick(size), pick(size));
      return pool.known[size - 1 - back];
    }
    return static_cast<int>(pick(static_cast<unsigned>(pool.common)));
  }
  int written(Pool& pool) {
    const int reg = to(pool.common);
    if (reg >= pool.common) new_.push_back({&pool, reg});
    return reg;
  }
  // New registers can be read once the statement that writes them is complete.
  void publish() {
    for (const auto& [pool, reg] : new_) pool->known.push_back(reg);
    new_.clear();
  }
  std::string word() { return chance(20) ? number() : fmt::format("%r{}", any(r_)); }
  std::string word_register() { return fmt::format("%r{}", any(r_)); }
  std::string wide() { return fmt::format("%d{}", any(d_)); }
  std::string predicate() { return fmt::format("%p{}", any(p_)); }
  std::string real() { return fmt::format("%f{}", pick(floats)); }
  std::string new_word() { return fmt::format("%r{}", written(r_)); }
  std::string new_wide() { return fmt::format("%d{}", written(d_)); }
  std::string new_predicate() { return fmt::format("%p{}", written(p_)); }
  template <std::size_t n>
  const char* one_of(const char* const (&all)[n]) {
    return all[pick(n)];
  }

  std::string special() {
    static const char* const all[] = {"%tid.x",       "%tid.y",    "%tid.z",  "%ntid.x",
                                      "%ctaid.x",     "%laneid",   "%warpid", "%tid.x",
                                      "%lanemask_lt", "%nctaid.x", "%tid.x",  "%clock"};
    return one_of(all);
  }

  void arithmetic() {
    static const char* const two[] = {"add.u32", "sub.u32",    "mul.lo.u32", "add.s32",
                                      "and.b32", "or.b32",     "xor.b32",    "min.u32",
                                      "max.s32", "mul.hi.u32", "add.cc.u32", "add.sat.s32"};
    static const char* const compare[] = {"lt", "le", "gt", "ge", "eq", "ne"};
    switch (pick(22)) {
      case 0:
      case 1:
        return line("mov.u32 {}, {};", new_word(), special());
      case 2:
      case 3:
      case 4:
        return line("{} {}, {}, {};", one_of(two), new_word(), word_register(),
                    chance(30) ? number() : word());
      case 5:
        return line("mad.lo.s32 {}, {}, {}, {};", new_word(), word_register(), word(), word());
      case 6:
        return line("{} {}, {}, {};",
                    chance(50)   ? "shl.b32"
                    : chance(50) ? "shr.u32"
                                 : "shr.s32",
                    new_word(), word_register(),
                    chance(80) ? fmt::format("{}", pick(34)) : word_register());
      case 7:
        return line("{} {}, {}, {};", chance(50) ? "mul.wide.u32" : "mul.wide.s32", new_wide(),
                    word_register(), chance(60) ? number() : word());
      case 8:
        return line("{} {}, {}, {}, {};", chance(50) ? "mad.wide.u32" : "mad.wide.s32", new_wide(),
                    word_register(), chance(60) ? number() : word(), wide());
      case 9:
        return line("{} {}, {};", chance(50) ? "cvt.u64.u32" : "cvt.s64.s32", new_wide(),
                    word_register());
      case 10:
        return line("{} {}, {};", chance(70) ? "cvt.u32.u64" : "cvt.u16.u64", new_word(), wide());
      case 11:
        return line("{} {}, {}, {};", chance(50) ? "add.s64" : "sub.s64", new_wide(), wide(),
                    wide());
      case 12:
        return line("{} {}, {};", chance(50) ? "not.b32" : "neg.s32", new_word(), word_register());
      case 13:
      case 14:
        return line("setp.{}.{} {}, {}, {};", one_of(compare), chance(50) ? "u32" : "s32",
                    new_predicate(), chance(80) ? word_register() : number(),
                    chance(50) ? number() : word());
      case 15:
        return line("setp.{}.and.u32 {}, {}, {}, {};", one_of(compare), new_predicate(),
                    word_register(), word(), predicate());
      case 16:
        return line("selp.b32 {}, {}, {}, {};", new_word(), word(), word(), predicate());
      case 17:
        return chance(50) ? line("not.pred {}, {};", new_predicate(), predicate())
                          : line("xor.pred {}, {}, {};", new_predicate(), predicate(), predicate());
      case 18:
        return chance(50) ? line("cvt.rn.f32.u32 {}, {};", real(), word_register())
                          : line("fma.rn.f32 {}, {}, {}, {};", real(), real(), real(), real());
      case 19:
        return chance(50)
                   ? line("mov.b32 {}, {};", new_word(), real())
                   : line("mov.b64 {}, {{{}, {}}};", new_wide(), word_register(), word_register());
      case 20:
        return chance(50) ? line("addc.u32 {}, {}, {};", new_word(), word_register(), word())
                          : line("bfe.u32 {}, {}, {}, {};", new_word(), word_register(), pick(32),
                                 pick(32));
      default:
        return line("mov.u32 {}, {};", new_word(), word());
    }
  }

  void guarded() {
    line("@{}{} add.u32 %r{}, {}, {};", chance(50) ? "%" : "!%", predicate().substr(1), pick(words),
         word_register(), word());
  }

  void memory() {
    std::string where = new_word();
    line("and.b32 {}, {}, {};", where, word_register(), chance(50) ? 1020 : 64);
    publish();
    if (chance(50)) {
      const std::string offset = new_wide(), at = new_wide();
      line("cvt.u64.u32 {}, {};", offset, where);
      line("add.u64 {}, %base, {};", at, offset);
      if (chance(30)) return line("st.global.u32 [{}], {};", at, word_register());
      if (chance(20)) return line("atom.global.add.u32 {}, [{}], 1;", new_word(), at);
      return line("ld.{}.u32 {}, [{}];", chance(80) ? "global" : "volatile.global", new_word(), at);
    }
    const std::string place = new_word();
    if (chance(30)) {
      line("and.b32 {}, {}, 60;", place, where);
      return chance(50) ? line("st.local.u32 [{}], {};", place, word_register())
                        : line("ld.local.u32 {}, [{}];", new_word(), place);
    }
    line("add.u32 {}, {}, %window;", place, where);
    return chance(40) ? line("st.shared.u32 [{}], {};", place, word_register())
                      : line("ld.shared.u32 {}, [{}];", new_word(), place);
  }

  void wait(const Place& place) {
    if (place.alike && chance(60)) {
      switch (pick(5)) {
        case 0:
          return line("barrier.red.popc.u32 {}, 0, {};", new_word(), predicate());
        case 1:
          return line("vote.sync.ballot.b32 {}, {}, 0xffffffff;", new_word(), predicate());
        case 2:
          return line("shfl.sync.bfly.b32 {}, {}, {}, 31, 0xffffffff;", new_word(), word_register(),
                      pick(32));
        case 3:
          return line("redux.sync.add.u32 {}, {}, 0xffffffff;", new_word(), word_register());
        default:
          return line("bar.sync 0;");
      }
    }
    if (chance(50))
      return line("nanosleep.u32 {};",
                  chance(50) ? word_register() + "" : fmt::format("{}", pick(90)));
    line("activemask.b32 %mask;");
    if (chance(50)) return line("bar.warp.sync %mask;");
    line("vote.sync.any.pred {}, {}, %mask;", new_predicate(), predicate());
  }

  void call() {
    line(
        "{{ .param .b32 v; .param .b32 w; st.param.b32 [v], {}; call (w), twist, (v); ld.param.b32 "
        "{}, [w]; }}",
        word_register(), new_word());
  }

  // What is written inside is not known behind it.
  template <class F>
  void scope(F body) {
    const auto r = r_.known.size(), d = d_.known.size(), p = p_.known.size();
    body();
    publish();
    if (chance(85) || defined_) r_.known.resize(r), d_.known.resize(d), p_.known.resize(p);
  }

  void branch(Place place) {
    ++place.depth;
    const bool meets = place.alike && chance(30);  // all threads arrive, here or there
    place.alike = false;
    const std::string other = new_label(), end = new_label();
    line("@{}{} bra {};", chance(50) ? "%" : "!%", predicate().substr(1), other);
    scope([&] { statements(1 + pick(4), place); });
    if (meets) line("bar.sync 0;");
    const bool both = meets || chance(50);
    if (both) line("bra {};", end);
    label(other);
    if (both) {
      scope([&] { statements(1 + pick(3), place); });
      if (meets) line("bar.sync 0;");
      label(end);
      if (meets && chance(50)) line("bar.sync 0;");
    }
  }

  void table(Place place) {
    ++place.depth;
    place.alike = false;
    const std::string list = new_label(), end = new_label();
    const std::string ways[] = {new_label(), new_label(), new_label()};
    line("rem.u32 %where, {}, 3;", word_register());
    line("{}: .branchtargets {}, {}, {};", list, ways[0], ways[1], ways[2]);
    if (chance(30)) {  // two jumps by one table
      const std::string other = new_label();
      line("@{} bra {};", predicate(), other);
      line("brx.idx %where, {};", list);
      label(other);
    }
    line("brx.idx %where, {};", list);
    for (const std::string& way : ways) {
      label(way);
      scope([&] { statements(1 + pick(2), place); });
      if (chance(70)) line("bra {};", end);
    }
    label(end);
  }

  // Counts to a bound that is a constant or each lane's own. The body may leave or go on early.
  void loop(Place place) {
    ++place.depth;
    const bool alike = place.alike && chance(50);
    const int number = labels_++;
    const int i = words + fresh_++, bound = words + fresh_++, more = predicates + fresh_++;
    line("mov.u32 %r{}, 0;", i);
    if (alike || chance(40))
      line("mov.u32 %r{}, {};", bound, 1 + pick(3));
    else
      line("and.b32 %r{}, {}, {};", bound, word_register(), chance(50) ? 3 : 1);
    publish();
    const bool tests_first = chance(50);
    label(fmt::format("HEAD{}", number));
    line("add.u32 %r{}, %r{}, 1;", i, i);
    r_.known.push_back(i);
    line("setp.le.u32 %p{}, %r{}, %r{};", more, i, bound);
    if (tests_first) line("@!%p{} bra EXIT{};", more, number);
    Place inside = place;
    inside.alike = alike;
    inside.loop = alike ? -1 : number;
    open_.push_back({number, more});
    scope([&] { statements(1 + pick(4), inside); });
    open_.pop_back();
    if (tests_first)
      line("bra HEAD{};", number);
    else
      line("@%p{} bra HEAD{};", more, number);
    label(fmt::format("EXIT{}", number));
  }

  void jump(const Place& place) {
    const std::string guard = (chance(50) ? "@" : "@!") + predicate();
    if (place.loop >= 0 && chance(40)) return line("{} bra EXIT{};", guard, place.loop);
    if (place.loop >= 0 && chance(50)) {
      // The head of a loop that tests behind its body does not test.
      const std::string skip = new_label();
      line("{} bra {};", guard, skip);
      line("@%p{} bra HEAD{};", more_of(place.loop), place.loop);
      label(skip);
      return;
    }
    if (chance(50)) return line("{} ret;", guard);
    line("{} bra END;", guard);
  }
  int more_of(int loop) {
    for (const auto& [number, more] : open_)
      if (number == loop) return more;
    return 0;
  }

  void statements(unsigned count, const Place& place) {
    for (unsigned i = 0; i < count; ++i) {
      const std::uint32_t what = pick(100);
      if (place.loop >= 0 && chance(8))
        jump(place);
      else if (what < 52)
        arithmetic();
      else if (what < 57)
        guarded();
      else if (what < 70)
        memory();
      else if (what < 76)
        wait(place);
      else if (what < 77)
        call();
      else if (what < 80)
        jump(place);
      else if (place.depth >= 4)
        arithmetic();
      else if (what < 89)
        branch(place);
      else if (what < 97)
        loop(place);
      else
        table(place);
      publish();
    }
  }

  std::mt19937 random_;
  const bool defined_;
  std::string text_;
  Pool r_{words, {}}, d_{wides, {}}, p_{predicates, {}};
  std::vector<std::pair<Pool*, int>> new_;
  std::vector<std::pair<int, int>> open_;  // loops, and the predicates by which they go on
  int fresh_ = 0, labels_ = 0;
};

}  // namespace

std::string random_kernel(std::uint32_t seed, bool defined) { return Writer(seed, defined).run(); }

}  // namespace inflight::machine
