/* SPDX-License-Identifier: Apache-2.0
 *
 * Parsing of the command line with getopt_long; see options.h. Main thread only.
 */
#include "options.h"

#include <getopt.h>
#include <limits.h>
#include <stdio.h>

#include "argument.h"

enum {
  kLargestEdge = 1290, /* its cube fits into an int */
  kMostIterations = 1000000,
  kMostTiles = 1 << 24,
};

static const char* const kForms[] = {"sequential", "for", "tasks", "persistent", NULL};
static const char* const kModes[] = {"barrier", "nowait", "replay", NULL};
static const char* const kNamings[] = {"scalar", "redundant", "tiles", "minimal", NULL};
static const char* const kPasses[] = {"clauses", "lists", "objects", NULL};

void options_print_usage(void) {
  printf(
      "usage: hpccg [--size NX[xNYxNZ] | --file FILE] [--form FORM] [OPTION]...\n"
      "Conjugate gradients on a sparse matrix, with MPI ranks x OpenMP threads. The right-hand side is A * 1.\n"
      "  --size NXxNYxNZ     the 27-point problem; points of each rank (default 64: 64x64x64)\n"
      "  --file FILE         a Matrix Market file instead\n"
      "  --form FORM         sequential, for, tasks (default), persistent\n"
      "  --mode MODE         of a persistent graph: barrier (default), nowait, replay\n"
      "  --tiles T1          tiles of each rank's rows (default 64)\n"
      "  --parts T2          parts of a tile's product, each a task (default 1)\n"
      "  --separate          one task, or one loop, per operation\n"
      "  --dependences NAMES scalar, redundant, tiles (default), minimal\n"
      "  --pass HOW          clauses (default), lists, objects\n"
      "  --iterations N      at most (default 50)\n"
      "  --tolerance EPS     stop when the residual is that part of the first one\n"
      "  --lag N             with tasks: iterations created ahead of knowing whether to stop (default 0)\n"
      "  --cancel            drop those of them that have not started\n"
      "  --speculate N       with tasks and a tolerance: iterations that run ahead of knowing whether to stop\n"
      "  --history FILE      write the norm of the residual after each iteration\n");
}

static void parse_size(Options* options, Failure* failure) {
  long long edges[3];
  int count = 0;
  const char* end = argument_parse(optarg, 1, kLargestEdge, &edges[count++]);
  while (end && *end == 'x' && count < 3) {
    end = argument_parse(end + 1, 1, kLargestEdge, &edges[count++]);
  }
  if (!end || *end != '\0' || count == 2) {
    failure_note(failure, kExitInput, "--size takes edges from 1 to %d such as 64 or 64x32x16, not '%s'", kLargestEdge,
                 optarg);
    return;
  }
  options->box = (Box){(int)edges[0], (int)edges[count == 3 ? 1 : 0], (int)edges[count == 3 ? 2 : 0]};
}

enum {
  kSize = 256,
  kFile,
  kForm,
  kMode,
  kTiles,
  kParts,
  kSeparate,
  kDependences,
  kPass,
  kIterations,
  kTolerance,
  kLag,
  kCancel,
  kSpeculate,
  kHistory,
  kHelp
};

static const struct option kOptions[] = {
    {"size", required_argument, NULL, kSize},
    {"file", required_argument, NULL, kFile},
    {"form", required_argument, NULL, kForm},
    {"mode", required_argument, NULL, kMode},
    {"tiles", required_argument, NULL, kTiles},
    {"parts", required_argument, NULL, kParts},
    {"separate", no_argument, NULL, kSeparate},
    {"dependences", required_argument, NULL, kDependences},
    {"pass", required_argument, NULL, kPass},
    {"iterations", required_argument, NULL, kIterations},
    {"tolerance", required_argument, NULL, kTolerance},
    {"lag", required_argument, NULL, kLag},
    {"cancel", no_argument, NULL, kCancel},
    {"speculate", required_argument, NULL, kSpeculate},
    {"history", required_argument, NULL, kHistory},
    {"help", no_argument, NULL, kHelp},
    {NULL, 0, NULL, 0},
};

/* True if the option is one that shapes the task graph. */
static bool apply_task_option(Options* options, int option, Failure* failure) {
  Tiling* tiling = &options->tiling;
  switch (option) {
    case kMode: options->tasks.mode = (GraphMode)argument_word("--mode", optarg, kModes, failure); return true;
    case kTiles: tiling->tiles = (int)argument_whole("--tiles", optarg, 1, kMostTiles, failure); return true;
    case kParts: tiling->parts = (int)argument_whole("--parts", optarg, 1, kMostTiles, failure); return true;
    case kDependences: tiling->naming = (Naming)argument_word("--dependences", optarg, kNamings, failure); return true;
    case kPass: tiling->pass = (Pass)argument_word("--pass", optarg, kPasses, failure); return true;
    case kLag: options->tasks.lag = (int)argument_whole("--lag", optarg, 0, kMostIterations, failure); return true;
    case kCancel: options->tasks.cancel = true; return true;
    case kSpeculate:
      options->tasks.ahead = (int)argument_whole("--speculate", optarg, 1, kMostIterations, failure);
      return true;
    default: return false;
  }
}

static void apply_option(Options* options, int option, char** argv, bool* generate, Failure* failure) {
  switch (option) {
    case kSize:
      parse_size(options, failure);
      *generate = true;
      break;
    case kFile: options->file = optarg; break;
    case kForm: options->form = (Form)argument_word("--form", optarg, kForms, failure); break;
    case kSeparate: options->tiling.separate = true; break;
    case kIterations:
      options->iterations = (int)argument_whole("--iterations", optarg, 1, kMostIterations, failure);
      break;
    case kTolerance: options->tolerance = argument_real("--tolerance", optarg, 0, 1, failure); break;
    case kHistory: options->history = optarg; break;
    case kHelp: options->help = true; break;
    default: argument_refuse_option(option, argv[optind - 1], failure);
  }
}

void options_parse(Options* options, int argc, char** argv, Failure* failure) {
  *options = (Options){.box = {64, 64, 64},
                       .form = kFormTasks,
                       .tiling = {.tiles = 64, .parts = 1, .naming = kNamingTiles},
                       .iterations = 50};
  bool generate = false;
  int option;
  while ((option = getopt_long(argc, argv, ":", kOptions, NULL)) != -1) {
    if (!apply_task_option(options, option, failure)) {
      apply_option(options, option, argv, &generate, failure);
    }
  }
  options->tasks.persistent = options->form == kFormPersistent;
  argument_refuse_more(argc - optind, argv + optind, failure);
  if (options->file && generate) {
    failure_note(failure, kExitInput, "--file reads the matrix from a file; it cannot be combined with --size");
  }
}

const char* options_form(const Options* options) { return kForms[options->form]; }

const char* options_naming(const Options* options) { return kNamings[options->tiling.naming]; }
