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
  kDefaultOrder = 2048,
  kDefaultTile = 256,
  kLargestTile = 32768, /* the elements of a tile and its status fit into the int that counts a message */
  kLargestOrder = INT_MAX / 2,
  kMostRounds = 1000000,
};

void options_print_usage(void) {
  printf(
      "usage: cholesky [-n N | -f FILE] [-b TILE] [-s SEED] [-p PxQ] [-r ROUNDS] [--target] [--no-check] [--json]\n"
      "Factorises a symmetric positive definite matrix by tiles, with MPI ranks x OpenMP threads.\n"
      "  -n N        order of the generated matrix (default %d)\n"
      "  -s SEED     which matrix is generated (default 1)\n"
      "  -f FILE     read the matrix from a Matrix Market file instead\n"
      "  -b TILE     edge of a tile, 1 to %d (default %d)\n"
      "  -p PxQ      process grid, P * Q = number of ranks (default: nearly square)\n"
      "  -r ROUNDS   generate and factorise as often; the last time counts (default 1)\n"
      "  --target    one rank, whose kernels are target tasks of the default device\n"
      "  --no-check  do not compute the residual\n"
      "  --json      print one JSON object instead of lines\n",
      kDefaultOrder, kLargestTile, kDefaultTile);
}

static void parse_grid(Options* options, const char* text, Failure* failure) {
  long long rows = 0, cols = 0;
  const char* end = argument_parse(text, 1, INT_MAX, &rows);
  if (end && *end == 'x') {
    end = argument_parse(end + 1, 1, INT_MAX, &cols);
  }
  if (!end || *end != '\0' || cols == 0) {
    failure_note(failure, kExitInput, "-p takes a process grid such as 2x3, not '%s'", text);
    return;
  }
  options->grid_rows = (int)rows;
  options->grid_cols = (int)cols;
}

enum { kNoCheck = 256, kJson, kTarget };

static const struct option kLongOptions[] = {
    {"no-check", no_argument, NULL, kNoCheck},
    {"json", no_argument, NULL, kJson},
    {"target", no_argument, NULL, kTarget},
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0},
};

static void apply_option(Options* options, int option, char** argv, bool* generate, Failure* failure) {
  switch (option) {
    case 'n':
      options->n = (int)argument_whole("-n", optarg, 1, kLargestOrder, failure);
      *generate = true;
      break;
    case 's':
      options->seed = argument_whole("-s", optarg, 0, LLONG_MAX, failure);
      *generate = true;
      break;
    case 'b': options->tile = (int)argument_whole("-b", optarg, 1, kLargestTile, failure); break;
    case 'f': options->file = optarg; break;
    case 'p': parse_grid(options, optarg, failure); break;
    case 'r': options->rounds = (int)argument_whole("-r", optarg, 1, kMostRounds, failure); break;
    case kNoCheck: options->check = false; break;
    case kJson: options->json = true; break;
    case kTarget: options->target = true; break;
    case 'h': options->help = true; break;
    default: argument_refuse_option(option, argv[optind - 1], failure);
  }
}

void options_parse(Options* options, int argc, char** argv, Failure* failure) {
  *options = (Options){.seed = 1, .n = kDefaultOrder, .tile = kDefaultTile, .rounds = 1, .check = true};
  bool generate = false;
  int option;
  while ((option = getopt_long(argc, argv, ":n:s:b:f:p:r:h", kLongOptions, NULL)) != -1) {
    apply_option(options, option, argv, &generate, failure);
  }
  argument_refuse_more(argc - optind, argv + optind, failure);
  if (options->file && (generate || options->rounds > 1)) {
    failure_note(failure, kExitInput, "-f reads the matrix from a file; it cannot be combined with -n, -s or -r");
  }
}
