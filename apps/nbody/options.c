/* SPDX-License-Identifier: Apache-2.0
 *
 * Parsing of the command line with getopt_long; see options.h. Main thread only.
 */
#include "options.h"

#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

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

/* Notes a mistake; the first one stays. */
__attribute__((format(printf, 2, 3))) static void mistake(Options *options, const char *format, ...) {
  if (options->mistake[0] != '\0') {
    return;
  }
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(options->mistake, sizeof options->mistake, format, arguments);
  va_end(arguments);
}

static long long whole(Options *options, const char *name, long long low, long long high) {
  char *end;
  errno = 0;
  long long value = strtoll(optarg, &end, 10);
  if (end == optarg || *end != '\0' || errno != 0 || value < low || value > high) {
    mistake(options, "--%s takes a whole number from %lld to %lld, not '%s'", name, low, high, optarg);
    return low;
  }
  return value;
}

/* NaN fails both comparisons. */
static double real(Options *options, const char *name, double low, double high) {
  char *end;
  double value = strtod(optarg, &end);
  if (end == optarg || *end != '\0' || !(value >= low && value <= high)) {
    mistake(options, "--%s takes a number from %g to %g, not '%s'", name, low, high, optarg);
    return low;
  }
  return value;
}

enum { kBodies = 256, kSteps, kBlock, kImbalance, kDt, kSeed, kVerify, kLabels, kHelp };

static const struct option kOptions[] = {
    {"bodies", required_argument, NULL, kBodies},
    {"steps", required_argument, NULL, kSteps},
    {"block", required_argument, NULL, kBlock},
    {"imbalance", required_argument, NULL, kImbalance},
    {"dt", required_argument, NULL, kDt},
    {"seed", required_argument, NULL, kSeed},
    {"verify", no_argument, NULL, kVerify},
    {"labels", no_argument, NULL, kLabels},
    {"help", no_argument, NULL, kHelp},
    {NULL, 0, NULL, 0},
};

static void apply_option(Options *options, int option, char **argv) {
  switch (option) {
    case kBodies:
      options->bodies = (int)whole(options, "bodies", 1, kMostBodies);
      break;
    case kSteps:
      options->steps = (int)whole(options, "steps", 1, kMostSteps);
      break;
    case kBlock:
      options->block = (int)whole(options, "block", 1, kLargestBlock);
      break;
    case kImbalance:
      options->imbalance = real(options, "imbalance", 0, 1);
      break;
    case kDt:
      options->dt = real(options, "dt", 1e-9, kLongestDt);
      break;
    case kSeed:
      options->seed = whole(options, "seed", 0, LLONG_MAX);
      break;
    case kVerify:
      options->verify = true;
      break;
    case kLabels:
      options->labels = true;
      break;
    case kHelp:
      options->help = true;
      break;
    case ':':
      mistake(options, "option '%s' needs a value; see --help", argv[optind - 1]);
      break;
    default:
      mistake(options, "unknown option '%s'; see --help", argv[optind - 1]);
  }
}

void options_parse(Options *options, int argc, char **argv) {
  *options = (Options){.bodies = kDefaultBodies,
                       .steps = kDefaultSteps,
                       .block = kDefaultBlock,
                       .dt = kDefaultDt,
                       .seed = 1};
  int option;
  while ((option = getopt_long(argc, argv, ":", kOptions, NULL)) != -1) {
    apply_option(options, option, argv);
  }
  if (optind < argc) {
    mistake(options, "unexpected argument '%s'; see --help", argv[optind]);
  }
  if (options->verify && options->steps * options->dt > kLongestVerified * (1 + 1e-9)) {
    mistake(options, "--verify compares trajectories over a time of at most %g, not %d steps of %g: take fewer steps",
            kLongestVerified, options->steps, options->dt);
  }
}
