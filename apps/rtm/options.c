/* SPDX-License-Identifier: Apache-2.0
 *
 * The table of the options; see options.h. Main thread only.
 */
#include "options.h"

#include <stdio.h>
#include <string.h>

#include "argument.h"

enum {
  kFewestPoints = 32, /* a window and its border need some */
  kMostPoints = 20000,
  kMostSponge = 1000,
  kMostShots = 10000,
  kMostThreads = 1024,
};

static const double kLongestSleep = 1e6;

static const char* const kModels[] = {"layers", "wedge", NULL};
static const char* const kForms[] = {"serial", "tasks", "target", NULL};

const char* options_model(const Options* options) { return kModels[options->model]; }

const char* options_form(const Options* options) { return kForms[options->form]; }

static void parse_grid(const char* option, const char* text, void* member, Failure* failure) {
  long long columns = 0, rows = 0;
  const char* end = argument_parse(text, kFewestPoints, kMostPoints, &columns);
  if (end && *end == 'x') {
    end = argument_parse(end + 1, kFewestPoints, kMostPoints, &rows);
  }
  if (!end || *end != '\0' || rows == 0) {
    failure_note(failure, kExitInput, "%s takes XxZ, numbers from %d to %d, not '%s'", option, kFewestPoints,
                 kMostPoints, text);
    return;
  }
  int* grid = member;
  grid[0] = (int)columns;
  grid[1] = (int)rows;
}

static void parse_devices(const char* option, const char* text, void* member, Failure* failure) {
  int* devices = member;
  long long value = 0;
  const char* end = argument_parse(text, 1, kMostDevices, &value);
  if (strcmp(text, "all") == 0 || strcmp(text, "default") == 0) {
    *devices = strcmp(text, "all") == 0 ? kDevicesAll : kDevicesDefault;
  } else if (end && *end == '\0') {
    *devices = (int)value;
  } else {
    failure_note(failure, kExitInput, "%s takes default, all, or a whole number from 1 to %d, not '%s'", option,
                 kMostDevices, text);
  }
}

static const Argument kArguments[] = {
    {"--model MODEL    layers (default), wedge", kWord, offsetof(Options, model), "layers", .words = kModels},
    {"--form FORM      serial (default); tasks: a task per shot; target: a target task per shot", kWord,
     offsetof(Options, form), "serial", .words = kForms},
    {"--grid XxZ       points of the model, to the side and in depth (default {default})", kParsed,
     offsetof(Options, grid), "300x150", .parse = parse_grid},
    {"--spacing H      metres between points (default {default})", kReal, offsetof(Options, spacing), "10", .low = 0.01,
     .high = 1000},
    {"--frequency F    of the source, where it is strongest, in Hz (default {default})", kReal,
     offsetof(Options, frequency), "15", .low = 0.01, .high = 1e6},
    {"--time T         seconds that receivers listen (default: as long as the deepest reflector needs)", kReal,
     .member = offsetof(Options, time), .low = 1e-6, .high = 1e4},
    {"--shots S        default {default}", kInt, offsetof(Options, shots), "24", .low = 1, .high = kMostShots},
    {"--aperture A     metres on each side of a shot that take part (default: half of the model's width)", kReal,
     .member = offsetof(Options, aperture), .low = 1e-3, .high = 1e9},
    {"--sponge P       points on each side that absorb waves (default {default})", kInt, offsetof(Options, sponge),
     "40", .low = 1, .high = kMostSponge},
    {"--devices D      target: default (default), the default device; all; or how many", kParsed,
     offsetof(Options, devices), "default", .parse = parse_devices, .given = offsetof(Options, devices_given)},
    {"--threads N      that share a shot (default {default})", kInt, offsetof(Options, threads), "1", .low = 1,
     .high = kMostThreads},
    {"--sleep MS       shots sleep instead, MS milliseconds on average, in proportion to their work", kReal,
     .member = offsetof(Options, sleep_ms), .low = 1e-3, .high = kLongestSleep},
    {"--workers W      shots at a time, for the efficiency (default: threads, or devices)", kInt,
     .member = offsetof(Options, workers), .low = 1, .high = kMostDevices},
    {"--check          the peaks of the image must be where the reflectors are", kFlag,
     .member = offsetof(Options, check)},
    {"-o FILE          write model, smooth model and image, as a NumPy array", kText,
     .member = offsetof(Options, output)},
    {"--help", kFlag, .member = offsetof(Options, help)},
    {0}};

void options_print_usage(void) {
  printf(
      "usage: rtm [OPTION]...\n"
      "Reverse time migration: an image of the earth from what receivers hear of shots.\n");
  arguments_print(kArguments);
}

static void check_together(const Options* options, Failure* failure) {
  if (options->form != kFormTarget && options->devices_given) {
    failure_note(failure, kExitInput, "--devices says where target tasks run: it needs --form target, not %s",
                 options_form(options));
  }
  if (options->sleep_ms > 0 && (options->check || options->output || options->threads > 1)) {
    failure_note(failure, kExitInput, "--sleep computes nothing: leave out %s",
                 options->check    ? "--check"
                 : options->output ? "-o"
                                   : "--threads");
  }
  if (options->workers > 0 && options->sleep_ms == 0) {
    failure_note(failure, kExitInput, "--workers serves the efficiency, which is known with --sleep only");
  }
}

void options_parse(Options* options, int argc, char** argv, Failure* failure) {
  *options = (Options){0};
  arguments_parse(kArguments, kTwoDashes, options, argc, argv, failure);
  check_together(options, failure);
}
