# SPDX-License-Identifier: Apache-2.0
# find_package(Marline) gives Marline::marline: the calls of marline.h. A program that only uses OpenMP needs none of
# this: it is linked with its compiler's -fopenmp and started by `marline run`.
include("${CMAKE_CURRENT_LIST_DIR}/MarlineTargets.cmake")
get_filename_component(Marline_COMMAND "${CMAKE_CURRENT_LIST_DIR}/../../../bin/marline" ABSOLUTE)
get_filename_component(Marline_COMPAT_DIR "${CMAKE_CURRENT_LIST_DIR}/../../marline/compat" ABSOLUTE)
