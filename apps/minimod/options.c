/* SPDX-License-Identifier: Apache-2.0
 *
 * The table of the options; see options.h. Main thread only.
 */
#include "options.h"

#include <stdio.h>

#include "argument.h"

enum {
  kFewestPoints = 8, /* each side has images of three */
  kMostPoints = 10000,
  kMost = 1000000,
};

static const double kLargestCourant = 0.45; /* 2 / sqrt(3 * 6.502) is 0.4529: beyond it the shortest wave grows */

static const char* const kForms[] = {"copies", "updates", NULL};
static const char* const kModels[] = {"uniform", "layers", NULL};
static const char* const kStarts[] = {"point", "mode", NULL};

const char* options_form(const Options* options) { return kForms[options->form]; }
const char* options_model(const Options* options) { return kModels[options->model]; }
const char* options_start(const Options* options) { return kStarts[options->start]; }

static void parse_grid(const char* option, const char* text, void* member, Failure* failure) {
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
    failure_note(failure, kExitInput, "%s takes N or XxYxZ, numbers from %d to %d, not '%s'", option, kFewestPoints,
                 kMostPoints, text);
    return;
  }
  int* grid = member;
  for (int i = 0; i < 3; ++i) {
    grid[i] = (int)points[count == 1 ? 0 : i];
  }
}

static const Argument kArguments[] = {
    {"--grid N or XxYxZ     points (default {default} each way)", kParsed, offsetof(Options, grid), "96",
     .parse = parse_grid},
    {"--steps K             time steps (default {default})", kInt, offsetof(Options, steps), "100", .low = 1,
     .high = kMost},
    {"--courant C           what a wave travels in a step, in grid spacings, up to {high} (default {default})", kReal,
     offsetof(Options, courant), "0.25", .low = 0.001, .high = kLargestCourant},
    {"--model MODEL         uniform (default) or layers: four layers along z, of different speeds", kChoice,
     offsetof(Options, model), "uniform", .words = kModels},
    {"--start START         point (default): a source in the middle; mode: a standing wave", kChoice,
     offsetof(Options, start), "point", .words = kStarts},
    {"--wavelength W        of the source's strongest frequency, in grid spacings (default {default})", kReal,
     offsetof(Options, wavelength), "10", .low = 4, .high = kMost},
    {"--sponge W            points on each side that absorb waves (default {default}: the border reflects)", kInt,
     offsetof(Options, sponge), "0", .high = kMostPoints},
    {"--sleep MS            kernels sleep that long per step and slab instead of computing", kReal,
     .member = offsetof(Options, sleep), .low = 0.001, .high = kMost},
    {"--overlap             also time kernels and halos alone, and say which part of the latter is hidden", kFlag,
     .member = offsetof(Options, overlap)},
    {"--exact               compare with the exact solution in a uniform medium", kFlag,
     .member = offsetof(Options, exact)},
    {"--serial              compare with a serial run, bit for bit", kFlag, .member = offsetof(Options, serial)},
    {"--help", kFlag, .member = offsetof(Options, help)},
    {"--devices D           how many devices (default all)", kInt, .member = offsetof(Options, devices), .low = 1,
     .high = kMost, .given = offsetof(Options, device_option)},
    {"--form FORM           copies (default): halos go from device to device; updates: through the host", kChoice,
     offsetof(Options, form), "copies", .words = kForms, .given = offsetof(Options, device_option)},
    {"--host                no devices: a parallel loop per step", kFlag, .member = offsetof(Options, host),
     .given = offsetof(Options, device_option)},
    {"--chunk C             points along z that one device thread computes (default: all; 1 for GPUs)", kInt,
     .member = offsetof(Options, chunk), .low = 1, .high = kMostPoints, .given = offsetof(Options, device_option)},
    {"--picture FILE        writes the pressure in the middle x-z plane, a PGM", kText,
     .member = offsetof(Options, picture), .given = offsetof(Options, device_option)},
    {0}};

void options_print_usage(bool mpi) {
  printf(
      "usage: minimod%s [OPTIONS]\n"
      "Waves of pressure in a box, cut along x into one slab per %s.\n",
      mpi ? "-mpi" : "", mpi ? "MPI rank" : "device");
  for (const Argument* row = kArguments; row->help && !(mpi && row->given); ++row) {
    argument_print(row);
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
  *options = (Options){0};
  arguments_parse(kArguments, kTwoDashes, options, argc, argv, failure);
  check_together(options, failure);
}
