# SPDX-License-Identifier: Apache-2.0
# Programs for NVIDIA GPUs, built by Clang 19 and the parts of CUDA that tools/install_deps.sh places in .deps/cuda.
# They also hold an x86-64 image, from which the emulated devices of tests/emulator take their kernels.
#
# marline_add_gpu_program(NAME SOURCES ... [FLAGS ...] [LIBS ...] [DEPENDS ...] [OUTDIR dir] [HOST_DEVICES]) makes the
# executable NAME. LLVM's libomptarget sees the GPU image only, unless HOST_DEVICES is given: then the processor is
# four more devices, which come first. MARLINE_GPU_COMPILER tells whether such programs can be built; if not,
# MARLINE_GPU_COMPILER_MISSING says what to install.
set(MARLINE_CUDA ${PROJECT_SOURCE_DIR}/.deps/cuda CACHE PATH "CUDA: bin/ptxas, bin/nvlink, nvvm/libdevice")
set(MARLINE_GPU_ARCH sm_90 CACHE STRING "the GPUs that programs are built for")
find_package(Python3 3.9 REQUIRED COMPONENTS Interpreter)
find_program(MARLINE_OFFLOAD_LINKER NAMES clang-linker-wrapper-19 clang-linker-wrapper HINTS /usr/lib/llvm-19/bin)

set(MARLINE_GPU_COMPILER FALSE)
if(NOT CMAKE_SYSTEM_PROCESSOR STREQUAL "x86_64" OR CMAKE_CROSSCOMPILING OR MARLINE_SANITIZE)
  set(MARLINE_GPU_COMPILER_MISSING "a plain build on x86-64")
elseif(NOT MARLINE_CLANG19 OR NOT MARLINE_OFFLOAD_LINKER)
  set(MARLINE_GPU_COMPILER_MISSING "clang-19 and clang-tools-19, which has clang-linker-wrapper")
elseif(NOT EXISTS ${MARLINE_LLVM_LIB}/libomptarget-nvptx-${MARLINE_GPU_ARCH}.bc)
  set(MARLINE_GPU_COMPILER_MISSING "libomp-19-dev, which has libomptarget-nvptx-${MARLINE_GPU_ARCH}.bc")
elseif(NOT EXISTS ${MARLINE_CUDA}/bin/ptxas OR NOT EXISTS ${MARLINE_CUDA}/bin/nvlink)
  set(MARLINE_GPU_COMPILER_MISSING "ptxas and nvlink in ${MARLINE_CUDA}/bin: run tools/install_deps.sh")
else()
  set(MARLINE_GPU_COMPILER TRUE)
endif()

# Whether Clang 19 can build programs that have this processor as a device (-fopenmp-targets=x86_64-pc-linux-gnu).
set(MARLINE_CLANG_HOST_IMAGE FALSE)
if(MARLINE_OFFLOAD_LINKER AND clang19 IN_LIST MARLINE_COMPILERS AND EXISTS ${MARLINE_LLVM_LIB}/libomptarget.so
   AND CMAKE_SYSTEM_PROCESSOR STREQUAL "x86_64" AND NOT CMAKE_CROSSCOMPILING AND NOT MARLINE_SANITIZE)
  set(MARLINE_CLANG_HOST_IMAGE TRUE)
endif()

function(marline_add_gpu_program NAME)
  cmake_parse_arguments(P "HOST_DEVICES" "OUTDIR" "SOURCES;FLAGS;LIBS;DEPENDS" ${ARGN})
  if(NOT P_OUTDIR)
    set(P_OUTDIR ${CMAKE_CURRENT_BINARY_DIR})
  endif()
  set(sources "")
  set(driver ${MARLINE_CLANG19})
  foreach(source ${P_SOURCES})
    cmake_path(ABSOLUTE_PATH source BASE_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR})
    list(APPEND sources ${source})
    if(source MATCHES "\\.(cpp|cc|cxx)$")
      set(driver ${MARLINE_CLANGXX19})
    endif()
  endforeach()
  set(hide ${PROJECT_SOURCE_DIR}/tests/emulator/hide_x86_64.py)
  set(output ${P_OUTDIR}/${NAME})
  set(and_hide COMMAND ${Python3_EXECUTABLE} ${hide} ${output})
  if(P_HOST_DEVICES)
    set(and_hide "")
  endif()
  file(MAKE_DIRECTORY ${P_OUTDIR})
  add_custom_command(OUTPUT ${output}
    COMMAND ${driver} -O2 -fopenmp=libomp -fopenmp-version=51
            -fopenmp-targets=nvptx64-nvidia-cuda,x86_64-pc-linux-gnu
            -Xopenmp-target=nvptx64-nvidia-cuda -march=${MARLINE_GPU_ARCH} --cuda-path=${MARLINE_CUDA}
            --libomptarget-nvptx-bc-path=${MARLINE_LLVM_LIB} -L${MARLINE_LLVM_LIB}
            -Wall ${P_FLAGS} ${sources} -o ${output} ${P_LIBS} -lm
    ${and_hide}
    DEPENDS ${sources} ${hide} ${P_DEPENDS}
    COMMENT "clang19 for ${MARLINE_GPU_ARCH}: ${NAME}" VERBATIM)
  add_custom_target(${NAME} ALL DEPENDS ${output})
endfunction()
