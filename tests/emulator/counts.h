/* SPDX-License-Identifier: Apache-2.0
 *
 * What the emulator counts, by number: for the emulator, and for programs that ask it (programs/emulated.h).
 */
#ifndef COUNTS_H
#define COUNTS_H

enum Count {
  kKernels,
  kCopiesToDevice,
  kCopiesToHost,
  kBytesToDevice,
  kBytesToHost,
  kOperations,
  kMostOperations,
  kMostKernels,
  kEngineTime, /* nanoseconds of CPU time that the engine has taken: the device's, not the program's */
  kCounts
};

#endif
