// Readable names of kernels and functions.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>

namespace inflight::check {

// The demangled name, such as "void scale<float>(float*, int)". Other names are returned unchanged.
[[gnu::visibility("default")]] std::string demangled(std::string_view name);

// The demangled name without ABI tags, for use in a sentence. Names of templates may have thousands
// of characters, more than any demangler accepts. In a name longer than `most`, the parameters
// become "(...)" and template arguments "<...>", the innermost first. Such a name ends in "#" and
// short_hash(), which distinguishes it from others that are shortened alike.
[[gnu::visibility("default")]] std::string readable(std::string_view name, std::size_t most = 160);

// Eight hexadecimal digits: a hash of the whole name.
[[gnu::visibility("default")]] std::string short_hash(std::string_view name);

}  // namespace inflight::check
