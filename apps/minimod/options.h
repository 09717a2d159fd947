/* SPDX-License-Identifier: Apache-2.0
 *
 * The command line of both programs. Main thread only; constant afterwards.
 */
#ifndef MINIMOD_OPTIONS_H
#define MINIMOD_OPTIONS_H

#include <stdbool.h>

#include "failure.h"

typedef enum { kFormCopies, kFormUpdates } Form;
typedef enum { kModelUniform, kModelLayers } Model;
typedef enum { kStartPoint, kStartMode } Start;

typedef struct {
  int grid[3];
  int steps;
  double courant;
  double wavelength;
  int sponge;
  Model model;
  Start start;
  double sleep; /* milliseconds; 0: compute */
  bool overlap;
  bool exact;
  bool serial;
  bool help;
  /* Of minimod only. */
  Form form;
  bool host;
  int devices; /* 0: all */
  int chunk;   /* points; 0: whole rows */
  const char* picture;
  const char* device_option; /* line of --help of one of these that was given, or NULL */
} Options;

void options_parse(Options* options, int argc, char** argv, Failure* failure);

/* Names, as the options take them. */
const char* options_form(const Options* options);
const char* options_model(const Options* options);
const char* options_start(const Options* options);

void options_print_usage(bool mpi);

#endif
