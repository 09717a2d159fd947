# SPDX-License-Identifier: Apache-2.0
# MARLINE_PORTABLE: the libraries are linked for glibc 2.28 and have hwloc inside, as the wheel needs them
# (packaging/wheel). They are compiled as ever: only the linker sees the older glibc, whose symbol versions it writes
# into the libraries. tools/portable_deps.sh makes the parts that are linked.
#
# marline_shipped_libraries(): called by a folder whose shared libraries are installed.
option(MARLINE_PORTABLE "link the libraries for glibc 2.28, with hwloc inside" OFF)
set(MARLINE_PORTABLE_DEPS ${PROJECT_SOURCE_DIR}/.deps/portable/${CMAKE_SYSTEM_PROCESSOR})

if(MARLINE_PORTABLE)
  if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "GNU")  # others look for GCC's files below the sysroot of the older glibc
    message(FATAL_ERROR " MARLINE_PORTABLE=ON is for GCC, not ${CMAKE_CXX_COMPILER}: set CC=gcc-12 CXX=g++-12")
  endif()
  if(NOT EXISTS ${MARLINE_PORTABLE_DEPS}/made)
    message(FATAL_ERROR "MARLINE_PORTABLE=ON: ${MARLINE_PORTABLE_DEPS} is missing or incomplete: run "
                        "tools/portable_deps.sh ${CMAKE_SYSTEM_PROCESSOR}")
  endif()
  add_library(marline_hwloc INTERFACE)
  target_include_directories(marline_hwloc SYSTEM INTERFACE ${MARLINE_PORTABLE_DEPS}/hwloc/include)
  target_link_libraries(marline_hwloc INTERFACE ${MARLINE_PORTABLE_DEPS}/hwloc/lib/libhwloc.a m)
  # A tree that was configured without it has links here, through which the linker would write into other files.
  file(GLOB names ${PROJECT_BINARY_DIR}/lib/*.so* ${PROJECT_BINARY_DIR}/lib/marline/compat/*.so*)
  foreach(name IN LISTS names)
    if(IS_SYMLINK ${name})
      file(REMOVE ${name})
    endif()
  endforeach()
else()
  find_package(Hwloc REQUIRED)
  add_library(marline_hwloc ALIAS Hwloc::hwloc)
endif()

# Before glibc 2.34, threads and dlopen were in libraries of their own.
macro(marline_shipped_libraries)
  # As Debian's GCC does by itself: a library of which nothing is used, such as libstdc++, is not needed at run time.
  if(NOT MARLINE_SANITIZE)
    add_link_options(LINKER:--as-needed)
  endif()
  if(MARLINE_PORTABLE)
    set(glibc ${MARLINE_PORTABLE_DEPS}/glibc)
    add_link_options(--sysroot=${glibc} -L${glibc}/usr/lib/${CMAKE_LIBRARY_ARCHITECTURE}
                     -L${glibc}/lib/${CMAKE_LIBRARY_ARCHITECTURE})
    link_libraries(-Wl,--push-state,--as-needed -lpthread -ldl -lrt -Wl,--pop-state)
  endif()
endmacro()
