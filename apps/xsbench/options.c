/* SPDX-License-Identifier: Apache-2.0
 *
 * The table of the options; see options.h. Main thread only.
 */
#include "options.h"

#include <stdio.h>
#include <stdlib.h>

#include "argument.h"

enum {
  kMostGridpoints = 1 << 24,
  kMostDevices = 1024,
  kMostKernels = 1 << 16,
};

static const char kDefaultGridpoints[] = "11303"; /* the average in the reactor's real data */
static const char kDefaultLookups[] = "17000000";
static const double kMostLookups = 1e12, kLongestSleep = 1e7;

/* Of kDefaultLookups lookups with kDefaultGridpoints, by events, in double precision: XSBench version 20. */
static const unsigned long long kPublished[] = {[kSizeSmall] = 945990, [kSizeLarge] = 952131};

static const char* const kSizes[] = {"small", "large", NULL};
static const char* const kGridNames[] = {"unionised", "nuclide", "hash", NULL};
static const char* const kScalings[] = {"strong", "weak", NULL};
static const char* const kChecks[] = {"known", "host", "none", NULL};

static const Argument kArguments[] = {
    {"--size SIZE      small (default): {low} nuclides; large: {high}", kWord, offsetof(Options, size), "small",
     .low = kSmallNuclides, .high = kLargeNuclides, .words = kSizes},
    {"--grid GRID      unionised (default), nuclide, hash", kWord, offsetof(Options, grid), "unionised",
     .words = kGridNames},
    {"--gridpoints G   energies of each nuclide (default {default})", kInt, offsetof(Options, gridpoints),
     kDefaultGridpoints, .low = 2, .high = kMostGridpoints},
    {"--lookups L      default {default}", kLong, offsetof(Options, lookups), kDefaultLookups, .low = 1,
     .high = kMostLookups},
    {"--devices D      {default} (default): all", kInt, offsetof(Options, devices), "0", .high = kMostDevices},
    {"--kernels K      of each device (default {default})", kInt, offsetof(Options, kernels), "1", .low = 1,
     .high = kMostKernels},
    {"--scaling HOW    strong (default): L lookups of all devices; weak: of each device", kWord,
     offsetof(Options, weak), "strong", .words = kScalings},
    {"--host           no device: a parallel loop", kFlag, .member = offsetof(Options, host)},
    {"--sleep MS       kernels sleep, as if one device did L lookups in MS milliseconds", kReal,
     .member = offsetof(Options, sleep_ms), .low = 1e-3, .high = kLongestSleep},
    {"--check HOW      known (default): the published checksum if there is one, otherwise the host's; host; none",
     kWord, offsetof(Options, check), "known", .words = kChecks},
    {"--expect C       the checksum must be C", kLong, .member = offsetof(Options, expected), .high = kMostLookups},
    {"--help", kFlag, .member = offsetof(Options, help)},
    {0}};

void options_print_usage(void) {
  printf(
      "usage: xsbench [OPTION]...\n"
      "Cross sections of a reactor's materials at random energies, looked up by devices.\n");
  arguments_print(kArguments);
}

void options_parse(Options* options, int argc, char** argv, Failure* failure) {
  *options = (Options){.expected = -1};
  arguments_parse(kArguments, kTwoDashes, options, argc, argv, failure);
  if (options->host && (options->devices > 0 || options->weak || options->kernels > 1 || options->sleep_ms > 0)) {
    failure_note(failure, kExitInput, "--host uses no device: leave out --devices, --kernels, --scaling and --sleep");
  }
}

int options_nuclides(const Options* options) { return options->size == kSizeLarge ? kLargeNuclides : kSmallNuclides; }

unsigned long long options_published(const Options* options, long long lookups) {
  const bool published = lookups == atoll(kDefaultLookups) && options->gridpoints == atoi(kDefaultGridpoints);
  return published ? kPublished[options->size] : 0;
}

const char* options_size(const Options* options) { return kSizes[options->size]; }

const char* options_grid(const Options* options) { return kGridNames[options->grid]; }

const char* options_scaling(const Options* options) { return kScalings[options->weak]; }
