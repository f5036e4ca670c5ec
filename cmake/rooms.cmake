# Functions that build the components ("rooms"): one static, position-independent library each, with unit
# tests in tests/unit/ROOM. Include paths start at the root: #include "gpu/ptx/module.hpp".
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release)
endif()
# Results are IEEE-exact to the bit, so there is no contraction and no reassociation.
add_compile_options(-Wall -Wextra -ffp-contract=off -fno-math-errno)
# Tuned for today's servers, whatever the instruction set. By default GCC clears structures of more than 128 bytes, such
# as events, by `rep stos`, which takes 30 cycles to begin.
if(CMAKE_SYSTEM_PROCESSOR STREQUAL "x86_64")
  add_compile_options($<$<CXX_COMPILER_ID:GNU>:-mtune=skylake-avx512>)
endif()
# These make a first build faster. Rebuilds are slower, as a changed file recompiles those compiled with it.
option(INFLIGHT_QUICK "compile files together, and optimise fully only what kernels run in" OFF)
option(INFLIGHT_TOGETHER "compile files together" ${INFLIGHT_QUICK})
if(INFLIGHT_TOGETHER)  # half a gigabyte for the compiler before it looks for what it no longer needs
  add_compile_options($<$<CXX_COMPILER_ID:GNU>:--param=ggc-min-heapsize=524288>)
endif()
# Makes compiler cache entries valid in every checkout: paths are relative to the project's folder. nvcc's
# paths are not, because its output contains them (cuda.cmake).
find_program(CCACHE ccache)
if(CCACHE)
  set(CMAKE_CXX_COMPILER_LAUNCHER
      ${CMAKE_COMMAND} -E env CCACHE_BASEDIR=${PROJECT_SOURCE_DIR} CCACHE_NOHASHDIR=1
      CCACHE_SLOPPINESS=pch_defines,time_macros ${CCACHE})
else()
  set(CCACHE "")  # it also stands before nvcc (cuda.cmake)
endif()

option(INFLIGHT_ASAN "AddressSanitizer and UndefinedBehaviorSanitizer" OFF)
if(INFLIGHT_ASAN)
  add_compile_options(-fsanitize=address,undefined -fno-sanitize-recover=undefined
                      -fno-omit-frame-pointer)
  add_link_options(-fsanitize=address,undefined)
endif()
option(INFLIGHT_LIBFUZZER "link the fuzz targets with libFuzzer, which sees what they reach (clang)" OFF)
if(INFLIGHT_LIBFUZZER)
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()
option(INFLIGHT_TSAN "ThreadSanitizer" OFF)
if(INFLIGHT_TSAN)
  add_compile_options(-fsanitize=thread)
  add_link_options(-fsanitize=thread)
endif()

# Headers of the standard library and fmt take longer to compile than most files that include them, so they
# are precompiled. inflight_headers(TARGET HEADER...): TARGET is a set of headers. inflight_precompile(TARGET
# [HEADER... | OTHER]): TARGET uses the common set, its own set of HEADERs, or the set of target OTHER.
set(COMMON_HEADERS <algorithm> <chrono> <cstdint> <cstring> <deque> <functional> <map> <memory> <mutex>
                   <optional> <span> <string> <unordered_map> <vector> <fmt/format.h> <tl/expected.hpp>)
function(inflight_headers target)
  file(WRITE ${PROJECT_BINARY_DIR}/headers.cpp "// Only its precompiled headers are wanted.\n")
  add_library(${target} OBJECT ${PROJECT_BINARY_DIR}/headers.cpp)
  inflight_precompile(${target} ${ARGN})
endfunction()
function(inflight_precompile target)
  target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-fpch-preprocess>)
  target_link_libraries(${target} PRIVATE fmt::fmt tl::expected)  # whose headers they are
  if(TARGET "${ARGN}")
    target_precompile_headers(${target} REUSE_FROM ${ARGN})
  elseif(ARGN)
    target_precompile_headers(${target} PRIVATE ${ARGN})
  else()
    target_precompile_headers(${target} REUSE_FROM inflight_common_headers)
  endif()
endfunction()

# inflight_unity_build(TARGET [BATCH n] FILE...): compiles the sources of TARGET in batches of 16 or n, except the
# FILEs, which define names that other files define too (house.compiled_together checks that all such are listed), and
# those with options of their own. A batch names its files from the project's folder, so the compiler's cache finds
# it in every checkout.
function(inflight_unity_build target)
  cmake_parse_arguments(UNITY "" "BATCH" "" ${ARGN})
  set(size 16)
  if(UNITY_BATCH)
    set(size ${UNITY_BATCH})
  endif()
  if(NOT INFLIGHT_TOGETHER)
    return()
  endif()
  get_target_property(left ${target} SOURCES)
  list(FILTER left INCLUDE REGEX "\\.cpp$")
  list(REMOVE_ITEM left ${UNITY_UNPARSED_ARGUMENTS})
  foreach(source ${left})
    get_source_file_property(options ${source} COMPILE_OPTIONS)
    get_source_file_property(definitions ${source} COMPILE_DEFINITIONS)
    if(options OR definitions)
      list(REMOVE_ITEM left ${source})
    endif()
  endforeach()
  set_source_files_properties(${left} PROPERTIES HEADER_FILE_ONLY ON)
  set(number 0)
  while(left)
    list(SUBLIST left 0 ${size} batch)
    list(REMOVE_ITEM left ${batch})
    set(text "")
    foreach(source ${batch})
      get_filename_component(path ${source} ABSOLUTE)
      file(RELATIVE_PATH path ${PROJECT_SOURCE_DIR} ${path})
      string(APPEND text "#include \"${path}\"\n")
    endforeach()
    set(file ${CMAKE_CURRENT_BINARY_DIR}/Unity/${target}_${number}.cpp)
    file(CONFIGURE OUTPUT ${file} CONTENT "${text}")
    target_sources(${target} PRIVATE ${file})
    math(EXPR number "${number} + 1")
  endwhile()
endfunction()

# Optimisation of cold code. -Og takes GCC an eighth less time than -O1, and less than -O0 for
# files that use much of the standard library.
set(INFLIGHT_COLD_CODE $<$<CONFIG:Release>:-O1>)
if(INFLIGHT_QUICK)
  set(INFLIGHT_COLD_CODE $<$<CONFIG:Release>:$<IF:$<CXX_COMPILER_ID:GNU>,-Og,-O1>>)
endif()

# inflight_optimise_less(TARGET): a quick build does not optimise TARGET fully.
function(inflight_optimise_less target)
  if(INFLIGHT_QUICK)
    target_compile_options(${target} PRIVATE ${INFLIGHT_COLD_CODE})
  endif()
endfunction()

# inflight_room(NAME [PRECOMPILED] [OPTIMISED] SOURCES file... DEPENDS target...): a component's library.
# OPTIMISED code, which runs for every instruction or access, is optimised in a quick build too.
function(inflight_room name)
  cmake_parse_arguments(ROOM "PRECOMPILED;OPTIMISED" "" "SOURCES;DEPENDS" ${ARGN})
  add_library(inflight_${name} STATIC ${ROOM_SOURCES})
  target_include_directories(inflight_${name} PUBLIC ${PROJECT_SOURCE_DIR})
  target_link_libraries(inflight_${name} PUBLIC ${ROOM_DEPENDS})
  if(ROOM_PRECOMPILED)
    inflight_precompile(inflight_${name})
  endif()
  if(NOT ROOM_OPTIMISED)
    inflight_optimise_less(inflight_${name})
  endif()
endfunction()

# inflight_test_program(TARGET): a GoogleTest program. Its own code is optimised a little. It uses the
# precompiled inflight_test_headers (tests/CMakeLists.txt), which belong to no program: hence -fPIC. It
# searches this build's libraries before LD_LIBRARY_PATH, which on many machines with a GPU contains NVIDIA's.
function(inflight_test_program target)
  target_link_options(${target} PRIVATE -Wl,--disable-new-dtags)
  target_compile_options(${target} PRIVATE -fPIC $<$<CONFIG:Release>:-O1>)
  inflight_precompile(${target} inflight_test_headers)
endfunction()

# inflight_unit_tests(ROOM file... [APART file...]): the GoogleTest program of a component. Files are compiled together,
# except those APART, which define names that others define too.
function(inflight_unit_tests room)
  cmake_parse_arguments(UNIT "" "" "APART" ${ARGN})
  add_executable(unit_${room} ${UNIT_UNPARSED_ARGUMENTS} ${UNIT_APART})
  inflight_test_program(unit_${room})
  inflight_unity_build(unit_${room} BATCH 8 ${UNIT_APART})
  target_link_libraries(unit_${room} PRIVATE inflight_${room} GTest::gtest_main)
  # Sanitizers take up to ten times as long.
  set(seconds 60)
  if(INFLIGHT_ASAN OR INFLIGHT_TSAN)
    set(seconds 300)
  endif()
  gtest_discover_tests(unit_${room} TEST_PREFIX ${room}. DISCOVERY_TIMEOUT 60
                       PROPERTIES TIMEOUT ${seconds})
endfunction()
