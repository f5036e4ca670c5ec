// This code may run in a child that shares its parent's memory (vfork, posix_spawn), on a small
// stack. It allocates nothing on the heap and changes no state except errno.
#include "gpu/loader/execution.hpp"

#include <fcntl.h>

#include <cerrno>

#include "gpu/loader/host.hpp"
#include "gpu/loader/inherited_variables.hpp"
#include "gpu/loader/replacement.hpp"

namespace inflight::loader {
namespace {

using Words = char* const*;

constexpr std::size_t most_variables = 1024;  // larger environments are passed on unchanged
constinit InheritedVariables inherited;

// start(environment) returns only on failure, with the negated error number.
template <class Start>
int with_inherited(Words environment, Start start) {
  const std::size_t missing = inherited.missing(environment);
  const std::size_t entries = count_of(environment) + missing + 1;
  long result;
  if (missing == 0 || entries > most_variables) {
    result = start(environment);
  } else {
    auto** joined = static_cast<const char**>(__builtin_alloca(entries * sizeof(char*)));
    inherited.join(environment, joined);
    result = start(const_cast<Words>(joined));
  }
  return as_c_result(result);
}

int execve(const char* path, Words arguments, Words environment) {
  return with_inherited(environment,
                        [&](Words all) { return start_program(path, arguments, all); });
}
int execveat(int folder, const char* path, Words arguments, Words environment, int flags) {
  return with_inherited(environment, [&](Words all) {
    return start_program_at(folder, path, arguments, all, flags);
  });
}
int fexecve(int file, Words arguments, Words environment) {
  if (file >= 0 && arguments && environment)
    return execveat(file, "", arguments, environment, AT_EMPTY_PATH);
  return as_c_result(-EINVAL);
}

}  // namespace

void keep_inherited_variables(const char* const* environment) { inherited.keep(environment); }

void pass_variables_to_children(const link_map& c_library) {
  const Replacements replacements(c_library);
  replacements.replace("execve", execve);
  replacements.replace("execveat", execveat);
  replacements.replace("fexecve", fexecve);
}

}  // namespace inflight::loader
