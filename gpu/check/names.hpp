// Names of kernels and functions as people read them.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>

namespace inflight::check {

// What the source calls it: "void scale<float>(float*, int)" of its mangled name; any other name as
// it is.
[[gnu::visibility("default")]] std::string demangled(std::string_view name);

// The same for a sentence, without ABI tags. Names of templates may have thousands of characters,
// more than any demangler takes: of one longer than `most`, template arguments become "<...>", the
// innermost first, and the parameters "(...)"; what was left out is still distinguished by "#" and
// eight digits, a hash of the whole name.
[[gnu::visibility("default")]] std::string readable(std::string_view name, std::size_t most = 160);

// Those eight digits.
[[gnu::visibility("default")]] std::string short_hash(std::string_view name);

}  // namespace inflight::check
