/* SPDX-License-Identifier: Apache-2.0
 *
 * Parsing of the command line with getopt_long; see options.h. Main thread only.
 */
#include "options.h"

#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "argument.h"

enum {
  kDefaultPoints = 96,
  kDefaultSteps = 100,
  kFewestPoints = 8, /* each side has images of three */
  kMostPoints = 10000,
  kMost = 1000000,
};

static const double kDefaultCourant = 0.25;
static const double kLargestCourant = 0.45; /* 2 / sqrt(3 * 6.502) is 0.4529: beyond it the shortest wave grows */
static const double kDefaultWavelength = 10;

static const char* const kFormNames[kForms] = {"copies", "updates"};
static const char* const kModelNames[kModels] = {"uniform", "layers"};
static const char* const kStartNames[kStarts] = {"point", "mode"};

const char* options_form(const Options* options) { return kFormNames[options->form]; }
const char* options_model(const Options* options) { return kModelNames[options->model]; }
const char* options_start(const Options* options) { return kStartNames[options->start]; }

void options_print_usage(bool mpi) {
  printf(
      "usage: minimod%s [OPTIONS]\n"
      "Waves of pressure in a box, cut along x into one slab per %s.\n"
      "  --grid N or XxYxZ     points (default %d each way)\n"
      "  --steps K             time steps (default %d)\n"
      "  --courant C           what a wave travels in a step, in grid spacings, up to %g (default %g)\n"
      "  --model MODEL         uniform (default) or layers: four layers along z, of different speeds\n"
      "  --start START         point (default): a source in the middle; mode: a standing wave\n"
      "  --wavelength W        of the source's strongest frequency, in grid spacings (default %g)\n"
      "  --sponge W            points on each side that absorb waves (default 0: the border reflects)\n"
      "  --sleep MS            kernels sleep that long per step and slab instead of computing\n"
      "  --overlap             also time kernels and halos alone, and say which part of the latter is hidden\n"
      "  --exact               compare with the exact solution in a uniform medium\n"
      "  --serial              compare with a serial run, bit for bit\n",
      mpi ? "-mpi" : "", mpi ? "MPI rank" : "device", kDefaultPoints, kDefaultSteps, kLargestCourant, kDefaultCourant,
      kDefaultWavelength);
  if (!mpi) {
    printf(
        "  --devices D           how many devices (default all)\n"
        "  --form FORM           copies (default): halos go from device to device; updates: through the host\n"
        "  --host                no devices: a parallel loop per step\n"
        "  --chunk C             points along z that one device thread computes (default: all; 1 for GPUs)\n"
        "  --picture FILE        writes the pressure in the middle x-z plane, a PGM\n");
  }
}

static int parse_name(const char* option, const char* text, const char* const names[], int count, Failure* failure) {
  for (int i = 0; i < count; ++i) {
    if (strcmp(text, names[i]) == 0) {
      return i;
    }
  }
  failure_note(failure, kExitInput, "%s takes %s or %s, not '%s'", option, names[0], names[1], text);
  return 0;
}

static void parse_grid(Options* options, const char* text, Failure* failure) {
  long long points[3];
  const char* end = text;
  int count = 0;
  while (end && count < 3) {
    end = argument_parse(end, kFewestPoints, kMostPoints, &points[count++]);
    if (!end || *end != 'x') {
      break;
    }
    ++end;
  }
  if (!end || *end != '\0' || count == 2) {
    failure_note(failure, kExitInput, "--grid takes N or XxYxZ, numbers from %d to %d, not '%s'", kFewestPoints,
                 kMostPoints, text);
    return;
  }
  for (int i = 0; i < 3; ++i) {
    options->grid[i] = (int)points[count == 1 ? 0 : i];
  }
}

enum {
  kGrid = 256,
  kSteps,
  kCourant,
  kModel,
  kStart,
  kWavelength,
  kSponge,
  kSleep,
  kOverlap,
  kExact,
  kSerial,
  kHelp,
  kDevices,
  kForm,
  kHost,
  kChunk,
  kPicture, /* of minimod only */
};

static const struct option kOptions[] = {
    {"grid", required_argument, NULL, kGrid},
    {"steps", required_argument, NULL, kSteps},
    {"courant", required_argument, NULL, kCourant},
    {"model", required_argument, NULL, kModel},
    {"start", required_argument, NULL, kStart},
    {"wavelength", required_argument, NULL, kWavelength},
    {"sponge", required_argument, NULL, kSponge},
    {"sleep", required_argument, NULL, kSleep},
    {"overlap", no_argument, NULL, kOverlap},
    {"exact", no_argument, NULL, kExact},
    {"serial", no_argument, NULL, kSerial},
    {"help", no_argument, NULL, kHelp},
    {"devices", required_argument, NULL, kDevices},
    {"form", required_argument, NULL, kForm},
    {"host", no_argument, NULL, kHost},
    {"chunk", required_argument, NULL, kChunk},
    {"picture", required_argument, NULL, kPicture},
    {NULL, 0, NULL, 0},
};

static void apply_device_option(Options* options, int option, Failure* failure) {
  options->device_option = kOptions[option - kGrid].name;
  switch (option) {
    case kDevices: options->devices = (int)argument_whole("--devices", optarg, 1, kMost, failure); break;
    case kForm: options->form = (Form)parse_name("--form", optarg, kFormNames, kForms, failure); break;
    case kHost: options->host = true; break;
    case kChunk: options->chunk = (int)argument_whole("--chunk", optarg, 1, kMostPoints, failure); break;
    default: options->picture = optarg;
  }
}

static void apply_option(Options* options, int option, char** argv, Failure* failure) {
  switch (option) {
    case kGrid: parse_grid(options, optarg, failure); break;
    case kSteps: options->steps = (int)argument_whole("--steps", optarg, 1, kMost, failure); break;
    case kCourant: options->courant = argument_real("--courant", optarg, 0.001, kLargestCourant, failure); break;
    case kModel: options->model = (Model)parse_name("--model", optarg, kModelNames, kModels, failure); break;
    case kStart: options->start = (Start)parse_name("--start", optarg, kStartNames, kStarts, failure); break;
    case kWavelength: options->wavelength = argument_real("--wavelength", optarg, 4, kMost, failure); break;
    case kSponge: options->sponge = (int)argument_whole("--sponge", optarg, 0, kMostPoints, failure); break;
    case kSleep: options->sleep = argument_real("--sleep", optarg, 0.001, kMost, failure); break;
    case kOverlap: options->overlap = true; break;
    case kExact: options->exact = true; break;
    case kSerial: options->serial = true; break;
    case kHelp: options->help = true; break;
    default:
      if (option >= kDevices && option <= kPicture) {
        apply_device_option(options, option, failure);
      } else {
        argument_refuse_option(option, argv[optind - 1], failure);
      }
  }
}

static void check_together(const Options* options, Failure* failure) {
  for (int i = 0; i < 3; ++i) {
    if (2 * options->sponge > options->grid[i]) {
      failure_note(failure, kExitInput, "--sponge %d does not fit twice into %d points", options->sponge,
                   options->grid[i]);
    }
  }
  if (options->sleep > 0 && (options->exact || options->serial || options->picture)) {
    failure_note(failure, kExitInput, "--sleep computes nothing, so there is no result for %s",
                 options->exact    ? "--exact"
                 : options->serial ? "--serial"
                                   : "--picture");
  }
  if (options->overlap && (options->sleep == 0 || options->host)) {
    failure_note(failure, kExitInput, "--overlap leaves halos and kernels out in turns: it needs --sleep, and devices");
  }
  if (options->exact && options->model != kModelUniform) {
    failure_note(failure, kExitInput, "--exact knows the solution with --model uniform only, not %s",
                 options_model(options));
  }
  if (options->exact && options->start == kStartMode && options->sponge > 0) {
    failure_note(failure, kExitInput, "--exact knows the standing wave without a sponge only, not with --sponge %d",
                 options->sponge);
  }
  if (options->host && options->devices > 0) {
    failure_note(failure, kExitInput, "--host uses no device: leave out --devices %d", options->devices);
  }
}

void options_parse(Options* options, int argc, char** argv, Failure* failure) {
  *options = (Options){.grid = {kDefaultPoints, kDefaultPoints, kDefaultPoints},
                       .steps = kDefaultSteps,
                       .courant = kDefaultCourant,
                       .wavelength = kDefaultWavelength};
  int option;
  while ((option = getopt_long(argc, argv, ":", kOptions, NULL)) != -1) {
    apply_option(options, option, argv, failure);
  }
  argument_refuse_more(argc - optind, argv + optind, failure);
  check_together(options, failure);
}
