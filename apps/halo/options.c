/* SPDX-License-Identifier: Apache-2.0
 *
 * Parsing of the command line with getopt_long; see options.h. Main thread only.
 */
#include "options.h"

#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "argument.h"

enum {
  kDefaultRows = 512,
  kDefaultColumns = 2048,
  kDefaultBlocks = 16,
  kDefaultIterations = 200,
  kMost = 1000000,
};

static const char* const kFormNames[kForms] = {"for", "tasks", "detach"};

void options_print_usage(void) {
  printf(
      "usage: halo [--form FORM] [--rows N] [--columns M] [--blocks B] [--iterations K] [--turns T]\n"
      "Jacobi's iteration on a plane that MPI ranks cut into strips; neighbours exchange a row in each iteration.\n"
      "  --form FORM      for: exchange, then a parallel for; tasks (default): each message and each block is a\n"
      "                   task, the messages by blocking calls; detach: messages are tasks with a detach clause,\n"
      "                   whose requests a thread of the program's own asks for\n"
      "  --rows N         rows of each rank (default %d)\n"
      "  --columns M      columns (default %d)\n"
      "  --blocks B       blocks of rows of each rank, at least 2 (default %d)\n"
      "  --iterations K   default %d\n"
      "  --turns T        T times all iterations with the tools in front of MPI switched off (MPI_Pcontrol) and then\n"
      "                   again with them on: how much longer does it take with a tool that delays messages?\n",
      kDefaultRows, kDefaultColumns, kDefaultBlocks, kDefaultIterations);
}

const char* options_form(const Options* options) { return kFormNames[options->form]; }

static Form parse_form(const char* text, Failure* failure) {
  for (int form = 0; form < kForms; ++form) {
    if (strcmp(text, kFormNames[form]) == 0) {
      return (Form)form;
    }
  }
  failure_note(failure, kExitInput, "--form takes for, tasks or detach, not '%s'", text);
  return kFormTasks;
}

enum { kForm = 256, kRows, kColumns, kBlocks, kIterations, kTurns, kHelp };

static const struct option kOptions[] = {
    {"form", required_argument, NULL, kForm},
    {"rows", required_argument, NULL, kRows},
    {"columns", required_argument, NULL, kColumns},
    {"blocks", required_argument, NULL, kBlocks},
    {"iterations", required_argument, NULL, kIterations},
    {"turns", required_argument, NULL, kTurns},
    {"help", no_argument, NULL, kHelp},
    {NULL, 0, NULL, 0},
};

static void apply_option(Options* options, int option, char** argv, Failure* failure) {
  switch (option) {
    case kForm: options->form = parse_form(optarg, failure); break;
    case kRows: options->rows = (int)argument_whole("--rows", optarg, 2, kMost, failure); break;
    case kColumns: options->columns = (int)argument_whole("--columns", optarg, 1, kMost, failure); break;
    case kBlocks: options->blocks = (int)argument_whole("--blocks", optarg, 2, kMost, failure); break;
    case kIterations: options->iterations = (int)argument_whole("--iterations", optarg, 1, kMost, failure); break;
    case kTurns: options->turns = (int)argument_whole("--turns", optarg, 0, kMost, failure); break;
    case kHelp: options->help = true; break;
    default: argument_refuse_option(option, argv[optind - 1], failure);
  }
}

void options_parse(Options* options, int argc, char** argv, Failure* failure) {
  *options = (Options){.form = kFormTasks,
                       .rows = kDefaultRows,
                       .columns = kDefaultColumns,
                       .blocks = kDefaultBlocks,
                       .iterations = kDefaultIterations};
  int option;
  while ((option = getopt_long(argc, argv, ":", kOptions, NULL)) != -1) {
    apply_option(options, option, argv, failure);
  }
  argument_refuse_more(argc - optind, argv + optind, failure);
  if (options->turns > 0 && 2LL * options->turns * options->iterations > kMost) {
    failure_note(failure, kExitInput, "%d turns of %d iterations are too many", options->turns, options->iterations);
  }
  if (options->blocks > options->rows) {
    failure_note(failure, kExitInput, "%d rows cannot be cut into %d blocks", options->rows, options->blocks);
  }
}
