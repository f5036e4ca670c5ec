# How a room of the house is built: one static, position-independent library a room, with its unit
# tests in tests/unit/ROOM. Rooms see the tree from its root: #include "gpu/ptx/module.hpp".
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
# The machine promises IEEE results to the bit: no contraction, no reassociation.
add_compile_options(-Wall -Wextra -ffp-contract=off -fno-math-errno)
# A first build is faster so; later ones are not, as one changed file takes its neighbours along.
option(INFLIGHT_QUICK "compile files together, and optimise fully only what kernels run in" OFF)
if(INFLIGHT_QUICK)  # half a gigabyte for the compiler before it looks for what it no longer needs
  add_compile_options($<$<CXX_COMPILER_ID:GNU>:--param=ggc-min-heapsize=524288>)
endif()
# What one checkout compiled, another takes: paths count from the project's folder. nvcc's do not, as they stand in
# what it writes (cuda.cmake).
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

# Headers of the standard library and fmt take longer than most of what includes them: they are read
# once. inflight_headers(TARGET HEADER...): TARGET is no more than a set of them. inflight_precompile(TARGET
# HEADER...): for TARGET; with HEADERs, in a set of its own; with the name of another target instead, in that one's.
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

# inflight_together(TARGET FILE...): the sources of TARGET are compiled some at a time, but for the
# FILEs, whose names are others' too (house.compiled_together sees whether all such are named).
function(inflight_together target)
  if(INFLIGHT_QUICK)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 16)
    set_source_files_properties(${ARGN} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  endif()
endfunction()

# How what is seldom run is optimised. -Og takes GCC an eighth less time than -O1, and less than -O0 where much of the
# standard library is in it.
set(INFLIGHT_SELDOM $<$<CONFIG:Release>:-O1>)
if(INFLIGHT_QUICK)
  set(INFLIGHT_SELDOM $<$<CONFIG:Release>:$<IF:$<CXX_COMPILER_ID:GNU>,-Og,-O1>>)
endif()

# inflight_quickly(TARGET): a first build does not optimise it fully.
function(inflight_quickly target)
  if(INFLIGHT_QUICK)
    target_compile_options(${target} PRIVATE ${INFLIGHT_SELDOM})
  endif()
endfunction()

# inflight_room(NAME [PRECOMPILED] [OPTIMISED] SOURCES file... DEPENDS target...). OPTIMISED also in a first
# build: what is run for every instruction, or for every access.
function(inflight_room name)
  cmake_parse_arguments(ROOM "PRECOMPILED;OPTIMISED" "" "SOURCES;DEPENDS" ${ARGN})
  add_library(inflight_${name} STATIC ${ROOM_SOURCES})
  target_include_directories(inflight_${name} PUBLIC ${PROJECT_SOURCE_DIR})
  target_link_libraries(inflight_${name} PUBLIC ${ROOM_DEPENDS})
  if(ROOM_PRECOMPILED)
    inflight_precompile(inflight_${name})
  endif()
  if(NOT ROOM_OPTIMISED)
    inflight_quickly(inflight_${name})
  endif()
endfunction()

# inflight_test_program(TARGET): a program of GoogleTest. Its own code is optimised a little, and has the headers of
# inflight_test_headers (tests/CMakeLists.txt), which are no program's: hence -fPIC. It finds this build's libraries before those
# that LD_LIBRARY_PATH names, as that names NVIDIA's on many machines with a GPU.
function(inflight_test_program target)
  target_link_options(${target} PRIVATE -Wl,--disable-new-dtags)
  target_compile_options(${target} PRIVATE -fPIC $<$<CONFIG:Release>:-O1>)
  inflight_precompile(${target} inflight_test_headers)
endfunction()

# inflight_unit_tests(ROOM file...): one such program a room.
function(inflight_unit_tests room)
  add_executable(unit_${room} ${ARGN})
  inflight_test_program(unit_${room})
  target_link_libraries(unit_${room} PRIVATE inflight_${room} GTest::gtest_main)
  gtest_discover_tests(unit_${room} TEST_PREFIX ${room}. DISCOVERY_TIMEOUT 60
                       PROPERTIES TIMEOUT 60)
endfunction()
