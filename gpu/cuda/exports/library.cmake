# Builds a library that exports CUDA's names.
include(${CMAKE_CURRENT_LIST_DIR}/stubs.cmake)
set(INFLIGHT_EXPORTS ${CMAKE_CURRENT_LIST_DIR})

# inflight_cuda_library(TARGET NAME SOVERSION LIST SOURCES...): libNAME.so.SOVERSION with every name
# of exports/LIST.txt, under exports/LIST.map.
function(inflight_cuda_library target name soversion list)
  set(stubs ${CMAKE_CURRENT_BINARY_DIR}/${list}_stubs.cpp)
  inflight_stubs(${INFLIGHT_EXPORTS}/${list}.txt ${stubs} ${list}_calls)
  add_library(${target} SHARED ${stubs} ${ARGN})
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR})
  target_link_libraries(${target} PRIVATE inflight_gpu fmt::fmt tl::expected ${CMAKE_DL_LIBS})
  inflight_precompile(${target})
  set_target_properties(${target} PROPERTIES OUTPUT_NAME ${name} SOVERSION ${soversion}
                        BUILD_RPATH "$ORIGIN" INSTALL_RPATH "$ORIGIN"
                        LINK_DEPENDS ${INFLIGHT_EXPORTS}/${list}.map)
  target_link_options(${target} PRIVATE LINKER:--no-undefined LINKER:-z,nodelete
                      LINKER:--version-script=${INFLIGHT_EXPORTS}/${list}.map)
endfunction()
