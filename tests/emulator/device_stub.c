/* SPDX-License-Identifier: Apache-2.0
 *
 * Stands in for libomptarget in a device's process: x86-64 images name that library as needed but call nothing of it,
 * and loading the real one would take longer than everything else that the process does. An image may also need the
 * program's own libraries; these register their images when they are loaded, which means nothing here. No state.
 */
void __tgt_register_lib(void* images) { (void)images; }
void __tgt_unregister_lib(void* images) { (void)images; }
void __tgt_register_requires(long flags) { (void)flags; }
