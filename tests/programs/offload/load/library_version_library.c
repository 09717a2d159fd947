/* SPDX-License-Identifier: Apache-2.0
 *
 * Stands in for a libomptarget of any version: one device, on which every region ends at once. It has no more functions
 * than Marline needs to use it for such regions. It notes the version of the last region's arguments.
 */
#include <stddef.h>

unsigned noted_version;

int omp_get_num_devices(void) { return 1; }

void __tgt_register_lib(void* images) { (void)images; }
void __tgt_unregister_lib(void* images) { (void)images; }
void __tgt_target_nowait_query(void** handle) { *handle = NULL; }

int __tgt_target_kernel(void* ident, long device, int teams, int threads, void* id, void* arguments) {
  (void)ident, (void)device, (void)teams, (void)threads, (void)id;
  noted_version = *(unsigned*)arguments;
  return 0;
}
