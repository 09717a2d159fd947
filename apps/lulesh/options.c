/* SPDX-License-Identifier: Apache-2.0
 *
 * The table of the options; see options.h. Main thread only.
 */
#include "options.h"

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

static void parse_tasks(const char* option, const char* text, void* member, Failure* failure) {
  *(int*)member = strcmp(text, "auto") == 0 ? 0 : (int)argument_whole(option, text, 1, kMostTasks, failure);
}

static const Argument kArguments[] = {
    {"-s N        elements along an edge of each rank's cube, 1 to {high} (default {default})", kInt,
     offsetof(Options, size), "30", .low = 1, .high = kLargestSize},
    {"-i CYCLES   at most so many cycles (default {default})", kInt, offsetof(Options, cycles), "9999999", .low = 1,
     .high = kMostCycles},
    {"-r REGIONS  1 to {high} (default {default})", kInt, offsetof(Options, regions), "11", .low = 1,
     .high = kMostRegions},
    {"-b BALANCE  region i gets elements in proportion to i^BALANCE, 0 to {high} (default {default})", kInt,
     offsetof(Options, balance), "1", .high = kMostBalance},
    {"-c COST     of the dearer regions, 0 to {high} (default {default})", kInt, offsetof(Options, cost), "1",
     .high = kMostCost},
    {"-p          print cycle, time and step of each cycle", kFlag, .member = offsetof(Options, prints_cycles)},
    {"-q          print nothing", kFlag, .member = offsetof(Options, quiet)},
    {"-f", kInt, .member = offsetof(Options, picture_files), .low = 1, .high = INT_MAX},
    {"-v", kFlag, .member = offsetof(Options, pictures)},
    {"  -f, -v      of the reference's pictures: read, and without effect", kHeading, .member = 0},
    {"--form FORM serial: one thread; for: parallel loops (default); tasks, persistent, bsp, speculative:\n"
     "              dependent tasks",
     kWord, offsetof(Options, form), "for", .words = kForms},
    {"-tel N      tasks per loop over elements; auto (default): 16 or more, of at most 8192 elements", kParsed,
     .member = offsetof(Options, element_tasks), .parse = parse_tasks},
    {"-tnl N      tasks per loop over nodes, likewise", kParsed, .member = offsetof(Options, node_tasks),
     .parse = parse_tasks},
    {"-rpf N      messages per exchange with a neighbour at a face (default {default})", kInt,
     offsetof(Options, per_face), "1", .low = 1, .high = kMostRequests},
    {"-rpe N      messages per exchange with a neighbour at an edge (default {default})", kInt,
     offsetof(Options, per_edge), "1", .low = 1, .high = kMostRequests},
    {"--mode MODE         of a persistent graph: barrier, nowait (default), replay", kWord,
     offsetof(Options, graph_mode), "nowait", .words = kModes},
    {"--remesh CYCLES     with persistent: cut the mesh into other blocks every so many cycles", kInt,
     .member = offsetof(Options, remesh), .low = 1, .high = kMostCycles},
    {"--dependences NAMES tiles: all that a task touches; minimal (default): without those that others imply", kWord,
     offsetof(Options, naming), "minimal", .words = kNamings},
    {"--addresses OF      dependences name tiles: their numbers (default); data: what is first in a block's data",
     kWord, offsetof(Options, addresses), "tiles", .words = kAddresses},
    {"--pass HOW          objects: prepared once (default where the runtime can); clauses: depend clauses", kWord,
     offsetof(Options, pass), "objects", .words = kPasses},
    {"For measurements:", kHeading, .member = 0},
    {"--creation-us US    each creation of a task takes so many microseconds longer", kInt,
     .member = offsetof(Options, creation_us), .high = kMostCreation},
    {"--allocate WHEN     with serial and for, arrays that last from loop to loop: once (default), or each cycle",
     kWord, offsetof(Options, allocates_each_cycle), "once", .words = kAllocations},
    {"--loop-times        with serial: how long each loop takes", kFlag, .member = offsetof(Options, times_loops)},
    {"--footprint FILE    write which memory each task of a cycle touches, and end; one process", kText,
     .member = offsetof(Options, footprint)},
    {"--help", kFlag, .member = offsetof(Options, help)},
    {"-h", kFlag, .member = offsetof(Options, help)},
    {0}};

void options_print_usage(void) {
  printf(
      "usage: lulesh [-s N] [-i CYCLES] [-r REGIONS] [-b BALANCE] [-c COST] [-p] [-q] [--form FORM] [options]\n"
      "A blast in an ideal gas on a moving mesh (LULESH 2.0): 1, 8, 27, ... MPI ranks x OpenMP threads.\n");
  arguments_print(kArguments);
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
  *options = (Options){0};
  arguments_parse(kArguments, kOneDash, options, argc, argv, failure);
  check_weights(options, failure);
  check_measuring(options, failure);
  if (options->remesh > 0 && options->form != kFormPersistent) {
    failure_note(failure, kExitInput,
                 "--remesh shows how a persistent graph is made anew: it goes with --form "
                 "persistent");
  }
}
