/* SPDX-License-Identifier: Apache-2.0
 *
 * The table of the options; see options.h. Main thread only.
 */
#include "options.h"

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

static void parse_size(const char* option, const char* text, void* member, Failure* failure) {
  long long edges[3];
  int count = 0;
  const char* end = argument_parse(text, 1, kLargestEdge, &edges[count++]);
  while (end && *end == 'x' && count < 3) {
    end = argument_parse(end + 1, 1, kLargestEdge, &edges[count++]);
  }
  if (!end || *end != '\0' || count == 2) {
    failure_note(failure, kExitInput, "%s takes edges from 1 to %d such as 64 or 64x32x16, not '%s'", option,
                 kLargestEdge, text);
    return;
  }
  *(Box*)member = (Box){(int)edges[0], (int)edges[count == 3 ? 1 : 0], (int)edges[count == 3 ? 2 : 0]};
}

static const Argument kArguments[] = {
    {"--size NXxNYxNZ     the 27-point problem; points of each rank (default {default}: 64x64x64)", kParsed,
     offsetof(Options, box), "64", .parse = parse_size, .given = offsetof(Options, size_given)},
    {"--file FILE         a Matrix Market file instead", kText, .member = offsetof(Options, file)},
    {"--form FORM         sequential, for, tasks (default), persistent", kWord, offsetof(Options, form), "tasks",
     .words = kForms},
    {"--mode MODE         of a persistent graph: barrier (default), nowait, replay", kWord,
     offsetof(Options, tasks.mode), "barrier", .words = kModes},
    {"--tiles T1          tiles of each rank's rows (default {default})", kInt, offsetof(Options, tiling.tiles), "64",
     .low = 1, .high = kMostTiles},
    {"--parts T2          parts of a tile's product, each a task (default {default})", kInt,
     offsetof(Options, tiling.parts), "1", .low = 1, .high = kMostTiles},
    {"--separate          one task, or one loop, per operation", kFlag, .member = offsetof(Options, tiling.separate)},
    {"--dependences NAMES scalar, redundant, tiles (default), minimal", kWord, offsetof(Options, tiling.naming),
     "tiles", .words = kNamings},
    {"--pass HOW          clauses (default), lists, objects", kWord, offsetof(Options, tiling.pass), "clauses",
     .words = kPasses},
    {"--iterations N      at most (default {default})", kInt, offsetof(Options, iterations), "50", .low = 1,
     .high = kMostIterations},
    {"--tolerance EPS     stop when the residual is that part of the first one", kReal,
     .member = offsetof(Options, tolerance), .high = 1},
    {"--lag N             with tasks: iterations created ahead of knowing whether to stop (default {default})", kInt,
     offsetof(Options, tasks.lag), "0", .high = kMostIterations},
    {"--cancel            drop those of them that have not started", kFlag, .member = offsetof(Options, tasks.cancel)},
    {"--speculate N       with tasks and a tolerance: iterations that run ahead of knowing whether to stop", kInt,
     .member = offsetof(Options, tasks.ahead), .low = 1, .high = kMostIterations},
    {"--history FILE      write the norm of the residual after each iteration", kText,
     .member = offsetof(Options, history)},
    {"--help", kFlag, .member = offsetof(Options, help)},
    {0}};

void options_print_usage(void) {
  printf(
      "usage: hpccg [--size NX[xNYxNZ] | --file FILE] [--form FORM] [OPTION]...\n"
      "Conjugate gradients on a sparse matrix, with MPI ranks x OpenMP threads. The right-hand side is A * 1.\n");
  arguments_print(kArguments);
}

void options_parse(Options* options, int argc, char** argv, Failure* failure) {
  *options = (Options){0};
  arguments_parse(kArguments, kTwoDashes, options, argc, argv, failure);
  options->tasks.persistent = options->form == kFormPersistent;
  if (options->file && options->size_given) {
    failure_note(failure, kExitInput, "--file reads the matrix from a file; it cannot be combined with --size");
  }
}

const char* options_form(const Options* options) { return kForms[options->form]; }

const char* options_naming(const Options* options) { return kNamings[options->tiling.naming]; }
