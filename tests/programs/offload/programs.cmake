# SPDX-License-Identifier: Apache-2.0
# The table of the programs that offload: which compiler builds each, and where it runs. kinds.cmake says what the words
# mean. No gpu, where no other reason is given: LLVM's libomptarget keeps the data environment of GPUs, so what its own
# devices fail (no stock, as is said there) fails on them, too.
set(tool FLAGS ${TOOL_FLAGS} -rdynamic)

# name                              folder   compilers threads runs on
# GPUs have no long double.
offload(map_types                   map      all         1,4 usual,parts,clustered,stock SANITIZED)
offload(map_counts                  map      all         1,4 usual,parts,clustered,gpu,gpu_apart,gpu_cluster,stock
        SANITIZED)
# LLVM counts every item.
offload(map_combined                map      all         1,4 usual)
offload(map_attach                  pointers all         1,4 usual,parts,clustered,gpu,gpu_apart,gpu_cluster,stock
        SANITIZED)
# LLVM copies the host's pointers over the device's.
offload(map_attach_always           pointers all         1,4 usual)
# LLVM's device gets a null pointer.
offload(map_attach_absent           pointers all         1,4 usual)
# LLVM copies the host's pointers over the device's.
offload(map_attach_order            pointers all         1,4 usual)
# LLVM's emulated devices copy without waiting.
offload(attach_meanwhile            pointers all         1,4 usual)
offload(map_members                 map      all         1,4 usual,clustered,gpu,stock)
offload(map_attach_later            pointers all         1,4 usual,clustered,gpu_marline)
# Two million constructs are too many for emulated GPUs.
offload(map_attach_many             pointers 19,22,gcc   2   host,process)
offload(map_sections                map      all         1,4 usual,gpu,stock)
# LLVM moves one element of each row.
offload(update_strided              update   clang       1,4 usual,gpu_marline)
offload(section_lists               map      19          2   usual)
offload(update_strided_from         update   22          1,4 usual)
offload(map_present                 map      clang       1,4 usual,clustered,gpu,stock)
# Clang 19 cannot make GPU code for arrays of variable length.
offload(map_private                 map      all         1,4 usual,stock)
offload(mapper                      mapper   clang       1,4 usual,clustered,gpu,gpu_cluster,stock SANITIZED)
# LLVM's gets at the pointers before they are attached, and looks through all of them for each.
offload(mapper_arrays               mapper   clang       1,4 usual,clustered)
offload(mapper_shared               mapper   clang       1,4 usual,clustered)
# LLVM keeps what a mapper has mapped.
offload(mapper_release              mapper   clang       1,4 usual)
# LLVM's library holds its lock.
offload(mapper_calls                mapper   clang       1,4 usual)
offload(iterators                   regions  all         1,4 usual,gpu,stock)
offload(many_maps                   map      all         1,4 usual,clustered,gpu,stock SANITIZED)
# The variables of a device in GCC's program's own process are the program's.
set(runs clang:host,process,apart,19:nodes,19:parts,19:beside,gpu,gpu_apart,stock)
offload(declare_target              map      all         1,4 ${runs} SANITIZED)
offload(declare_target_enter        map      16,19,22    1,4 usual,gpu,stock FLAGS -fopenmp-version=52)
# Its pointers to functions are the host's: an emulated kernel finds none of them, and a worker has the functions
# elsewhere.
offload(functions                   regions  all         1,4 host,process,stock SANITIZED)
offload(device_pointers             pointers clang       1,4 usual,clustered,gpu,gpu_cluster,stock)
# LLVM gives a null pointer.
offload(device_pointers_absent      pointers clang       1,4 usual)
offload(device_routines             routines clang       1,4 usual,parts,clustered,gpu,gpu_apart,gpu_cluster,stock
        SANITIZED)
offload(routines_async              routines clang       1,4 usual,parts,clustered,gpu,gpu_apart,stock SANITIZED)
# LLVM 19 has no omp_target_memset.
offload(device_memory               routines clang       1,4 usual,parts,gpu,gpu_apart)
offload(device_choice               routines clang       1,4 usual,parts,gpu,gpu_apart,stock)
# A child without devices; LLVM 19 has devices all the same.
offload(offload_disabled            load     all         1,4 usual)
offload(stray_access                bad      clang       1,4 process)
offload(device_uids                 routines clang       1,4 process ARGS process-0 process-1)
offload(device_uids_ordered         routines 19          1,4 process
        PROGRAM device_uids ARGS process-1 process-0 ENV "OMP_AVAILABLE_DEVICES=uid(process-1),*")
offload(default_by_traits           routines clang       1,4 process
        PROGRAM default_device ARGS 1 ENV "OMP_DEFAULT_DEVICE=uid(gone),uid(process-1)")
offload(default_by_number           routines 19          1,4 process
        PROGRAM default_device ARGS 1 ENV OMP_DEFAULT_DEVICE=1)
offload(default_unset               routines 19,gcc      1,4 usual,stock PROGRAM default_device ARGS 0)
offload(default_host                routines 19          1,4 usual
        PROGRAM default_device ARGS host ENV "OMP_DEFAULT_DEVICE=kind(gpu),initial")
offload(nowait_depend               tasks    all         1,4 usual,parts,clustered,gpu,gpu_apart,gpu_cluster,stock
        SANITIZED)
# Clang takes the address of what is firstprivate in a deferred region, not its value.
offload(nowait_private              tasks    gcc         1,4 usual)
offload(newer_gfortran              load     gcc         1,4 usual,clustered)
offload(newer_gcc_maps              load     gcc         1,4 usual,clustered)
# LLVM frees the data under the region.
offload(delete_used                 bad      all         4   usual TIMEOUT 100)
offload(graph                       tasks    all         1,4 usual,clustered,gpu MARLINE_H)
# Clang 14 and 16 have other calls, or older arguments. LLVM's own devices are tested with the emulated GPUs.
offload(taskgraph_target            regions  19,22       4   usual,gpu MARLINE_H
        FLAGS -Wl,--wrap=__tgt_target_kernel,--wrap=__tgt_target_data_begin_mapper
              -Wl,--wrap=__tgt_target_data_end_mapper,--wrap=__tgt_target_data_update_mapper)
offload(in_reduction                regions  16,19,22,gcc 1,4 usual,gpu,stock)
# LLVM's libomptarget loses sums, too; Clang 16's code never leaves the loop, whatever runs it.
offload(in_reduction_beside         regions  19,22,gcc   4   process,clang:cluster,gcc:host)
# LLVM's libraries lose these, too.
offload(in_reduction_threads        regions  19,22,gcc   4   usual)
offload(in_reduction_strict         regions  22          4   process
        PROGRAM in_reduction_threads ENV MARLINE_TASK_CONSTRAINT=strict)
# libomptarget says nothing of its data operations; LLVM's has no records, and other codes.
offload(tool_events                 tool     all         1,4 usual ${tool})
offload(tool_events_plain           tool     19          1,4 usual PROGRAM tool_events ARGS plain ${tool})
offload(tool_kernels                tool     all         1,4 usual ${tool})
emulator_test(device_tool_kernels SOURCES tool/tool_kernels.c ${tool} MARLINE)
offload(tool_buffers                tool     all         4   usual ${tool})
offload(tool_fork                   tool     all         4   usual ${tool})
offload(tool_fork_devices           tool     19          4   process
        PROGRAM tool_fork ARGS 16 ${tool} ENV MARLINE_DEVICES=process:16)
# A fork has no GPU.
offload(fork                        load     all         1   usual,stock)
# LLVM's library holds its own locks.
offload(fork_beside                 load     all         4   usual)
offload(inherited                   load     19          4   process TIMEOUT 100)
# GPUs have no usleep.
offload(late_start                  load     all         4   usual,stock)
offload(idle_threads                regions  19          4   process)
offload(threads                     regions  all         1,4 usual,parts,gpu,gpu_apart,stock SANITIZED)
# GPUs have no sched_yield.
offload(short_regions               regions  all         1,4 usual,clustered,stock)
# Clang 19 makes no GPU code for its reductions.
offload(teams                       regions  all         1,4 usual,parts,stock SANITIZED)
# Clang 14 and 16 take the construct for another.
offload(teams_loop                  regions  19,22,gcc   1,4 usual,gpu,stock)
# LLVM's runtime on GPUs lacks locks.
offload(inside                      regions  all         1,4 usual,parts,clustered,stock SANITIZED)
# Clang 16 stops at its own code for it. LLVM crashes on devices without such objects.
offload(interop                     routines 14,19,22    1,4 usual,gpu)
# Objects, listings and data environment of devices of Marline's own.
offload(newer_interop               routines 19,22       1,4 host,process)
offload(unified                     map      clang       1,4 host,stock)
# GCC 12 does not know the clause.
offload(uses_allocators             routines 16,19,22    1,4 usual)
offload(cpp_classes                 regions  all         1,4 usual,clustered,gpu,gpu_cluster,stock
        SOURCES cpp_classes.cpp)
# Clang 14 loses what a lambda has captured by value.
offload(cpp_lambdas                 regions  16,19,22    1,4 usual,gpu,stock SOURCES cpp_lambdas.cpp)
offload(cpp_globals                 map      clang       1,4 usual,parts,gpu,gpu_apart,stock
        SOURCES cpp_globals.cpp SANITIZED)
# NVIDIA's assembler wants shorter names.
offload(cpp_long_names              regions  all         1,4 usual,stock SOURCES cpp_long_names.cpp)

# For a cluster above all. GPUs have no such functions, and one address space.
offload(cluster_tasks               cluster  all         4   usual,cluster,19:held ARGS 1 300)
offload(cluster_tasks_more          cluster  19          4   cluster PROGRAM cluster_tasks ARGS 2 300)
# Each way to find out what was written. An older kernel, or a container, may refuse to watch pages.
foreach(way depend check pages)
  set(named named)
  if(way STREQUAL pages)
    set(named "")
  endif()
  offload(cluster_tasks_${way}      cluster  19,gcc      4   cluster
          PROGRAM cluster_tasks ARGS 3 300 60000 ${named} ENV MARLINE_CLUSTER_WRITES=${way})
endforeach()
foreach(test clang19.cluster.t4 gcc12.cluster.t1)
  if(TEST devices.cluster_tasks_pages.${test})
    set_tests_properties(devices.cluster_tasks_pages.${test} PROPERTIES
                         SKIP_REGULAR_EXPRESSION "pages needs Linux 6.7 or later, and [a-z' /]+ is refused")
  endif()
endforeach()
# Most tasks run before their successors are created.
offload(cluster_tasks_few           cluster  19          4   cluster
        PROGRAM cluster_tasks ARGS 3 300 ENV MARLINE_MAX_TASKS=8)
# Nodes that have room for less than what some regions use: data goes and comes back.
offload(cluster_tasks_room          cluster  19          4   cluster
        PROGRAM cluster_tasks ARGS 3 300 ENV MARLINE_CLUSTER_MEMORY=4k)
offload(cluster_cholesky            cluster  all         4   usual,cluster,19:held FLAGS -lm)
offload(cluster_pointers            cluster  all         4   usual,cluster,19:held)
offload(cluster_ahead               cluster  all         4   cluster)
offload(cluster_ahead_pointers      cluster  19          4   cluster PROGRAM cluster_ahead ARGS pointers)
# With one device a worker: its threads have no team of the device beside them.
offload(one_by_one                  tasks    19,gcc      4   host,process,apart,cluster)
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
  offload(cluster_late_pointers_${seed} cluster  19,gcc      4   cluster PROGRAM cluster_late_pointers ARGS ${seed})
endforeach()
foreach(seed IN LISTS late_pointer_seeds)
  offload(cluster_graph_pointers_${seed} cluster  19,gcc      4   cluster
          PROGRAM cluster_graph_pointers ARGS ${seed} MARLINE_H)
endforeach()
offload(cluster_graph_pointers_many cluster  19,gcc      4   cluster
        SOURCES cluster_graph_pointers.c ARGS 4 FLAGS -DSTEPS=120 MARLINE_H)
offload(cluster_late_pointers_small cluster  19,gcc      4   cluster
        SOURCES cluster_late_pointers.c ARGS 4 FLAGS -DFILL=20)
foreach(seed IN LISTS postponed_seeds)
  offload(cluster_postponed_${seed} cluster  19,gcc      4   settled PROGRAM cluster_postponed ARGS ${seed})
endforeach()
offload(cluster_ahead_data          cluster  all         4   cluster)
offload(cluster_ahead_large         cluster  19          4   cluster PROGRAM cluster_ahead_data ARGS 3000)
offload(cluster_ahead_alone         cluster  all         4   cluster PROGRAM cluster_ahead_data ARGS 4 alone)
offload(cluster_ahead_alone_large   cluster  19          4   cluster PROGRAM cluster_ahead_data ARGS 3000 alone)
offload(cluster_ahead_members       cluster  all         4   cluster PROGRAM cluster_ahead_data ARGS 4 members)
offload(cluster_ahead_members_alone cluster  clang       4   cluster PROGRAM cluster_ahead_data ARGS 4 members_alone)
offload(cluster_ahead_present       cluster  all         4   cluster PROGRAM cluster_ahead_data ARGS 4 present)
offload(cluster_maps                cluster  all         4   usual,cluster,19:held ARGS 1 400)
offload(cluster_maps_large          cluster  19          4   cluster PROGRAM cluster_maps ARGS 2 200 400000)
# Nodes that have room for little of it.
offload(cluster_maps_room           cluster  19          4   cluster
        PROGRAM cluster_maps ARGS 3 300 ENV MARLINE_CLUSTER_MEMORY=4k)
offload(cluster_renewed             cluster  19,gcc      4   clang:process,cluster MARLINE_H)
# Clang 16 and 19 compile regions with two reductions to nothing.
offload(cluster_reduction           cluster  22,gcc      4   clang:process,cluster)
offload(cluster_reduction_threads   regions  19          4   cluster PROGRAM in_reduction_threads)
offload(cluster_graph_reduction     cluster  19,22,gcc   4   clang:process,cluster MARLINE_H)
offload(cluster_graphs              cluster  all         4   usual,cluster,19:held ARGS 1 4 MARLINE_H)
offload(cluster_producers           cluster  all         4   usual,cluster,19:held ENV OMP_CANCELLATION=true)
offload(cluster_producers_data      cluster  all         4   usual,cluster,19:held)
offload(cluster_producers_cancel    cluster  all         4   usual,cluster,19:held
        PROGRAM cluster_producers_data ENV OMP_CANCELLATION=true)
# The same under a tool, which hears of tasks that are sent ahead as well.
offload(cluster_ahead_told          cluster  all         4   cluster SOURCES cluster_ahead.c cluster_told.c ${tool})
offload(cluster_tasks_told          cluster  all         4   cluster
        SOURCES cluster_tasks.c cluster_told.c ARGS 4 300 ${tool})
offload(cluster_tasks_plain         cluster  19          4   cluster
        PROGRAM cluster_tasks_told SOURCES cluster_tasks.c cluster_told.c ARGS 5 300 ${tool} ENV CLUSTER_TOLD=plain)
offload(cluster_producers_told      cluster  all         4   cluster
        SOURCES cluster_producers.c cluster_told.c ${tool} ENV OMP_CANCELLATION=true)
offload(cluster_constants           cluster  all         4   usual,cluster,19:held,gpu,gpu_cluster)
offload(cluster_members             cluster  all         4   cluster)
offload(cluster_nested              cluster  all         4   cluster,gcc:with_hosts)

# Random programs for the data environment: SEED ROUNDS. Clang 14 links one source's regions only. LLVM gives the host's
# pointers back as they were when they were attached.
set(rounds 20)
if(MARLINE_SANITIZE)
  set(rounds 2)
endif()
set(random_maps PROGRAM random_maps SOURCES maps.c model.c generate.c run.c check.c TIMEOUT 900)
offload(random_maps_1               random   16,19,22    1,2,4 host,process,mixed,19:cluster ${random_maps}
        ARGS 1 ${rounds} SANITIZED)
offload(random_maps_21              random   16,19,22    1,2,4 host,process,mixed ${random_maps} ARGS 21 ${rounds})
offload(random_maps_41              random   16,19,22    1,2,4 host,process,mixed ${random_maps} ARGS 41 ${rounds})

offload(random_members              random   all         4   usual,clustered,gpu_marline
        ARGS 1 300 TIMEOUT 600 SANITIZED)
offload(random_pointers             random   all         4   usual,clustered,gpu_marline
        ARGS 1 300 TIMEOUT 600 SANITIZED)

# Takes 2.2 GiB, so it runs alone. Emulated GPUs have less.
offload(large                       map      19          4   usual,stock)
foreach(kind IN LISTS DEVICE_KINDS)
  if(TEST devices.large.clang19.${kind}.t4)
    set_tests_properties(devices.large.clang19.${kind}.t4 PROPERTIES RUN_SERIAL ON)
  endif()
endforeach()
offload(wide                        map      all         1,4 usual,stock)

# The shape of a deferred section that is not contiguous is lost, on any runtime: Marline warns.
offload(update_deferred             bad      14,19,22    1   usual
        FAILS "warning: target update with nowait of a section that is not contiguous")

foreach(kind IN LISTS DEVICE_KINDS)
  if(TEST devices.map_sections.clang19.${kind}.t4)
    set_tests_properties(devices.map_sections.clang19.${kind}.t4 PROPERTIES FAIL_REGULAR_EXPRESSION "warning")
  endif()
endforeach()

# A region that may use less of a variable than it names, and sections of which Clang's code does not tell the place.
foreach(mode structure apart)
  offload(map_parts_${mode}         bad      clang       4   host,process,apart
          PROGRAM map_parts ARGS ${mode}
          FAILS "warning: device 0[^\n]*: the target region [^\n]* map the whole variable first")
endforeach()
foreach(mode member local pointer element after absent between two)
  offload(lost_sections_${mode}     bad      14,16,19    4   host
          PROGRAM lost_sections ARGS ${mode} FAILS "fatal: target update at [^\n]*: a section that is not contiguous")
endforeach()
foreach(mode between two)
  offload(lost_sections_22_${mode}  bad      22          4   host
          PROGRAM lost_sections ARGS ${mode} FAILS "fatal: target update at [^\n]*: several members of a structure")
endforeach()

# What goes wrong is told in a line of the runtime's, or by the result of a routine.
device_mistakes(bad_device "marline: [^\n]*1000" host,process,apart target data enter update deferred default)
device_mistakes(bad_device "marline: [^\n]*device" host,process negative invalid next)
device_mistakes(bad_device "device 1000" host,process alloc copy)
device_mistakes(bad_map "marline: [^\n]* (at|in line) [^\n]*mapped" host,process,apart extend_up extend_down
                extend_both extend_object bridge)
device_mistakes(bad_map "marline: [^\n]* (at|in line) [^\n]*present" host,process,apart present present_part
                present_enter present_exit present_data present_update_to present_update_from present_deferred)
device_mistakes(bad_memory "marline: [^\n]*omp_target_free" host,process,apart free_associated free_associated_inside
                free_mapped free_twice free_host free_inside)
device_mistakes(bad_memory "failed" host,process disassociate_mapped disassociate_used disassociate_absent
                associate_twice associate_mapped too_much)
device_mistakes(bad_memory "marline: [^\n]* (at|in line) [^\n]*: no memory for a map of " host,process,apart
                map_too_much)
device_mistakes(bad_images "marline: [^\n]*no code for device 0" host,process without_image other_architecture)
device_mistakes(bad_images "marline: [^\n]*arguments of version 6" host,process newer_arguments)
device_mistakes(bad_images "marline: [^\n]*entries of version 2" host newer_entry)
device_mistakes(bad_images "marline: [^\n]*cannot be loaded" host,process torn_image)
device_mistakes(bad_images "marline: [^\n]*device_bad_images[^\n]*not as any Clang known" host torn_entries
                backward_entries nameless_entry negative_images no_images backward_image torn_wrapping)
device_mistakes(bad_images "marline: [^\n]*requires reverse_offload: " host reverse_call reverse_entry)
offload(bad_requires                bad      clang       4   process
        FAILS "unified_shared_memory: device 0 .process. has an address space of its own")
device_mistakes(bad_region "marline: [^\n]*by signal [^\n]* in the target region " process null_write null_read deferred
                wild aborts traps overflow in_a_team after_a_fork in_all_threads calls_nothing)
device_mistakes(bad_region "marline: [^\n]*node[^\n]*by signal [^\n]* in the target region " nodes,apart null_write
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

offload(bad_place                   bad      all         4   host,process)
offload(stray_host                  bad      all         4   process)
if(NOT MARLINE_SANITIZE)   # the system maps elsewhere then
  device_kind_variants(stray_host_unlimited.gcc12
    "sh;-c;ulimit -s unlimited || echo skipped: no right && exec \"$0\";${PROGRAM_BIN}/device_stray_host_gcc12" 300
    "" process 4)
endif()
# Only there do kernels run beside the program whatever the number of its threads.
offload(copy_beside_kernels         routines clang       1,4 process)
