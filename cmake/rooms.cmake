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
find_program(CCACHE ccache)
if(CCACHE)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CCACHE})
endif()

option(INFLIGHT_ASAN "AddressSanitizer and UndefinedBehaviorSanitizer" OFF)
if(INFLIGHT_ASAN)
  add_compile_options(-fsanitize=address,undefined -fno-sanitize-recover=undefined
                      -fno-omit-frame-pointer)
  add_link_options(-fsanitize=address,undefined)
endif()
option(INFLIGHT_TSAN "ThreadSanitizer" OFF)
if(INFLIGHT_TSAN)
  add_compile_options(-fsanitize=thread)
  add_link_options(-fsanitize=thread)
endif()

# inflight_room(NAME SOURCES file... DEPENDS target...)
function(inflight_room name)
  cmake_parse_arguments(ROOM "" "" "SOURCES;DEPENDS" ${ARGN})
  add_library(inflight_${name} STATIC ${ROOM_SOURCES})
  target_include_directories(inflight_${name} PUBLIC ${PROJECT_SOURCE_DIR})
  target_link_libraries(inflight_${name} PUBLIC ${ROOM_DEPENDS})
endfunction()

# inflight_unit_tests(ROOM file...): one GoogleTest program a room.
function(inflight_unit_tests room)
  add_executable(unit_${room} ${ARGN})
  target_link_libraries(unit_${room} PRIVATE inflight_${room} GTest::gtest_main)
  gtest_discover_tests(unit_${room} TEST_PREFIX ${room}. DISCOVERY_TIMEOUT 60
                       PROPERTIES TIMEOUT 60)
endfunction()
