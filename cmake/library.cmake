# The library: the target inflight::inflight is its headers. They need nvcc, and C++17.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
add_library(inflight_headers INTERFACE)
add_library(inflight::inflight ALIAS inflight_headers)
set_target_properties(inflight_headers PROPERTIES EXPORT_NAME inflight)
target_include_directories(inflight_headers INTERFACE
                           $<BUILD_INTERFACE:${CMAKE_CURRENT_SOURCE_DIR}/include>
                           $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
# C++17 in each language that the project which links it has. Compile features are asked for whole targets,
# not for one language's sources, and CMake knows those of enabled languages only.
target_compile_features(inflight_headers INTERFACE $<$<BOOL:$<CXX_COMPILER_ID>>:cxx_std_17>
                                                   $<$<BOOL:$<CUDA_COMPILER_ID>>:cuda_std_17>)

# Headers are the same for every machine, so their package lies where the prefix alone says: `inflight env` finds it.
set(package ${CMAKE_INSTALL_DATADIR}/cmake/inflight)
install(DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR}/include/inflight DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(FILES ${CMAKE_CURRENT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(TARGETS inflight_headers EXPORT inflight)
install(EXPORT inflight NAMESPACE inflight:: DESTINATION ${package} FILE inflight-config.cmake)
write_basic_package_version_file(${CMAKE_CURRENT_BINARY_DIR}/inflight-config-version.cmake
                                 COMPATIBILITY SameMajorVersion ARCH_INDEPENDENT)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/inflight-config-version.cmake DESTINATION ${package})
