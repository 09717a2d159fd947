/* SPDX-License-Identifier: Apache-2.0
 *
 * Parsing of the command line with getopt_long; see options.h. Main thread only.
 */
#include "options.h"

#include <getopt.h>
#include <stdio.h>

#include "argument.h"

enum {
  kDefaultGridpoints = 11303, /* the average in the reactor's real data */
  kDefaultLookups = 17000000,
  kMostGridpoints = 1 << 24,
  kMostDevices = 1024,
  kMostKernels = 1 << 16,
};

static const long long kMostLookups = 1000000000000;
static const double kLongestSleep = 1e7;

/* Of kDefaultLookups lookups with kDefaultGridpoints, by events, in double precision: XSBench version 20. */
static const unsigned long long kPublished[] = {[kSizeSmall] = 945990, [kSizeLarge] = 952131};

static const char* const kSizes[] = {"small", "large", NULL};
static const char* const kGridNames[] = {"unionised", "nuclide", "hash", NULL};
static const char* const kScalings[] = {"strong", "weak", NULL};
static const char* const kChecks[] = {"known", "host", "none", NULL};

void options_print_usage(void) {
  printf(
      "usage: xsbench [OPTION]...\n"
      "Cross sections of a reactor's materials at random energies, looked up by devices.\n"
      "  --size SIZE      small (default): %d nuclides; large: %d\n"
      "  --grid GRID      unionised (default), nuclide, hash\n"
      "  --gridpoints G   energies of each nuclide (default %d)\n"
      "  --lookups L      default %d\n"
      "  --devices D      0 (default): all\n"
      "  --kernels K      of each device (default 1)\n"
      "  --scaling HOW    strong (default): L lookups of all devices; weak: of each device\n"
      "  --host           no device: a parallel loop\n"
      "  --sleep MS       kernels sleep, as if one device did L lookups in MS milliseconds\n"
      "  --check HOW      known (default): the published checksum if there is one, otherwise the host's; host; none\n"
      "  --expect C       the checksum must be C\n",
      kSmallNuclides, kLargeNuclides, kDefaultGridpoints, kDefaultLookups);
}

enum { kSize = 256, kGrid, kGridpoints, kLookups, kDevices, kKernels, kScaling, kHost, kSleep, kCheck, kExpect, kHelp };

static const struct option kOptions[] = {
    {"size", required_argument, NULL, kSize},
    {"grid", required_argument, NULL, kGrid},
    {"gridpoints", required_argument, NULL, kGridpoints},
    {"lookups", required_argument, NULL, kLookups},
    {"devices", required_argument, NULL, kDevices},
    {"kernels", required_argument, NULL, kKernels},
    {"scaling", required_argument, NULL, kScaling},
    {"host", no_argument, NULL, kHost},
    {"sleep", required_argument, NULL, kSleep},
    {"check", required_argument, NULL, kCheck},
    {"expect", required_argument, NULL, kExpect},
    {"help", no_argument, NULL, kHelp},
    {NULL, 0, NULL, 0},
};

static void apply_option(Options* options, int option, char** argv, Failure* failure) {
  switch (option) {
    case kSize: options->size = (Size)argument_word("--size", optarg, kSizes, failure); break;
    case kGrid: options->grid = (GridKind)argument_word("--grid", optarg, kGridNames, failure); break;
    case kGridpoints:
      options->gridpoints = (int)argument_whole("--gridpoints", optarg, 2, kMostGridpoints, failure);
      break;
    case kLookups: options->lookups = argument_whole("--lookups", optarg, 1, kMostLookups, failure); break;
    case kDevices: options->devices = (int)argument_whole("--devices", optarg, 0, kMostDevices, failure); break;
    case kKernels: options->kernels = (int)argument_whole("--kernels", optarg, 1, kMostKernels, failure); break;
    case kScaling: options->weak = argument_word("--scaling", optarg, kScalings, failure) != 0; break;
    case kHost: options->host = true; break;
    case kSleep: options->sleep_ms = argument_real("--sleep", optarg, 1e-3, kLongestSleep, failure); break;
    case kCheck: options->check = (Check)argument_word("--check", optarg, kChecks, failure); break;
    case kExpect: options->expected = argument_whole("--expect", optarg, 0, kMostLookups, failure); break;
    case kHelp: options->help = true; break;
    default: argument_refuse_option(option, argv[optind - 1], failure);
  }
}

void options_parse(Options* options, int argc, char** argv, Failure* failure) {
  *options = (Options){.gridpoints = kDefaultGridpoints, .lookups = kDefaultLookups, .kernels = 1, .expected = -1};
  int option;
  while ((option = getopt_long(argc, argv, ":", kOptions, NULL)) != -1) {
    apply_option(options, option, argv, failure);
  }
  argument_refuse_more(argc - optind, argv + optind, failure);
  if (options->host && (options->devices > 0 || options->weak || options->kernels > 1 || options->sleep_ms > 0)) {
    failure_note(failure, kExitInput, "--host uses no device: leave out --devices, --kernels, --scaling and --sleep");
  }
}

int options_nuclides(const Options* options) { return options->size == kSizeLarge ? kLargeNuclides : kSmallNuclides; }

unsigned long long options_published(const Options* options, long long lookups) {
  const bool published = lookups == kDefaultLookups && options->gridpoints == kDefaultGridpoints;
  return published ? kPublished[options->size] : 0;
}

const char* options_size(const Options* options) { return kSizes[options->size]; }

const char* options_grid(const Options* options) { return kGridNames[options->grid]; }

const char* options_scaling(const Options* options) { return kScalings[options->weak]; }
