// Functions: heads, performance directives, bodies (PTX ISA 11.2, 11.3, 7.1).
#include <fmt/format.h>

#include <algorithm>

#include "gpu/ptx/parser.hpp"

namespace inflight::ptx {

// Parses what follows `.entry` or `.func`.
bool Parser::function(bool entry, Linkage linkage) {
  Function head;
  std::vector<Variable> returns, parameters;
  head.entry = entry, head.linkage = linkage;
  head.line = (lex_.skip(), lex_.line());
  Declaration attributes_of_function;
  while (lex_.peek() == '.')
    if (lex_.dotted() != ".attribute" || !managed_attribute(attributes_of_function))
      return lex_.expected("the name of a function");
  if (!entry && lex_.peek() == '(' && !parameter_list(returns)) return false;
  if (!name(head.name, "the name of a function")) return false;
  if (lex_.peek() == '(' && !parameter_list(parameters)) return false;
  if (!entry) pass_in_memory(parameters), pass_in_memory(returns);
  if (!function_directives(head)) return false;
  head.has_body = lex_.peek() == '{';
  const bool ends = !entry && (lex_.at_end() || lex_.peek() == '.');  // ptxas needs no `;` there
  if (!head.has_body && !ends && !lex_.expect(';')) return false;
  return declare_function(std::move(head), std::move(returns), std::move(parameters));
}

bool Parser::declare_function(Function head, std::vector<Variable> returns,
                              std::vector<Variable> parameters) {
  if (!check_parameters(head, parameters)) return false;
  const std::uint32_t h = hash(head.name);
  const Symbol old = symbols_.find(head.name, h);
  if (old.kind != Symbol::Kind::none && old.kind != Symbol::Kind::function)
    return lex_.fail_at(head.name.data(), fmt::format("`{}` is already a variable", head.name));
  std::uint32_t id = old.index;
  if (old.kind == Symbol::Kind::function &&
      !same_head(module_.functions[id], head, returns, parameters))
    return false;
  if (old.kind == Symbol::Kind::none) {
    id = std::uint32_t(module_.functions.size());
    module_.functions.emplace_back();
    symbols_.declare(head.name, h, {.kind = Symbol::Kind::function, .index = id});
  } else if (!head.has_body) {
    return true;  // it is known already
  } else if (head.has_body && module_.functions[id].has_body) {
    return lex_.fail_at(head.name.data(), fmt::format("`{}` already has a body, on line {}",
                                                      head.name, module_.functions[id].line));
  }
  add_parameters(id, std::move(returns), head.returns);
  add_parameters(id, std::move(parameters), head.parameters);
  module_.functions[id] = std::move(head);
  return !module_.functions[id].has_body || body(id);
}

void Parser::add_parameters(std::uint32_t function, std::vector<Variable>&& list,
                            std::vector<std::uint32_t>& ids) {
  for (Variable& v : list) {
    v.function = function;
    ids.push_back(std::uint32_t(module_.variables.size()));
    module_.variables.push_back(std::move(v));
  }
}

// Parses `(.param .u64 a, .param .align 8 .b8 b[16])`. Results and old `.reg` parameters too.
bool Parser::parameter_list(std::vector<Variable>& list) {
  if (!lex_.expect('(')) return false;
  if (lex_.accept(')')) return true;
  do {
    if (!parameter(list)) return false;
  } while (lex_.accept(','));
  return lex_.expect(')');
}

bool Parser::parameter(std::vector<Variable>& list) {
  Declaration d;
  Array array;
  const auto space = lex_.dotted();
  if (space != ".param" && space != ".reg") return lex_.expected("a `.param` or `.reg` parameter");
  d.variable.space = space == ".reg" ? Space::reg : Space::param;
  if (!attributes(d) || !declarator(d, array)) return false;
  list.push_back(std::move(d.variable));
  return true;
}

// Makes `.reg` parameters and results `.param` ones, one for each element of a vector. The body
// then begins with loads of the parameters' registers, and its returns store those of the results.
void Parser::pass_in_memory(std::vector<Variable>& parameters) {
  std::vector<Variable> all;
  for (Variable& v : parameters) {
    const std::uint32_t element = size_of(v.type);
    if (v.space != Space::reg || v.type == Type::pred || element > 8) {
      all.push_back(std::move(v));
      continue;
    }
    const auto count = unsigned(v.size / element);
    in_registers_[v.name.data()] = count;
    v.space = Space::param, v.size = v.alignment = element;
    all.insert(all.end(), count, v);
    for (std::size_t i = all.size() - count + 1; i < all.size(); ++i) all[i].name = "_";
  }
  parameters = std::move(all);
}

// True at a directive of the module, which ends a function's head without a body.
bool Parser::begins_declaration() {
  constexpr std::string_view directives[] = {".visible", ".extern", ".weak",   ".common",
                                             ".func",    ".entry",  ".global", ".const",
                                             ".shared",  ".alias",  ".file",   ".section"};
  const char* const start = lex_.mark();
  const std::uint32_t line = lex_.line();
  const auto directive = lex_.dotted();
  lex_.rewind(start, line);
  return std::find(std::begin(directives), std::end(directives), directive) != std::end(directives);
}

bool Parser::function_directives(Function& f) {
  for (const char* start = lex_.mark(); lex_.here() == '.' && !begins_declaration();
       start = lex_.mark()) {
    const auto directive = lex_.dotted();
    if (!function_directive(f, directive))
      return lex_.failed()
                 ? false
                 : lex_.fail_at(start, fmt::format("`{}` does not apply to a function", directive));
  }
  return true;
}

bool Parser::function_directive(Function& f, std::string_view directive) {
  struct Dimensions {
    std::string_view name;
    std::array<std::uint32_t, 3> Function::*where;
  };
  struct Number {
    std::string_view name;
    std::uint32_t Function::*where;  // null: parsed and ignored
  };
  struct Flag {
    std::string_view name;
    bool Function::*where;
  };
  static constexpr Dimensions kDimensions[] = {
      {".maxntid", &Function::maxntid},
      {".reqntid", &Function::reqntid},
      {".reqnctapercluster", &Function::reqnctapercluster}};
  static constexpr Number kNumbers[] = {
      {".minnctapersm", &Function::minnctapersm}, {".maxnctapersm", &Function::minnctapersm},
      {".maxnreg", &Function::maxnreg},           {".maxclusterrank", &Function::maxclusterrank},
      {".language", &Function::language},         {".abi_preserve", nullptr},
      {".abi_preserve_control", nullptr}};
  static constexpr Flag kFlags[] = {{".noreturn", &Function::noreturn},
                                    {".explicitcluster", &Function::explicitcluster},
                                    {".blocksareclusters", &Function::blocksareclusters}};
  std::uint32_t ignored;
  for (const Dimensions& d : kDimensions)
    if (d.name == directive) return up_to_three(f.*d.where);
  for (const Number& n : kNumbers)
    if (n.name == directive) return integer(n.where ? f.*n.where : ignored, "an integer");
  for (const Flag& flag : kFlags)
    if (flag.name == directive) return f.*flag.where = true;
  if (directive == ".pragma") return pragma();
  return false;
}

// Starts at the opening brace.
bool Parser::body(std::uint32_t id) {
  const char* start = lex_.mark();
  begin_body(id);
  if (!declare_parameters(id) || !lex_.expect('{') || !open_scope()) return false;
  while (symbols_.depth() > 1) {
    if (lex_.at_end())
      return lex_.fail_at(
          start, fmt::format("the body of `{}` has no closing `}}`", module_.functions[id].name));
    if (!statement()) return false;
  }
  return_at_end();
  symbols_.close();
  end_body(id);
  return true;
}

void Parser::begin_body(std::uint32_t id) {
  current_ = id;
  symbols_.open();
  registers_.clear(), pool_.clear(), body_.clear(), labels_.clear(), tables_.clear();
  locations_.clear(), refusals_.clear(), pending_.clear(), pending_scopes_.clear();
  named_.clear(), instances_.clear(), results_.clear();
  location_ = none, locs_ = 0;
}

bool Parser::declare_parameters(std::uint32_t id) {
  const Function& f = module_.functions[id];
  for (const auto* list : {&f.returns, &f.parameters})
    for (std::uint32_t v : *list)
      if (!declare_parameter(v, list == &f.returns)) return false;
  return true;
}

bool Parser::declare_parameter(std::uint32_t id, bool is_result) {
  const Variable& v = module_.variables[id];
  const std::uint32_t depth = symbols_.depth();
  Symbol s{.kind = Symbol::Kind::variable, .index = id, .depth = depth};
  const auto held = in_registers_.find(v.name.data());
  const unsigned count = held == in_registers_.end() ? 0 : held->second;
  if (count != 0) {
    s = make_register(v.name, v.type, count, depth);
  } else if (v.space == Space::reg) {
    const unsigned element = size_of(v.type);
    s = make_register(v.name, v.type, element ? unsigned(v.size) / element : 1, depth);
  }
  for (unsigned i = 0; i < count; ++i) {
    if (is_result)
      results_.push_back({s.index + i, id + i});
    else
      put(strings_->emplace_back(fmt::format("ld.param.b{}", 8 * v.size)),
          {{.kind = Operand::Kind::reg, .index = s.index + i},
           {.kind = Operand::Kind::address, .base = Operand::Kind::variable, .index = id + i}});
  }
  return v.name == "_" || symbols_.declare(v.name, hash(v.name), s) ||
         lex_.fail_at(v.name.data(), fmt::format("two parameters are named `{}`", v.name));
}

// In front of a return. If its guard is false, a later return stores them again.
void Parser::store_results() {
  for (const Held& each : results_)
    put(strings_->emplace_back(
            fmt::format("st.param.b{}", 8 * module_.variables[each.variable].size)),
        {{.kind = Operand::Kind::address, .base = Operand::Kind::variable, .index = each.variable},
         {.kind = Operand::Kind::reg, .index = each.reg}});
}

// The end of a body returns, unless nothing reaches it.
void Parser::return_at_end() {
  if (body_.empty()) return store_results();
  const Instruction& last = body_.back();
  const bool labelled = !labels_.empty() && labels_.back().instruction == body_.size();
  const bool returns = (last.opcode == Opcode::ret || last.opcode == Opcode::exit) && !last.guarded;
  if (labelled || !returns) store_results();
}

void Parser::end_body(std::uint32_t id) {
  Function& f = module_.functions[id];
  f.registers = registers_, f.pool = pool_, f.body = body_, f.labels = labels_;
  f.locations = locations_;
  f.tables = std::move(tables_), f.refusals = std::move(refusals_);
  tables_.clear(), refusals_.clear();
  current_ = none;
}

bool Parser::open_scope() {
  if (symbols_.depth() >= Limits::nesting) return lex_.fail("scopes are nested too deeply");
  symbols_.open();
  pending_scopes_.push_back(pending_.size());
  return true;
}

bool Parser::close_scope() {
  settle_scope();
  symbols_.close();
  if (symbols_.depth() > 1 || pending_.empty()) return true;
  const auto name = pending_.front().name;
  return lex_.fail_at(name.data(), fmt::format("`{}` is not declared in `{}`", name,
                                               module_.functions[current_].name));
}

bool Parser::statement() {
  const char c = lex_.peek();
  if (c == '{') return lex_.accept('{'), open_scope();
  if (c == '}') return lex_.accept('}'), close_scope();
  if (c == ';') return lex_.accept(';');
  if (c == '.') return body_directive(lex_.dotted());
  if (c == '#' || (c == '@' && lex_.ahead() == '@')) return lex_.skip_line(), true;
  const std::uint32_t line = lex_.line();
  const char* start = lex_.raw();
  if (c == '@') return instruction(start, line);
  const auto head = lex_.word();
  if (head.empty()) return lex_.expected("an instruction, a directive or a label");
  if (lex_.here() != '.' && lex_.accept(':')) return label(head);
  lex_.rewind(start, line);
  return instruction(start, line);
}

bool Parser::body_directive(std::string_view directive) {
  if (directive == ".reg") return registers();
  if (directive == ".loc") return loc();
  if (directive == ".pragma") return pragma();
  if (directive == ".file") return file();
  Linkage linkage = Linkage::local;
  if (directive == ".extern") linkage = Linkage::external, directive = lex_.dotted();
  const Word w = directive.empty() ? Word{} : find_word(directive.substr(1));
  const auto space = Space(w.value);
  const bool known = w.kind == Word::Kind::space &&
                     (space == Space::param || space == Space::local || space == Space::shared ||
                      space == Space::global || space == Space::constant || space == Space::tex);
  const bool own = space == Space::param || space == Space::local;
  if (known && own && linkage == Linkage::external)
    return lex_.fail_at(directive.data(), "a function's own variables cannot be extern");
  if (known) return variables(space, linkage);
  return lex_.fail_at(directive.data(),
                      fmt::format("`{}` is not a directive allowed in a function", directive));
}

// Parses what follows `name:`.
bool Parser::label(std::string_view name) {
  const char* start = lex_.mark();
  const std::uint32_t line = lex_.line();
  if (lex_.here() == '.') {
    const auto directive = lex_.dotted();
    if (directive == ".branchtargets" || directive == ".calltargets" ||
        directive == ".callprototype")
      return table(name, directive);
    lex_.rewind(start, line);
  }
  const Symbol s{.kind = Symbol::Kind::label,
                 .index = std::uint32_t(labels_.size()),
                 .depth = symbols_.depth()};
  labels_.push_back({name, std::uint32_t(body_.size())});
  return symbols_.declare(name, hash(name), s) ||
         lex_.fail_at(name.data(), fmt::format("`{}` is already declared in this scope", name));
}

bool Parser::table(std::string_view name, std::string_view directive) {
  const auto id = std::uint32_t(tables_.size());
  const bool calls = directive == ".calltargets", prototyped = directive == ".callprototype";
  tables_.push_back({name,
                     calls        ? Table::Kind::calls
                     : prototyped ? Table::Kind::prototype
                                  : Table::Kind::branches,
                     {},
                     {},
                     {}});
  const Symbol s{.kind = Symbol::Kind::table, .index = id, .depth = symbols_.depth()};
  if (!symbols_.declare(name, hash(name), s))
    return lex_.fail_at(name.data(), fmt::format("`{}` is already declared in this scope", name));
  return prototyped ? prototype(tables_[id]) : targets(id, calls);
}

bool Parser::targets(std::uint32_t id, bool calls) {
  do {
    std::string_view text;
    if (!name(text, calls ? "the name of a function" : "a label")) return false;
    auto& entries = tables_[id].entries;
    entries.push_back(none);
    if (calls) {
      const Symbol s = symbols_.find(text, hash(text));
      if (s.kind != Symbol::Kind::function)
        return lex_.fail_at(text.data(),
                            fmt::format("`{}` is not a function declared so far", text));
      entries.back() = s.index;
    } else {
      pending_.push_back({none, id, std::uint32_t(entries.size() - 1), text, false});
    }
  } while (lex_.accept(','));
  return lex_.expect(';');
}

// Parses `.callprototype (.param .b32 _) _ (.param .b64 _);` after the directive's name.
bool Parser::prototype(Table& t) {
  if (lex_.peek() == '(' && !parameter_list(t.returns)) return false;
  std::string_view text;
  Function ignored;
  if (!name(text, "`_`")) return false;
  if (lex_.peek() == '(' && !parameter_list(t.parameters)) return false;
  pass_in_memory(t.parameters), pass_in_memory(t.returns);
  return function_directives(ignored) && lex_.expect(';');
}

bool Parser::settle(const Pending& p) {
  const Symbol s = symbols_.find(p.name, hash(p.name));
  if (s.depth != symbols_.depth()) return false;
  const bool table = s.kind == Symbol::Kind::table && p.table == none;
  if (s.kind != Symbol::Kind::label && !table) return false;
  if (p.table != none) return tables_[p.table].entries[p.entry] = s.index, true;
  pool_[p.pool].kind = s.kind == Symbol::Kind::label ? Operand::Kind::label : Operand::Kind::table;
  return pool_[p.pool].index = s.index, true;
}

// Resolves pending names that this scope declares. The others are left to the enclosing scope.
void Parser::settle_scope() {
  const auto first = pending_.begin() + std::ptrdiff_t(pending_scopes_.back());
  pending_.erase(std::remove_if(first, pending_.end(), [&](const Pending& p) { return settle(p); }),
                 pending_.end());
  pending_scopes_.pop_back();
}

}  // namespace inflight::ptx
