/* SPDX-License-Identifier: Apache-2.0
 *
 * Stands for the private copy of an OpenMP runtime that a package carries under a name of its own: one thread.
 */
void GOMP_parallel(void (*body)(void*), void* data, unsigned threads, unsigned flags) {
  (void)threads;
  (void)flags;
  body(data);
}
