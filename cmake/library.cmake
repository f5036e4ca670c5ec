# The header-only library: target inflight::inflight. Its headers need nvcc and C++17.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
add_library(inflight_headers INTERFACE)
add_library(inflight::inflight ALIAS inflight_headers)
set_target_properties(inflight_headers PROPERTIES EXPORT_NAME inflight)
target_include_directories(inflight_headers INTERFACE
                           $<BUILD_INTERFACE:${CMAKE_CURRENT_SOURCE_DIR}/include>
                           $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
# Requires C++17 in each language of the project that links it. Compile features apply to whole targets, not
# to the sources of one language, and CMake knows only those of enabled languages.
target_compile_features(inflight_headers INTERFACE $<$<BOOL:$<CXX_COMPILER_ID>>:cxx_std_17>
                                                   $<$<BOOL:$<CUDA_COMPILER_ID>>:cuda_std_17>)

# Headers are the same for every machine, so their package's path depends only on the prefix: `inflight env`
# finds it.
set(package ${CMAKE_INSTALL_DATADIR}/cmake/inflight)
install(DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR}/include/inflight DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(FILES ${CMAKE_CURRENT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(TARGETS inflight_headers EXPORT inflight)
install(EXPORT inflight NAMESPACE inflight:: DESTINATION ${package} FILE inflight-config.cmake)
write_basic_package_version_file(${CMAKE_CURRENT_BINARY_DIR}/inflight-config-version.cmake
                                 COMPATIBILITY SameMajorVersion ARCH_INDEPENDENT)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/inflight-config-version.cmake DESTINATION ${package})
