# Loops over lanes are compiled once per instruction set, each in its own namespace (INFLIGHT_ISA). At run
# time, gpu/host chooses the best for the machine.
#
# One set is enough for tests. A release has all three.
set(INFLIGHT_INSTRUCTION_SETS "baseline;avx2;avx512" CACHE STRING
    "instruction sets to build for; 'native' for the best of this machine alone")
set(INFLIGHT_SETS ${INFLIGHT_INSTRUCTION_SETS})
if(INFLIGHT_SETS STREQUAL "native")
  set(INFLIGHT_SETS baseline)
  set(cpu "")
  if(EXISTS /proc/cpuinfo)
    file(STRINGS /proc/cpuinfo cpu REGEX "^flags" LIMIT_COUNT 1)
  endif()
  if(cpu MATCHES " avx512f" AND cpu MATCHES " avx512bw" AND cpu MATCHES " avx512vl"
     AND cpu MATCHES " avx512dq" AND cpu MATCHES " avx512cd")
    set(INFLIGHT_SETS avx512)
  elseif(cpu MATCHES " avx2" AND cpu MATCHES " fma" AND cpu MATCHES " bmi2")
    set(INFLIGHT_SETS avx2)
  endif()
endif()
set(baseline_flags "")
set(avx2_flags -march=x86-64-v3)
set(avx512_flags -march=x86-64-v4 -mprefer-vector-width=512)

# With sanitizers, -O3 builds of these files would take longer than all tests.
set(LANE_OPTIMISATION -O3)
if(INFLIGHT_ASAN OR INFLIGHT_TSAN)
  set(LANE_OPTIMISATION -O1)
endif()

# inflight_lane_options(TARGET ISA): sets the compile options for loops over lanes.
function(inflight_lane_options target isa)
  target_compile_options(${target} PRIVATE ${LANE_OPTIMISATION} -fno-trapping-math ${${isa}_flags})
endfunction()

# inflight_for_instruction_sets(ROOM SOURCES file... [PRECOMPILED header...] DEPENDS target...): adds the
# objects of every instruction set to the library of the component ROOM.
function(inflight_for_instruction_sets room)
  cmake_parse_arguments(LANES "" "" "SOURCES;PRECOMPILED;DEPENDS" ${ARGN})
  foreach(isa ${INFLIGHT_SETS})
    set(lanes inflight_${room}_lanes_${isa})
    add_library(${lanes} OBJECT ${LANES_SOURCES})
    target_include_directories(${lanes} PRIVATE ${PROJECT_SOURCE_DIR})
    target_compile_definitions(${lanes} PRIVATE INFLIGHT_ISA=isa_${isa})
    inflight_lane_options(${lanes} ${isa})
    target_link_libraries(${lanes} PRIVATE ${LANES_DEPENDS})
    if(LANES_PRECOMPILED)
      inflight_precompile(${lanes} ${LANES_PRECOMPILED})
    endif()
    target_link_libraries(inflight_${room} PRIVATE "$<FILTER:$<TARGET_OBJECTS:${lanes}>,INCLUDE,[.]o$>")
  endforeach()
endfunction()

# inflight_tests_under_instruction_sets(ROOM): runs the component's unit tests with each instruction set, for
# the others use only the best.
function(inflight_tests_under_instruction_sets room)
  foreach(isa ${INFLIGHT_SETS})
    add_test(NAME ${room}.under_${isa} COMMAND ${PROJECT_SOURCE_DIR}/tests/unit/under.sh ${isa}
                                               $<TARGET_FILE:unit_host> $<TARGET_FILE:unit_${room}>)
    set_tests_properties(${room}.under_${isa} PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT 600)
  endforeach()
endfunction()

# inflight_knows_instruction_sets(FILE...): defines INFLIGHT_HAS_AVX512 and similar macros for files.
function(inflight_knows_instruction_sets)
  foreach(isa ${INFLIGHT_SETS})
    string(TOUPPER INFLIGHT_HAS_${isa} has)
    set_property(SOURCE ${ARGN} APPEND PROPERTY COMPILE_DEFINITIONS ${has})
  endforeach()
endfunction()
