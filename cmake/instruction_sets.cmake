# What is loops over lanes is compiled once an instruction set, in a namespace of its own
# (INFLIGHT_ISA); the best for the machine that it runs on is chosen there (gpu/host).
#
# One set is enough to test with; a release has all three.
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

# Under sanitizers their build would take longer than all tests.
set(LANE_OPTIMISATION -O3)
if(INFLIGHT_ASAN OR INFLIGHT_TSAN)
  set(LANE_OPTIMISATION -O1)
endif()

# inflight_lane_options(TARGET ISA): how loops over lanes are compiled for it.
function(inflight_lane_options target isa)
  target_compile_options(${target} PRIVATE ${LANE_OPTIMISATION} -fno-trapping-math ${${isa}_flags})
endfunction()

# inflight_for_instruction_sets(ROOM SOURCES file... [PRECOMPILED header...] DEPENDS target...): objects of
# the room's library.
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

# inflight_knows_instruction_sets(FILE...): they have INFLIGHT_HAS_AVX512 and its like defined.
function(inflight_knows_instruction_sets)
  foreach(isa ${INFLIGHT_SETS})
    string(TOUPPER INFLIGHT_HAS_${isa} has)
    set_property(SOURCE ${ARGN} APPEND PROPERTY COMPILE_DEFINITIONS ${has})
  endforeach()
endfunction()
