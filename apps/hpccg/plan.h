/* SPDX-License-Identifier: Apache-2.0
 *
 * Which tasks an iteration consists of, and what each depends on, computed once from the sparsity pattern. The rows are
 * cut into T1 tiles, and each tile's product into T2 parts. A dependence names the first element of a tile, or of a
 * neighbour's part of the halo; how many of them a task has, and how exactly they name what it touches, is a choice
 * (Naming), because their number is what the discovery of a task graph costs.
 *
 * Made by the main thread; only read after that.
 */
#ifndef HPCCG_PLAN_H
#define HPCCG_PLAN_H

#include "entries.h"
#include "solver.h"

typedef enum {
  kNamingScalar,    /* every element that a task touches */
  kNamingRedundant, /* the tile of every element that it touches, as often as it does */
  kNamingTiles,     /* every tile that it touches, once */
  kNamingMinimal,   /* as before, without what other dependences imply */
} Naming;

typedef enum {
  kPassClauses, /* depend clauses with iterators: any runtime */
  kPassLists,   /* marline_task_depend */
  kPassObjects, /* marline_task_depend_object */
} Pass;

/* Of one task: first what it reads, then what it writes, then what it writes together with its like (inoutset). */
typedef struct {
  marline_dependence_t* list;
  int reads;
  int writes;
  int sets;
  marline_depend_object_t* object; /* for kPassObjects */
} Dependences;

typedef enum {
  kDirection, /* by tile */
  kSend,      /* by neighbour */
  kReceive,   /* by neighbour */
  kProduct,   /* by tile and part; with its dot, unless separate */
  kDotProduct,
  kAlpha,
  kUpdate, /* by tile; all three, unless separate */
  kUpdateX,
  kUpdateR,
  kDotResidual,
  kBeta,
  kKinds
} Kind;

typedef struct {
  int tiles; /* T1 of the options, or fewer if there are not as many rows */
  int parts; /* T2 */
  Naming naming;
  Pass pass;
  bool separate; /* one task per operation */
} Tiling;

typedef struct {
  Tiling tiling;
  Solver* solver;
  const Entries* entries;
  int tile_rows;
  int part_rows;
  Dependences* of[kKinds];
  int count[kKinds];     /* tasks of an iteration: 0 for kinds that are not used */
  long long dependences; /* of an iteration */
  double* pap;           /* sums of the parts, or of the tiles if separate; each is one task's */
  double* rr;            /* of the tiles */
} Plan;

/* False if memory does not suffice. Destroy in any case. */
bool plan_create(Plan* plan, const Tiling* tiling, Solver* solver, const Entries* entries);
void plan_destroy(Plan* plan);

/* Rows of a tile, and of a part of it. */
int plan_tile_first(const Plan* plan, int tile);
int plan_part_first(const Plan* plan, int tile, int part);

int plan_tasks(const Plan* plan);

#endif
