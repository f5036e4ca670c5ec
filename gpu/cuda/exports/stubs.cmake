# inflight_stubs(LIST OUT TABLE): writes OUT, a C++ file with a weak definition of every name in LIST,
# so that each exported name exists whether or not it is implemented, and the array TABLE of all
# names with their addresses, in LIST's order.
function(inflight_stubs list out table)
  file(STRINGS ${list} names)
  set(text "// Generated from the list of exported names.\n")
  string(APPEND text "#include \"gpu/cuda/exports/stub.hpp\"\n")
  set(rows "")
  foreach(name IN LISTS names)
    string(APPEND text "INFLIGHT_STUB(${name})\n")
    string(APPEND rows "    INFLIGHT_EXPORT(${name}),\n")
  endforeach()
  list(LENGTH names count)
  string(APPEND text "namespace inflight::cuda {\n"
                     "extern const ExportedCall ${table}[];\n"
                     "extern const unsigned ${table}_count;\n"
                     "const ExportedCall ${table}[] = {\n${rows}};\n"
                     "const unsigned ${table}_count = ${count};\n}\n")
  file(CONFIGURE OUTPUT ${out} CONTENT "${text}" @ONLY)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${list})
endfunction()
