# SPDX-License-Identifier: Apache-2.0
# Programs that pass addresses of GPUs' memory to MPI, on emulated GPUs and with a stand-in for a GPU-aware MPI
# (devices/gpu_aware.c). Names: mpi.devices_TEST.MPI.

function(marline_mpi_gpu_program NAME SOURCE MPI)
  cmake_parse_arguments(P "" "" "LIBS;DEPENDS" ${ARGN})
  marline_add_gpu_program(mpi_${NAME}-${MPI} SOURCES ${SOURCE} OUTDIR ${bin}
    FLAGS -I${PROJECT_SOURCE_DIR}/include ${MARLINE_MPI_${MPI}_CFLAGS}
    LIBS ${P_LIBS} ${CMAKE_BINARY_DIR}/lib/marline/${MPI}/libmarline-mpi-link.a ${MARLINE_MPI_${MPI}_LIBS} -ldl
    DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/support.h marline-mpi-link-${MPI} ${P_DEPENDS})
endfunction()

function(marline_mpi_tests_of_devices MPI)
  if(NOT MARLINE_GPU_COMPILER OR NOT TARGET emulated_driver)
    message(STATUS "MPI tests with GPUs are not built: they need ${MARLINE_GPU_COMPILER_MISSING}")
    return()
  endif()
  set(aware ${bin}/mpi_gpu_aware-${MPI}.so)
  marline_add_program(mpi_gpu_aware-${MPI}.so gcc12 MPI ${MPI} OUTDIR ${bin} FLAGS -shared -fPIC
    SOURCES devices/gpu_aware.c devices/gpu_aware_collectives.c devices/staged.c LIBS -ldl
    DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/devices/staged.h)
  marline_mpi_gpu_program(devices_messages devices/messages.c ${MPI})
  set(program ${bin}/mpi_devices_messages-${MPI})
  set(gpus -e OMP_TARGET_OFFLOAD=mandatory -l ${CMAKE_BINARY_DIR}/lib:${EMULATOR_DIR}:${MARLINE_LLVM_LIB})
  set(marline ${run} marline ${MPI} 2)
  # Two threads, of which one has used the device; one, which must not wait; several.
  foreach(threads 1 2 4)
    marline_mpi_test(devices_${threads}.${MPI} ${marline} ${threads} -b ${aware} ${gpus} ${program})
  endforeach()
  # Other threads complete the requests, or make all calls.
  foreach(how MPI_THREADS=owner MPI_PROGRESS=thread SCHEDULE=random:3)
    string(REGEX REPLACE ".*=([a-z]*).*" "\\1" name ${how})
    marline_mpi_test(devices_${name}.${MPI} ${marline} 2 -e MARLINE_${how} -b ${aware} ${gpus} ${program})
  endforeach()
  # Each message is a sample, which libmarline-mpi copies (engine/run_ahead.h).
  marline_mpi_test(devices_window.${MPI} ${marline} 2 -e MARLINE_MPI_WINDOW=1 -b ${aware} ${gpus} ${program}
    blocking nonblocking)
  # Kernels and copies that take time: what is sent too early is wrong.
  marline_mpi_test(devices_slow.${MPI} ${marline} 2 -e MARLINE_EMULATOR_KERNEL_TIME=5000
    -e MARLINE_EMULATOR_LATENCY=1000 -b ${aware} ${gpus} ${program} blocking nonblocking)
  # MPI itself cannot touch the memory.
  marline_mpi_test(devices_not_aware.${MPI} ${marline} 2 -f "[Ss]egmentation fault|signal 11|SIGSEGV|Bad address"
    ${gpus} ${program} blocking)
  # The guide's program, with the MPI that is GPU-aware linked to it: for e2e.gpu_mpi.
  marline_mpi_gpu_program(gpu_halo ${PROJECT_SOURCE_DIR}/docs/guide/programs/gpu_halo.c ${MPI} LIBS ${aware}
    DEPENDS mpi_gpu_aware-${MPI}.so)
endfunction()
