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

enum {
  kLargestSize = 645,
  kMostCycles = 9999999,
  kMostRegions = 100000,
  kMostBalance = 10,
  kMostCost = 1000000,
  kMostTasks = 100000,
  kMostRequests = 1000,
  kMostCreation = 1000000
};

static const char* const kForms[] = {"serial", "for", "tasks", "persistent", "bsp", "speculative", NULL};
static const char* const kModes[] = {"barrier", "nowait", "replay", NULL}; /* as marline_graph_begin numbers them */
static const char* const kNamings[] = {"tiles", "minimal", NULL};
static const char* const kAddresses[] = {"tiles", "data", NULL};
static const char* const kAllocations[] = {"once", "cycle", NULL};
static const char* const kPasses[] = {"objects", "clauses", NULL};

const char* options_form(const Options* options) { return kForms[options->form]; }

bool options_have_tasks(const Options* options) { return options->form >= kFormTasks; }

void options_print_usage(void) {
  printf(
      "usage: lulesh [-s N] [-i CYCLES] [-r REGIONS] [-b BALANCE] [-c COST] [-p] [-q] [--form FORM] [options]\n"
      "A blast in an ideal gas on a moving mesh (LULESH 2.0): 1, 8, 27, ... MPI ranks x OpenMP threads.\n"
      "  -s N        elements along an edge of each rank's cube, 1 to %d (default 30)\n"
      "  -i CYCLES   at most so many cycles (default %d)\n"
      "  -r REGIONS  1 to %d (default 11)\n"
      "  -b BALANCE  region i gets elements in proportion to i^BALANCE, 0 to %d (default 1)\n"
      "  -c COST     of the dearer regions, 0 to %d (default 1)\n"
      "  -p          print cycle, time and step of each cycle\n"
      "  -q          print nothing\n"
      "  -f, -v      of the reference's pictures: read, and without effect\n"
      "  --form FORM serial: one thread; for: parallel loops (default); tasks, persistent, bsp, speculative:\n"
      "              dependent tasks\n",
      kLargestSize, kMostCycles, kMostRegions, kMostBalance, kMostCost);
  printf(
      "  -tel N      tasks per loop over elements; auto (default): 16 or more, of at most 8192 elements\n"
      "  -tnl N      tasks per loop over nodes, likewise\n"
      "  -rpf N      messages per exchange with a neighbour at a face (default 1)\n"
      "  -rpe N      messages per exchange with a neighbour at an edge (default 1)\n"
      "  --mode MODE         of a persistent graph: barrier, nowait (default), replay\n"
      "  --remesh CYCLES     with persistent: cut the mesh into other blocks every so many cycles\n"
      "  --dependences NAMES tiles: all that a task touches; minimal (default): without those that others imply\n"
      "  --addresses OF      dependences name tiles: their numbers (default); data: what is first in a block's data\n"
      "  --pass HOW          objects: prepared once (default where the runtime can); clauses: depend clauses\n");
  printf(
      "For measurements:\n"
      "  --creation-us US    each creation of a task takes so many microseconds longer\n"
      "  --allocate WHEN     with serial and for, arrays that last from loop to loop: once (default), or each cycle\n"
      "  --loop-times        with serial: how long each loop takes\n"
      "  --footprint FILE    write which memory each task of a cycle touches, and end; one process\n");
}

enum {
  kForm = 256,
  kTel,
  kTnl,
  kRpf,
  kRpe,
  kMode,
  kRemesh,
  kDependences,
  kOf,
  kHow,
  kCreation,
  kAllocate,
  kTimes,
  kFootprint
};

static const struct option kLong[] = {{"form", required_argument, NULL, kForm},
                                      {"tel", required_argument, NULL, kTel},
                                      {"tnl", required_argument, NULL, kTnl},
                                      {"rpf", required_argument, NULL, kRpf},
                                      {"rpe", required_argument, NULL, kRpe},
                                      {"mode", required_argument, NULL, kMode},
                                      {"remesh", required_argument, NULL, kRemesh},
                                      {"dependences", required_argument, NULL, kDependences},
                                      {"addresses", required_argument, NULL, kOf},
                                      {"pass", required_argument, NULL, kHow},
                                      {"creation-us", required_argument, NULL, kCreation},
                                      {"allocate", required_argument, NULL, kAllocate},
                                      {"loop-times", no_argument, NULL, kTimes},
                                      {"footprint", required_argument, NULL, kFootprint},
                                      {"help", no_argument, NULL, 'h'},
                                      {NULL, 0, NULL, 0}};

static int read_tasks(const char* option, Failure* failure) {
  return strcmp(optarg, "auto") == 0 ? 0 : (int)argument_whole(option, optarg, 1, kMostTasks, failure);
}

/* True if the option is about tasks or messages. */
static bool apply_task_option(Options* options, int option, Failure* failure) {
  switch (option) {
    case kTel: options->element_tasks = read_tasks("-tel", failure); return true;
    case kTnl: options->node_tasks = read_tasks("-tnl", failure); return true;
    case kRpf: options->per_face = (int)argument_whole("-rpf", optarg, 1, kMostRequests, failure); return true;
    case kRpe: options->per_edge = (int)argument_whole("-rpe", optarg, 1, kMostRequests, failure); return true;
    case kMode: options->graph_mode = argument_word("--mode", optarg, kModes, failure); return true;
    case kRemesh: options->remesh = (int)argument_whole("--remesh", optarg, 1, kMostCycles, failure); return true;
    case kDependences: options->naming = argument_word("--dependences", optarg, kNamings, failure); return true;
    case kOf: options->addresses = argument_word("--addresses", optarg, kAddresses, failure); return true;
    case kHow: options->pass = argument_word("--pass", optarg, kPasses, failure); return true;
    default: return false;
  }
}

/* True if the option is about measurements. */
static bool apply_measuring(Options* options, int option, Failure* failure) {
  switch (option) {
    case kCreation:
      options->creation_us = (double)argument_whole("--creation-us", optarg, 0, kMostCreation, failure);
      return true;
    case kAllocate:
      options->allocates_each_cycle = argument_word("--allocate", optarg, kAllocations, failure) == 1;
      return true;
    case kTimes: options->times_loops = true; return true;
    case kFootprint: options->footprint = optarg; return true;
    default: return false;
  }
}

static void apply_option(Options* options, int option, char** argv, Failure* failure) {
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
    case kForm: options->form = (FormName)argument_word("--form", optarg, kForms, failure); break;
    default: argument_refuse_option(option, argv[optind - 1], failure);
  }
}

/* Regions are drawn by random numbers below the sum of their weights. */
static void check_weights(const Options* options, Failure* failure) {
  double sum = 0;
  for (int i = 1; i <= options->regions; ++i) {
    sum += pow(i, options->balance);
  }
  if (sum > INT_MAX) {
    failure_note(failure, kExitInput,
                 "the weights of %d regions with -b %d have the sum %.3g, of more than %d; take fewer "
                 "regions",
                 options->regions, options->balance, sum, INT_MAX);
  }
}

static void check_measuring(const Options* options, Failure* failure) {
  if (options->allocates_each_cycle && options_have_tasks(options)) {
    failure_note(failure, kExitInput,
                 "--allocate cycle goes with --form serial and for: no other form has a moment "
                 "between two cycles");
  }
  if (options->times_loops && options->form != kFormSerial) {
    failure_note(failure, kExitInput, "--loop-times goes with --form serial: else loops share the processors");
  }
}

void options_parse(Options* options, int argc, char** argv, Failure* failure) {
  *options = (Options){.size = 30,
                       .cycles = kMostCycles,
                       .regions = 11,
                       .balance = 1,
                       .cost = 1,
                       .form = kFormLoops,
                       .per_face = 1,
                       .per_edge = 1,
                       .graph_mode = 1,
                       .naming = 1};
  int option;
  while ((option = getopt_long_only(argc, argv, ":s:i:r:b:c:f:vpqh", kLong, NULL)) != -1) {
    if (!apply_task_option(options, option, failure) && !apply_measuring(options, option, failure)) {
      apply_option(options, option, argv, failure);
    }
  }
  argument_refuse_more(argc - optind, argv + optind, failure);
  check_weights(options, failure);
  check_measuring(options, failure);
  if (options->remesh > 0 && options->form != kFormPersistent) {
    failure_note(failure, kExitInput,
                 "--remesh shows how a persistent graph is made anew: it goes with --form "
                 "persistent");
  }
}
