# SPDX-License-Identifier: Apache-2.0
# The kinds of devices that the programs run on, and offload(), which builds a program by each of its compilers and runs
# it on each of its kinds.

# device_kind(NAME DEVICES [JOB ranks places] [ONCE] [ENV setting...]): MARLINE_DEVICES and further settings of a kind.
# JOB: the program is one of so many ranks, and the others are workers; places are the numbers of their nodes, which
# have made-up names, and `-` is this node for all. ONCE: on the last number of threads only.
function(device_kind NAME DEVICES)
  cmake_parse_arguments(T "ONCE" "" "JOB;ENV" ${ARGN})
  set(DEVICES_${NAME} ${DEVICES} PARENT_SCOPE)
  set(ENV_${NAME} ${T_ENV} PARENT_SCOPE)
  if(T_JOB)
    set(JOB_${NAME} ${CMAKE_CURRENT_SOURCE_DIR}/job.sh ${CMAKE_BINARY_DIR}/lib/libmarline.so ${T_JOB} PARENT_SCOPE)
  endif()
  if(T_ONCE)
    set(ONCE_KINDS ${ONCE_KINDS} ${NAME} PARENT_SCOPE)
  endif()
endfunction()
set(DEVICE_KINDS host process)
set(ONCE_KINDS "")
device_kind(host       host)
device_kind(process    process:2)
device_kind(mixed      host:2,process)
# Two workers on this node, with memory that the program maps; on nodes of their own, by made-up names.
device_kind(nodes      nodes              JOB 3 -       ONCE)
device_kind(apart      nodes              JOB 3 0,1,2   ONCE)
# One worker that is two devices; and beside devices of the program's own. For programs about the data environment,
# copies between devices, and threads.
device_kind(parts      nodes              JOB 2 0,1     ONCE ENV MARLINE_NODE_DEVICES=2)
device_kind(beside     nodes,process,host JOB 2 0,1     ONCE ENV MARLINE_NODE_DEVICES=2)
# Three workers as one device, on two nodes of their own and on the program's: each region on another one; regions run
# where their data is; nothing is placed before the program waits; and nodes that have devices of their own, for target
# constructs inside of regions.
device_kind(cluster    cluster            JOB 4 0,0,1,2 ONCE ENV MARLINE_CLUSTER_PLACEMENT=roundrobin)
device_kind(settled    cluster            JOB 4 0,0,1,2      ENV MARLINE_CLUSTER_PLACEMENT=owner)
device_kind(held       cluster            JOB 4 0,0,1,2 ONCE ENV MARLINE_CLUSTER_PLACEMENT=hold)
device_kind(with_hosts cluster,host:2     JOB 4 0,0,1,2      ENV MARLINE_CLUSTER_PLACEMENT=roundrobin)

# Words for several kinds: what most programs run on; workers that are several devices; and a cluster by one version of
# Clang, as its other versions differ little. COMPILER:KIND is for that compiler only.
set(RUNS_usual host process apart 19:nodes)
set(RUNS_parts 19:parts 19:beside gcc:parts)
set(RUNS_clustered 19:cluster gcc:cluster)
# Words for compilers; a number is Clang's version.
set(COMPILERS_clang clang14 clang16 clang19 clang22)
set(COMPILERS_all ${COMPILERS_clang} gcc12)
set(COMPILERS_gcc gcc12)
foreach(version 14 16 19 22)
  set(COMPILERS_${version} clang${version})
endforeach()

# With a sanitizer: Clang 19's programs on the instrumented runtime. They are not instrumented themselves, as Clang's
# sanitizer libraries would then meet GCC's. So GCC's library is preloaded.
set(DEVICE_TEST_ENV ${MARLINE_TEST_ENV})
if(MARLINE_SANITIZE)
  set(sanitizer_thread libtsan.so)
  set(sanitizer_address libasan.so)
  set(sanitizer_undefined libubsan.so)
  execute_process(COMMAND ${CMAKE_C_COMPILER} -print-file-name=${sanitizer_${MARLINE_SANITIZE}}
                  OUTPUT_VARIABLE sanitizer OUTPUT_STRIP_TRAILING_WHITESPACE)
  # die_after_fork: a device's process is a fork that starts threads.
  list(APPEND DEVICE_TEST_ENV LD_PRELOAD=${sanitizer}:${CMAKE_BINARY_DIR}/lib/libmarline.so
       "TSAN_OPTIONS=die_after_fork=0 halt_on_error=1 atexit_sleep_ms=20" ASAN_OPTIONS=detect_leaks=0)
endif()

# Sets VARIABLE to the pairs COMPILER:KIND that the words of a row stand for.
function(list_runs VARIABLE COMPILERS RUNS)
  set(pairs "")
  foreach(word IN LISTS RUNS)
    set(runs ${word})
    if(DEFINED RUNS_${word})
      set(runs ${RUNS_${word}})
    endif()
    foreach(run IN LISTS runs)
      set(of ${COMPILERS})
      if(run MATCHES "^(.+):")
        set(of ${COMPILERS_${CMAKE_MATCH_1}})
      endif()
      string(REGEX REPLACE "^.+:" "" kind ${run})
      if(NOT DEFINED DEVICES_${kind})
        message(FATAL_ERROR "no such kind of device: ${kind}")
      elseif(MARLINE_SANITIZE AND JOB_${kind})
        continue()
      endif()
      foreach(compiler IN LISTS of)
        if(compiler IN_LIST COMPILERS)
          list(APPEND pairs ${compiler}:${kind})
        endif()
      endforeach()
    endforeach()
  endforeach()
  set(${VARIABLE} ${pairs} PARENT_SCOPE)
endfunction()

# offload(NAME FOLDER COMPILERS THREADS RUNS [PROGRAM name] [SOURCES file...] [ARGS ...] [ENV ...] [FLAGS ...]
#         [TIMEOUT seconds] [FAILS expression] [MARLINE_H] [SANITIZED])
# A row of the table of programs. COMPILERS, THREADS and RUNS are lists with commas. Clang 19's program runs with each
# number of threads, other Clangs' with the last one, GCC's with 1 and 4. RUNS are kinds of devices, words for several,
# and
#   stock        LLVM's libomptarget instead of Marline's, Clang 19's program
#   gpu          emulated GPUs, Clang 19's program, on Marline and on LLVM's runtime; gpu_marline: on Marline only
#   gpu_apart    the emulated GPUs of a worker on another node
#   gpu_cluster  GPUs of workers as one device
# GCC's program also runs without devices, on both. PROGRAM: the program's name, where it is run by several names
# (default NAME). SOURCES: of FOLDER (default PROGRAM.c). FAILS: the program has to end with an error, and this in its
# output. MARLINE_H: uses marline.h and is linked with libmarline. SANITIZED: also runs under sanitizers, on the last
# number of threads.
function(offload NAME FOLDER COMPILERS THREADS RUNS)
  cmake_parse_arguments(T "MARLINE_H;SANITIZED" "PROGRAM;TIMEOUT;FAILS" "SOURCES;FLAGS;ARGS;ENV" ${ARGN})
  if(MARLINE_SANITIZE AND NOT T_SANITIZED)
    return()
  endif()
  string(REPLACE "," ";" THREADS ${THREADS})
  string(REPLACE "," ";" RUNS ${RUNS})
  string(REPLACE "," ";" words ${COMPILERS})
  set(compilers "")
  foreach(word IN LISTS words)
    list(APPEND compilers ${COMPILERS_${word}})
  endforeach()
  if(NOT T_PROGRAM)
    set(T_PROGRAM ${NAME})
  endif()
  if(NOT T_SOURCES)
    set(T_SOURCES ${T_PROGRAM}.c)
  endif()
  list(TRANSFORM T_SOURCES PREPEND ${FOLDER}/)
  if(NOT T_TIMEOUT)
    set(T_TIMEOUT 300)
  endif()
  set(only "")
  if(gpu_marline IN_LIST RUNS)
    set(only MARLINE)
  endif()
  if(T_MARLINE_H)
    list(APPEND T_FLAGS ${MARLINE_H_FLAGS} ${MARLINE_H_LIBS})
    set(only MARLINE DEPENDS marline)
  endif()
  set(kinds ${RUNS})
  list(FILTER kinds EXCLUDE REGEX "^(stock|gpu.*)$")
  list_runs(pairs "${compilers}" "${kinds}")
  set(gpu "")
  if("${RUNS}" MATCHES "gpu" AND MARLINE_DEVICE_TESTS AND NOT MARLINE_SANITIZE)
    set(gpu clang19:gpu)
  endif()
  describe_program(device_${T_PROGRAM} "${T_SOURCES}" "${compilers}" "${T_ENV};OMP_TARGET_OFFLOAD=mandatory"
                   ${gpu} ${pairs})
  if(NOT OFFLOAD_COMPILERS)
    return()
  endif()
  if(gpu)
    set(binary ${CMAKE_CURRENT_BINARY_DIR}/bin/emulator_device_${NAME})
    emulator_test(device_${NAME} SOURCES ${T_SOURCES} FLAGS ${T_FLAGS} ARGS ${T_ARGS} TIMEOUT ${T_TIMEOUT}
                  ENV MARLINE_EMULATOR_DEVICES=2 ${T_ENV} ${only})
    if(gpu_apart IN_LIST RUNS)
      worker_gpu_test(${NAME} ${binary} ${T_ARGS})
    endif()
    if(gpu_cluster IN_LIST RUNS)
      cluster_gpu_test(${NAME} ${binary} ${T_ARGS})
    endif()
  endif()
  foreach(compiler IN LISTS compilers)
    set(counts ${THREADS})
    list(GET counts -1 once)
    if(compiler STREQUAL gcc12 AND MARLINE_GCC12 AND NOT MARLINE_SANITIZE)
      set(binary device_${NAME}_gcc12)
      set(flags ${T_FLAGS})
      list(FILTER flags EXCLUDE REGEX "^-fopenmp-")
      marline_add_program(${binary} gcc12 SOURCES ${T_SOURCES} FLAGS -pthread -Wall ${flags} LIBS -ldl
                          OUTDIR ${PROGRAM_BIN})
      set(counts 1 4)
      set(once 1)
    elseif(compiler IN_LIST OFFLOAD_COMPILERS)
      set(binary device_${T_PROGRAM}_${compiler})
      if(NOT TARGET ${binary})
        add_device_program(${binary} ${compiler} "${T_SOURCES}" "${T_FLAGS}")
      endif()
      if(MARLINE_SANITIZE OR NOT compiler STREQUAL clang19)
        set(counts ${once})
      endif()
    else()
      continue()
    endif()
    if(T_MARLINE_H)
      add_dependencies(${binary} marline)
    endif()
    set(kinds ${pairs})
    list(FILTER kinds INCLUDE REGEX "^${compiler}:")
    list(TRANSFORM kinds REPLACE "^.+:" "")
    set(command ${PROGRAM_BIN}/${binary} ${T_ARGS})
    foreach(threads IN LISTS counts)
      set(these ${kinds})
      if(NOT threads EQUAL once)
        list(REMOVE_ITEM these ${ONCE_KINDS})
      endif()
      device_kind_variants(${NAME}.${compiler} "${command}" ${T_TIMEOUT} "${T_FAILS}" "${these}" ${threads} ${T_ENV})
      if(MARLINE_STOCK_TESTS AND compiler STREQUAL clang19 AND stock IN_LIST RUNS)
        device_test_variant(stock.devices.${NAME}.clang19.t${threads} "${command}" ${T_TIMEOUT} "${T_FAILS}"
          ${STOCK_TEST_ENV} OMP_NUM_THREADS=${threads} OMP_TARGET_OFFLOAD=mandatory ${T_ENV})
      endif()
    endforeach()
    if(compiler STREQUAL gcc12)
      set(settings OMP_NUM_THREADS=4 ${T_ENV})
      program_test_variant(devices.${NAME}.gcc12.none.t4 "${command}" ${T_TIMEOUT} ${MARLINE_TEST_ENV} ${settings})
      if(MARLINE_STOCK_TESTS)
        program_test_variant(stock.devices.${NAME}.gcc12.none.t4 "${command}" ${T_TIMEOUT} ${STOCK_TEST_ENV}
                             ${settings})
      endif()
    endif()
  endforeach()
endfunction()

# worker_gpu_test(NAME COMMAND...): a program for GPUs on the two emulated ones of a worker on another node.
function(worker_gpu_test NAME)
  if(NOT TARGET emulated_driver OR NOT MARLINE_GPU_COMPILER)
    return()
  endif()
  add_test(NAME devices.${NAME}.gpus.apart COMMAND ${JOB_parts} ${ARGN})
  set(environment LD_LIBRARY_PATH=${EMULATOR_COMPAT}:${EMULATOR_DIR}:${MARLINE_LLVM_LIB} MARLINE_TEST_RUNTIME=marline
      MARLINE_DEVICES=nodes MARLINE_NODE_DEVICES=gpus MARLINE_EMULATOR_DEVICES=2 OMP_TARGET_OFFLOAD=mandatory
      OMP_NUM_THREADS=2)
  set_tests_properties(devices.${NAME}.gpus.apart PROPERTIES TIMEOUT 300 LABELS "program;devices"
                       ENVIRONMENT "${environment}")
endfunction()

# cluster_gpu_test(NAME COMMAND... [ENV ...]): a program for GPUs on three workers' GPUs as one device, one of them on
# the program's node. Each has an emulated GPU of its own.
function(cluster_gpu_test NAME)
  cmake_parse_arguments(T "" "" "ENV" ${ARGN})
  if(NOT TARGET emulated_driver OR NOT MARLINE_GPU_COMPILER)
    return()
  endif()
  add_test(NAME devices.${NAME}.cluster_gpu COMMAND ${JOB_cluster} ${T_UNPARSED_ARGUMENTS})
  set(environment LD_LIBRARY_PATH=${EMULATOR_COMPAT}:${EMULATOR_DIR}:${MARLINE_LLVM_LIB} MARLINE_TEST_RUNTIME=marline
      MARLINE_DEVICES=cluster:gpu OMP_TARGET_OFFLOAD=mandatory OMP_NUM_THREADS=2 ${ENV_cluster} ${T_ENV})
  set_tests_properties(devices.${NAME}.cluster_gpu PROPERTIES TIMEOUT 300 LABELS "program;devices"
                       ENVIRONMENT "${environment}")
endfunction()

# cluster_all_test(NAME COMMAND... [ENV ...]): a program for GPUs and processors on two workers' GPUs, one of them on
# the program's node, and the processor of another worker there.
function(cluster_all_test NAME)
  set(JOB_cluster ${CMAKE_CURRENT_SOURCE_DIR}/job.sh ${CMAKE_BINARY_DIR}/lib/libmarline.so 4 0,0,0,1)
  set(ENV_cluster ${ENV_cluster} MARLINE_DEVICES=cluster:all)
  cluster_gpu_test(${NAME} ${ARGN})
endfunction()

# device_mistakes(PROGRAM EXPRESSION KINDS MODE...): the program makes each of these mistakes, and this is what is said.
function(device_mistakes PROGRAM EXPRESSION KINDS)
  foreach(mode IN LISTS ARGN)
    offload(${PROGRAM}_${mode} bad 19 4 ${KINDS} PROGRAM ${PROGRAM} ARGS ${mode} FAILS "${EXPRESSION}")
  endforeach()
endfunction()

function(device_test_variant TEST COMMAND TIMEOUT FAILS)
  if(FAILS)   # a program that dies of a signal is no failure that ctest can expect: the shell turns it into a status
    set(COMMAND ${MARLINE_SHELL} -c "\"$@\" || echo \"ended with $?\"" sh ${COMMAND})
  endif()
  program_test_variant(${TEST} "${COMMAND}" ${TIMEOUT} ${ARGN})
  set_tests_properties(${TEST} PROPERTIES LABELS "program;devices" SKIP_REGULAR_EXPRESSION "^skipped")
  if(FAILS)
    set_tests_properties(${TEST} PROPERTIES PASS_REGULAR_EXPRESSION "${FAILS}.*ended with [1-9]"
                         FAIL_REGULAR_EXPRESSION "went on")
  endif()
endfunction()

function(add_device_program BINARY COMPILER SOURCES FLAGS)
  if(COMPILER STREQUAL clang22)
    list(APPEND FLAGS -g0)   # its debug information of images is invalid, and it says so at length
  endif()
  set(stub ${CMAKE_CURRENT_BINARY_DIR}/link/${COMPILER})
  marline_add_program(${BINARY} ${COMPILER} SOURCES ${SOURCES} LIBRARY_DIRS ${stub}
    FLAGS -pthread -Wall -Wno-pass-failed -fopenmp-version=51 -fopenmp-targets=x86_64-pc-linux-gnu ${FLAGS}
    LIBS -ldl OUTDIR ${PROGRAM_BIN} DEPENDS ${stub}/libomptarget.so PLAIN)
  add_dependencies(${BINARY} offload_stub_${COMPILER})
  if(MARLINE_SANITIZE)   # what is built there are these programs
    add_dependencies(${BINARY} marline-target-names)
  endif()
endfunction()

# device_kind_variants(NAME COMMAND TIMEOUT FAILS KINDS THREADS SETTING...): a program on devices of these kinds.
function(device_kind_variants NAME COMMAND TIMEOUT FAILS KINDS THREADS)
  if(NOT MARLINE_DEVICE_TESTS)
    return()
  endif()
  foreach(kind IN LISTS KINDS)
    device_test_variant(devices.${NAME}.${kind}.t${THREADS} "${JOB_${kind}};${COMMAND}" ${TIMEOUT} "${FAILS}"
      ${DEVICE_TEST_ENV}
      MARLINE_DEVICES=${DEVICES_${kind}} OMP_TARGET_OFFLOAD=mandatory OMP_NUM_THREADS=${THREADS} ${ENV_${kind}} ${ARGN})
  endforeach()
endfunction()
