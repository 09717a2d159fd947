# SPDX-License-Identifier: Apache-2.0
# The programs that offload, and who can build and pass each. NO_GPU, where no other reason is given: LLVM's
# libomptarget keeps the data environment of GPUs, so what its own devices fail, as is said there, fails on them, too.
# GPUs have no long double.
device_program_test(map_types SOURCES map/map_types.c GCC NO_GPU)
device_program_test(map_counts SOURCES map/map_counts.c GCC)
# LLVM counts every item.
device_program_test(map_combined SOURCES map/map_combined.c STOCK NONE GCC NO_GPU)
device_program_test(map_attach SOURCES pointers/map_attach.c GCC)
# LLVM copies the host's pointers over the device's.
device_program_test(map_attach_always SOURCES pointers/map_attach_always.c STOCK NONE GCC NO_GPU)
# LLVM's device gets a null pointer.
device_program_test(map_attach_absent SOURCES pointers/map_attach_absent.c STOCK NONE GCC NO_GPU)
# LLVM copies the host's pointers over the device's.
device_program_test(map_attach_order SOURCES pointers/map_attach_order.c STOCK NONE GCC NO_GPU)
# LLVM's emulated devices copy without waiting.
device_program_test(attach_meanwhile SOURCES pointers/attach_meanwhile.c STOCK NONE GCC NO_GPU)
device_program_test(map_members SOURCES map/map_members.c GCC)
device_program_test(map_attach_later SOURCES pointers/map_attach_later.c GCC STOCK NONE NO_STOCK_GPU)
# Two million constructs are too many for emulated GPUs.
device_program_test(map_attach_many SOURCES pointers/map_attach_many.c GCC COMPILERS clang19 clang22 THREADS 2
                    STOCK NONE NO_GPU NO_NODES)
device_program_test(map_sections SOURCES map/map_sections.c GCC)
# LLVM moves one element of each row.
device_program_test(update_strided SOURCES update/update_strided.c STOCK NONE NO_STOCK_GPU)
device_program_test(section_lists SOURCES map/section_lists.c COMPILERS clang19 THREADS 2 STOCK NONE NO_GPU)
device_program_test(update_strided_from SOURCES update/update_strided_from.c COMPILERS clang22)
device_program_test(map_present SOURCES map/map_present.c)
# Clang 19 cannot make GPU code for arrays of variable length.
device_program_test(map_private SOURCES map/map_private.c GCC NO_GPU)
device_program_test(mapper SOURCES mapper/mapper.c)
# LLVM's gets at the pointers before they are attached, and looks through all of them for each.
device_program_test(mapper_arrays SOURCES mapper/mapper_arrays.c STOCK NONE NO_GPU)
device_program_test(mapper_shared SOURCES mapper/mapper_shared.c STOCK NONE NO_GPU)
# LLVM keeps what a mapper has mapped.
device_program_test(mapper_release SOURCES mapper/mapper_release.c STOCK NONE NO_GPU)
# LLVM's library holds its lock.
device_program_test(mapper_calls SOURCES mapper/mapper_calls.c STOCK NONE NO_GPU)
device_program_test(iterators SOURCES regions/iterators.c GCC)
device_program_test(many_maps SOURCES map/many_maps.c GCC)
# The variables of a device in GCC's program's own process are the program's.
device_program_test(declare_target SOURCES map/declare_target.c GCC GCC_DEVICES process)
device_program_test(declare_target_enter SOURCES map/declare_target_enter.c COMPILERS clang16 clang19 clang22
                    FLAGS -fopenmp-version=52)
# Its pointers to functions are the host's: an emulated kernel finds none of them, and a worker has the functions
# elsewhere.
device_program_test(functions SOURCES regions/functions.c GCC NO_GPU NO_NODES)
device_program_test(device_pointers SOURCES pointers/device_pointers.c)
# LLVM gives a null pointer.
device_program_test(device_pointers_absent SOURCES pointers/device_pointers_absent.c STOCK NONE NO_GPU)
device_program_test(device_routines SOURCES routines/device_routines.c)
device_program_test(routines_async SOURCES routines/routines_async.c)
# LLVM 19 has no omp_target_memset.
device_program_test(device_memory SOURCES routines/device_memory.c STOCK NONE)
device_program_test(device_choice SOURCES routines/device_choice.c)
# A child without devices; LLVM 19 has devices all the same.
device_program_test(offload_disabled SOURCES load/offload_disabled.c STOCK NONE GCC NO_GPU)
device_program_test(stray_access SOURCES bad/stray_access.c DEVICES process STOCK NONE NO_GPU)
device_program_test(device_uids SOURCES routines/device_uids.c DEVICES process STOCK NONE ARGS process-0 process-1
                    NO_GPU)
device_program_test(device_uids_ordered PROGRAM device_uids SOURCES routines/device_uids.c COMPILERS clang19
                    DEVICES process STOCK NONE ARGS process-1 process-0 ENV "OMP_AVAILABLE_DEVICES=uid(process-1),*"
                    NO_GPU)
device_program_test(default_by_traits PROGRAM default_device SOURCES routines/default_device.c DEVICES process
                    STOCK NONE ARGS 1 ENV "OMP_DEFAULT_DEVICE=uid(gone),uid(process-1)" NO_GPU)
device_program_test(default_by_number PROGRAM default_device SOURCES routines/default_device.c DEVICES process ARGS 1
                    COMPILERS clang19 STOCK NONE ENV OMP_DEFAULT_DEVICE=1 NO_GPU)
device_program_test(default_unset PROGRAM default_device SOURCES routines/default_device.c ARGS 0 COMPILERS clang19 GCC
                    NO_GPU)
device_program_test(default_host PROGRAM default_device SOURCES routines/default_device.c ARGS host COMPILERS clang19
                    STOCK NONE ENV "OMP_DEFAULT_DEVICE=kind(gpu),initial" NO_GPU)
device_program_test(nowait_depend SOURCES tasks/nowait_depend.c GCC)
# Clang takes the address of what is firstprivate in a deferred region, not its value.
device_program_test(nowait_private SOURCES tasks/nowait_private.c COMPILERS gcc12 GCC)
device_program_test(newer_gfortran SOURCES load/newer_gfortran.c COMPILERS gcc12 GCC STOCK NONE NO_GPU)
# LLVM frees the data under the region.
device_program_test(delete_used SOURCES bad/delete_used.c THREADS 4 TIMEOUT 100 STOCK NONE GCC NO_GPU)
device_program_test(graph SOURCES tasks/graph.c GCC MARLINE_H)
device_program_test(in_reduction SOURCES regions/in_reduction.c COMPILERS clang16 clang19 clang22 GCC)
# LLVM's libomptarget loses sums, too; Clang 16's code never leaves the loop, whatever runs it.
device_program_test(in_reduction_beside SOURCES regions/in_reduction_beside.c COMPILERS clang19 clang22 GCC
                    DEVICES process cluster THREADS 4 NO_GPU STOCK NONE)
# LLVM's libraries lose these, too.
device_program_test(in_reduction_threads SOURCES regions/in_reduction_threads.c COMPILERS clang19 clang22 GCC THREADS 4
                    NO_GPU STOCK NONE)
device_program_test(in_reduction_strict PROGRAM in_reduction_threads SOURCES regions/in_reduction_threads.c
                    COMPILERS clang22 DEVICES process THREADS 4 NO_GPU STOCK NONE ENV MARLINE_TASK_CONSTRAINT=strict)
# libomptarget says nothing of its data operations; LLVM's has no records, and other codes.
device_program_test(tool_events SOURCES tool/tool_events.c STOCK NONE GCC FLAGS ${TOOL_FLAGS} -rdynamic NO_GPU)
device_program_test(tool_events_plain PROGRAM tool_events SOURCES tool/tool_events.c COMPILERS clang19 STOCK NONE
                    ARGS plain FLAGS ${TOOL_FLAGS} -rdynamic NO_GPU)
device_program_test(tool_kernels SOURCES tool/tool_kernels.c STOCK NONE GCC FLAGS ${TOOL_FLAGS} -rdynamic NO_GPU)
emulator_test(device_tool_kernels SOURCES tool/tool_kernels.c FLAGS ${TOOL_FLAGS} -rdynamic MARLINE)
device_program_test(tool_buffers SOURCES tool/tool_buffers.c STOCK NONE THREADS 4 GCC FLAGS ${TOOL_FLAGS} -rdynamic
                    NO_GPU)
device_program_test(tool_fork SOURCES tool/tool_fork.c STOCK NONE THREADS 4 GCC FLAGS ${TOOL_FLAGS} -rdynamic NO_GPU)
device_program_test(tool_fork_devices PROGRAM tool_fork SOURCES tool/tool_fork.c COMPILERS clang19 DEVICES process
                    STOCK NONE THREADS 4 ARGS 16 ENV MARLINE_DEVICES=process:16 FLAGS ${TOOL_FLAGS} -rdynamic NO_GPU)
# A fork has no GPU.
device_program_test(fork SOURCES load/fork.c THREADS 1 GCC NO_GPU)
# LLVM's library holds its own locks.
device_program_test(fork_beside SOURCES load/fork_beside.c THREADS 4 STOCK NONE GCC NO_GPU)
device_program_test(inherited SOURCES load/inherited.c DEVICES process COMPILERS clang19 THREADS 4 TIMEOUT 100
                    STOCK NONE NO_GPU)
# GPUs have no usleep.
device_program_test(late_start SOURCES load/late_start.c THREADS 4 GCC NO_GPU)
device_program_test(idle_threads SOURCES regions/idle_threads.c COMPILERS clang19 DEVICES process THREADS 4 STOCK NONE
                    NO_GPU)
device_program_test(threads SOURCES regions/threads.c GCC)
# GPUs have no sched_yield.
device_program_test(short_regions SOURCES regions/short_regions.c GCC NO_GPU)
# Clang 19 makes no GPU code for its reductions.
device_program_test(teams SOURCES regions/teams.c GCC NO_GPU)
# Clang 14 and 16 take the construct for another.
device_program_test(teams_loop SOURCES regions/teams_loop.c COMPILERS clang19 clang22 GCC)
# LLVM's runtime on GPUs lacks locks.
device_program_test(inside SOURCES regions/inside.c GCC NO_GPU)
# Clang 16 stops at its own code for it. LLVM crashes on devices without such objects.
device_program_test(interop SOURCES routines/interop.c COMPILERS clang14 clang19 clang22 STOCK NONE)
device_program_test(unified SOURCES map/unified.c DEVICES host NO_GPU)
# GCC 12 does not know the clause.
device_program_test(uses_allocators SOURCES routines/uses_allocators.c COMPILERS clang16 clang19 clang22 STOCK NONE
                    NO_GPU)
device_program_test(cpp_classes SOURCES regions/cpp_classes.cpp GCC)
# Clang 14 loses what a lambda has captured by value.
device_program_test(cpp_lambdas SOURCES regions/cpp_lambdas.cpp COMPILERS clang16 clang19 clang22)
device_program_test(cpp_globals SOURCES map/cpp_globals.cpp)
# NVIDIA's assembler wants shorter names.
device_program_test(cpp_long_names SOURCES regions/cpp_long_names.cpp GCC NO_GPU)

# For a cluster above all. GPUs have no such functions, and one address space.
device_program_test(cluster_tasks SOURCES cluster/cluster_tasks.c ARGS 1 300 GCC NO_GPU THREADS 4 STOCK NONE)
device_program_test(cluster_tasks_more PROGRAM cluster_tasks SOURCES cluster/cluster_tasks.c ARGS 2 300
                    COMPILERS clang19 DEVICES cluster THREADS 4 NO_GPU STOCK NONE)
# Each way to find out what was written. An older kernel, or a container, may refuse to watch pages.
foreach(way depend check pages)
  set(named named)
  if(way STREQUAL pages)
    set(named "")
  endif()
  device_program_test(cluster_tasks_${way} PROGRAM cluster_tasks SOURCES cluster/cluster_tasks.c
                      ARGS 3 300 60000 ${named}
                      COMPILERS clang19 DEVICES cluster GCC GCC_DEVICES cluster THREADS 4 NO_GPU STOCK NONE
                      ENV MARLINE_CLUSTER_WRITES=${way})
endforeach()
foreach(test clang19.cluster.t4 gcc12.cluster.t1)
  if(TEST devices.cluster_tasks_pages.${test})
    set_tests_properties(devices.cluster_tasks_pages.${test} PROPERTIES
                         SKIP_REGULAR_EXPRESSION "pages needs Linux 6.7 or later, and [a-z' /]+ is refused")
  endif()
endforeach()
# Most tasks run before their successors are created.
device_program_test(cluster_tasks_few PROGRAM cluster_tasks SOURCES cluster/cluster_tasks.c ARGS 3 300 COMPILERS clang19
                    DEVICES cluster THREADS 4 NO_GPU STOCK NONE ENV MARLINE_MAX_TASKS=8)
# Nodes that have room for less than what some regions use: data goes and comes back.
device_program_test(cluster_tasks_room PROGRAM cluster_tasks SOURCES cluster/cluster_tasks.c ARGS 3 300
                    COMPILERS clang19 DEVICES cluster THREADS 4 ENV MARLINE_CLUSTER_MEMORY=4k NO_GPU STOCK NONE)
device_program_test(cluster_cholesky SOURCES cluster/cluster_cholesky.c FLAGS -lm GCC NO_GPU THREADS 4 STOCK NONE)
device_program_test(cluster_pointers SOURCES cluster/cluster_pointers.c GCC NO_GPU THREADS 4 STOCK NONE)
device_program_test(cluster_ahead SOURCES cluster/cluster_ahead.c DEVICES cluster GCC GCC_DEVICES cluster THREADS 4
                    NO_GPU STOCK NONE)
device_program_test(cluster_ahead_pointers PROGRAM cluster_ahead SOURCES cluster/cluster_ahead.c ARGS pointers
                    DEVICES cluster COMPILERS clang19 THREADS 4 NO_GPU STOCK NONE)
# With one device a worker: its threads have no team of the device beside them.
device_program_test(one_by_one SOURCES tasks/one_by_one.c DEVICES host process apart cluster GCC
                    GCC_DEVICES host process apart cluster COMPILERS clang19 THREADS 4 NO_GPU STOCK NONE)
# Random programs, by seed; further ones by `make check` with MARLINE_EXHAUSTIVE=1.
function(list_seeds variable last last_of_all)
  if("$ENV{MARLINE_EXHAUSTIVE}" MATCHES "[^0]")
    set(last ${last_of_all})
  endif()
  set(seeds)
  foreach(seed RANGE 1 ${last})
    list(APPEND seeds ${seed})
  endforeach()
  set(${variable} ${seeds} PARENT_SCOPE)
endfunction()
list_seeds(late_pointer_seeds 3 60)
list_seeds(postponed_seeds 4 100)
foreach(seed IN LISTS late_pointer_seeds)
  device_program_test(cluster_late_pointers_${seed} PROGRAM cluster_late_pointers
                      SOURCES cluster/cluster_late_pointers.c
                      ARGS ${seed} DEVICES cluster GCC GCC_DEVICES cluster COMPILERS clang19 THREADS 4 NO_GPU
                      STOCK NONE)
endforeach()
foreach(seed IN LISTS late_pointer_seeds)
  device_program_test(cluster_graph_pointers_${seed} PROGRAM cluster_graph_pointers
                      SOURCES cluster/cluster_graph_pointers.c
                      ARGS ${seed} MARLINE_H DEVICES cluster GCC GCC_DEVICES cluster COMPILERS clang19 THREADS 4 NO_GPU
                      STOCK NONE)
endforeach()
device_program_test(cluster_graph_pointers_many SOURCES cluster/cluster_graph_pointers.c ARGS 4 FLAGS -DSTEPS=120
                    MARLINE_H DEVICES cluster GCC GCC_DEVICES cluster COMPILERS clang19 THREADS 4 NO_GPU STOCK NONE)
device_program_test(cluster_late_pointers_small SOURCES cluster/cluster_late_pointers.c ARGS 4 FLAGS -DFILL=20
                    DEVICES cluster GCC GCC_DEVICES cluster COMPILERS clang19 THREADS 4 NO_GPU STOCK NONE)
foreach(seed IN LISTS postponed_seeds)
  device_program_test(cluster_postponed_${seed} PROGRAM cluster_postponed SOURCES cluster/cluster_postponed.c
                      ARGS ${seed} DEVICES settled GCC GCC_DEVICES settled COMPILERS clang19 THREADS 4 NO_GPU
                      STOCK NONE)
endforeach()
device_program_test(cluster_ahead_data SOURCES cluster/cluster_ahead_data.c DEVICES cluster GCC GCC_DEVICES cluster
                    THREADS 4 NO_GPU STOCK NONE)
device_program_test(cluster_ahead_large PROGRAM cluster_ahead_data SOURCES cluster/cluster_ahead_data.c ARGS 3000
                    DEVICES cluster COMPILERS clang19 THREADS 4 NO_GPU STOCK NONE)
device_program_test(cluster_ahead_alone PROGRAM cluster_ahead_data SOURCES cluster/cluster_ahead_data.c ARGS 4 alone
                    DEVICES cluster GCC GCC_DEVICES cluster THREADS 4 NO_GPU STOCK NONE)
device_program_test(cluster_ahead_alone_large PROGRAM cluster_ahead_data SOURCES cluster/cluster_ahead_data.c
                    ARGS 3000 alone DEVICES cluster COMPILERS clang19 THREADS 4 NO_GPU STOCK NONE)
device_program_test(cluster_ahead_members PROGRAM cluster_ahead_data SOURCES cluster/cluster_ahead_data.c ARGS 4 members
                    DEVICES cluster GCC GCC_DEVICES cluster THREADS 4 NO_GPU STOCK NONE)
device_program_test(cluster_ahead_members_alone PROGRAM cluster_ahead_data SOURCES cluster/cluster_ahead_data.c
                    ARGS 4 members_alone DEVICES cluster THREADS 4 NO_GPU STOCK NONE)
device_program_test(cluster_ahead_present PROGRAM cluster_ahead_data SOURCES cluster/cluster_ahead_data.c ARGS 4 present
                    DEVICES cluster GCC GCC_DEVICES cluster THREADS 4 NO_GPU STOCK NONE)
device_program_test(cluster_maps SOURCES cluster/cluster_maps.c ARGS 1 400 GCC NO_GPU THREADS 4 STOCK NONE)
device_program_test(cluster_maps_large PROGRAM cluster_maps SOURCES cluster/cluster_maps.c ARGS 2 200 400000
                    COMPILERS clang19 DEVICES cluster THREADS 4 NO_GPU STOCK NONE)
# Nodes that have room for little of it.
device_program_test(cluster_maps_room PROGRAM cluster_maps SOURCES cluster/cluster_maps.c ARGS 3 300 COMPILERS clang19
                    DEVICES cluster THREADS 4 ENV MARLINE_CLUSTER_MEMORY=4k NO_GPU STOCK NONE)
device_program_test(cluster_renewed SOURCES cluster/cluster_renewed.c COMPILERS clang19 DEVICES process cluster GCC
                    GCC_DEVICES cluster THREADS 4 NO_GPU STOCK NONE MARLINE_H)
# Clang 16 and 19 compile regions with two reductions to nothing.
device_program_test(cluster_reduction SOURCES cluster/cluster_reduction.c COMPILERS clang22 DEVICES process cluster GCC
                    GCC_DEVICES cluster THREADS 4 NO_GPU STOCK NONE)
device_program_test(cluster_reduction_threads PROGRAM in_reduction_threads SOURCES regions/in_reduction_threads.c
                    COMPILERS clang19 DEVICES cluster THREADS 4 NO_GPU STOCK NONE)
device_program_test(cluster_graph_reduction SOURCES cluster/cluster_graph_reduction.c COMPILERS clang19 clang22
                    DEVICES process cluster GCC GCC_DEVICES cluster THREADS 4 NO_GPU STOCK NONE MARLINE_H)
device_program_test(cluster_graphs SOURCES cluster/cluster_graphs.c ARGS 1 4 GCC NO_GPU THREADS 4 MARLINE_H)
device_program_test(cluster_producers SOURCES cluster/cluster_producers.c GCC NO_GPU THREADS 4 STOCK NONE
                    ENV OMP_CANCELLATION=true)
device_program_test(cluster_producers_data SOURCES cluster/cluster_producers_data.c GCC NO_GPU THREADS 4 STOCK NONE)
device_program_test(cluster_producers_cancel PROGRAM cluster_producers_data SOURCES cluster/cluster_producers_data.c GCC
                    NO_GPU THREADS 4 STOCK NONE ENV OMP_CANCELLATION=true)
# The same under a tool, which hears of tasks that are sent ahead as well.
device_program_test(cluster_ahead_told SOURCES cluster/cluster_ahead.c cluster/cluster_told.c
                    FLAGS ${TOOL_FLAGS} -rdynamic DEVICES cluster GCC GCC_DEVICES cluster THREADS 4 NO_GPU STOCK NONE)
device_program_test(cluster_tasks_told SOURCES cluster/cluster_tasks.c cluster/cluster_told.c
                    FLAGS ${TOOL_FLAGS} -rdynamic ARGS 4 300 DEVICES cluster GCC GCC_DEVICES cluster THREADS 4 NO_GPU
                    STOCK NONE)
device_program_test(cluster_tasks_plain PROGRAM cluster_tasks_told SOURCES cluster/cluster_tasks.c
                    cluster/cluster_told.c FLAGS ${TOOL_FLAGS} -rdynamic ARGS 5 300 DEVICES cluster COMPILERS clang19
                    THREADS 4 NO_GPU STOCK NONE ENV CLUSTER_TOLD=plain)
device_program_test(cluster_producers_told SOURCES cluster/cluster_producers.c cluster/cluster_told.c
                    FLAGS ${TOOL_FLAGS} -rdynamic DEVICES cluster GCC GCC_DEVICES cluster THREADS 4 NO_GPU STOCK NONE
                    ENV OMP_CANCELLATION=true)
device_program_test(cluster_constants SOURCES cluster/cluster_constants.c GCC THREADS 4 STOCK NONE)
device_program_test(cluster_members SOURCES cluster/cluster_members.c GCC GCC_DEVICES cluster DEVICES cluster NO_GPU
                    THREADS 4 STOCK NONE)
device_program_test(cluster_nested SOURCES cluster/cluster_nested.c GCC GCC_DEVICES cluster with_hosts DEVICES cluster
                    NO_GPU THREADS 4 STOCK NONE)

# Random programs for the data environment: SEED ROUNDS. Clang 14 links one source's regions only. LLVM gives the host's
# pointers back as they were when they were attached.
set(rounds 20)
if(MARLINE_SANITIZE)
  set(rounds 2)
endif()
foreach(seed 1 21 41)
  device_program_test(random_maps_${seed} PROGRAM random_maps COMPILERS clang16 clang19 clang22 THREADS 1 2 4
                      TIMEOUT 900 STOCK NONE
                      SOURCES random/maps.c random/model.c random/generate.c random/run.c random/check.c
                      DEVICES host process mixed ARGS ${seed} ${rounds} NO_GPU)
endforeach()

device_program_test(random_members SOURCES random/random_members.c GCC THREADS 4 STOCK NONE NO_STOCK_GPU ARGS 1 300
                    TIMEOUT 600)
device_program_test(random_pointers SOURCES random/random_pointers.c GCC THREADS 4 STOCK NONE NO_STOCK_GPU ARGS 1 300
                    TIMEOUT 600)

# Takes 2.2 GiB, so it runs alone. Emulated GPUs have less.
device_program_test(large SOURCES map/large.c COMPILERS clang19 THREADS 4 NO_GPU)
foreach(kind IN LISTS DEVICE_KINDS)
  if(TEST devices.large.clang19.${kind}.t4)
    set_tests_properties(devices.large.clang19.${kind}.t4 PROPERTIES RUN_SERIAL ON)
  endif()
endforeach()
device_program_test(wide SOURCES map/wide.c GCC NO_GPU)

# The shape of a deferred section that is not contiguous is lost, on any runtime: Marline warns.
device_program_test(update_deferred SOURCES bad/update_deferred.c COMPILERS clang14 clang19 clang22 STOCK NONE THREADS 1
                    NO_GPU FAILS "warning: target update with nowait of a section that is not contiguous")

foreach(kind IN LISTS DEVICE_KINDS)
  if(TEST devices.map_sections.clang19.${kind}.t4)
    set_tests_properties(devices.map_sections.clang19.${kind}.t4 PROPERTIES FAIL_REGULAR_EXPRESSION "warning")
  endif()
endforeach()

# A region that may use less of a variable than it names, and sections of which Clang's code does not tell the place.
foreach(mode structure apart)
  device_program_test(map_parts_${mode} PROGRAM map_parts SOURCES bad/map_parts.c STOCK NONE THREADS 4 ARGS ${mode}
                      DEVICES host process apart
                      FAILS "warning: device 0[^\n]*: the target region [^\n]* map the whole variable first")
endforeach()
foreach(mode member local pointer element after absent between two)
  device_program_test(lost_sections_${mode} PROGRAM lost_sections SOURCES bad/lost_sections.c STOCK NONE THREADS 4
                      COMPILERS clang14 clang16 clang19 DEVICES host ARGS ${mode}
                      FAILS "fatal: target update at [^\n]*: a section that is not contiguous")
endforeach()
foreach(mode between two)
  device_program_test(lost_sections_22_${mode} PROGRAM lost_sections SOURCES bad/lost_sections.c STOCK NONE THREADS 4
                      COMPILERS clang22 DEVICES host ARGS ${mode}
                      FAILS "fatal: target update at [^\n]*: several members of a structure")
endforeach()

# What goes wrong is told in a line of the runtime's, or by the result of a routine.
device_mistakes(bad_device "marline: [^\n]*1000" "host;process;apart" target data enter update deferred default)
device_mistakes(bad_device "marline: [^\n]*device" "host;process" negative invalid next)
device_mistakes(bad_device "device 1000" "host;process" alloc copy)
device_mistakes(bad_map "marline: [^\n]* (at|in line) [^\n]*mapped" "host;process;apart" extend_up extend_down
                extend_both extend_object bridge)
device_mistakes(bad_map "marline: [^\n]* (at|in line) [^\n]*present" "host;process;apart" present present_part
                present_enter present_exit present_data present_update_to present_update_from present_deferred)
device_mistakes(bad_memory "marline: [^\n]*omp_target_free" "host;process;apart" free_associated free_associated_inside
                free_mapped free_twice free_host free_inside)
device_mistakes(bad_memory "failed" "host;process" disassociate_mapped disassociate_used disassociate_absent
                associate_twice associate_mapped too_much)
device_mistakes(bad_memory "marline: [^\n]* (at|in line) [^\n]*: no memory for a map of " "host;process;apart"
                map_too_much)
device_mistakes(bad_images "marline: [^\n]*no code for device 0" "host;process" without_image other_architecture)
device_mistakes(bad_images "marline: [^\n]*arguments of version 6" "host;process" newer_arguments)
device_mistakes(bad_images "marline: [^\n]*entries of version 2" host newer_entry)
device_mistakes(bad_images "marline: [^\n]*cannot be loaded" "host;process" torn_image)
device_mistakes(bad_images "marline: [^\n]*device_bad_images[^\n]*not as any Clang known" host torn_entries
                backward_entries nameless_entry negative_images no_images backward_image torn_wrapping)
device_mistakes(bad_images "marline: [^\n]*requires reverse_offload: " host reverse_call reverse_entry)
device_program_test(bad_requires SOURCES bad/bad_requires.c DEVICES process THREADS 4 STOCK NONE
                    FAILS "unified_shared_memory: device 0 .process. has an address space of its own")
device_mistakes(bad_region "marline: [^\n]*by signal [^\n]* in the target region " process null_write null_read deferred
                wild aborts traps overflow in_a_team after_a_fork in_all_threads calls_nothing)
device_mistakes(bad_region "marline: [^\n]*node[^\n]*by signal [^\n]* in the target region " "nodes;apart" null_write
                deferred aborts overflow in_all_threads)
device_mistakes(bad_region "marline: [^\n]*exit.3. was called in the target region " process exits)
device_mistakes(bad_region "marline: [^\n]*quick_exit was called in the target region " process exits_quickly)
device_mistakes(bad_region "marline: [^\n]*without a reason that it could tell" process killed)

# GCC has no compiler for devices here: its regions are functions of the program, in Fortran as in C. (Flang cannot link
# in Debian.)
# Each program has a folder for its modules: they compile marline.f90 at the same time, and its module is a file.
set(device_modules ${CMAKE_CURRENT_BINARY_DIR}/modules)
foreach(name maps arrays nodes graphs descriptors)
  file(MAKE_DIRECTORY ${device_modules}/${name})
endforeach()
foreach(name maps arrays)
  program_test(fortran_device_${name} SOURCES map/device_${name}.f90 ../fortran/runtime_check.c COMPILERS gfortran12
               THREADS 1 4 FLAGS -J${device_modules}/${name} RUNS gfortran12:host gfortran12:process)
  if(MARLINE_GFORTRAN12 AND NOT MARLINE_SANITIZE)
    foreach(threads 1 4)
      device_kind_variants(fortran_${name}.gfortran12 ${PROGRAM_BIN}/fortran_device_${name}_gfortran12 60 ""
                           "${DEVICE_KINDS}" ${threads})
    endforeach()
    device_kind_variants(fortran_${name}.gfortran12 ${PROGRAM_BIN}/fortran_device_${name}_gfortran12 60 "" cluster 4)
  endif()
endforeach()
if(NOT MARLINE_SANITIZE)
  program_test(fortran_cluster_nodes SOURCES ${PROJECT_SOURCE_DIR}/include/marline/marline.f90 cluster/cluster_nodes.f90
               ../fortran/runtime_check.c COMPILERS gfortran12 THREADS 4 SEEDS 1 FLAGS -J${device_modules}/nodes
               MARLINE_H RUNS gfortran12:cluster)
  if(MARLINE_GFORTRAN12)
    device_kind_variants(fortran_cluster_nodes.gfortran12 ${PROGRAM_BIN}/fortran_cluster_nodes_gfortran12
                         60 "" cluster 4)
  endif()
  program_test(fortran_cluster_graphs SOURCES ${PROJECT_SOURCE_DIR}/include/marline/marline.f90
               cluster/cluster_graphs.f90 COMPILERS gfortran12 THREADS 4 SEEDS 1
               FLAGS -J${device_modules}/graphs MARLINE_H RUNS gfortran12:cluster)
  program_test(fortran_cluster_descriptors SOURCES ${PROJECT_SOURCE_DIR}/include/marline/marline.f90
               cluster/cluster_descriptors.f90 COMPILERS gfortran12 THREADS 4
               FLAGS -J${device_modules}/descriptors MARLINE_H RUNS gfortran12:cluster)
  if(MARLINE_GFORTRAN12)
    device_kind_variants(fortran_cluster_graphs.gfortran12 ${PROGRAM_BIN}/fortran_cluster_graphs_gfortran12
                         60 "" cluster 4)
    device_kind_variants(fortran_cluster_descriptors.gfortran12 ${PROGRAM_BIN}/fortran_cluster_descriptors_gfortran12
                         60 "" "process;cluster" 4)
  endif()
endif()
# Random Fortran programs, each a file of its own that runs with several seeds: 1040 runs, or 16,000.
set(random_files 20)
set(random_seeds 13)
if("$ENV{MARLINE_EXHAUSTIVE}" MATCHES "[^0]")
  set(random_files 80)
  set(random_seeds 50)
endif()
set(random_kinds host process nodes cluster)
if(MARLINE_GFORTRAN12 AND NOT MARLINE_SANITIZE)
  set(random_folder ${CMAKE_CURRENT_SOURCE_DIR}/random_fortran)
  list(TRANSFORM random_kinds PREPEND gfortran12: OUTPUT_VARIABLE random_runs)
  describe_program(random_fortran "random_fortran/model.f90" gfortran12 OMP_TARGET_OFFLOAD=mandatory ${random_runs})
  foreach(file RANGE 1 ${random_files})
    set(source ${CMAKE_CURRENT_BINARY_DIR}/random_fortran/${file}.F90)
    set(modules ${CMAKE_CURRENT_BINARY_DIR}/random_fortran/modules${file})
    file(MAKE_DIRECTORY ${modules})
    add_custom_command(OUTPUT ${source}
      COMMAND ${Python3_EXECUTABLE} ${random_folder}/generate.py ${file} ${source}
      DEPENDS ${random_folder}/generate.py ${random_folder}/forms.py ${random_folder}/model.f90
      COMMENT "random Fortran program ${file}" VERBATIM)
    marline_add_program(random_fortran_${file}_gfortran12 gfortran12 SOURCES ${source} OUTDIR ${PROGRAM_BIN}
      FLAGS -O1 -w -cpp -ffree-line-length-none -I${random_folder} -J${modules} -pthread)
    device_kind_variants(random_fortran_${file}.gfortran12
      "${PROGRAM_BIN}/random_fortran_${file}_gfortran12;1;${random_seeds}" 300 "" "${random_kinds}" 4)
  endforeach()
  # Where a region is made again for a late pointer, while a buffer of it is leaving.
  device_kind_variants(random_fortran_leaving.gfortran12 "${PROGRAM_BIN}/random_fortran_3_gfortran12;27;30" 300 ""
                       cluster 4)
endif()

device_program_test(bad_place SOURCES bad/bad_place.c GCC DEVICES host process THREADS 4 STOCK NONE NO_GPU NO_NODES)
device_program_test(stray_host SOURCES bad/stray_host.c GCC GCC_DEVICES process DEVICES process THREADS 4 STOCK NONE
                    NO_GPU NO_NODES)
if(NOT MARLINE_SANITIZE)   # the system maps elsewhere then
  device_kind_variants(stray_host_unlimited.gcc12
    "sh;-c;ulimit -s unlimited || echo skipped: no right && exec \"$0\";${PROGRAM_BIN}/device_stray_host_gcc12" 300
    "" process 4)
endif()
# Only there do kernels run beside the program whatever the number of its threads.
device_program_test(copy_beside_kernels SOURCES routines/copy_beside_kernels.c DEVICES process STOCK NONE NO_GPU)
