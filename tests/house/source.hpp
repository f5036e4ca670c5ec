// Reads C++ sources as far as the tests of this folder need it: by their braces and names.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace inflight::house {

// The source without comments, and with empty literals.
std::string code_of(std::string_view source);

// Does the name occur as a whole word?
bool has_word(std::string_view code, std::string_view word);

// Everything between the braces of the definitions of `name`, with what stands before them
// (parameters, initialisers): of functions, classes, tables and macros. `name` may have a class:
// C::f. Empty: it is not defined here.
std::string definitions_of(std::string_view code, std::string_view name);

// The types of namespaces, with their namespaces: those that are only declared (`class C;`) and
// those that are defined.
struct Types {
  std::vector<std::string> declared, defined;
};
Types types_of(std::string_view code);

}  // namespace inflight::house
