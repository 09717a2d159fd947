# SPDX-License-Identifier: Apache-2.0
# The build tree has the layout of the installed one, so that `build/release/bin/marline` finds its libraries the way
# the installed command does:
#   bin/marline   lib/libmarline.so   lib/marline/compat/{libomp.so.5,libiomp5.so,libgomp.so.1}
#   lib/marline/libmarline-{trace,check,target,wire-openmpi,wire-mpich,wire-standard}.so
#   lib/marline/libompd.so
#   lib/marline/{openmpi,mpich,standard}/{libmarline-mpi,libmarline-trace}.so   include/marline/
set(CMAKE_INSTALL_LIBDIR lib)   # no multiarch folder: PREFIX/lib/marline/compat is part of the documented interface
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
set(MARLINE_LIBDIR ${CMAKE_INSTALL_LIBDIR}/marline)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()
