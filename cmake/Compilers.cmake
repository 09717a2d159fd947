# SPDX-License-Identifier: Apache-2.0
# The compilers that Marline serves the binaries of. Programs (tests, benchmarks, applications) are built by each that
# is found; a missing one is said once, here, and its tests are not registered.
#
# marline_add_program(NAME COMPILER SOURCES... [FLAGS ...] [LIBS ...] [MPI openmpi|mpich] [OUTDIR dir]
# [LIBRARY_DIRS ...] [PLAIN]) makes the executable NAME by a plain command line of that compiler, the way a user would:
# no CMake target property leaks in. LIBRARY_DIRS are searched before LLVM's. PLAIN: without MARLINE_SANITIZE.
#
# The compilers write the lists of headers as Ninja reads them, with paths from the top of the build: CMake would
# otherwise start itself once more for each of 1,500 programs, to change the paths.
cmake_policy(SET CMP0116 OLD)
set(MARLINE_OMP_HEADERS /usr/lib/llvm-19/lib/clang/19/include CACHE PATH "omp.h for Clang versions without their own")
set(MARLINE_LLVM_LIB /usr/lib/llvm-19/lib CACHE PATH "where LLVM's libomp.so is, for linking Clang programs")

find_program(MARLINE_GCC12 gcc-12)
find_program(MARLINE_GXX12 g++-12)
find_program(MARLINE_GFORTRAN12 gfortran-12)
find_program(MARLINE_CLANG14 clang-14)
find_program(MARLINE_CLANGXX14 clang++-14)
find_program(MARLINE_CLANG16 clang-16)
find_program(MARLINE_CLANGXX16 clang++-16)
find_program(MARLINE_CLANG19 clang-19)
find_program(MARLINE_CLANGXX19 clang++-19)
find_program(MARLINE_CLANG22 clang-22)
find_program(MARLINE_CLANGXX22 clang++-22)

set(MARLINE_COMPILERS "")
foreach(pair gcc12:MARLINE_GCC12 clang14:MARLINE_CLANG14 clang16:MARLINE_CLANG16 clang19:MARLINE_CLANG19
             clang22:MARLINE_CLANG22 gfortran12:MARLINE_GFORTRAN12)
  string(REPLACE ":" ";" pair ${pair})
  list(GET pair 0 name)
  list(GET pair 1 var)
  if(${var})
    list(APPEND MARLINE_COMPILERS ${name})
  elseif(MARLINE_TESTS OR MARLINE_APPS OR MARLINE_BENCH)
    message(STATUS "compiler ${name} not found: its programs are not built")
  endif()
endforeach()

function(marline_add_program NAME COMPILER)
  cmake_parse_arguments(P "PLAIN" "MPI;OUTDIR" "SOURCES;FLAGS;LIBS;DEPENDS;LIBRARY_DIRS" ${ARGN})
  list(TRANSFORM P_LIBRARY_DIRS PREPEND -L)
  if(NOT P_OUTDIR)
    set(P_OUTDIR ${CMAKE_CURRENT_BINARY_DIR})
  endif()
  set(sources "")
  set(cxx FALSE)
  foreach(source ${P_SOURCES})
    cmake_path(ABSOLUTE_PATH source BASE_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR})
    list(APPEND sources ${source})
    if(source MATCHES "\\.(cpp|cc|cxx)$")
      set(cxx TRUE)
    endif()
  endforeach()
  if(COMPILER STREQUAL gcc12)
    set(driver ${MARLINE_GCC12})
    if(cxx)
      set(driver ${MARLINE_GXX12})
    endif()
    set(omp -fopenmp)
  elseif(COMPILER STREQUAL gfortran12)
    set(driver ${MARLINE_GFORTRAN12})
    set(omp -fopenmp)
  else()
    string(REGEX REPLACE "clang" "" version ${COMPILER})
    set(driver ${MARLINE_CLANG${version}})
    if(cxx)
      set(driver ${MARLINE_CLANGXX${version}})
    endif()
    set(omp -fopenmp=libomp ${P_LIBRARY_DIRS} -L${MARLINE_LLVM_LIB})
    if(NOT version EQUAL 19)
      list(APPEND omp -idirafter ${MARLINE_OMP_HEADERS})
    endif()
  endif()
  set(options -O2 -g)
  if(MARLINE_SANITIZE AND NOT P_PLAIN)
    set(options -O1 -g1 -fsanitize=${MARLINE_SANITIZE})  # as the libraries there: half the time to compile
  endif()
  set(mpi_flags "")
  set(mpi_libs "")
  if(P_MPI)
    set(mpi_flags ${MARLINE_MPI_${P_MPI}_CFLAGS})
    set(mpi_libs ${MARLINE_MPI_${P_MPI}_LIBS})
  endif()
  set(output ${P_OUTDIR}/${NAME})
  file(MAKE_DIRECTORY ${P_OUTDIR})
  # The headers that it includes; a compiler lists those of one source only, and gfortran none.
  list(LENGTH sources source_count)
  set(list_headers "")
  set(depfile "")
  if(source_count EQUAL 1 AND NOT COMPILER STREQUAL gfortran12)
    cmake_path(RELATIVE_PATH output BASE_DIRECTORY ${CMAKE_BINARY_DIR} OUTPUT_VARIABLE listed)
    set(list_headers -MMD -MT ${listed} -MF ${output}.d)
    set(depfile DEPFILE ${output}.d)
  endif()
  add_custom_command(OUTPUT ${output}
    COMMAND ${driver} ${omp} ${options} ${P_FLAGS} ${mpi_flags} ${list_headers} ${sources} -o ${output} ${P_LIBS}
            ${mpi_libs} -lm
    DEPENDS ${sources} ${P_DEPENDS} ${depfile}
    COMMENT "${COMPILER}: ${NAME}" VERBATIM)
  add_custom_target(${NAME} ALL DEPENDS ${output})
endfunction()
