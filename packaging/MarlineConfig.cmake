# SPDX-License-Identifier: Apache-2.0
# find_package(Marline) gives Marline::marline: the calls of marline.h. A program that only uses OpenMP needs none of
# this: it is linked with its compiler's -fopenmp and started by `marline run`.
include("${CMAKE_CURRENT_LIST_DIR}/MarlineTargets.cmake")
get_filename_component(Marline_COMMAND "${CMAKE_CURRENT_LIST_DIR}/../../../bin/marline" ABSOLUTE)
get_filename_component(Marline_COMPAT_DIR "${CMAKE_CURRENT_LIST_DIR}/../../marline/compat" ABSOLUTE)

# Marline::mpi_openmpi and Marline::mpi_mpich, where they are installed: the calls of marline_mpi.h. The program finds
# MPI itself. TAMPI.h and mpi-detach.h are in Marline_COMPAT_INCLUDE_DIR.
get_filename_component(Marline_INCLUDE_DIR "${CMAKE_CURRENT_LIST_DIR}/../../../include" ABSOLUTE)
set(Marline_COMPAT_INCLUDE_DIR "${Marline_INCLUDE_DIR}/marline/compat")
foreach(mpi openmpi mpich)
  get_filename_component(archive "${CMAKE_CURRENT_LIST_DIR}/../../marline/${mpi}/libmarline-mpi-link.a" ABSOLUTE)
  if(EXISTS "${archive}" AND NOT TARGET Marline::mpi_${mpi})
    add_library(Marline::mpi_${mpi} STATIC IMPORTED)
    set_target_properties(Marline::mpi_${mpi} PROPERTIES
      IMPORTED_LOCATION "${archive}" INTERFACE_INCLUDE_DIRECTORIES "${Marline_INCLUDE_DIR}"
      INTERFACE_LINK_LIBRARIES "${CMAKE_DL_LIBS}")
  endif()
endforeach()
