/* SPDX-License-Identifier: Apache-2.0
 *
 * The command line. Parsed before anything else; only read after that.
 */
#ifndef RTM_OPTIONS_H
#define RTM_OPTIONS_H

#include <stdbool.h>

#include "failure.h"

typedef enum { kModelLayers, kModelWedge } ModelKind;
typedef enum { kFormSerial, kFormTasks, kFormTarget } Form;

/* Options.devices: the default device, all, or how many. */
enum { kDevicesDefault = 0, kDevicesAll = -1, kMostDevices = 1024 };

typedef struct {
  ModelKind model;
  Form form;
  int grid[2];      /* columns and rows of the model */
  double spacing;   /* metres */
  double frequency; /* of the source, Hz: where it is strongest */
  double time;      /* seconds that receivers listen; 0: as long as the deepest reflector needs */
  double aperture;  /* metres on each side of a source; 0: half the model's width */
  int sponge;
  int shots;
  int devices; /* kDevicesDefault, kDevicesAll, or how many */
  int threads; /* of a shot */
  int workers; /* shots at a time, for the efficiency; 0: threads, or devices */
  double sleep_ms;
  bool check;
  const char* output;        /* NULL: none */
  const char* devices_given; /* NULL: they were not */
  bool help;
} Options;

/* On a mistake, notes what is wrong and what is allowed. */
void options_parse(Options* options, int argc, char** argv, Failure* failure);

/* The words that select them. */
const char* options_model(const Options* options);
const char* options_form(const Options* options);

void options_print_usage(void);

#endif
