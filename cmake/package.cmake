# The installed files besides programs and libraries, and the Debian package (`make package`).
set(INFLIGHT_DOC share/doc/inflight)
install(FILES ${CMAKE_CURRENT_LIST_DIR}/copyright DESTINATION ${INFLIGHT_DOC})

# Generates inflight(1) and the bash completion from the command's --help texts.
find_package(Python3 3.9 COMPONENTS Interpreter)
find_program(INFLIGHT_GZIP gzip)
if(Python3_FOUND AND INFLIGHT_GZIP AND NOT INFLIGHT_ASAN AND NOT INFLIGHT_TSAN)
  set(page ${PROJECT_BINARY_DIR}/share/man/man1/inflight.1)
  set(writer ${PROJECT_SOURCE_DIR}/tools/reference)
  file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/share/man/man1)
  add_custom_command(
    OUTPUT ${page}.gz
    COMMAND ${Python3_EXECUTABLE} -B ${writer}/man_page $<TARGET_FILE:inflight> > ${page}
    COMMAND ${INFLIGHT_GZIP} -9nf ${page}
    DEPENDS inflight ${writer}/man_page ${writer}/help_text.py
    COMMENT "man page" VERBATIM)
  set(completion ${PROJECT_BINARY_DIR}/share/bash-completion/completions/inflight)
  file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/share/bash-completion/completions)
  add_custom_command(
    OUTPUT ${completion}
    COMMAND ${Python3_EXECUTABLE} -B ${writer}/completion $<TARGET_FILE:inflight> > ${completion}
    DEPENDS inflight ${writer}/completion ${writer}/help_text.py
    COMMENT "bash completion" VERBATIM)
  add_custom_target(inflight_man ALL DEPENDS ${page}.gz ${completion})
  add_dependencies(inflight_libraries inflight_man)
  install(FILES ${page}.gz DESTINATION share/man/man1)
  install(FILES ${completion} DESTINATION share/bash-completion/completions)
endif()

# A wheel contains these libraries, so it needs their licences too (tools/package).
file(GLOB bundled /usr/share/doc/libtbb12/copyright /usr/share/doc/libfmt[0-9]*/copyright
     /usr/share/doc/libzstd1/copyright /usr/share/doc/liblz4-1/copyright
     /usr/share/doc/libasmjit-dev/copyright)
foreach(licence IN LISTS bundled)
  get_filename_component(library ${licence} DIRECTORY)
  get_filename_component(library ${library} NAME)
  install(FILES ${licence} DESTINATION ${INFLIGHT_DOC}/bundled RENAME ${library}.copyright
          COMPONENT bundled EXCLUDE_FROM_ALL)
endforeach()

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME inflight)
set(CPACK_PACKAGE_VENDOR Inflight)
set(CPACK_PACKAGE_CONTACT "The Inflight maintainers <maintainers@inflight.invalid>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "GPU made of software that runs and checks CUDA programs")
set(CPACK_PACKAGE_DESCRIPTION
    "Runs CUDA programs as nvcc built them, on a machine without a GPU, by executing the PTX inside them, \
and finds mistakes in their asynchronous copies, barriers and memory accesses. With the headers of \
the library for kernel authors.")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ
                                                GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(CPACK_INSTALL_CMAKE_PROJECTS ${PROJECT_BINARY_DIR} inflight Unspecified /)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "libopenblas0-pthread | libblas3")  # cuBLAS's stand-in looks for it at run time
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "libfftw3-double3, libfftw3-single3")  # the same for cuFFT
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${CMAKE_LIBRARY_OUTPUT_DIRECTORY})
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)
include(CPack)
