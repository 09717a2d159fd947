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
  kDefaultBodies = 4096,
  kDefaultSteps = 10,
  kDefaultBlock = 256,
  kMostBodies = 10000000,
  kMostSteps = 1000000,
  kLargestBlock = 65536,
};

static const double kDefaultDt = 0.01;
static const double kLongestDt = 0.1; /* the fastest motions have frequencies near 1: see check_softening */

/* Rounding pulls trajectories apart, by a factor of a few per unit of time: beyond this, a difference says nothing. */
static const double kLongestVerified = 1;

void options_print_usage(void) {
  printf(
      "usage: nbody [--bodies N] [--steps S] [--block B] [--imbalance F] [--dt T] [--seed SEED] [--verify] [--labels]\n"
      "Gravity between all pairs of bodies, with MPI ranks x OpenMP threads; blocks travel round the ring of ranks.\n"
      "  --bodies N     1 to %d (default %d)\n"
      "  --steps S      steps of the leapfrog, 1 to %d (default %d)\n"
      "  --block B      bodies of a block on average, at most: 1 to %d (default %d)\n"
      "  --imbalance F  0: ranks and blocks of equal size (default), up to 1: the first of each is empty\n"
      "  --dt T         length of a step, up to %g (default %g)\n"
      "  --seed SEED    which cluster of bodies (default 1)\n"
      "  --verify       compare with a serial simulation, made by every rank; steps x dt must not exceed %g\n"
      "  --labels       name tasks by hop in traces\n",
      kMostBodies, kDefaultBodies, kMostSteps, kDefaultSteps, kLargestBlock, kDefaultBlock, kLongestDt, kDefaultDt,
      kLongestVerified);
}

enum { kBodies = 256, kSteps, kBlock, kImbalance, kDt, kSeed, kVerify, kLabels, kHelp };

static const struct option kOptions[] = {
    {"bodies", required_argument, NULL, kBodies}, {"steps", required_argument, NULL, kSteps},
    {"block", required_argument, NULL, kBlock},   {"imbalance", required_argument, NULL, kImbalance},
    {"dt", required_argument, NULL, kDt},         {"seed", required_argument, NULL, kSeed},
    {"verify", no_argument, NULL, kVerify},       {"labels", no_argument, NULL, kLabels},
    {"help", no_argument, NULL, kHelp},           {NULL, 0, NULL, 0},
};

static void apply_option(Options* options, int option, char** argv, Failure* failure) {
  switch (option) {
    case kBodies: options->bodies = (int)argument_whole("--bodies", optarg, 1, kMostBodies, failure); break;
    case kSteps: options->steps = (int)argument_whole("--steps", optarg, 1, kMostSteps, failure); break;
    case kBlock: options->block = (int)argument_whole("--block", optarg, 1, kLargestBlock, failure); break;
    case kImbalance: options->imbalance = argument_real("--imbalance", optarg, 0, 1, failure); break;
    case kDt: options->dt = argument_real("--dt", optarg, 1e-9, kLongestDt, failure); break;
    case kSeed: options->seed = argument_whole("--seed", optarg, 0, LLONG_MAX, failure); break;
    case kVerify: options->verify = true; break;
    case kLabels: options->labels = true; break;
    case kHelp: options->help = true; break;
    default: argument_refuse_option(option, argv[optind - 1], failure);
  }
}

void options_parse(Options* options, int argc, char** argv, Failure* failure) {
  *options =
      (Options){.bodies = kDefaultBodies, .steps = kDefaultSteps, .block = kDefaultBlock, .dt = kDefaultDt, .seed = 1};
  int option;
  while ((option = getopt_long(argc, argv, ":", kOptions, NULL)) != -1) {
    apply_option(options, option, argv, failure);
  }
  argument_refuse_more(argc - optind, argv + optind, failure);
  if (options->verify && options->steps * options->dt > kLongestVerified * (1 + 1e-9)) {
    failure_note(failure, kExitInput,
                 "--verify compares trajectories over a time of at most %g, not %d steps of %g: take fewer steps",
                 kLongestVerified, options->steps, options->dt);
  }
}
