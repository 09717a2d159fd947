# SPDX-License-Identifier: Apache-2.0
# The wire of devices over MPI (offload/wire/mpi), without the rest of the library for devices.
function(marline_mpi_tests_of_the_wire MPI)
  set(target ${PROJECT_SOURCE_DIR}/offload)
  set(library $<TARGET_FILE:marline-wire-${MPI}>)
  set(program ${bin}/mpi_wire_mpi-${MPI})
  # -Wno-stringop-overflow: as in marline_mpi_program.
  marline_add_program(mpi_wire_mpi-${MPI} gcc12 SOURCES wire_mpi.cpp MPI ${MPI} OUTDIR ${bin}
    FLAGS -std=c++20 -Wall -Wextra -Wno-stringop-overflow -DOMPI_SKIP_MPICXX -DMPICH_SKIP_MPICXX -I${target} LIBS -ldl
    DEPENDS marline-wire-${MPI} ${CMAKE_CURRENT_SOURCE_DIR}/wire_mpi.hpp ${target}/wire/base/wire.hpp)
  set(plain ${run} plain ${MPI})
  foreach(how sizes:2 sizes:4 large:2 storm:4 queued:2 together:2 answers:3 dropped:2 waits:2 threads:3 own_mpi:3
              early:3 unstarted:3 serialized:3)
    string(REPLACE ":" ";" how ${how})
    list(GET how 0 case)
    list(GET how 1 ranks)
    marline_mpi_test(wire_${case}_${ranks}.${MPI} ${plain} ${ranks} 1 ${program} ${library} ${case})
  endforeach()
  # After libmarline-mpi, which sees the program's messages only.
  marline_mpi_test(wire_marline.${MPI} ${run} marline ${MPI} 3 1 ${program} ${library} own_mpi)
  marline_mpi_test(wire_secret.${MPI} ${plain} 3 1 -f "process 1 has not the secret of this job" ${program} ${library}
    secret)
  if(MPI STREQUAL openmpi)   # MPICH may give more than it is asked for
    marline_mpi_test(wire_level.${MPI} ${plain} 2 1 -f "MPI runs at MPI_THREAD_FUNNELED, but .* OMPI_MPI_THREAD_LEVEL=3"
      ${program} ${library} level)
  endif()

  # A program that neither is linked with MPI nor names an MPI library.
  set(loader ${bin}/wire_loader-${MPI})
  file(MAKE_DIRECTORY ${loader})
  foreach(mpi ${MARLINE_MPIS})
    file(CREATE_LINK ${CMAKE_BINARY_DIR}/${MARLINE_LIBDIR}/libmarline-wire-${mpi}.so
      ${loader}/libmarline-wire-${mpi}.so SYMBOLIC)
  endforeach()
  marline_add_program(mpi_wire_loader-${MPI} gcc12 OUTDIR ${loader}
    SOURCES wire_loader.cpp ${target}/wire/mpi/mpi_loader.cpp ${target}/base/report.cpp
    FLAGS -std=c++20 -Wall -Wextra -I${target} LIBS -ldl
    DEPENDS marline-wire-${MPI} ${target}/wire/mpi/mpi_loader.hpp ${target}/wire/base/wire.hpp)
  marline_mpi_test(wire_loader.${MPI} ${plain} 3 1 ${loader}/mpi_wire_loader-${MPI} ${MPI})
  if(MPI STREQUAL openmpi AND mpich IN_LIST MARLINE_MPIS)   # if only one MPI is installed, it is used
    add_test(NAME mpi.wire_loader_none COMMAND sh -c "${loader}/mpi_wire_loader-${MPI} none; true")   # it aborts
    set_tests_properties(mpi.wire_loader_none PROPERTIES TIMEOUT 300
      PASS_REGULAR_EXPRESSION "has loaded no MPI and no launcher of Open MPI or MPICH has")
  endif()
endfunction()
