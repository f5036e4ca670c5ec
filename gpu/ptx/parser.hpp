// The parser's state and its parts. The heading of each part names the source files that hold it.
// Every parse function returns false once an error is recorded.
#pragma once
#include <deque>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "gpu/ptx/instructions.hpp"
#include "gpu/ptx/lexer.hpp"
#include "gpu/ptx/parse.hpp"
#include "gpu/ptx/symbols.hpp"

namespace inflight::ptx {

// Upper limits, so that a short text cannot make the parser allocate gigabytes.
struct Limits {
  static constexpr std::uint64_t variable_bytes = std::uint64_t{1} << 40;
  static constexpr std::uint64_t initialised_bytes = std::uint64_t{1} << 28;  // of a whole module
  static constexpr std::uint64_t registers = std::uint64_t{1} << 24;          // of one range
  static constexpr std::uint64_t variables = std::uint64_t{1} << 16;  // in the ranges of a module
  static constexpr std::uint32_t nesting = 64;  // of scopes, expressions, array dimensions
};

class Parser {
 public:
  Parser(std::shared_ptr<const std::string> text, std::string name);
  tl::expected<Module, Error> run();

 private:
  // --- parser.cpp: the module, shared pieces ---
  bool module_statement();
  bool version();
  bool target();
  bool address_size();
  bool alias();
  bool pragma();
  bool linked(std::string_view directive);  // .extern, .visible, .weak, .common
  bool module_declaration(std::string_view directive, Linkage);
  bool integer(std::uint32_t& value, std::string_view what);
  bool up_to_three(std::array<std::uint32_t, 3>&);  // `256, 1, 1`; missing ones are 1
  bool name(std::string_view& text, std::string_view what);

  // --- expressions.cpp: constant expressions (PTX ISA 4.6) ---
  struct Constant {
    Literal::Kind kind = Literal::Kind::integer;
    bool is_unsigned = false;
    std::uint64_t bits = 0;
  };
  bool constant(Constant&);
  bool constant_integer(std::uint64_t& value, std::string_view what);
  bool expression(int lowest, unsigned depth, Constant&);
  bool unary(unsigned depth, Constant&);
  bool parenthesised(unsigned depth, Constant&);
  bool cast(std::string_view type, unsigned depth, Constant&);

  // --- variables.cpp, initialisers.cpp: declarations and initial values ---
  struct Declaration {
    Variable variable;  // everything but the declarator
    unsigned vector = 1;
  };
  // A register, and the `.param` variable that passes its value.
  struct Held {
    std::uint32_t reg = 0, variable = 0;
  };
  struct Array {
    std::vector<std::uint64_t> sizes;  // 0: `[]`
  };
  struct Fill {
    Variable* variable;
    Type type;
    std::uint64_t element;               // size in bytes
    std::vector<std::uint64_t> strides;  // bytes of one element, for each dimension
    std::uint64_t limit;                 // bytes
  };
  bool variables(Space, Linkage);  // `.align 4 .b8 a[2] = {1}, b;`
  bool attributes(Declaration&);
  bool attribute(Declaration&, std::string_view word);
  bool managed_attribute(Declaration&);
  bool pointer_attributes();
  bool declarator(Declaration&, Array&);  // name and dimensions
  bool dimensions(Array&);
  bool variable_size(const Declaration&, const Array&, Variable&);
  bool initialiser(Variable&, const Declaration&, const Array&);
  bool reference_initialiser();
  bool fill(Fill&, std::size_t dimension, std::uint64_t offset, std::uint64_t& filled);
  bool fill_list(Fill&, std::size_t dimension, std::uint64_t offset, std::uint64_t& filled);
  bool fill_scalar(Fill&, std::uint64_t offset);
  bool fill_address(Fill&, std::uint64_t offset, Relocation, bool masked);
  bool add_offset(std::int64_t& value);
  bool masked_address(Fill&, std::uint64_t offset, std::uint64_t mask);
  bool symbol_address(Relocation&);
  bool store(Fill&, std::uint64_t offset, const Constant&);
  bool reserve(Fill&, std::uint64_t offset);
  bool range_count(std::uint32_t& count, std::uint64_t most, std::string_view what);
  bool add_range(const Variable& like, std::uint32_t count);
  bool add_variable(Variable, const char* place);
  bool merge_variable(std::uint32_t index, Variable&, const char* place);
  bool registers();  // `.reg .b32 %r<100>, x;`
  bool register_name(Type, unsigned vector);
  Symbol make_register(std::string_view name, Type, unsigned width, std::uint32_t depth);

  // --- functions.cpp ---
  bool function(bool entry, Linkage);
  bool declare_function(Function head, std::vector<Variable> returns,
                        std::vector<Variable> parameters);
  void add_parameters(std::uint32_t function, std::vector<Variable>&& list,
                      std::vector<std::uint32_t>& ids);
  bool parameter_list(std::vector<Variable>&);
  bool parameter(std::vector<Variable>&);
  void pass_in_memory(std::vector<Variable>& parameters);
  bool begins_declaration();
  bool function_directives(Function&);
  bool function_directive(Function&,
                          std::string_view directive);  // false without an error: unknown
  bool body(std::uint32_t function);
  void begin_body(std::uint32_t function);
  void end_body(std::uint32_t function);
  bool declare_parameters(std::uint32_t function);
  bool declare_parameter(std::uint32_t variable, bool is_result);
  void store_results();
  void return_at_end();
  bool open_scope();
  bool close_scope();
  bool statement();
  bool body_directive(std::string_view directive);
  bool label(std::string_view name);
  bool table(std::string_view name, std::string_view directive);
  bool targets(std::uint32_t table, bool calls);
  bool prototype(Table&);

  // --- operands.cpp, specials.cpp: instructions ---
  bool instruction(const char* start, std::uint32_t line);
  std::string_view spaced_opcode(std::string_view head);
  int version_number() const;  // major * 10 + minor
  bool known_instruction(Instruction&, const Form&, const char* start);
  bool unknown_instruction(Instruction&, const Form&);
  bool guard(Instruction&);
  bool operands(const Form&);
  bool finish(Instruction&, const Form&, std::size_t pending);
  std::string complaint(const Instruction&, const Form&) const;
  bool operand();
  bool simple(Operand&, bool in_instruction, std::uint32_t place);
  bool immediate(Operand&);
  bool name_operand(Operand&, bool in_instruction, std::uint32_t place);
  bool pair(Operand&);
  bool sum_operand(Operand&, bool in_instruction);
  bool reads_special() const;
  bool vector_move(const Instruction&);
  bool indexed(Operand&, bool in_instruction);
  bool indexed_by_register(Operand&, bool in_instruction);
  void put(std::string_view opcode, std::initializer_list<Operand>);
  bool residency();
  void set_resident(const Instruction& read);
  std::vector<Held> pass_registers();
  std::uint32_t passing_variable(std::string_view name, Type);
  void store_arguments(const Operand& list, const std::vector<Type>&);
  bool vectors_match(const Instruction&, Opcode) const;
  bool vector_register(const Symbol&, Operand&);
  bool selector(std::string_view text, Operand&);
  bool bracketed();
  bool address(Operand&);
  bool elements(Operand::Kind, char close, Operand&);
  Symbol lookup(std::string_view text);
  Symbol from_range(std::string_view text, const Symbol& found);
  bool special(std::string_view text, Operand&);
  bool special_vector(std::string_view text, Operand&);

  // --- functions.cpp: names of labels and tables that may be declared later ---
  struct Pending {
    std::uint32_t pool;          // the operand, if `table` is none
    std::uint32_t table, entry;  // otherwise the entry of a table
    std::string_view name;
    bool in_instruction;  // `pool` counts from the instruction's first operand
  };
  bool settle(const Pending&);
  void settle_scope();

  // --- unsaid.cpp: modifiers that older PTX implies ---
  bool complete(Instruction&);

  // --- checks.cpp: invalid uses of known words ---
  using Variables = std::vector<const Variable*>;
  bool check(const Instruction&, const char* start);
  std::string address_mistake(const Instruction&) const;
  std::string table_mistake() const;
  std::string call_mistake() const;
  std::string list_mistake(const Operand* list, const Variables& formals, bool results) const;
  std::string passed_mistake(const Operand&, const Variable& formal, bool result) const;
  bool is_formal(std::uint32_t variable, std::vector<std::uint32_t> Function::*list) const;
  Variables formals(const std::vector<std::uint32_t>& ids) const;
  static Variables views(const std::vector<Variable>&);
  static bool alike(const Variables& a, const Variables& b);
  bool same_signature(const Function& a, const Function& b) const;
  bool same_head(const Function& old, const Function& head, const std::vector<Variable>& returns,
                 const std::vector<Variable>& parameters);
  bool check_parameters(const Function& head, const std::vector<Variable>& parameters);

  // --- debug.cpp ---
  bool file();
  bool loc();
  bool loc_details(Location&);
  std::uint32_t interned(const Location&);
  std::uint32_t instance_at(const Location& position);
  bool section();
  bool source_section();
  bool debug_strings();
  void name_inlined();

  std::shared_ptr<const std::string> text_;
  Lexer lex_;
  Module module_;
  Symbols symbols_;
  FormCache forms_;
  std::uint64_t initialised_ = 0;
  std::uint64_t ranged_ = 0;  // variables in ranges, so far

  // The function being parsed. The vectors keep their capacity from one function to the next.
  std::uint32_t current_ = none;
  std::vector<Register> registers_;
  std::vector<Operand> pool_;
  std::vector<Instruction> body_;
  std::vector<Label> labels_;
  std::vector<Table> tables_;
  std::vector<Location> locations_;
  std::vector<Refusal> refusals_;
  std::vector<Pending> pending_;
  std::vector<std::size_t> pending_scopes_;
  std::vector<std::uint32_t> named_;  // by location: the number of the last .loc that named it
  std::uint32_t location_ = none, locs_ = 0;
  // The instances of a position, newest last: one line of an inlined function, called from several
  // places.
  std::unordered_map<std::uint64_t, std::vector<std::uint32_t>> instances_;

  // The instruction being parsed.
  std::vector<Operand> operands_;
  Opcode base_ = Opcode::unknown;
  const Form* form_ = nullptr;
  std::string refusal_;            // why an operand is not supported
  std::uint32_t resident_ = none;  // the predicate of a texture read

  // The names, by their place in the text, of `.reg` parameters and results that are passed in
  // memory, and how many elements each has. A vector's elements are variables in sequence.
  std::unordered_map<const char*, unsigned> in_registers_;
  // The results of the current function that are registers.
  std::vector<Held> results_;
  std::shared_ptr<std::deque<std::string>> strings_;
  std::unordered_map<std::string_view, std::uint32_t> debug_names_;  // .debug_str's labels
};

}  // namespace inflight::ptx
