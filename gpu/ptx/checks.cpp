// Refuses PTX that the driver's assembler also refuses although every word in it is known: calls
// that do not fit their callee, addresses in another state space than the instruction's, functions
// declared in two ways, kernels with too many parameters.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "gpu/ptx/parser.hpp"
#include "gpu/ptx/wgmma.hpp"

namespace inflight::ptx {

namespace {

using Kind = Operand::Kind;

constexpr std::uint64_t kKernelParameterBytes = 32764;
constexpr std::uint64_t kOldKernelParameterBytes = 4352;  // before PTX 8.1, and before sm_70
constexpr std::uint32_t kFunctionParameterAlignment = 128;

// Instructions with one state space, which is that of the address they access.
constexpr Opcode kAccesses[] = {Opcode::ld,       Opcode::ldu,       Opcode::st,
                                Opcode::atom,     Opcode::red,       Opcode::ldmatrix,
                                Opcode::stmatrix, Opcode::wmma_load, Opcode::wmma_store};

constexpr bool is_parameter(Space s) {
  return s == Space::param || s == Space::param_entry || s == Space::param_func;
}

// Can an instruction in the state space `written` access a variable of the state space `declared`?
constexpr bool reaches(Space written, Space declared) {
  if (is_parameter(declared)) return is_parameter(written);
  if (is_shared(declared)) return is_shared(written) || written == Space::generic;
  return written == declared || written == Space::generic;
}

std::string_view space_word(Space s) {
  if (is_shared(s)) return ".shared";
  if (is_parameter(s)) return ".param";
  return s == Space::constant ? ".const" : s == Space::local ? ".local" : ".global";
}

bool is_array(const Variable& v) { return v.unsized || v.size != size_of(v.type); }

bool is_untyped(Type t) {
  return t == Type::b8 || t == Type::b16 || t == Type::b32 || t == Type::b64 || t == Type::b128;
}

// Can the bits of one type be passed as the other? Both have the same size.
bool same_class(Type a, Type b) {
  return is_untyped(a) || is_untyped(b) || is_float(a) == is_float(b);
}

std::string declared_as(const Variable& v) {
  if (v.unsized) return fmt::format("an array of any size aligned to {}", v.alignment);
  return is_array(v) ? fmt::format("{} bytes aligned to {}", v.size, v.alignment)
                     : fmt::format(".{}", spelling(v.type));
}

// Returns why `actual` cannot be passed for `formal`. Empty if it can.
std::string misfit(const Variable& formal, const Variable& actual) {
  const bool alike = is_array(formal) == is_array(actual) &&
                     (formal.unsized || actual.size == formal.size) &&
                     (is_array(formal) || same_class(formal.type, actual.type)) &&
                     actual.alignment == formal.alignment;
  if (alike) return {};
  return fmt::format("`{}` is {} where {} is declared", actual.name, declared_as(actual),
                     declared_as(formal));
}

// With mma.sp, 8-bit floats cannot accumulate in f16. With mma they can.
std::string_view sparse_mistake(const Instruction& in) {
  const bool narrow = in.types[1] == Type::e4m3 || in.types[1] == Type::e5m2;
  const bool half = in.types[0] == Type::f16 || in.types[3] == Type::f16;
  return narrow && half ? "8-bit floats must accumulate in .f32 here" : "";
}

std::string_view register_count_mistake(const Instruction& in, std::span<const Operand> operands) {
  if (!in.mods.has(Mod::sync) || !in.mods.has(Mod::aligned)) return "it needs .sync.aligned";
  const bool one = operands.size() == 1 && operands[0].kind == Operand::Kind::integer;
  if (!one || operands[0].value < 24 || operands[0].value > 256 || operands[0].value % 8 != 0)
    return "a register count must be a constant from 24 to 256 in steps of 8";
  return {};
}

// cp.async: a destination, a source, a size, perhaps the bytes to read or a predicate, and a policy
// if .L2::cache_hint stands there.
std::string copy_mistake(const Instruction& in, std::span<const Operand> operands,
                         std::span<const Register> registers) {
  if (operands.size() < 3 || operands[2].kind != Kind::integer) return {};
  const std::int64_t bytes = operands[2].value;
  const bool whole = in.mods.has(Mod::cg);
  if (bytes != 16 && (whole || (bytes != 4 && bytes != 8)))
    return fmt::format("it copies {} bytes, not {}", bytes, whole ? "16" : "4, 8 or 16");
  const auto is_policy = [&](const Operand& o) {
    return o.kind == Kind::reg && size_of(registers[o.index].type) == 8;
  };
  const bool policy = operands.size() > 3 && is_policy(operands.back());
  if (policy != in.mods.has(Mod::L2_cache_hint))
    return policy ? "a cache policy needs .L2::cache_hint" : ".L2::cache_hint needs a cache policy";
  if (operands.size() > 3 && operands[3].kind == Kind::integer &&
      (operands[3].value < 0 || operands[3].value > bytes))
    return fmt::format("it cannot read {} bytes to copy {}", operands[3].value, bytes);
  return {};
}

std::string_view count_mistake(std::span<const Operand> operands) {
  return operands.size() == 1 && operands[0].kind != Kind::integer
             ? "a number of groups is a constant"
             : "";
}

// Which check, if any, each instruction needs.
enum class Check : std::uint8_t {
  none,
  access,
  call,
  branches,
  sparse,
  wgmma,
  register_count,
  copy,
  count
};
constexpr auto kChecks = [] {
  std::array<Check, std::size_t(Opcode::count_)> checks{};
  const auto set = [&](Opcode o, Check check) { checks[std::size_t(o)] = check; };
  for (const Opcode o : kAccesses) set(o, Check::access);
  set(Opcode::call, Check::call);
  set(Opcode::brx_idx, Check::branches);
  set(Opcode::mma_sp, Check::sparse);
  set(Opcode::wgmma_mma_async, Check::wgmma);
  set(Opcode::wgmma_mma_async_sp, Check::wgmma);
  set(Opcode::setmaxnreg, Check::register_count);
  set(Opcode::cp_async, Check::copy);
  set(Opcode::cp_async_wait_group, Check::count);
  set(Opcode::cp_async_bulk_wait_group, Check::count);
  return checks;
}();

}  // namespace

// Checks a complete instruction, which began at `start`.
bool Parser::check(const Instruction& in, const char* start) {
  const Check what = kChecks[std::size_t(in.opcode)];
  if (what == Check::none) return true;
  const std::string why = what == Check::access     ? address_mistake(in)
                          : what == Check::call     ? call_mistake()
                          : what == Check::branches ? table_mistake()
                          : what == Check::sparse   ? std::string(sparse_mistake(in))
                          : what == Check::copy     ? copy_mistake(in, operands_, registers_)
                          : what == Check::count    ? std::string(count_mistake(operands_))
                          : what == Check::wgmma
                              ? std::string(wgmma_mistake(in, operands_))
                              : std::string(register_count_mistake(in, operands_));
  return why.empty() || lex_.fail_at(start, fmt::format("`{}`: {}", in.name, why));
}

std::string Parser::address_mistake(const Instruction& in) const {
  const bool writes =
      in.opcode == Opcode::st || in.opcode == Opcode::atom || in.opcode == Opcode::red;
  if (writes && in.space() == Space::constant) return "it cannot write the state space .const";
  for (const Operand& o : operands_) {
    if (o.kind != Kind::address || o.base != Kind::variable) continue;
    const Variable& v = module_.variables[o.index];
    if (!reaches(in.space(), v.space))
      return fmt::format("`{}` is a {} variable, but the instruction is for another state space",
                         v.name, space_word(v.space));
    if (in.opcode == Opcode::st && is_formal(o.index, &Function::parameters))
      return fmt::format("`{}` is a parameter, which the function cannot write", v.name);
  }
  return {};
}

std::string Parser::table_mistake() const {
  if (operands_.size() != 2 || operands_[1].kind != Kind::table) return {};
  const Table& t = tables_[operands_[1].index];
  if (t.kind == Table::Kind::branches) return {};
  return fmt::format("`{}` is not a list of .branchtargets", t.name);
}

bool Parser::is_formal(std::uint32_t variable, std::vector<std::uint32_t> Function::*list) const {
  const auto& formals = module_.functions[current_].*list;
  return std::find(formals.begin(), formals.end(), variable) != formals.end();
}

std::string Parser::call_mistake() const {
  // (results), function, (arguments), table. The lists are optional.
  const Operand *callee = nullptr, *results = nullptr, *arguments = nullptr, *table = nullptr;
  for (const Operand& o : operands_) {
    if (o.kind == Kind::list)
      (callee ? arguments : results) = &o;
    else
      (callee ? table : callee) = &o;
  }
  if (!callee) return "it names no function";
  const auto fits = [&](const Variables& r, const Variables& p) {
    std::string why = list_mistake(results, r, true);
    return why.empty() ? list_mistake(arguments, p, false) : why;
  };
  if (callee->kind == Kind::function) {
    const Function& f = module_.functions[callee->index];
    if (f.entry) return fmt::format("`{}` is a kernel; only a .func can be called", f.name);
    if (table) return "a call by name takes no table of targets";
    return fits(formals(f.returns), formals(f.parameters));
  }
  if (callee->kind == Kind::label) return {};  // not declared yet: settle_scope() checks it
  if (callee->kind != Kind::reg) return "what it calls is neither a function nor a register";
  if (!table || table->kind != Kind::table)
    return "a call through a register needs a .callprototype or .calltargets declared before";
  const Table& t = tables_[table->index];
  if (t.kind == Table::Kind::branches)
    return fmt::format("`{}` lists .branchtargets, not functions", t.name);
  if (t.kind == Table::Kind::prototype) return fits(views(t.returns), views(t.parameters));
  for (std::uint32_t id : t.entries) {
    const Function& f = module_.functions[id];
    if (std::string why = fits(formals(f.returns), formals(f.parameters)); !why.empty()) return why;
  }
  return {};
}

Parser::Variables Parser::formals(const std::vector<std::uint32_t>& ids) const {
  Variables list;
  for (std::uint32_t id : ids) list.push_back(&module_.variables[id]);
  return list;
}

Parser::Variables Parser::views(const std::vector<Variable>& variables) {
  Variables list;
  for (const Variable& v : variables) list.push_back(&v);
  return list;
}

std::string Parser::list_mistake(const Operand* list, const Variables& formals,
                                 bool results) const {
  const std::size_t count = list ? list->count : 0;
  if (count != formals.size())
    return fmt::format("it has {} {} where the callee declares {}", count,
                       results ? "results" : "arguments", formals.size());
  for (std::size_t i = 0; i < count; ++i)
    if (std::string why = passed_mistake(pool_[list->index + i], *formals[i], results);
        !why.empty())
      return why;
  return {};
}

// Returns why a call cannot pass `o` for `formal`. Empty if it can.
std::string Parser::passed_mistake(const Operand& o, const Variable& formal, bool result) const {
  switch (o.kind) {
    case Kind::variable: {
      const Variable& v = module_.variables[o.index];
      if (v.space != Space::param)
        return fmt::format(
            "`{}` is a {} variable: calls pass .param variables, registers and "
            "constants",
            v.name, space_word(v.space));
      if (is_formal(o.index, &Function::parameters) || is_formal(o.index, &Function::returns))
        return fmt::format("`{}` is a parameter of the calling function itself: copy it", v.name);
      return o.value ? fmt::format("`{}` is passed with an offset", v.name) : misfit(formal, v);
    }
    case Kind::reg: {
      const Register& r = registers_[o.index];
      Variable passed;
      passed.name = r.name, passed.type = r.type;
      passed.size = passed.alignment = size_of(r.type);
      return r.type == Type::pred ? fmt::format("`{}` is a predicate", r.name)
                                  : misfit(formal, passed);
    }
    case Kind::integer:
    case Kind::f32:
    case Kind::f64:
      if (result) return "a constant takes no result";
      return is_array(formal) ? "a constant is passed for an array" : "";
    case Kind::sink:
      return result ? "" : "`_` is passed as an argument";
    default:
      return "it passes something other than a .param variable, register or constant";
  }
}

// Do two lists of parameters or results have the same layout?
bool Parser::alike(const Variables& a, const Variables& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const Variable* x, const Variable* y) {
                      return x->size == y->size && x->unsized == y->unsized &&
                             x->alignment == y->alignment && x->space == y->space;
                    });
}

// A second head of a function must equal the first, because calls were checked against the first.
bool Parser::same_head(const Function& old, const Function& head,
                       const std::vector<Variable>& returns,
                       const std::vector<Variable>& parameters) {
  return (old.entry == head.entry && alike(formals(old.returns), views(returns)) &&
          alike(formals(old.parameters), views(parameters))) ||
         lex_.fail_at(
             head.name.data(),
             fmt::format("`{}` is declared with different parameters or results on line {}",
                         head.name, old.line));
}

bool Parser::same_signature(const Function& a, const Function& b) const {
  return a.entry == b.entry && alike(formals(a.returns), formals(b.returns)) &&
         alike(formals(a.parameters), formals(b.parameters));
}

// Limits the bytes of a kernel's parameters and the alignment of a function's parameters.
bool Parser::check_parameters(const Function& head, const std::vector<Variable>& parameters) {
  std::uint64_t bytes = 0;
  for (const Variable& v : parameters) {
    if (head.entry && v.unsized)
      return lex_.fail_at(v.name.data(), fmt::format("a kernel's parameter has a size; `{}` has "
                                                     "none",
                                                     v.name));
    if (!head.entry && v.alignment > kFunctionParameterAlignment)
      return lex_.fail_at(v.name.data(),
                          fmt::format("`{}` is aligned to {} bytes; a parameter of a function is "
                                      "aligned to at most {}",
                                      v.name, v.alignment, kFunctionParameterAlignment));
    const std::uint64_t alignment = std::max(1u, v.alignment);
    bytes = (bytes + alignment - 1) / alignment * alignment + v.size;
  }
  const bool many =
      module_.version_major * 10 + module_.version_minor >= 81 && module_.target_number >= 70;
  const std::uint64_t most = many ? kKernelParameterBytes : kOldKernelParameterBytes;
  if (!head.entry || !head.has_body || bytes <= most) return true;
  return lex_.fail_at(
      head.name.data(),
      fmt::format("kernel `{}` has {} bytes of parameters; it may have {}{}", head.name, bytes,
                  most, many ? "" : " (32764 from PTX 8.1 and sm_70 on)"));
}

}  // namespace inflight::ptx
