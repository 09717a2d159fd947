/* SPDX-License-Identifier: Apache-2.0
 *
 * The table of the options; see options.h. Main thread only.
 */
#include "options.h"

#include <stdio.h>

#include "argument.h"

enum {
  kMostBodies = 10000000,
  kMostSteps = 1000000,
  kLargestBlock = 65536,
};

static const double kLongestDt = 0.1; /* the fastest motions have frequencies near 1: see check_softening */

/* Rounding pulls trajectories apart, by a factor of a few per unit of time: beyond this, a difference says nothing. */
static const double kLongestVerified = 1;

static const Argument kArguments[] = {
    {"--bodies N     {low} to {high} (default {default})", kInt, offsetof(Options, bodies), "4096", .low = 1,
     .high = kMostBodies},
    {"--steps S      steps of the leapfrog, {low} to {high} (default {default})", kInt, offsetof(Options, steps), "10",
     .low = 1, .high = kMostSteps},
    {"--block B      bodies of a block on average, at most: {low} to {high} (default {default})", kInt,
     offsetof(Options, block), "256", .low = 1, .high = kLargestBlock},
    {"--imbalance F  0: ranks and blocks of equal size (default), up to 1: the first of each is empty", kReal,
     .member = offsetof(Options, imbalance), .high = 1},
    {"--dt T         length of a step, up to {high} (default {default})", kReal, offsetof(Options, dt), "0.01",
     .low = 1e-9, .high = kLongestDt},
    {"--seed SEED    which cluster of bodies (default {default})", kSeed, offsetof(Options, seed), .initial = "1"},
    {"--verify       compare with a serial simulation, made by every rank; steps x dt must not exceed {high}", kFlag,
     .member = offsetof(Options, verify), .high = kLongestVerified},
    {"--labels       name tasks by hop in traces", kFlag, .member = offsetof(Options, labels)},
    {"--help", kFlag, .member = offsetof(Options, help)},
    {0}};

void options_print_usage(void) {
  printf(
      "usage: nbody [--bodies N] [--steps S] [--block B] [--imbalance F] [--dt T] [--seed SEED] [--verify] [--labels]\n"
      "Gravity between all pairs of bodies, with MPI ranks x OpenMP threads; blocks travel round the ring of ranks.\n");
  arguments_print(kArguments);
}

void options_parse(Options* options, int argc, char** argv, Failure* failure) {
  *options = (Options){0};
  arguments_parse(kArguments, kTwoDashes, options, argc, argv, failure);
  if (options->verify && options->steps * options->dt > kLongestVerified * (1 + 1e-9)) {
    failure_note(failure, kExitInput,
                 "--verify compares trajectories over a time of at most %g, not %d steps of %g: take fewer steps",
                 kLongestVerified, options->steps, options->dt);
  }
}
