# SPDX-License-Identifier: Apache-2.0
# Hwloc::hwloc: hwloc 2, by pkg-config where that knows it, else in CMAKE_PREFIX_PATH, Hwloc_ROOT or the system's
# folders.
find_package(PkgConfig QUIET)
if(PkgConfig_FOUND)
  pkg_check_modules(PC_HWLOC QUIET hwloc)
endif()
find_path(HWLOC_INCLUDE_DIR hwloc.h HINTS ${PC_HWLOC_INCLUDE_DIRS})
find_library(HWLOC_LIBRARY hwloc HINTS ${PC_HWLOC_LIBRARY_DIRS})
set(version "")
if(HWLOC_INCLUDE_DIR)
  file(STRINGS ${HWLOC_INCLUDE_DIR}/hwloc.h version REGEX "HWLOC_API_VERSION 0x000[2-9]")
endif()
if(NOT version OR NOT HWLOC_LIBRARY)
  # A line that begins with a blank is not wrapped.
  message(FATAL_ERROR " hwloc.h or libhwloc.so is missing: install hwloc 2 or later with its headers (Debian: libhwloc-dev; \
Fedora, RHEL: hwloc-devel), or name its folder by -DHwloc_ROOT=DIR")
endif()
set(Hwloc_FOUND TRUE)
if(NOT TARGET Hwloc::hwloc)
  add_library(Hwloc::hwloc UNKNOWN IMPORTED)
  set_target_properties(Hwloc::hwloc PROPERTIES
    IMPORTED_LOCATION ${HWLOC_LIBRARY} INTERFACE_INCLUDE_DIRECTORIES ${HWLOC_INCLUDE_DIR})
endif()
