// Instructions and their operands (PTX ISA 6, 9.1 to 9.3).
#include <fmt/format.h>

#include <algorithm>

#include "gpu/ptx/parser.hpp"

namespace inflight::ptx {

namespace {

constexpr std::size_t kMostOperands = 0xffff;

}  // namespace

// Starts at the guard or the opcode.
bool Parser::instruction(const char* start, std::uint32_t line) {
  Instruction guarded{};
  if (*start == '@' && !guard(guarded)) return false;
  lex_.skip();
  auto text = lex_.take(kOpcode);
  if (lex_.peek() == '.') text = spaced_opcode(text);
  if (text.empty()) return lex_.expected("an instruction");
  const Form& form = forms_.find(text, hash(text));
  if (!form.assembler_refusal.empty() && version_number() <= form.refused_until)
    return lex_.fail_at(text.data(), form.assembler_refusal);
  Instruction in = form.instruction;
  in.name = text, in.line = line, in.location = location_;
  in.guarded = guarded.guarded, in.guard_negated = guarded.guard_negated, in.guard = guarded.guard;
  return form.base == Opcode::unknown ? unknown_instruction(in, form)
                                      : known_instruction(in, form, start);
}

int Parser::version_number() const { return module_.version_major * 10 + module_.version_minor; }

// Returns the opcode without its spaces: `prmt .b32` is `prmt.b32`.
std::string_view Parser::spaced_opcode(std::string_view head) {
  std::string& text = strings_->emplace_back(head);
  while (lex_.peek() == '.') text += lex_.take(kOpcode);
  return text;
}

bool Parser::known_instruction(Instruction& in, const Form& form, const char* start) {
  const std::size_t pending = pending_.size();
  if (!complete(in) || !operands(form) || !check(in, start)) return false;
  if (base_ == Opcode::ret) store_results();
  if (base_ == Opcode::mov && in.vector > 1 && form.refusal.empty() && refusal_.empty() &&
      !reads_special())
    return vector_move(in);
  std::vector<Held> results;
  if (base_ == Opcode::call) results = pass_registers();
  if (!finish(in, form, pending)) return false;
  if (resident_ != none) set_resident(in);
  for (const Held& each : results) {
    put(strings_->emplace_back(
            fmt::format("ld.param.b{}", 8 * size_of(module_.variables[each.variable].type))),
        {{.kind = Operand::Kind::reg, .index = each.reg},
         {.kind = Operand::Kind::address,
          .base = Operand::Kind::variable,
          .index = each.variable}});
    Instruction& load = body_.back();
    load.guarded = in.guarded, load.guard_negated = in.guard_negated, load.guard = in.guard;
  }
  return true;
}

// Stores registers and constants that a call passes in `.param` variables, in front of the call.
// Returns the registers that it sets, which are loaded behind it.
std::vector<Parser::Held> Parser::pass_registers() {
  using Kind = Operand::Kind;
  const auto is_list = [](const Operand& o) { return o.kind == Kind::list; };
  const auto callee = std::find_if_not(operands_.begin(), operands_.end(), is_list);
  if (callee == operands_.end()) return {};
  const Operand called = *callee;
  Variables parameters, returns;
  if (called.kind == Kind::function) {
    parameters = formals(module_.functions[called.index].parameters);
    returns = formals(module_.functions[called.index].returns);
  } else if (operands_.back().kind == Kind::table) {
    const Table& t = tables_[operands_.back().index];
    if (t.kind == Table::Kind::prototype) {
      parameters = views(t.parameters), returns = views(t.returns);
    } else if (!t.entries.empty()) {
      parameters = formals(module_.functions[t.entries.front()].parameters);
      returns = formals(module_.functions[t.entries.front()].returns);
    }
  }
  const auto types = [](const Variables& formal) {
    std::vector<Type> list;
    for (const Variable* v : formal) list.push_back(v->type);
    return list;
  };
  const std::vector<Type> passed = types(parameters), returned = types(returns);
  const auto arguments = std::find_if(callee, operands_.end(), is_list);
  if (arguments != operands_.end()) store_arguments(*arguments, passed);
  std::vector<Held> results;
  if (!is_list(operands_.front())) return results;
  const Operand& list = operands_.front();
  for (std::uint32_t i = 0; i < list.count && i < returned.size(); ++i) {
    Operand& result = pool_[list.index + i];
    if (result.kind != Kind::reg) continue;
    const std::uint32_t variable = passing_variable("%result", returned[i]);
    results.push_back({result.index, variable});
    result = {.kind = Kind::variable, .index = variable};
  }
  return results;
}

// A variable for one value that a call passes.
std::uint32_t Parser::passing_variable(std::string_view name, Type type) {
  const auto variable = std::uint32_t(module_.variables.size());
  Variable& v = module_.variables.emplace_back();
  v.name = name, v.space = Space::param, v.type = type;
  v.size = v.alignment = size_of(type), v.function = current_, v.line = lex_.line();
  return variable;
}

void Parser::store_arguments(const Operand& list, const std::vector<Type>& types) {
  using Kind = Operand::Kind;
  for (std::uint32_t i = 0; i < list.count && i < types.size(); ++i) {
    const Operand passed = pool_[list.index + i];
    if (passed.kind != Kind::reg && passed.kind != Kind::integer && passed.kind != Kind::f32 &&
        passed.kind != Kind::f64)
      continue;
    const std::uint32_t variable = passing_variable("%argument", types[i]);
    const bool floating = types[i] == Type::f32 || types[i] == Type::f64;
    put(strings_->emplace_back(
            fmt::format("st.param.{}{}", floating ? 'f' : 'b', 8 * size_of(types[i]))),
        {{.kind = Kind::address, .base = Kind::variable, .index = variable}, passed});
    pool_[list.index + i] = {.kind = Kind::variable, .index = variable};
  }
}

// `mov.v4.u32 v, %tid` is one instruction.
bool Parser::reads_special() const {
  if (operands_.size() != 2 || operands_[1].kind != Operand::Kind::vector) return false;
  const auto first = pool_.begin() + operands_[1].index;
  return std::any_of(first, first + operands_[1].count,
                     [](const Operand& o) { return o.kind == Operand::Kind::special; });
}

// `mov.v2.u32 v, {a, b}`: moves of the elements, which are all read before one is written.
bool Parser::vector_move(const Instruction& in) {
  using Kind = Operand::Kind;
  const bool pair = operands_.size() == 2 && operands_[0].kind == Kind::vector &&
                    operands_[1].kind == Kind::vector;
  if (!pair || operands_[0].count != in.vector || operands_[1].count != in.vector)
    return lex_.fail_at(in.name.data(), fmt::format("`{}` moves {} elements, but an operand has a "
                                                    "different number",
                                                    in.name, in.vector));
  const Operand to = operands_[0], from = operands_[1];
  const std::string_view one = strings_->emplace_back(fmt::format("mov.{}", spelling(in.type())));
  const auto first = std::uint32_t(registers_.size());
  for (unsigned i = 0; i < in.vector; ++i) {
    registers_.push_back({in.type(), "%element"});
    put(one, {{.kind = Kind::reg, .index = first + i}, pool_[from.index + i]});
  }
  for (unsigned i = 0; i < in.vector; ++i) {
    const Operand element = pool_[to.index + i];
    if (element.kind == Kind::sink) continue;
    put(one, {element, {.kind = Kind::reg, .index = first + i}});
    Instruction& move = body_.back();
    move.guarded = in.guarded, move.guard_negated = in.guard_negated, move.guard = in.guard;
  }
  return true;
}

// An unknown instruction may have any operands. Those that cannot be parsed are dropped.
bool Parser::unknown_instruction(Instruction& in, const Form& form) {
  const char* start = lex_.raw();
  const std::uint32_t line = lex_.line();
  const std::size_t pending = pending_.size(), pool = pool_.size(), body = body_.size();
  if (operands(form) && pending_.size() == pending) return finish(in, form, pending);
  lex_.forget_error();
  pending_.resize(pending), pool_.resize(pool), body_.resize(body), operands_.clear();
  lex_.rewind(start, line);
  if (!lex_.skip_to(';')) return lex_.expected("`;`");
  return finish(in, form, pending);
}

// Parses `@p` or `@!p`.
bool Parser::guard(Instruction& in) {
  lex_.accept('@');
  in.guarded = true;
  in.guard_negated = lex_.accept('!');
  std::string_view text;
  if (!name(text, "the guard predicate")) return false;
  const Symbol s = lookup(text);
  if (s.kind != Symbol::Kind::reg)
    return lex_.fail_at(text.data(), fmt::format("`{}` is not a register declared so far", text));
  if (registers_[s.index].type != Type::pred)
    return lex_.fail_at(text.data(),
                        fmt::format("`{}` guards an instruction but is not a predicate", text));
  in.guard = s.index;
  return true;
}

bool Parser::operands(const Form& form) {
  operands_.clear();
  refusal_.clear();
  resident_ = none;
  base_ = form.base;
  form_ = &form;
  if (lex_.accept(';')) return true;
  do {
    if (!operand()) return false;
  } while (lex_.accept(','));
  if (operands_.size() > kMostOperands) return lex_.fail("an instruction has too many operands");
  return lex_.expect(';');
}

bool Parser::finish(Instruction& in, const Form& form, std::size_t pending) {
  in.operands = std::uint32_t(pool_.size());
  in.operand_count = std::uint16_t(operands_.size());
  pool_.insert(pool_.end(), operands_.begin(), operands_.end());
  for (; pending < pending_.size(); ++pending)
    if (pending_[pending].in_instruction) pending_[pending].pool += in.operands;
  const std::string why = complaint(in, form);
  if (!why.empty()) {
    in.opcode = Opcode::unknown;
    refusals_.push_back({std::uint32_t(body_.size()), why});
  }
  body_.push_back(in);
  return true;
}

// Returns why this instruction cannot run. Empty if it can.
std::string Parser::complaint(const Instruction& in, const Form& form) const {
  if (!form.refusal.empty()) return form.refusal;
  if (!refusal_.empty()) return refusal_;
  if (!vectors_match(in, form.base))
    return fmt::format("`{}` moves {} element{}, but its operand has a different number", in.name,
                       in.vector, in.vector == 1 ? "" : "s");
  const Rule& r = rule(form.base);
  if (in.operand_count >= r.min_operands && in.operand_count <= r.max_operands) return {};
  const bool one = r.min_operands == r.max_operands;
  return fmt::format("`{}` has {} operands; it takes {}", in.name, in.operand_count,
                     one ? fmt::format("{}", r.min_operands)
                         : fmt::format("{} to {}", r.min_operands, r.max_operands));
}

// A load or store with .v4 takes a vector of four. One without a vector size takes a scalar or a
// vector of one.
bool Parser::vectors_match(const Instruction& in, Opcode opcode) const {
  const bool load = opcode == Opcode::ld || opcode == Opcode::ldu;
  const std::size_t at = load ? 0 : 1;
  if ((!load && opcode != Opcode::st) || operands_.size() <= at) return true;
  const Operand& o = operands_[at];
  return o.kind == Operand::Kind::vector ? o.count == in.vector : in.vector == 1;
}

bool Parser::operand() {
  const char c = lex_.peek();
  if (c == '[') return bracketed();
  Operand o;
  if (c == '{') {
    if (!elements(Operand::Kind::vector, '}', o) || !residency()) return false;
  } else if (c == '(' && base_ == Opcode::call) {
    if (!elements(Operand::Kind::list, ')', o)) return false;
  } else if (!simple(o, true, std::uint32_t(operands_.size()))) {
    return false;
  }
  operands_.push_back(o);
  return true;
}

// Parses the `|p` of `tex.2d.v4.f32.f32 {...}|p`: whether the texels are resident.
bool Parser::residency() {
  if ((base_ != Opcode::tex && base_ != Opcode::tld4) || !operands_.empty() || !lex_.accept('|'))
    return true;
  std::string_view text;
  if (!name(text, "the predicate of a texture read")) return false;
  const Symbol s = lookup(text);
  if (s.kind != Symbol::Kind::reg || registers_[s.index].type != Type::pred)
    return lex_.fail_at(text.data(), fmt::format("`{}` is not a predicate declared so far", text));
  resident_ = s.index;
  return true;
}

// Sets the predicate of a texture read behind it. All texels are resident: sparse arrays are not
// supported.
void Parser::set_resident(const Instruction& read) {
  const Operand zero{.kind = Operand::Kind::integer};
  put("setp.eq.u32", {{.kind = Operand::Kind::reg, .index = resident_}, zero, zero});
  Instruction& set = body_.back();
  set.guarded = read.guarded, set.guard_negated = read.guard_negated, set.guard = read.guard;
}

// Parses a name, `!name`, `-name` or a number. `place` is the operand's index in the instruction or
// in the pool.
bool Parser::simple(Operand& o, bool in_instruction, std::uint32_t place) {
  const char c = lex_.peek();
  if (is(c, kWord) && !is(c, kDigit)) return name_operand(o, in_instruction, place);
  constexpr std::string_view kConstantStarts = "0123456789.-+~(";
  if (c == '-' && is(lex_.ahead(), kWord) && !is(lex_.ahead(), kDigit) && lex_.ahead() != 'W') {
    lex_.accept('-');
    if (base_ != Opcode::vmad) refusal_ = "only `vmad` takes a negated register";
    return o.negated = true, name_operand(o, in_instruction, place);
  }
  if (kConstantStarts.find(c) != std::string_view::npos) return immediate(o);
  if (c != '!') return lex_.expected("an operand");
  lex_.accept('!');
  if (!is(lex_.peek(), kWord) || is(lex_.here(), kDigit)) {
    if (!immediate(o)) return false;
    return o.value = !o.value, true;
  }
  return o.negated = true, name_operand(o, in_instruction, place);
}

bool Parser::immediate(Operand& o) {
  Constant value;
  if (!constant(value)) return false;
  o.kind = value.kind == Literal::Kind::integer ? Operand::Kind::integer
           : value.kind == Literal::Kind::f32   ? Operand::Kind::f32
                                                : Operand::Kind::f64;
  o.value = std::int64_t(value.bits);
  return true;
}

bool Parser::name_operand(Operand& o, bool in_instruction, std::uint32_t place) {
  const auto text = lex_.word();
  if (text == "_") return o.kind = Operand::Kind::sink, pair(o);
  const Symbol s = base_ == Opcode::bra ? Symbol{} : lookup(text);
  switch (s.kind) {
    case Symbol::Kind::reg:
      o.kind = Operand::Kind::reg, o.index = s.index;
      if (lex_.here() == '.') return selector(lex_.dotted(), o);
      if (lex_.peek() == '+') return sum_operand(o, in_instruction);
      return pair(o);
    case Symbol::Kind::variable:
      o.kind = Operand::Kind::variable, o.index = s.index;
      return lex_.peek() == '[' ? indexed(o, in_instruction) : add_offset(o.value);
    case Symbol::Kind::vector:
      return vector_register(s, o);
    case Symbol::Kind::function:
      return o.kind = Operand::Kind::function, o.index = s.index, true;
    case Symbol::Kind::table:
      return o.kind = Operand::Kind::table, o.index = s.index, true;
    default:
      break;
  }
  if (text[0] == '%' && base_ != Opcode::bra) return special(text, o);
  if (text == "WARP_SZ") return lex_.rewind(text.data(), lex_.line()), immediate(o);
  o.kind = Operand::Kind::label;
  pending_.push_back({place, none, 0, text, in_instruction});
  return true;
}

// `%r1+4` outside an address, which ptxas takes as a source. The sum is computed in front of the
// instruction.
bool Parser::sum_operand(Operand& o, bool in_instruction) {
  std::int64_t added = 0;
  if (!add_offset(added)) return false;
  const Type type = registers_[o.index].type;
  const std::size_t width = size_of(type);
  if (!in_instruction || is_float(type) || type == Type::pred || width < 2 || width > 8) {
    refusal_ = "a register plus a constant is supported for one integer and in an address only";
    return true;
  }
  registers_.push_back({type, "%sum"});
  const auto sum = std::uint32_t(registers_.size() - 1);
  put(strings_->emplace_back(fmt::format("add.u{}", 8 * width)),
      {{.kind = Operand::Kind::reg, .index = sum},
       {.kind = Operand::Kind::reg, .index = o.index},
       {.kind = Operand::Kind::integer, .value = added}});
  o.index = sum;
  return true;
}

// Parses the `[2]`, `[%r1]` or `[%r1+2]` of `a[2]`, the address of an element.
bool Parser::indexed(Operand& o, bool in_instruction) {
  lex_.accept('[');
  std::uint64_t index = 0;
  const char c = lex_.peek();
  o.base = Operand::Kind::variable, o.kind = Operand::Kind::address;
  if (is(c, kWord) && !is(c, kDigit)) return indexed_by_register(o, in_instruction);
  if (!constant_integer(index, "an index")) return false;
  o.value = std::int64_t(index * size_of(module_.variables[o.index].type));
  return lex_.expect(']');
}

// Computes the element's address in front of the instruction, as ptxas does: it adds the constant
// in the register's width, extends 32 bits by zeros even in an .s32 register, and multiplies the
// sum by the size of an element.
bool Parser::indexed_by_register(Operand& o, bool in_instruction) {
  const auto text = lex_.word();
  const Symbol s = lookup(text);
  if (s.kind != Symbol::Kind::reg)
    return lex_.fail_at(text.data(), fmt::format("`{}` is not a register declared so far", text));
  std::int64_t added = 0;
  if (!add_offset(added) || !lex_.expect(']')) return false;
  const Variable& array = module_.variables[o.index];
  const Type type = registers_[s.index].type;
  const std::size_t width = size_of(type);
  if (is_float(type) || type == Type::pred || width > 8)
    return lex_.fail_at(text.data(), fmt::format("`{}` has no type that an index may have", text));
  const Space space = form_->instruction.space();
  if (!in_instruction || width == 1 || array.space == Space::param ||
      (space == Space::generic && base_ != Opcode::mov && array.space != Space::global)) {
    refusal_ =
        "an array element whose index is a register is not supported here: compute its address";
    return true;
  }
  using Kind = Operand::Kind;
  const auto reg = [](std::uint32_t r) { return Operand{.kind = Kind::reg, .index = r}; };
  const auto number = [](std::int64_t n) { return Operand{.kind = Kind::integer, .value = n}; };
  const auto fresh = [&](Type t) {
    registers_.push_back({t, "%address"});
    return std::uint32_t(registers_.size() - 1);
  };
  std::uint32_t index = s.index;
  if (width == 2) {
    const std::uint32_t extended = fresh(Type::u32);
    put(type == Type::s16 ? "cvt.s32.s16" : "cvt.u32.u16", {reg(extended), reg(index)});
    index = extended;
  }
  if (added != 0) {
    const std::uint32_t sum = fresh(width == 8 ? Type::u64 : Type::u32);
    put(width == 8 ? "add.u64" : "add.u32", {reg(sum), reg(index), number(added)});
    index = sum;
  }
  const std::uint32_t begin = fresh(Type::u64), at = fresh(Type::u64);
  put("mov.u64", {reg(begin), {.kind = Kind::variable, .index = o.index}});
  put(width == 8 ? "mad.lo.u64" : "mad.wide.u32",
      {reg(at), reg(index), number(std::int64_t(size_of(array.type))), reg(begin)});
  o = reg(at);
  if (base_ == Opcode::mov || base_ == Opcode::cvta) return true;
  o.base = Kind::reg, o.kind = Kind::address;
  return true;
}

// Puts an instruction in front of the one being parsed.
void Parser::put(std::string_view opcode, std::initializer_list<Operand> operands) {
  Instruction in = forms_.find(opcode, hash(opcode)).instruction;
  in.name = opcode, in.line = lex_.line(), in.location = location_;
  in.operands = std::uint32_t(pool_.size());
  in.operand_count = std::uint16_t(operands.size());
  pool_.insert(pool_.end(), operands);
  body_.push_back(in);
}

// Parses the `|q` of `p|q`, if there is one.
bool Parser::pair(Operand& o) {
  if (!lex_.accept('|')) return true;
  std::string_view text;
  if (!name(text, "the second destination")) return false;
  if (text == "_") return true;
  const Symbol s = lookup(text);
  if (s.kind != Symbol::Kind::reg)
    return lex_.fail_at(text.data(), fmt::format("`{}` is not a register declared so far", text));
  o.second = s.index;
  return true;
}

// Parses what follows the name of a `.reg .v4 .f32 v`: nothing, or a component such as `.x`.
bool Parser::vector_register(const Symbol& s, Operand& o) {
  const char* start = lex_.raw();
  if (lex_.here() != '.') {
    o.kind = Operand::Kind::vector, o.count = s.width;
    o.index = std::uint32_t(pool_.size());
    for (std::uint32_t i = 0; i < s.width; ++i) {
      pool_.emplace_back().kind = Operand::Kind::reg;
      pool_.back().index = s.index + i;
    }
    return true;
  }
  const auto part = lex_.dotted();
  const auto at = part.size() == 2 ? std::string_view("xyzwrgba").find(part[1]) : part.npos;
  if (at == part.npos || at % 4 >= s.width)
    return lex_.fail_at(start, fmt::format("`{}` is not a component of this register", part));
  o.kind = Operand::Kind::reg, o.index = s.index + std::uint32_t(at % 4);
  return pair(o);
}

// Parses `.b3`, `.h1` or `.b3210`, which follows a register of a video instruction.
bool Parser::selector(std::string_view text, Operand& o) {
  Selector s;
  bool good = text.size() >= 3 && text.size() <= 6 && (text[1] == 'b' || text[1] == 'h');
  for (std::size_t i = 2; good && i < text.size(); ++i) {
    good = text[i] >= '0' && text[i] <= '7';
    s.parts[s.count++] = std::uint8_t(text[i] - '0');
  }
  if (!good)
    return lex_.fail_at(text.data(), fmt::format("`{}` is not a part of a register", text));
  s.unit = text[1];
  o.value = s.value();
  return true;
}

// Parses `[a]`, `[a+4]`, `[map, {x, y}]` or `[texture, sampler, {x}]`. Each part is one operand.
bool Parser::bracketed() {
  lex_.accept('[');
  do {
    Operand o;
    const bool first = operands_.empty() || lex_.peek() != '{';
    if (!(first ? address(o) : elements(Operand::Kind::vector, '}', o))) return false;
    operands_.push_back(o);
  } while (lex_.accept(','));
  return lex_.expect(']');
}

bool Parser::address(Operand& o) {
  o.kind = Operand::Kind::address;
  const char c = lex_.peek();
  if (!is(c, kWord) || is(c, kDigit)) {
    std::uint64_t value;
    o.base = Operand::Kind::integer;
    if (!is(c, kDigit) && c != '-' && c != '(') return lex_.expected("an address");
    if (!constant_integer(value, "an address")) return false;
    return o.value = std::int64_t(value), true;
  }
  const auto text = lex_.word();
  const Symbol s = lookup(text);
  o.index = s.index;
  if (s.kind == Symbol::Kind::reg) return o.base = Operand::Kind::reg, add_offset(o.value);
  if (s.kind == Symbol::Kind::variable)
    return o.base = Operand::Kind::variable, add_offset(o.value);
  return lex_.fail_at(text.data(),
                      fmt::format("`{}` is not a register or variable declared so far", text));
}

// Parses `{a, b}` or `(a, b)`. The elements take consecutive places in the pool.
bool Parser::elements(Operand::Kind kind, char close, Operand& o) {
  lex_.accept(close == '}' ? '{' : '(');
  const auto first = std::uint32_t(pool_.size());
  o.kind = kind, o.index = first;
  if (lex_.accept(close)) return true;
  do {
    Operand e;
    const auto place = std::uint32_t(pool_.size());
    pool_.emplace_back();
    if (!simple(e, false, place)) return false;
    if (e.kind == Operand::Kind::vector && kind == Operand::Kind::list) {
      pool_.erase(pool_.begin() + place);  // its elements, which follow, are the list's
      continue;
    }
    if (e.kind == Operand::Kind::vector) {
      refusal_ = "a vector register as one element of a list is not supported";
      e = {};
    }
    pool_[place] = e;
  } while (lex_.accept(','));
  if (pool_.size() - first > kMostOperands) return lex_.fail("this list is too long");
  o.count = std::uint16_t(pool_.size() - first);
  return lex_.expect(close);
}

// Returns the innermost symbol of that name. Makes a register of a range at its first use.
Symbol Parser::lookup(std::string_view text) {
  const Symbol s = symbols_.find(text, hash(text));
  if (s.kind != Symbol::Kind::none && s.depth >= symbols_.deepest_range()) return s;
  return from_range(text, s);
}

// %r12 is register 12 of a range %r, or register 2 of a range %r1.
Symbol Parser::from_range(std::string_view text, const Symbol& found) {
  constexpr std::size_t kMostDigits = 9;
  std::size_t last = 0;  // of the digits at the end
  while (last + 1 < text.size() && is(text[text.size() - last - 1], kDigit)) ++last;
  Symbol best{};
  std::size_t begin = 0;  // of the name's number
  std::size_t zeros = 0;  // that the name's number begins with: %r01 is %r1
  std::size_t digits = symbols_.has_digit_prefixes() ? 1 : std::max<std::size_t>(last, 1);
  for (; digits <= last && digits <= kMostDigits; ++digits) {
    const auto prefix = text.substr(0, text.size() - digits), rest = text.substr(prefix.size());
    std::uint64_t number = 0;
    for (const char c : rest) number = 10 * number + std::uint64_t(c - '0');
    const Symbol r = symbols_.find_range(prefix, hash(prefix), number);
    if (r.kind != Symbol::Kind::range || (best.kind != Symbol::Kind::none && r.depth <= best.depth))
      continue;
    best = r;
    zeros = std::min(rest.find_first_not_of('0'), digits - 1);
    begin = prefix.size();
  }
  if (best.kind == Symbol::Kind::none) return found;
  if (found.kind != Symbol::Kind::none && found.depth >= best.depth) return found;
  const Symbol made = zeros != 0
                          ? lookup(strings_->emplace_back(std::string(text).erase(begin, zeros)))
                          : make_register(text, Type(best.type), best.width, best.depth);
  symbols_.declare(text, hash(text), made);
  return made;
}

}  // namespace inflight::ptx
