# SPDX-License-Identifier: Apache-2.0
# Benchmarks of the runtime's own parts, without a runtime. They link the libraries that tests/unit makes of them.
add_executable(micro-read_topology EXCLUDE_FROM_ALL micro/read_topology.cpp)
target_include_directories(micro-read_topology PRIVATE ${PROJECT_SOURCE_DIR}/tests/unit)
target_link_libraries(micro-read_topology PRIVATE marline_ground marline_warnings)
set_target_properties(micro-read_topology PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${bench_dir})

add_executable(micro-cluster_head EXCLUDE_FROM_ALL micro/cluster_head.cpp)
target_link_libraries(micro-cluster_head PRIVATE marline_cluster_core marline_warnings)
set_target_properties(micro-cluster_head PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${bench_dir})

# How good the cluster's placement is; and runtimes on a made-up cluster: Marline's core and models of others.
add_executable(cluster-quality EXCLUDE_FROM_ALL cluster/quality.cpp cluster/placed.cpp cluster/schedule.cpp
               taskbench/graph.c)
add_executable(cluster-scaling cluster/scaling.cpp cluster/workload.cpp cluster/marline.cpp
  cluster/peers.cpp cluster/ompc.cpp taskbench/graph.c)
foreach(program quality scaling)
  target_link_libraries(cluster-${program} PRIVATE marline_cluster_core marline_warnings)
  set_target_properties(cluster-${program} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bench/cluster)
endforeach()
