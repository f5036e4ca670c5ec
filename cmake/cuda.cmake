# Builds CUDA programs with nvcc as their users do, with the shared runtime, and links them to this build's
# libcudart. Each file has its own compile command, so CUDA and C++ files build in parallel.
execute_process(COMMAND ${PROJECT_SOURCE_DIR}/tools/find-nvcc
                OUTPUT_VARIABLE INFLIGHT_NVCC OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
set(INFLIGHT_NVCC_FLAGS -std=c++17 -lineinfo -cudart shared -ccbin ${CMAKE_CXX_COMPILER}
                        -diag-suppress=20054 -I${PROJECT_SOURCE_DIR}
                        -I${PROJECT_SOURCE_DIR}/include)
set(INFLIGHT_NVCC_LIBRARIES -L${PROJECT_BINARY_DIR}/lib)
set(INFLIGHT_NVCC_RUNTIME shared)
set(INFLIGHT_NVCC_NEEDS inflight_libraries)  # targets that linking waits for

# Sets `result` to the value of a line `// KEY: value` in a CUDA source, or to an empty string. Such lines
# come before the first line that is not a comment.
function(inflight_header_value source key result)
  file(STRINGS ${source} lines REGEX "^// ${key}: ")
  set(value "")
  if(lines)
    list(GET lines 0 line)
    string(REGEX REPLACE "^// ${key}: *" "" value "${line}")
  endif()
  set(${result} "${value}" PARENT_SCOPE)
endfunction()

# inflight_cuda_object(SOURCE OBJECT ARG...): compiles one source with nvcc.
function(inflight_cuda_object source object)
  get_filename_component(stem ${source} NAME_WE)
  add_custom_command(
    OUTPUT ${object}
    COMMAND ${CCACHE} ${INFLIGHT_NVCC} ${INFLIGHT_NVCC_FLAGS} ${ARGN} -c ${source} -o ${object} -MD
            -MF ${object}.d
    DEPENDS ${source} DEPFILE ${object}.d
    COMMENT "nvcc ${stem}.cu" VERBATIM)
endfunction()

# inflight_cuda_link(OUTPUT OBJECTS object... FLAGS arg...): links with nvcc.
function(inflight_cuda_link output)
  cmake_parse_arguments(LINK "" "" "OBJECTS;FLAGS" ${ARGN})
  get_filename_component(name ${output} NAME)
  add_custom_command(
    OUTPUT ${output}
    COMMAND ${INFLIGHT_NVCC} -cudart ${INFLIGHT_NVCC_RUNTIME} -ccbin ${CMAKE_CXX_COMPILER} ${LINK_FLAGS}
            ${INFLIGHT_NVCC_LIBRARIES} ${LINK_OBJECTS} -o ${output}
    DEPENDS ${LINK_OBJECTS} ${INFLIGHT_NVCC_NEEDS}
    COMMENT "link ${name}" VERBATIM)
endfunction()

# inflight_cuda_program(SOURCE OUTPUT RESULT): builds OUTPUT from SOURCE. RESULT is the list of files made,
# RESULT_link the inputs of inflight_cuda_link for OUTPUT. The first lines of the source may contain `// arch:
# sm_80` (else sm_90), `// flags: ...` for nvcc, `// without: ...` for usual flags that are left out, `// with:
# other.cu ...` for further sources of the same program, and `// library: lib.cu` for a shared library OUTPUT.so
# beside it.
function(inflight_cuda_program source output result)
  foreach(key arch flags without with library)
    inflight_header_value(${source} ${key} ${key})
  endforeach()
  if(NOT arch)
    set(arch sm_90)
  endif()
  separate_arguments(flags)
  separate_arguments(with)
  if(without)
    list(REMOVE_ITEM INFLIGHT_NVCC_FLAGS ${without})
  endif()
  get_filename_component(folder ${source} DIRECTORY)
  set(objects "")
  foreach(part ${source} ${with})
    get_filename_component(part ${part} ABSOLUTE BASE_DIR ${folder})
    get_filename_component(stem ${part} NAME_WE)
    inflight_cuda_object(${part} ${output}.${stem}.o -arch=${arch} ${flags})
    list(APPEND objects ${output}.${stem}.o)
  endforeach()
  set(link OBJECTS ${objects} FLAGS -arch=${arch} ${flags})
  inflight_cuda_link(${output} ${link})
  set(${result}_link ${link} PARENT_SCOPE)
  set(made ${output})
  if(library)
    inflight_cuda_object(${folder}/${library} ${output}.so.o -arch=${arch} -Xcompiler -fPIC)
    inflight_cuda_link(${output}.so OBJECTS ${output}.so.o FLAGS -arch=${arch} -shared)
    list(APPEND made ${output}.so)
  endif()
  set(${result} ${made} PARENT_SCOPE)
endfunction()

# inflight_cuda_group(SOURCE RESULT): the name of the group of programs that are compiled with this one, or an empty
# string for a program that is compiled alone, because it says so (`// alone: why`), has more parts, or expects a
# message with the name of a kernel, which is another within a namespace.
function(inflight_cuda_group source result)
  set(${result} "" PARENT_SCOPE)
  foreach(key alone with without library flags arch)
    inflight_header_value(${source} ${key} ${key})
  endforeach()
  file(STRINGS ${source} main REGEX "^int main\\(")
  file(STRINGS ${source} message REGEX "^// stderr: .*kernel [a-z]" LIMIT_COUNT 1)
  if(alone OR with OR without OR library OR flags MATCHES "rdc" OR message OR NOT main)
    return()
  endif()
  # Headers of templates are read once if those that include them are together.
  file(STRINGS ${source} heavy REGEX "^#include <(cooperative_groups|cuda/)" LIMIT_COUNT 1)
  set(bucket "")
  if(heavy)
    set(bucket _templates)
  elseif(NOT arch AND flags MATCHES "^(-lcuda)?$")
    # Of many, one of four, which stays the same when other programs are added.
    get_filename_component(name ${source} NAME_WE)
    string(MD5 bucket ${name})
    string(REGEX REPLACE "^[0-3].*" "_1" bucket ${bucket})
    string(REGEX REPLACE "^[4-7].*" "_2" bucket ${bucket})
    string(REGEX REPLACE "^[89ab].*" "_3" bucket ${bucket})
    string(REGEX REPLACE "^[c-f].*" "_4" bucket ${bucket})
  endif()
  if(NOT arch)
    set(arch sm_90)
  endif()
  string(MAKE_C_IDENTIFIER "${arch}${flags}${bucket}" group)
  set(${result} together_${group} PARENT_SCOPE)
endfunction()

# inflight_cuda_test_program(SOURCE): builds SOURCE as bin/NAME of this folder, with the settings in its first
# lines. Sets `name`, and `output` to the program. Appends the files made to the list `outputs`, and sets
# made_link as inflight_cuda_program does.
macro(inflight_cuda_test_program source)
  get_filename_component(name ${source} NAME_WE)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${source})
  set(output ${CMAKE_CURRENT_BINARY_DIR}/bin/${name})
  file(MAKE_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/bin)
  inflight_cuda_program(${source} ${output} made)
  list(APPEND outputs ${made})
endmacro()

# inflight_cuda_test_programs(SOURCE...): builds each SOURCE as inflight_cuda_test_program does and appends the files
# made to `outputs`. Those that may be are compiled as one source, which takes a fifth of the time: one file with
# the names of all of them, whose `main` calls the program by whose name it was started.
function(inflight_cuda_test_programs)
  set(groups "")
  foreach(source ${ARGN})
    inflight_cuda_group(${source} group)
    if(group)
      list(APPEND groups ${group})
      list(APPEND of_${group} ${source})
    else()
      inflight_cuda_test_program(${source})
    endif()
  endforeach()
  list(REMOVE_DUPLICATES groups)
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/bin)
  set(writer ${PROJECT_SOURCE_DIR}/cmake/cuda_together.awk)
  file(GLOB_RECURSE headers CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/kernels/*.cuh
       ${PROJECT_SOURCE_DIR}/tests/kernels/*.hpp)
  foreach(group ${groups})
    list(GET of_${group} 0 first)
    list(LENGTH of_${group} count)
    if(count EQUAL 1)
      inflight_cuda_test_program(${first})
      continue()
    endif()
    foreach(key arch flags)
      inflight_header_value(${first} ${key} ${key})
    endforeach()
    if(NOT arch)
      set(arch sm_90)
    endif()
    separate_arguments(flags)
    set(links "")
    set(programs "")
    foreach(source ${of_${group}})
      set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${source})
      get_filename_component(name ${source} NAME_WE)
      list(APPEND programs ${folder}/${name})
      list(APPEND links COMMAND ln -f ${folder}/${group} ${folder}/${name})
    endforeach()
    set(together ${folder}/${group}.cu)
    add_custom_command(
      OUTPUT ${together}
      COMMAND awk -v root=${PROJECT_SOURCE_DIR} -f ${writer} ${of_${group}} > ${together}.new
      COMMAND ${CMAKE_COMMAND} -E copy_if_different ${together}.new ${together}
      DEPENDS ${writer} ${of_${group}} ${headers}
      COMMENT "together ${group}.cu" VERBATIM)
    # Machine code is not executed. Less of it is tried, which is faster, and ptxas 13.0 crashes on some otherwise.
    inflight_cuda_object(${together} ${folder}/${group}.o -arch=${arch} ${flags} -Xptxas -O0)
    inflight_cuda_link(${folder}/${group} OBJECTS ${folder}/${group}.o FLAGS -arch=${arch} ${flags})
    add_custom_command(OUTPUT ${programs} ${links} DEPENDS ${folder}/${group} COMMENT "names of ${group}" VERBATIM)
    list(APPEND outputs ${programs})
  endforeach()
  set(outputs ${outputs} PARENT_SCOPE)
endfunction()

# inflight_run_test(TEST LABEL SOURCE PROGRAM ARG...): adds a test that runs the program on the software GPU
# and compares its output with the .expected file beside its source. The arguments are for `inflight run`.
function(inflight_run_test test label source program)
  add_test(NAME ${test} COMMAND ${PROJECT_SOURCE_DIR}/tests/kernels/run ${source} ${program}
                                $<TARGET_FILE:inflight> ${ARGN})
  set_tests_properties(${test} PROPERTIES TIMEOUT 120 LABELS ${label})
endfunction()
