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
  kDefaultColumns = 300,
  kDefaultRows = 150,
  kFewestPoints = 32, /* a window and its border need some */
  kMostPoints = 20000,
  kDefaultSponge = 40,
  kMostSponge = 1000,
  kDefaultShots = 24,
  kMostShots = 10000,
  kMostThreads = 1024,
};

static const double kDefaultSpacing = 10, kDefaultFrequency = 15, kLongestSleep = 1e6;

static const char* const kModels[] = {"layers", "wedge", NULL};
static const char* const kForms[] = {"serial", "tasks", "target", NULL};

const char* options_model(const Options* options) { return kModels[options->model]; }

const char* options_form(const Options* options) { return kForms[options->form]; }

void options_print_usage(void) {
  printf(
      "usage: rtm [OPTION]...\n"
      "Reverse time migration: an image of the earth from what receivers hear of shots.\n"
      "  --model MODEL    layers (default), wedge\n"
      "  --form FORM      serial (default); tasks: a task per shot; target: a target task per shot\n"
      "  --grid XxZ       points of the model, to the side and in depth (default %dx%d)\n"
      "  --spacing H      metres between points (default %g)\n"
      "  --frequency F    of the source, where it is strongest, in Hz (default %g)\n"
      "  --time T         seconds that receivers listen (default: as long as the deepest reflector needs)\n"
      "  --shots S        default %d\n"
      "  --aperture A     metres on each side of a shot that take part (default: half of the model's width)\n"
      "  --sponge P       points on each side that absorb waves (default %d)\n"
      "  --devices D      target: default (default), the default device; all; or how many\n"
      "  --threads N      that share a shot (default 1)\n"
      "  --sleep MS       shots sleep instead, MS milliseconds on average, in proportion to their work\n"
      "  --workers W      shots at a time, for the efficiency (default: threads, or devices)\n"
      "  --check          the peaks of the image must be where the reflectors are\n"
      "  -o FILE          write model, smooth model and image, as a NumPy array\n",
      kDefaultColumns, kDefaultRows, kDefaultSpacing, kDefaultFrequency, kDefaultShots, kDefaultSponge);
}

enum {
  kModel = 256,
  kForm,
  kGrid,
  kSpacing,
  kFrequency,
  kTime,
  kShots,
  kAperture,
  kSponge,
  kDevices,
  kThreads,
  kSleep,
  kWorkers,
  kCheck,
  kHelp,
};

static const struct option kOptions[] = {
    {"model", required_argument, NULL, kModel},
    {"form", required_argument, NULL, kForm},
    {"grid", required_argument, NULL, kGrid},
    {"spacing", required_argument, NULL, kSpacing},
    {"frequency", required_argument, NULL, kFrequency},
    {"time", required_argument, NULL, kTime},
    {"shots", required_argument, NULL, kShots},
    {"aperture", required_argument, NULL, kAperture},
    {"sponge", required_argument, NULL, kSponge},
    {"devices", required_argument, NULL, kDevices},
    {"threads", required_argument, NULL, kThreads},
    {"sleep", required_argument, NULL, kSleep},
    {"workers", required_argument, NULL, kWorkers},
    {"check", no_argument, NULL, kCheck},
    {"help", no_argument, NULL, kHelp},
    {NULL, 0, NULL, 0},
};

static void parse_grid(Options* options, const char* text, Failure* failure) {
  long long columns = 0, rows = 0;
  const char* end = argument_parse(text, kFewestPoints, kMostPoints, &columns);
  if (end && *end == 'x') {
    end = argument_parse(end + 1, kFewestPoints, kMostPoints, &rows);
  }
  if (!end || *end != '\0' || rows == 0) {
    failure_note(failure, kExitInput, "--grid takes XxZ, numbers from %d to %d, not '%s'", kFewestPoints, kMostPoints,
                 text);
    return;
  }
  options->grid[0] = (int)columns;
  options->grid[1] = (int)rows;
}

static void parse_devices(Options* options, const char* text, Failure* failure) {
  long long value = 0;
  const char* end = argument_parse(text, 1, kMostDevices, &value);
  if (strcmp(text, "all") == 0 || strcmp(text, "default") == 0) {
    options->devices = strcmp(text, "all") == 0 ? kDevicesAll : kDevicesDefault;
  } else if (end && *end == '\0') {
    options->devices = (int)value;
  } else {
    failure_note(failure, kExitInput, "--devices takes default, all, or a whole number from 1 to %d, not '%s'",
                 kMostDevices, text);
  }
}

/* What the survey is. */
static void apply_survey_option(Options* options, int option, char** argv, Failure* failure) {
  switch (option) {
    case kModel: options->model = (ModelKind)argument_word("--model", optarg, kModels, failure); break;
    case kGrid: parse_grid(options, optarg, failure); break;
    case kSpacing: options->spacing = argument_real("--spacing", optarg, 0.01, 1000, failure); break;
    case kFrequency: options->frequency = argument_real("--frequency", optarg, 0.01, 1e6, failure); break;
    case kTime: options->time = argument_real("--time", optarg, 1e-6, 1e4, failure); break;
    case kShots: options->shots = (int)argument_whole("--shots", optarg, 1, kMostShots, failure); break;
    case kAperture: options->aperture = argument_real("--aperture", optarg, 1e-3, 1e9, failure); break;
    case kSponge: options->sponge = (int)argument_whole("--sponge", optarg, 1, kMostSponge, failure); break;
    default: argument_refuse_option(option, argv[optind - 1], failure);
  }
}

/* How it is run. */
static void apply_option(Options* options, int option, char** argv, Failure* failure) {
  switch (option) {
    case kForm: options->form = (Form)argument_word("--form", optarg, kForms, failure); break;
    case kDevices: parse_devices(options, optarg, failure); break;
    case kThreads: options->threads = (int)argument_whole("--threads", optarg, 1, kMostThreads, failure); break;
    case kSleep: options->sleep_ms = argument_real("--sleep", optarg, 1e-3, kLongestSleep, failure); break;
    case kWorkers: options->workers = (int)argument_whole("--workers", optarg, 1, kMostDevices, failure); break;
    case kCheck: options->check = true; break;
    case 'o': options->output = optarg; break;
    case kHelp: options->help = true; break;
    default: apply_survey_option(options, option, argv, failure);
  }
}

static void check_together(const Options* options, bool devices_given, Failure* failure) {
  if (options->form != kFormTarget && devices_given) {
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
  *options = (Options){.grid = {kDefaultColumns, kDefaultRows},
                       .spacing = kDefaultSpacing,
                       .frequency = kDefaultFrequency,
                       .sponge = kDefaultSponge,
                       .shots = kDefaultShots,
                       .threads = 1};
  bool devices_given = false;
  int option;
  while ((option = getopt_long(argc, argv, ":o:", kOptions, NULL)) != -1) {
    apply_option(options, option, argv, failure);
    devices_given = devices_given || option == kDevices;
  }
  argument_refuse_more(argc - optind, argv + optind, failure);
  check_together(options, devices_given, failure);
}
