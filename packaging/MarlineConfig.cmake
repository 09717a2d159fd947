# SPDX-License-Identifier: Apache-2.0
# find_package(Marline) gives Marline::marline: the calls of marline.h. A program that only uses OpenMP needs none of
# this: it is linked with its compiler's -fopenmp and started by `marline run`.
get_filename_component(_marline_prefix "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
if(NOT EXISTS "${_marline_prefix}/lib/libmarline.so")
  set(Marline_FOUND FALSE)
  set(Marline_NOT_FOUND_MESSAGE "${_marline_prefix}/lib/libmarline.so is missing; install Marline again")
  return()
endif()
if(NOT TARGET Marline::marline)
  add_library(Marline::marline SHARED IMPORTED)
  set_target_properties(Marline::marline PROPERTIES
    IMPORTED_LOCATION "${_marline_prefix}/lib/libmarline.so"
    IMPORTED_SONAME libmarline.so
    INTERFACE_INCLUDE_DIRECTORIES "${_marline_prefix}/include")
endif()
set(Marline_COMMAND "${_marline_prefix}/bin/marline")
set(Marline_COMPAT_DIR "${_marline_prefix}/lib/marline/compat")
unset(_marline_prefix)
