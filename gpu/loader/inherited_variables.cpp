// An environment is an array of "NAME=value" that ends with a null pointer, or is itself null.
#include "gpu/loader/inherited_variables.hpp"

#include <algorithm>
#include <cstring>
#include <string_view>

#include "gpu/loader/variables.hpp"

namespace inflight::loader {
namespace {

std::string_view name_of(const char* variable) {
  const std::string_view text = variable;
  return {text.data(), std::min(text.find('='), text.size())};
}

bool is_ours(std::string_view name) {
  const auto is_name = [&](const char* each) { return name == each; };
  return name == audit_variable || name.starts_with(own_prefix) ||
         std::any_of(std::begin(python_variables), std::end(python_variables), is_name) ||
         std::any_of(std::begin(assembler_variables), std::end(assembler_variables), is_name);
}

bool sets(const char* const* environment, std::string_view name) {
  for (; environment && *environment; ++environment) {
    if (name_of(*environment) == name) return true;
  }
  return false;
}

}  // namespace

std::size_t count_of(const char* const* environment) {
  std::size_t count = 0;
  while (environment && environment[count]) ++count;
  return count;
}

void InheritedVariables::keep(const char* const* environment) {
  for (; environment && *environment; ++environment) {
    if (is_ours(name_of(*environment))) keep_one(*environment);
  }
}

void InheritedVariables::keep_one(const char* variable) {
  const std::size_t size = std::strlen(variable) + 1;
  if (count_ == most || size > bytes - used_) return;
  variables_[count_++] = text_ + used_;
  std::memcpy(text_ + used_, variable, size);
  used_ += size;
}

std::size_t InheritedVariables::missing(const char* const* environment) const {
  if (sets(environment, audit_variable)) return 0;
  std::size_t result = 0;
  for (std::size_t i = 0; i < count_; ++i) result += !sets(environment, name_of(variables_[i]));
  return result;
}

void InheritedVariables::join(const char* const* environment, const char** to) const {
  for (const char* const* each = environment; each && *each; ++each) *to++ = *each;
  for (std::size_t i = 0; i < count_; ++i) {
    if (!sets(environment, name_of(variables_[i]))) *to++ = variables_[i];
  }
  *to = nullptr;
}

}  // namespace inflight::loader
