/* SPDX-License-Identifier: Apache-2.0
 *
 * The command line. Parsed before anything else; only read after that.
 */
#ifndef XSBENCH_OPTIONS_H
#define XSBENCH_OPTIONS_H

#include <stdbool.h>

#include "failure.h"
#include "tables.h"

typedef enum { kSizeSmall, kSizeLarge } Size;
typedef enum {
  kCheckKnown, /* the published checksum where there is one, else the host's */
  kCheckHost,
  kCheckNone,
} Check;

typedef struct {
  Size size;
  GridKind grid;
  int gridpoints;
  long long lookups; /* strong: of all devices; weak: of each */
  int devices;       /* 0: all */
  int kernels;
  int weak; /* 1, or strong: 0 */
  bool host;
  double sleep_ms; /* 0: kernels look up */
  Check check;
  long long expected; /* the checksum; negative: see check */
  bool help;
} Options;

/* On a mistake, notes what is wrong and what is allowed. */
void options_parse(Options* options, int argc, char** argv, Failure* failure);

int options_nuclides(const Options* options);

/* The published checksum of this problem; 0 if there is none. */
unsigned long long options_published(const Options* options, long long lookups);

/* The words that select them. */
const char* options_size(const Options* options);
const char* options_grid(const Options* options);
const char* options_scaling(const Options* options);

void options_print_usage(void);

#endif
