/* SPDX-License-Identifier: Apache-2.0
 *
 * The table of the options; see options.h. Main thread only.
 */
#include "options.h"

#include <stdio.h>

#include "argument.h"

enum { kMost = 1000000 };

static const char* const kFormNames[] = {"for", "tasks", "detach", NULL};

static const Argument kArguments[] = {
    {"--form FORM      for: exchange, then a parallel for; tasks (default): each message and each block is a\n"
     "                   task, the messages by blocking calls; detach: messages are tasks with a detach clause,\n"
     "                   whose requests a thread of the program's own asks for",
     kChoice, offsetof(Options, form), "tasks", .words = kFormNames},
    {"--rows N         rows of each rank (default {default})", kInt, offsetof(Options, rows), "512", .low = 2,
     .high = kMost},
    {"--columns M      columns (default {default})", kInt, offsetof(Options, columns), "2048", .low = 1, .high = kMost},
    {"--blocks B       blocks of rows of each rank, at least {low} (default {default})", kInt,
     offsetof(Options, blocks), "16", .low = 2, .high = kMost},
    {"--iterations K   default {default}", kInt, offsetof(Options, iterations), "200", .low = 1, .high = kMost},
    {"--turns T        T times all iterations with the tools in front of MPI switched off (MPI_Pcontrol) and then\n"
     "                   again with them on: how much longer does it take with a tool that delays messages?",
     kInt, .member = offsetof(Options, turns), .high = kMost},
    {"--help", kFlag, .member = offsetof(Options, help)},
    {0}};

const char* options_form(const Options* options) { return kFormNames[options->form]; }

void options_print_usage(void) {
  printf(
      "usage: halo [--form FORM] [--rows N] [--columns M] [--blocks B] [--iterations K] [--turns T]\n"
      "Jacobi's iteration on a plane that MPI ranks cut into strips; neighbours exchange a row in each iteration.\n");
  arguments_print(kArguments);
}

void options_parse(Options* options, int argc, char** argv, Failure* failure) {
  *options = (Options){0};
  arguments_parse(kArguments, kTwoDashes, options, argc, argv, failure);
  if (options->turns > 0 && 2LL * options->turns * options->iterations > kMost) {
    failure_note(failure, kExitInput, "%d turns of %d iterations are too many", options->turns, options->iterations);
  }
  if (options->blocks > options->rows) {
    failure_note(failure, kExitInput, "%d rows cannot be cut into %d blocks", options->rows, options->blocks);
  }
}
