/* SPDX-License-Identifier: Apache-2.0
 *
 * The tasks of a cycle and their dependences, computed once from the tables of the mesh. Nodes and elements are cut
 * into blocks of consecutive numbers; a task runs the loops of one phase on one block, or one step of one message. A
 * dependence names a tile: the data that a phase writes for a block, or that a message brings.
 *
 * Made by the main thread; only read after that.
 */
#ifndef LULESH_PLAN_H
#define LULESH_PLAN_H

#include "cut.h"
#include "entries.h"
#include "exchange.h"

/* In the order in which they are created. */
typedef enum {
  kTaskStep,    /* the length of the step: a reduction over all processes */
  kTaskReceive, /* a message of any kind; gradients go straight to their ghosts */
  kTaskForces,  /* by block of elements */
  kTaskGather,  /* by block of nodes */
  kTaskSendForces,
  kTaskAddForces,
  kTaskAccelerate, /* by block of nodes; only if neighbours' forces are added before */
  kTaskMove,       /* by block of nodes */
  kTaskSendMotion,
  kTaskSetMotion,
  kTaskKinematics, /* by block of elements */
  kTaskSendGradients,
  kTaskMaterial, /* by block of elements */
  kTaskKinds
} TaskKind;

typedef enum {
  kNamingTiles,   /* every tile that a task touches, once */
  kNamingMinimal, /* without dependences that other dependences imply */
} Naming;

typedef enum {
  kAddressTiles, /* addresses of consecutive numbers, one per tile */
  kAddressData,  /* address of the first data that a tile stands for, as in most programs */
} Addresses;

typedef struct {
  int element_tasks, node_tasks; /* blocks per loop; 0: chosen by the size */
  Naming naming;
  Addresses addresses;
  bool objects;  /* marline_task_depend_object instead of depend clauses */
  bool messages; /* in tasks */
} Tiling;

/* First what the task reads, then what it writes. */
typedef struct {
  marline_dependence_t* list;
  int reads, writes;
  marline_depend_object_t* object; /* or NULL */
  int priority;
  int index; /* block, or message among those of its kind of task */
} PlannedTask;

typedef struct {
  Tiling tiling;
  const Entries* entries;
  const Exchange* exchange;
  const Mesh* mesh;
  Cut nodes, elements;
  PlannedTask* task;          /* of a cycle, by kind */
  int first[kTaskKinds + 1];  /* index of the first task of each kind */
  const Message** received;   /* messages received by the tasks kTaskReceive */
  int64_t* tile;              /* only their addresses matter */
  void** address;             /* by tile: the address that dependences name */
  long long dependences;      /* of a cycle */
  long long before_filtering; /* dependences if each access named its tile */
} Plan;

/* Blocks for `count` nodes or elements: at least 16, none larger than 8192. */
int plan_automatic_blocks(int32_t count);

/* False: not enough memory. Destroy in any case, when all tasks have ended. */
bool plan_create(Plan* plan, const Tiling* tiling, const Fields* fields, const Exchange* exchange,
                 const Entries* entries);
void plan_destroy(Plan* plan);

/* False: no neighbour has a part of the forces, so the tasks of `gather` accelerate as well. */
static inline bool plan_sums_forces(const Plan* plan) { return plan->exchange->messages[kForces] > 0; }

static inline int plan_tasks(const Plan* plan) { return plan->first[kTaskKinds]; }

/* The tile of the length of the step; not const, because clauses demand that. */
char* plan_step_tile(const Plan* plan);

#endif
