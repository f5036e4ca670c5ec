# inflight_runtime_names(OUT LIST...): writes OUT, a header with the sorted names that the shared
# CUDA runtimes export, from lists like those in gpu/cuda/exports. Names have a fixed width, so that
# they need no relocations.
function(inflight_runtime_names out)
  set(names "")
  foreach(list IN LISTS ARGN)
    file(STRINGS ${list} part)
    list(APPEND names ${part})
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${list})
  endforeach()
  list(SORT names COMPARE STRING)
  list(REMOVE_DUPLICATES names)
  set(width 0)
  set(rows "")
  foreach(name IN LISTS names)
    string(LENGTH ${name} length)
    if(length GREATER_EQUAL width)
      math(EXPR width "${length} + 1")
    endif()
    string(APPEND rows "    \"${name}\",\n")
  endforeach()
  file(CONFIGURE OUTPUT ${out}
       CONTENT "// Generated from the lists of exported names.
#pragma once\n
namespace inflight::loader {\n
inline constexpr char runtime_names[][${width}] = {\n${rows}};\n
}  // namespace inflight::loader\n" @ONLY)
endfunction()
