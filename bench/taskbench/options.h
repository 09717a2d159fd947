/* SPDX-License-Identifier: Apache-2.0
 *
 * The command line that all drivers share: one table drives parsing, --help and the remarks of the output.
 */
#ifndef MARLINE_TASKBENCH_OPTIONS_H
#define MARLINE_TASKBENCH_OPTIONS_H

#include "graph.h"
#include "kernel.h"

struct Options {
  struct Graph graph;
  struct Kernel kernel;
  long output_bytes;
  long slots;
  long workers; /* 0: not given */
  long warmup;
};

enum Parsed { kParsed, kHelp, kBadOption };

enum { kMessage = 256 };

/* On kBadOption, `message` has one line that says what is wrong. */
enum Parsed options_parse(int argc, char** argv, struct Options* options, char message[kMessage]);
void options_help(const char* program);
/* `# KEY VALUE` for each option. */
void options_print(const struct Options* options);

#endif
