/* SPDX-License-Identifier: Apache-2.0
 *
 * The table of the options; see options.h. Main thread only.
 */
#include "options.h"

#include <limits.h>
#include <stdio.h>

#include "argument.h"

enum {
  kLargestTile = 32768, /* the elements of a tile and its status fit into the int that counts a message */
  kLargestOrder = INT_MAX / 2,
  kMostRounds = 1000000,
};

static void parse_grid(const char* option, const char* text, void* member, Failure* failure) {
  long long rows = 0, cols = 0;
  const char* end = argument_parse(text, 1, INT_MAX, &rows);
  if (end && *end == 'x') {
    end = argument_parse(end + 1, 1, INT_MAX, &cols);
  }
  if (!end || *end != '\0' || cols == 0) {
    failure_note(failure, kExitInput, "%s takes a process grid such as 2x3, not '%s'", option, text);
    return;
  }
  int* grid = member;
  grid[0] = (int)rows;
  grid[1] = (int)cols;
}

static const Argument kArguments[] = {
    {"-n N        order of the generated matrix (default {default})", kInt, offsetof(Options, n), "2048", .low = 1,
     .high = kLargestOrder, .given = offsetof(Options, generated)},
    {"-s SEED     which matrix is generated (default {default})", kSeed, offsetof(Options, seed), "1",
     .given = offsetof(Options, generated)},
    {"-f FILE     read the matrix from a Matrix Market file instead", kText, .member = offsetof(Options, file)},
    {"-b TILE     edge of a tile, 1 to {high} (default {default})", kInt, offsetof(Options, tile), "256", .low = 1,
     .high = kLargestTile},
    {"-p PxQ      process grid, P * Q = number of ranks (default: nearly square)", kParsed,
     .member = offsetof(Options, grid), .parse = parse_grid},
    {"-r ROUNDS   generate and factorise as often; the last time counts (default {default})", kInt,
     offsetof(Options, rounds), "1", .low = 1, .high = kMostRounds},
    {"--target    one rank, whose kernels are target tasks of the default device", kFlag,
     .member = offsetof(Options, target)},
    {"--no-check  do not compute the residual", kFlag, .member = offsetof(Options, no_check)},
    {"--json      print one JSON object instead of lines", kFlag, .member = offsetof(Options, json)},
    {"--help", kFlag, .member = offsetof(Options, help)},
    {"-h", kFlag, .member = offsetof(Options, help)},
    {0}};

void options_print_usage(void) {
  printf(
      "usage: cholesky [-n N | -f FILE] [-b TILE] [-s SEED] [-p PxQ] [-r ROUNDS] [--target] [--no-check] [--json]\n"
      "Factorises a symmetric positive definite matrix by tiles, with MPI ranks x OpenMP threads.\n");
  arguments_print(kArguments);
}

void options_parse(Options* options, int argc, char** argv, Failure* failure) {
  *options = (Options){0};
  arguments_parse(kArguments, kTwoDashes, options, argc, argv, failure);
  if (options->file && (options->generated || options->rounds > 1)) {
    failure_note(failure, kExitInput, "-f reads the matrix from a file; it cannot be combined with -n, -s or -r");
  }
}
