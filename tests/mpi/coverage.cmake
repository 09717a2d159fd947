# SPDX-License-Identifier: Apache-2.0
# Every blocking call, in tasks that must not hold their thread. With the library's variants for large counts, the same
# programs are built a second time. A last test finds the calls of mpi/generator/calls.def that none of the programs
# makes.
find_package(Python3 3.9 REQUIRED COMPONENTS Interpreter)

function(marline_mpi_tests_of_coverage COMPILER MPI)
  set(marline ${run} marline ${MPI})
  set(calls ${CMAKE_CURRENT_SOURCE_DIR}/coverage_calls.py)
  set(builds "normal")
  if(MPI STREQUAL mpich)   # Open MPI 4.1 has none
    list(APPEND builds "large")
    set(header ${CMAKE_CURRENT_BINARY_DIR}/large_counts-${COMPILER}.h)
    add_custom_command(OUTPUT ${header}
      COMMAND ${Python3_EXECUTABLE} ${calls} large-counts ${header} ${CMAKE_C_COMPILER} ${MARLINE_MPI_${MPI}_CFLAGS}
      DEPENDS ${calls} ${PROJECT_SOURCE_DIR}/mpi/generator/calls.def COMMENT "names of large counts" VERBATIM)
    add_custom_target(large_counts-${COMPILER} ALL DEPENDS ${header})
  endif()
  set(programs "")
  foreach(build ${builds})
    foreach(name p2p collectives neighbours persistent comm rma files processes)
      set(flags -Wno-stringop-overflow -Wno-stringop-overread)
      if(NOT COMPILER STREQUAL gcc12)
        set(flags "")
      endif()
      set(test coverage_${name})
      set(needed ${CMAKE_CURRENT_SOURCE_DIR}/support.h ${CMAKE_CURRENT_SOURCE_DIR}/coverage.h)
      if(build STREQUAL large)
        string(APPEND test _large)
        list(APPEND flags -include ${header})
        list(APPEND needed ${header})
      endif()
      marline_add_program(mpi_${test}-${COMPILER}-${MPI} ${COMPILER} SOURCES coverage_${name}.c MPI ${MPI} OUTDIR ${bin}
        FLAGS ${flags} DEPENDS ${needed})
      set(program ${bin}/mpi_${test}-${COMPILER}-${MPI})
      list(APPEND programs ${program})
      set(arguments "")
      if(name STREQUAL files OR name STREQUAL processes)
        set(arguments ${CMAKE_CURRENT_BINARY_DIR}/${test}.${COMPILER}.${MPI})
      endif()
      set(again "")
      if(name STREQUAL processes)   # Open MPI's Comm_spawn hangs now and then, without Marline, too
        set(again env MARLINE_TEST_SECONDS=60 sh -c "\"$@\" || \"$@\" || \"$@\"" again)
      endif()
      marline_mpi_test(${test}.${COMPILER}.${MPI} ${again} ${marline} 2 1 ${program} ${arguments})
    endforeach()
  endforeach()
  marline_mpi_test(coverage_collectives_outside.${COMPILER}.${MPI} ${marline} 2 1
    ${bin}/mpi_coverage_collectives-${COMPILER}-${MPI} outside)
  if(MPI STREQUAL openmpi)   # the other implementation of MPI-IO
    marline_mpi_test(coverage_files_romio.${COMPILER}.${MPI} ${marline} 2 1 -e OMPI_MCA_io=romio321
      ${bin}/mpi_coverage_files-${COMPILER}-${MPI} ${CMAKE_CURRENT_BINARY_DIR}/coverage_files_romio.${COMPILER})
  endif()
  if(COMPILER STREQUAL gcc12)
    marline_mpi_test(coverage_complete.${MPI} ${Python3_EXECUTABLE} ${calls} check ${programs} --
      ${CMAKE_C_COMPILER} ${MARLINE_MPI_${MPI}_CFLAGS})
  endif()
endfunction()

# The same from Fortran, by each of MPI's three interfaces.
function(marline_mpi_tests_of_fortran_coverage MPI INCLUDES LIBRARIES)
  foreach(interface mpifh mpi f08)
    string(TOUPPER -DUSE_${interface} choice)
    set(name coverage_${interface})
    set(modules ${CMAKE_CURRENT_BINARY_DIR}/modules/${name}-${MPI})
    file(MAKE_DIRECTORY ${modules})
    string(TOUPPER -D${MPI} library)
    # The modules declare one type for a buffer, the first one used.
    marline_add_program(mpi_${name}-${MPI} gfortran12 SOURCES coverage_fortran.F90 LIBS ${LIBRARIES} OUTDIR ${bin}
      FLAGS ${choice} ${library} -J${modules} -fallow-argument-mismatch -w ${INCLUDES}
      DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/coverage_fortran_collectives.inc)
    marline_mpi_test(${name}.gfortran12.${MPI} ${run} marline ${MPI} 2 1 ${bin}/mpi_${name}-${MPI}
      ${CMAKE_CURRENT_BINARY_DIR}/${name}.${MPI})
    marline_mpi_test(${name}_outside.gfortran12.${MPI} ${run} marline ${MPI} 2 1 ${bin}/mpi_${name}-${MPI} outside)
  endforeach()
endfunction()

# A tool between libmarline-mpi and MPI sees the calls that libmarline-mpi makes, whatever thread makes them, and a few
# of its own (mpi/comm/order.c).
function(marline_mpi_tests_of_a_tool_behind MPI TOOL)
  set(suffix gcc12.${MPI})
  set(behind ${run} marline ${MPI} 2 2 -b ${TOOL})
  marline_mpi_test(tool_behind.${suffix} ${run} marline ${MPI} 3 1 -b ${TOOL}
    -o "^tool: [4-9] nonblocking, 0 splits, 3 ranks$" ${bin}/mpi_mpi_only-gcc12-${MPI})
  marline_mpi_test(tool_behind_tasks.${suffix} ${behind} -o "^tool: 5[0-9] nonblocking, 0 splits, 2 ranks$"
    ${bin}/mpi_thread_level-gcc12-${MPI} init)
  marline_mpi_test(tool_behind_init_thread.${suffix} ${behind} -o "^tool: 5[0-9] nonblocking, 0 splits, 2 ranks$"
    ${bin}/mpi_thread_level-gcc12-${MPI} multiple)
  marline_mpi_test(tool_behind_helpers.${suffix} ${run} marline ${MPI} 2 1 -b ${TOOL}
    -o "^tool: [0-9]+ nonblocking, [1-9][0-9]* splits, 2 ranks$" ${bin}/mpi_coverage_comm-gcc12-${MPI})
  marline_mpi_test(tool_behind_owner.${suffix} ${behind} -e MARLINE_MPI_THREADS=owner
    -o "^tool: 5[0-9] nonblocking, 0 splits, 2 ranks$" ${bin}/mpi_thread_level-gcc12-${MPI} init)
  # Linked to the program, it comes after what is preloaded.
  marline_add_program(mpi_tool_linked-gcc12-${MPI} gcc12 SOURCES thread_level.c MPI ${MPI} OUTDIR ${bin} LIBS ${TOOL}
    DEPENDS ${TOOL} ${CMAKE_CURRENT_SOURCE_DIR}/support.h)
  marline_mpi_test(tool_linked.${suffix} ${run} marline ${MPI} 2 2 -o "^tool: 5[0-9] nonblocking, 0 splits, 2 ranks$"
    ${bin}/mpi_tool_linked-gcc12-${MPI} init)
endfunction()
