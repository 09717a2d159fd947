/* SPDX-License-Identifier: Apache-2.0
 *
 * The command line. Parsed by every process alike, before anything else; only read after that.
 */
#ifndef LULESH_OPTIONS_H
#define LULESH_OPTIONS_H

#include <stdbool.h>

#include "failure.h"

typedef enum { kFormSerial, kFormLoops, kFormTasks, kFormPersistent, kFormBsp, kFormSpeculative } FormName;

typedef struct {
  int size;   /* elements along an edge of each process's cube */
  int cycles; /* at most */
  int regions, balance, cost;
  bool prints_cycles, quiet, help;
  bool pictures; /* of the reference, as is the next one; without effect */
  int picture_files;
  FormName form;

  int element_tasks, node_tasks;           /* per loop; 0: chosen by the size */
  int per_face, per_edge;                  /* messages */
  int naming, addresses, graph_mode, pass; /* positions in the lists of words: see plan.h, marline_graph_begin, Pass */
  int remesh;
  int creation_us;          /* microseconds added to each creation of a task */
  int allocates_each_cycle; /* 1: allocates the arrays between loops in each cycle */
  bool times_loops;
  const char* footprint; /* the file for the footprint, or NULL */
} Options;

typedef enum { kPassObjects, kPassClauses } Pass;

/* On a mistake, notes what is wrong and what is allowed. */
void options_parse(Options* options, int argc, char** argv, Failure* failure);

const char* options_form(const Options* options);
bool options_have_tasks(const Options* options);

void options_print_usage(void);

#endif
