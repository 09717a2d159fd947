/* SPDX-License-Identifier: Apache-2.0
 *
 * Parsing of the command line with getopt_long; see options.h. Main thread only.
 */
#include "options.h"

#include <getopt.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "argument.h"

enum { kLargestSize = 645, kMostCycles = 9999999, kMostRegions = 100000, kMostBalance = 10, kMostCost = 1000000 };

static const char *const kForms[] = {[kFormSerial] = "serial", [kFormLoops] = "for"};
enum { kFormCount = sizeof kForms / sizeof *kForms };

const char *options_form(const Options *options) { return kForms[options->form]; }

void options_print_usage(void) {
  printf("usage: lulesh [-s N] [-i CYCLES] [-r REGIONS] [-b BALANCE] [-c COST] [-p] [-q] [--form FORM]\n"
         "A blast in an ideal gas on a moving mesh (LULESH 2.0): 1, 8, 27, ... MPI ranks x OpenMP threads.\n"
         "  -s N        elements along an edge of each rank's cube, 1 to %d (default 30)\n"
         "  -i CYCLES   at most so many cycles (default %d)\n"
         "  -r REGIONS  1 to %d (default 11)\n"
         "  -b BALANCE  region i gets elements in proportion to i^BALANCE, 0 to %d (default 1)\n"
         "  -c COST     of the dearer regions, 0 to %d (default 1)\n"
         "  -p          print cycle, time and step of each cycle\n"
         "  -q          print nothing\n"
         "  -f, -v      of the reference's pictures: read, and without effect\n"
         "  --form FORM serial: one thread; for: parallel loops (default)\n",
         kLargestSize, kMostCycles, kMostRegions, kMostBalance, kMostCost);
}

enum { kForm = 256 };

static const struct option kLong[] = {
    {"form", required_argument, NULL, kForm}, {"help", no_argument, NULL, 'h'}, {NULL, 0, NULL, 0}};

static void read_form(Options *options, const char *word, Failure *failure) {
  for (int form = 0; form < kFormCount; ++form) {
    if (strcmp(word, kForms[form]) == 0) {
      options->form = (FormName)form;
      return;
    }
  }
  failure_note(failure, kExitInput, "--form takes serial or for, not '%s'", word);
}

static void apply_option(Options *options, int option, char **argv, Failure *failure) {
  switch (option) {
    case 's': options->size = (int)argument_whole("-s", optarg, 1, kLargestSize, failure); break;
    case 'i': options->cycles = (int)argument_whole("-i", optarg, 1, kMostCycles, failure); break;
    case 'r': options->regions = (int)argument_whole("-r", optarg, 1, kMostRegions, failure); break;
    case 'b': options->balance = (int)argument_whole("-b", optarg, 0, kMostBalance, failure); break;
    case 'c': options->cost = (int)argument_whole("-c", optarg, 0, kMostCost, failure); break;
    case 'f': argument_whole("-f", optarg, 1, INT_MAX, failure); break;
    case 'v': break;
    case 'p': options->prints_cycles = true; break;
    case 'q': options->quiet = true; break;
    case 'h': options->help = true; break;
    case kForm: read_form(options, optarg, failure); break;
    default: argument_refuse_option(option, argv[optind - 1], failure);
  }
}

/* Regions are drawn by random numbers below the sum of their weights. */
static void check_weights(const Options *options, Failure *failure) {
  double sum = 0;
  for (int i = 1; i <= options->regions; ++i) {
    sum += pow(i, options->balance);
  }
  if (sum > INT_MAX) {
    failure_note(failure, kExitInput, "the weights of %d regions with -b %d have the sum %.3g, of more than %d; take fewer regions",
                 options->regions, options->balance, sum, INT_MAX);
  }
}

void options_parse(Options *options, int argc, char **argv, Failure *failure) {
  *options = (Options){.size = 30, .cycles = kMostCycles, .regions = 11, .balance = 1, .cost = 1, .form = kFormLoops};
  int option;
  while ((option = getopt_long(argc, argv, ":s:i:r:b:c:f:vpqh", kLong, NULL)) != -1) {
    apply_option(options, option, argv, failure);
  }
  argument_refuse_more(argc - optind, argv + optind, failure);
  check_weights(options, failure);
}
