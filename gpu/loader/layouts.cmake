# inflight_runtime_layouts(OUT LIST): writes OUT, a header with the contents of LIST
# (layouts/layouts.txt). Names have a fixed width, so that they need no relocations.
function(inflight_runtime_layouts out list)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${list})
  file(STRINGS ${list} releases REGEX "^release ")
  file(STRINGS ${list} functions REGEX "^function ")
  list(LENGTH releases count)
  set(width 0)
  foreach(line IN LISTS functions)
    string(REGEX REPLACE "^function ([^ ]+) .*" "\\1" name "${line}")
    string(LENGTH ${name} length)
    if(length GREATER_EQUAL width)
      math(EXPR width "${length} + 1")
    endif()
  endforeach()
  list(TRANSFORM releases REPLACE "^release ([^ ]+) ([^ ]+) ([^ ]+) (.*)$" "    {\"\\1\", \\2, \\3, {\\4}},\n")
  list(TRANSFORM functions REPLACE "^function ([^ ]+) (.*)$" "    {\"\\1\", {\\2}},\n")
  list(JOIN releases "" releases)
  list(JOIN functions "" functions)
  file(CONFIGURE OUTPUT ${out}
       CONTENT "// Generated from the list of layouts.
#pragma once
#include <cstdint>\n
namespace inflight::loader {\n
inline constexpr std::uint32_t absent = ~std::uint32_t{0};
struct Mark {
  std::uint32_t at;
  std::uint64_t words[2];
};
struct Release {
  char name[16];
  unsigned major;
  std::uint32_t bytes;
  Mark marks[8];
};
inline constexpr Release releases[] = {\n${releases}};\n
struct PlacedFunction {
  char name[${width}];
  std::uint32_t at[${count}];
};
inline constexpr PlacedFunction placed_functions[] = {\n${functions}};\n
}  // namespace inflight::loader\n" @ONLY)
endfunction()
