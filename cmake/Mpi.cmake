# SPDX-License-Identifier: Apache-2.0
# MARLINE_MPI_ABIS: the ABIs of MPI that the libraries are built for, each with an mpi.h in pmpi/abi, so that no MPI is
# needed. MARLINE_MPI_<abi>_HEADERS are that file and those that it includes.
set(MARLINE_MPI_ABIS openmpi mpich standard)
set(pmpi_abi ${PROJECT_SOURCE_DIR}/pmpi/abi)
file(GLOB pmpi_headers CONFIGURE_DEPENDS ${pmpi_abi}/*.h ${pmpi_abi}/functions/*.h)
foreach(abi ${MARLINE_MPI_ABIS})
  set(MARLINE_MPI_${abi}_HEADERS ${pmpi_abi}/${abi}/mpi.h ${pmpi_headers})
endforeach()

# Adds to TARGET what its part in front of MPI needs: the ABI's mpi.h and its name.
function(marline_use_mpi_abi TARGET ABI)
  target_include_directories(${TARGET} PRIVATE ${pmpi_abi}/${ABI})
  target_compile_definitions(${TARGET} PRIVATE MARLINE_MPI_ABI="${ABI}"
    MARLINE_MPI_IS_OPENMPI=$<STREQUAL:${ABI},openmpi>)
endfunction()

# For tests: both MPI implementations side by side, each through its own compiler wrapper. MARLINE_MPIS lists the ones
# found; MARLINE_MPI_<name>_{CFLAGS,LIBS,RUN} are the flags and the launcher of each.
set(MARLINE_MPIS "")
foreach(mpi openmpi mpich)
  find_program(MARLINE_MPICC_${mpi} mpicc.${mpi})
  find_program(MARLINE_MPIRUN_${mpi} mpirun.${mpi})
  if(NOT MARLINE_MPICC_${mpi} OR NOT MARLINE_MPIRUN_${mpi})
    message(STATUS "MPI ${mpi} not found: its tests are not built")
    continue()
  endif()
  list(APPEND MARLINE_MPIS ${mpi})
  set(MARLINE_MPI_${mpi}_RUN ${MARLINE_MPIRUN_${mpi}})
  if(mpi STREQUAL openmpi)
    set(compile --showme:compile)
    set(link --showme:link)
  else()
    set(compile -compile_info)
    set(link -link_info)
  endif()
  foreach(kind compile link)
    execute_process(COMMAND ${MARLINE_MPICC_${mpi}} ${${kind}} OUTPUT_VARIABLE flags
                    OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
    separate_arguments(flags UNIX_COMMAND "${flags}")
    # Include paths, defines and libraries only: the wrapper's own compiler and hardening flags are the user's choice.
    list(FILTER flags INCLUDE REGEX "^-[IDLl]")
    set(MARLINE_MPI_${mpi}_${kind} ${flags})
  endforeach()
  set(MARLINE_MPI_${mpi}_CFLAGS ${MARLINE_MPI_${mpi}_compile})
  list(FILTER MARLINE_MPI_${mpi}_CFLAGS INCLUDE REGEX "^-[ID]")
  set(MARLINE_MPI_${mpi}_LIBS ${MARLINE_MPI_${mpi}_link})
  list(FILTER MARLINE_MPI_${mpi}_LIBS INCLUDE REGEX "^-[Ll]")
endforeach()
