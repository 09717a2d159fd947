/* SPDX-License-Identifier: Apache-2.0
 *
 * See plan.h. What kNamingMinimal leaves out, and why it may:
 *
 *   direction  r       beta is computed from all of r, and r is not written before the next alpha, which comes after
 *                      all directions
 *   update     x       the updates of a tile are ordered by alpha: it is not written again before all have read it
 *   update     ap      alpha is computed from all of ap, and ap is not written before the next directions, hence beta
 *   update     p       p is not written before beta, which comes after all updates; not if x's update is a task of
 *                      its own, which beta does not wait for
 *   dots       p       the dot follows the product, and p is not written before the next beta
 *
 * Of sums there is no dependence where they are made together with a tile of ap or r, which then stands for them.
 */
#include "plan.h"

#include <stdlib.h>

/* Gathers the dependences of one task. */
typedef struct {
  const Plan* plan;
  marline_dependence_t* list;
  size_t count;
  size_t room;
  bool failed; /* no memory */
} Gather;

static void add(Gather* to, const void* address, marline_depend_type_t type) {
  if (to->count == to->room) {
    size_t room = to->room > 0 ? 2 * to->room : 64;
    marline_dependence_t* list = realloc(to->list, room * sizeof *list);
    if (!list) {
      to->failed = true;
      return;
    }
    to->list = list;
    to->room = room;
  }
  to->list[to->count++] = (marline_dependence_t){(void*)address, type};
}

static int smaller(int a, int b) { return a < b ? a : b; }

int plan_tile_first(const Plan* plan, int tile) {
  return (int)((long long)tile * plan->tile_rows < plan->solver->matrix->rows ? tile * plan->tile_rows
                                                                              : plan->solver->matrix->rows);
}

int plan_part_first(const Plan* plan, int tile, int part) {
  long long row = (long long)tile * plan->tile_rows + (long long)part * plan->part_rows;
  int end = plan_tile_first(plan, tile + 1);
  return row < end ? (int)row : end;
}

/* The element that stands for its tile, or for a neighbour's part of the halo. */
static int representative(const Plan* plan, int element) {
  if (element < plan->solver->matrix->rows) {
    return element / plan->tile_rows * plan->tile_rows;
  }
  const Halo* halo = plan->solver->halo;
  int n = 0;
  while (element >= halo->neighbours[n].first + halo->neighbours[n].count) {
    ++n;
  }
  return halo->neighbours[n].first;
}

static void add_element(Gather* to, const double* vector, int element, marline_depend_type_t type) {
  bool scalar = to->plan->tiling.naming == kNamingScalar;
  add(to, vector + (scalar ? element : representative(to->plan, element)), type);
}

/* Elements first .. last - 1, all of one tile or of one neighbour. */
static void add_range(Gather* to, const double* vector, int first, int last, marline_depend_type_t type) {
  bool one = to->plan->tiling.naming >= kNamingTiles;
  for (int element = first; element < (one ? smaller(first + 1, last) : last); ++element) {
    add_element(to, vector, element, type);
  }
}

static void add_tile(Gather* to, const double* vector, int tile, marline_depend_type_t type) {
  add_range(to, vector, plan_tile_first(to->plan, tile), plan_tile_first(to->plan, tile + 1), type);
}

/* What other dependences imply. */
static void add_implied(Gather* to, const double* vector, int tile, marline_depend_type_t type) {
  if (to->plan->tiling.naming != kNamingMinimal) {
    add_tile(to, vector, tile, type);
  }
}

static int compare_addresses(const void* a, const void* b) {
  const char* left = ((const marline_dependence_t*)a)->address;
  const char* right = ((const marline_dependence_t*)b)->address;
  return (left > right) - (left < right);
}

/* So far, all are reads. */
static void drop_repeated(Gather* to) {
  if (to->count == 0 || to->plan->tiling.naming < kNamingTiles) {
    return;
  }
  qsort(to->list, to->count, sizeof *to->list, compare_addresses);
  size_t kept = 1;
  for (size_t k = 1; k < to->count; ++k) {
    if (to->list[k].address != to->list[kept - 1].address) {
      to->list[kept++] = to->list[k];
    }
  }
  to->count = kept;
}

/* The kinds ------------------------------------------------------------------------------------------------------- */

static void gather_direction(Gather* to, int tile) {
  const Solver* solver = to->plan->solver;
  add(to, &solver->beta, MARLINE_IN);
  add_implied(to, solver->r, tile, MARLINE_IN);
  add_tile(to, solver->p, tile, MARLINE_OUT);
}

static void gather_send(Gather* to, int n) {
  const Solver* solver = to->plan->solver;
  const Neighbour* neighbour = &solver->halo->neighbours[n];
  for (int k = 0; k < neighbour->sent; ++k) {
    add_element(to, solver->p, neighbour->rows[k], MARLINE_IN);
  }
  drop_repeated(to);
  add(to, neighbour->buffer, MARLINE_OUT);
}

static void gather_receive(Gather* to, int n) {
  const Solver* solver = to->plan->solver;
  const Neighbour* neighbour = &solver->halo->neighbours[n];
  if (solver->enough >= 0) { /* whether there is a message to receive is known with beta */
    add(to, &solver->beta, MARLINE_IN);
  }
  add_range(to, solver->p, neighbour->first, neighbour->first + neighbour->count, MARLINE_OUT);
}

static void gather_product(Gather* to, int index) {
  const Plan* plan = to->plan;
  const Solver* solver = plan->solver;
  const Matrix* matrix = solver->matrix;
  int tile = index / plan->tiling.parts;
  int first = plan_part_first(plan, tile, index % plan->tiling.parts);
  int last = plan_part_first(plan, tile, index % plan->tiling.parts + 1);
  for (size_t k = matrix->start[first]; k < matrix->start[last]; ++k) {
    add_element(to, solver->p, matrix->column[k], MARLINE_IN);
  }
  drop_repeated(to);
  bool alone = plan->tiling.parts == 1 || plan->tiling.naming == kNamingScalar;
  add_range(to, solver->ap, first, last, alone ? MARLINE_OUT : MARLINE_INOUTSET);
}

static void gather_dot_product(Gather* to, int tile) {
  const Plan* plan = to->plan;
  add_implied(to, plan->solver->p, tile, MARLINE_IN);
  add_tile(to, plan->solver->ap, tile, MARLINE_IN);
  add(to, &plan->pap[tile], MARLINE_OUT);
}

static void gather_alpha(Gather* to, int none) {
  (void)none;
  const Plan* plan = to->plan;
  for (int tile = 0; tile < plan->tiling.tiles; ++tile) {
    if (plan->tiling.separate) {
      add(to, &plan->pap[tile], MARLINE_IN);
    } else {
      add_tile(to, plan->solver->ap, tile, MARLINE_IN);
    }
  }
  if (plan->tiling.naming != kNamingMinimal) {
    add(to, &plan->solver->beta, MARLINE_IN);
  }
  add(to, &plan->solver->alpha, MARLINE_OUT);
}

static void gather_update(Gather* to, int tile) {
  const Solver* solver = to->plan->solver;
  add(to, &solver->alpha, MARLINE_IN);
  add_implied(to, solver->p, tile, MARLINE_IN);
  add_implied(to, solver->ap, tile, MARLINE_IN);
  add_implied(to, solver->x, tile, MARLINE_OUT);
  add_tile(to, solver->r, tile, MARLINE_OUT);
}

static void gather_update_x(Gather* to, int tile) {
  const Solver* solver = to->plan->solver;
  add(to, &solver->alpha, MARLINE_IN);
  add_tile(to, solver->p, tile, MARLINE_IN);
  add_implied(to, solver->x, tile, MARLINE_OUT);
}

static void gather_update_r(Gather* to, int tile) {
  const Solver* solver = to->plan->solver;
  add(to, &solver->alpha, MARLINE_IN);
  add_implied(to, solver->ap, tile, MARLINE_IN);
  add_tile(to, solver->r, tile, MARLINE_OUT);
}

static void gather_dot_residual(Gather* to, int tile) {
  const Plan* plan = to->plan;
  add_tile(to, plan->solver->r, tile, MARLINE_IN);
  add(to, &plan->rr[tile], MARLINE_OUT);
}

static void gather_beta(Gather* to, int none) {
  (void)none;
  const Plan* plan = to->plan;
  for (int tile = 0; tile < plan->tiling.tiles; ++tile) {
    if (plan->tiling.separate) {
      add(to, &plan->rr[tile], MARLINE_IN);
    } else {
      add_tile(to, plan->solver->r, tile, MARLINE_IN);
    }
  }
  add(to, &plan->solver->beta, MARLINE_OUT);
}

static void (*const kGather[kKinds])(Gather* to, int index) = {
    [kDirection] = gather_direction,
    [kSend] = gather_send,
    [kReceive] = gather_receive,
    [kProduct] = gather_product,
    [kDotProduct] = gather_dot_product,
    [kAlpha] = gather_alpha,
    [kUpdate] = gather_update,
    [kUpdateX] = gather_update_x,
    [kUpdateR] = gather_update_r,
    [kDotResidual] = gather_dot_residual,
    [kBeta] = gather_beta,
};

/* The plan -------------------------------------------------------------------------------------------------------- */

static bool keep(Plan* plan, Dependences* to, Gather* from) {
  to->list = malloc((from->count + 1) * sizeof *to->list);
  if (!to->list || from->failed) {
    return false;
  }
  for (size_t k = 0; k < from->count; ++k) {
    to->list[k] = from->list[k];
    to->reads += from->list[k].type == MARLINE_IN;
    to->writes += from->list[k].type == MARLINE_OUT;
    to->sets += from->list[k].type == MARLINE_INOUTSET;
  }
  plan->dependences += (long long)from->count;
  if (plan->tiling.pass == kPassObjects) {
    to->object = plan->entries->depend_create(to->list, from->count);
  }
  return true;
}

static bool create_kind(Plan* plan, Kind kind, Gather* gather) {
  plan->of[kind] = calloc((size_t)plan->count[kind] + 1, sizeof *plan->of[kind]);
  for (int index = 0; index < plan->count[kind] && plan->of[kind]; ++index) {
    gather->count = 0;
    kGather[kind](gather, index);
    if (!keep(plan, &plan->of[kind][index], gather)) {
      return false;
    }
  }
  return plan->of[kind] != NULL;
}

static void count_tasks(Plan* plan) {
  int tiles = plan->tiling.tiles;
  bool separate = plan->tiling.separate;
  plan->count[kDirection] = tiles;
  plan->count[kSend] = plan->solver->halo->count;
  plan->count[kReceive] = plan->solver->halo->count;
  plan->count[kProduct] = tiles * plan->tiling.parts;
  plan->count[kAlpha] = 1;
  plan->count[kBeta] = 1;
  plan->count[kUpdate] = separate ? 0 : tiles;
  plan->count[kDotProduct] = plan->count[kUpdateX] = plan->count[kUpdateR] = plan->count[kDotResidual] =
      separate ? tiles : 0;
}

bool plan_create(Plan* plan, const Tiling* tiling, Solver* solver, const Entries* entries) {
  int rows = solver->matrix->rows;
  *plan = (Plan){.tiling = *tiling, .solver = solver, .entries = entries, .tile_rows = 1, .part_rows = 1};
  if (rows > 0) {
    plan->tile_rows = (rows - 1) / tiling->tiles + 1;
    plan->part_rows = (plan->tile_rows - 1) / tiling->parts + 1;
  }
  plan->tiling.tiles = rows == 0 ? 0 : (rows - 1) / plan->tile_rows + 1;
  plan->tiling.parts = (plan->tile_rows - 1) / plan->part_rows + 1;
  count_tasks(plan);
  plan->pap = calloc((size_t)plan->count[kProduct] + 1, sizeof *plan->pap);
  plan->rr = calloc((size_t)plan->tiling.tiles + 1, sizeof *plan->rr);
  Gather gather = {.plan = plan};
  bool room = plan->pap && plan->rr;
  for (Kind kind = 0; kind < kKinds && room; ++kind) {
    room = create_kind(plan, kind, &gather);
  }
  free(gather.list);
  return room;
}

void plan_destroy(Plan* plan) {
  for (Kind kind = 0; kind < kKinds; ++kind) {
    for (int index = 0; index < plan->count[kind] && plan->of[kind]; ++index) {
      if (plan->of[kind][index].object) {
        plan->entries->depend_destroy(plan->of[kind][index].object);
      }
      free(plan->of[kind][index].list);
    }
    free(plan->of[kind]);
  }
  free(plan->pap);
  free(plan->rr);
  *plan = (Plan){0};
}

int plan_tasks(const Plan* plan) {
  int tasks = 0;
  for (Kind kind = 0; kind < kKinds; ++kind) {
    tasks += plan->count[kind];
  }
  return tasks;
}
