/* SPDX-License-Identifier: Apache-2.0
 *
 * Routines of OpenMP 5.1 to 6.0 that the compilers' own runtimes do not have yet, on a host without other devices: its
 * name, its memory, the spaces of its memory and what they consist of, teams, free agents. The program declares them,
 * as the standard does; it runs itself on a machine of hwloc's with fast and slow memory.
 *
 * Covers: omp_target_is_accessible, omp_get_mapped_ptr
 */
#include "../child.h"
#include <omp.h>
#include <stdint.h>

typedef uintptr_t Space;
enum { kNull = 0, kDefault = 99, kLarge = 1, kHighBandwidth = 3, kLowLatency = 4, kInvalidDevice = -2 };

/* By name at run time: no runtime that the linker sees has them. */
#define ROUTINE(type, name, ...)                                                \
  type (*name)(__VA_ARGS__) = (type(*)(__VA_ARGS__))dlsym(RTLD_DEFAULT, #name); \
  CHECK(name != NULL)

static void spaces_of_the_host(void) {
  ROUTINE(Space, omp_get_device_memspace, int, Space);
  ROUTINE(Space, omp_get_devices_memspace, int, const int*, Space);
  ROUTINE(Space, omp_get_device_and_host_memspace, int, Space);
  ROUTINE(Space, omp_get_devices_and_host_memspace, int, const int*, Space);
  ROUTINE(Space, omp_get_devices_all_memspace, Space);
  ROUTINE(uintptr_t, omp_get_device_allocator, int, Space);
  ROUTINE(uintptr_t, omp_get_devices_and_host_allocator, int, const int*, Space);
  ROUTINE(uintptr_t, omp_get_devices_all_allocator, Space);
  ROUTINE(Space, omp_get_device_memspace_, const int*, const Space*);
  int hosts[] = {omp_get_initial_device(), -1}, none[] = {-1, 5};
  Space fast = kHighBandwidth;
  CHECK_EQ(omp_get_device_memspace(hosts[0], kDefault), kDefault);
  CHECK_EQ(omp_get_device_memspace_(&hosts[1], &fast), kHighBandwidth);
  CHECK_EQ(omp_get_device_memspace(5, kDefault), kNull);
  CHECK_EQ(omp_get_device_memspace(hosts[0], kNull), kNull);
  CHECK_EQ(omp_get_devices_memspace(2, hosts, kLowLatency), kLowLatency);
  CHECK_EQ(omp_get_devices_memspace(2, none, kLowLatency), kNull);
  CHECK_EQ(omp_get_devices_memspace(1, none, kLowLatency), kLowLatency);
  CHECK_EQ(omp_get_device_and_host_memspace(hosts[0], kLarge), kLarge);
  CHECK_EQ(omp_get_devices_and_host_memspace(2, none, kLarge), kNull);
  CHECK_EQ(omp_get_devices_all_memspace(kDefault), kDefault);
  CHECK_EQ(omp_get_device_allocator(hosts[0], kHighBandwidth), (uintptr_t)omp_high_bw_mem_alloc);
  CHECK_EQ(omp_get_devices_and_host_allocator(2, hosts, kDefault), (uintptr_t)omp_default_mem_alloc);
  CHECK_EQ(omp_get_devices_all_allocator(kNull), (uintptr_t)omp_null_allocator);
}

static void parts_of_a_space(void) {
  ROUTINE(int, omp_get_memspace_num_resources, Space);
  ROUTINE(Space, omp_get_submemspace, Space, int, const int*);
  ROUTINE(size_t, omp_get_memspace_pagesize, Space);
  int all = omp_get_memspace_num_resources(kDefault), last[] = {all - 1}, beyond[] = {all};
  CHECK(all >= 1);
  CHECK_EQ(omp_get_memspace_num_resources(kNull), 0);
  Space part = omp_get_submemspace(kDefault, 1, last);
  CHECK(part != kNull);
  CHECK_EQ(omp_get_memspace_num_resources(part), 1);
  CHECK_EQ(omp_get_submemspace(kDefault, 1, last), part);
  CHECK_EQ(omp_get_submemspace(part, 1, last) == part, all == 1);
  CHECK_EQ(omp_get_submemspace(kDefault, 0, last), kNull);
  CHECK_EQ(omp_get_submemspace(kDefault, 1, beyond), kNull);
  CHECK_EQ(omp_get_memspace_pagesize(part), (size_t)sysconf(_SC_PAGESIZE));
  omp_alloctrait_t traits[] = {{omp_atk_alignment, 128}};
  omp_allocator_handle_t handle = omp_init_allocator((omp_memspace_handle_t)part, 1, traits);
  CHECK(handle != omp_null_allocator);
  char* block = omp_alloc(10000, handle);
  CHECK(block != NULL && (uintptr_t)block % 128 == 0);
  memset(block, 1, 10000);
  omp_free(block, handle);
  omp_destroy_allocator(handle);
  CHECK(omp_init_allocator((omp_memspace_handle_t)77, 0, traits) == omp_null_allocator);
  printf("default=%d large=%d fast=%d near=%d .\n", all, omp_get_memspace_num_resources(kLarge),
         omp_get_memspace_num_resources(kHighBandwidth), omp_get_memspace_num_resources(kLowLatency));
}

static void devices(void) {
  ROUTINE(const char*, omp_get_uid_from_device, int);
  ROUTINE(int, omp_get_device_from_uid, const char*);
  ROUTINE(int, omp_get_device_from_uid_, const char*, size_t);
  ROUTINE(int, omp_get_max_progress_width, int);
  ROUTINE(int, omp_target_is_accessible, const void*, size_t, int);
  ROUTINE(void*, omp_get_mapped_ptr, const void*, int);
  ROUTINE(void*, omp_target_memset, void*, int, size_t, int);
  int host = omp_get_initial_device();
  const char* name = omp_get_uid_from_device(host);
  CHECK(name != NULL);
  CHECK_EQ(omp_get_device_from_uid(name), host);
  CHECK_EQ(omp_get_device_from_uid_("HOST   ", 7), host);
  CHECK_EQ(omp_get_device_from_uid("no such device"), kInvalidDevice);
  CHECK(omp_get_uid_from_device(kInvalidDevice) == NULL);
  CHECK_EQ(omp_get_max_progress_width(host), 1);
  char bytes[8] = "1234567";
  CHECK_EQ(omp_target_is_accessible(bytes, sizeof bytes, host), 1);
  CHECK(omp_get_mapped_ptr(bytes, host) == bytes);
  CHECK(omp_target_memset(bytes + 1, 'x', 3, host) == bytes + 1);
  CHECK(strcmp(bytes, "1xxx567") == 0);
}

static void teams_and_agents(void) {
  ROUTINE(int, omp_get_device_num_teams, int);
  ROUTINE(void, omp_set_device_num_teams, int, int);
  ROUTINE(int, omp_get_device_teams_thread_limit, int);
  ROUTINE(void, omp_set_device_teams_thread_limit, int, int);
  ROUTINE(int, omp_is_free_agent, void);
  ROUTINE(int, omp_ancestor_is_free_agent, int);
  int host = omp_get_initial_device();
  omp_set_device_num_teams(3, host);
  CHECK_EQ(omp_get_max_teams(), 3);
  CHECK_EQ(omp_get_device_num_teams(-1), 3);
  CHECK_EQ(omp_get_device_num_teams(kInvalidDevice), 0);
  omp_set_device_teams_thread_limit(2, -1);
  CHECK_EQ(omp_get_device_teams_thread_limit(host), omp_get_teams_thread_limit());
#pragma omp parallel
  {
#pragma omp task
    CHECK_EQ(omp_is_free_agent() + omp_ancestor_is_free_agent(0), 0);
  }
}

/* The host sets no memory aside for contention groups (dyn_groupprivate of OpenMP 6.1; LLVM 23 declares these). */
static void group_memory(void) {
  ROUTINE(void*, omp_get_dyn_gprivate_ptr, size_t, int);
  ROUTINE(void*, omp_get_dyn_gprivate_nofb_ptr, size_t, int);
  ROUTINE(size_t, omp_get_dyn_gprivate_size, int);
  ROUTINE(Space, omp_get_dyn_gprivate_memspace, int);
  const Space* space = dlsym(RTLD_DEFAULT, "omp_cgroup_mem_space");
  CHECK(space != NULL && *space == 5);
  CHECK(omp_get_dyn_gprivate_ptr(0, 0) == NULL);
  CHECK(omp_get_dyn_gprivate_nofb_ptr(8, 0) == NULL);
  CHECK_EQ(omp_get_dyn_gprivate_size(0), 0);
  CHECK_EQ(omp_get_dyn_gprivate_memspace(0), kNull);
}

static int no_device(void) {
  ROUTINE(void, omp_set_device_num_teams, int, int);
  omp_set_device_num_teams(2, 7);
  return 0;
}

int main(int argc, char** argv) {
  if (argc > 1 && strcmp(argv[1], "spaces") == 0) {
    parts_of_a_space();
    return 0;
  }
  if (argc > 1 && strcmp(argv[1], "no device") == 0) return no_device();
  spaces_of_the_host();
  parts_of_a_space();
  devices();
  teams_and_agents();
  group_memory();
  static Child child;
  char* optane[] = {"HWLOC_SYNTHETIC=pack:2 [numa(memory=64GB)] [numa(memory=512GB)] core:2 pu:1", NULL};
  run_child(&child, "spaces", optane);
  CHECK_LINE(&child, "default=4 large=2 fast=4 near=4");
  CHECK_EQ(child.status, 0);
  char* nothing[] = {NULL};
  run_child(&child, "no device", nothing);
  CHECK(!child.exited);
  CHECK_LINE(&child, "omp_set_device_num_teams: 7 is no device");
  return 0;
}
