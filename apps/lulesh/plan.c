/* SPDX-License-Identifier: Apache-2.0
 *
 * Computes the tasks of a cycle and their dependences. Tiles, and the tasks that write them:
 *
 *   step            length of the step, time, limits                                    step
 *   state(b)        energy, pressure, viscosity, volume, sound of a block of elements   material
 *   corners(b)      forces on the corners of a block of elements                        forces
 *   force(b)        force and acceleration of a block of nodes                          gather, add, accelerate
 *   place(b)        position and velocity of a block of nodes                           move, set
 *   kinematics(b)   new volume, gradients, ... of a block of elements                   kinematics
 *   arrived(m)      what a message brought, which is gradients' ghosts themselves        receive
 *
 * What kNamingMinimal leaves out, and why that is correct. The reasons use one chain within a cycle, in which each task
 * waits for the previous one by a dependence that is named, on all blocks that share a node:
 *
 *   step(all) material(b) > forces(b) > gather > accelerate > move > kinematics(b) > material(b and its neighbours)
 *
 *   forces       place         read: its state was written after kinematics of these elements, which named the places;
 *                              next write: move comes after gather, which names corners of all elements at its nodes
 *   kinematics   step, state   read: move has waited for the step, and forces for the state of these elements; next
 *                              write: material of the block names its kinematics, and the next step all states
 *   material     step          as kinematics
 *   send         its buffer    the tiles that it reads are not written, so it is not sent again, before it has ended
 */
#include "plan.h"

#include <stdlib.h>

enum { kLeastBlocks = 16, kLargestBlock = 8192 };

int plan_automatic_blocks(int32_t count) {
  int blocks = (count - 1) / kLargestBlock + 1;
  return blocks < kLeastBlocks ? kLeastBlocks : blocks;
}

/* The numbers at which the tiles of each sort begin. */
enum {
  kStepTile,
  kStateTiles,
  kCornerTiles,
  kForceTiles,
  kPlaceTiles,
  kKinematicTiles,
  kArrivedTiles,
  kSentTiles,
  kTileSorts
};

/* Gathers the dependences of one task. */
typedef struct {
  Plan* plan;
  int32_t base[kTileSorts + 1];
  int* last; /* by tile: the last task that has named it */
  int task;
  marline_dependence_t* list;
  size_t count, room;
  char *nodes_at_border, *elements_at_border; /* by block */
  bool failed;                                /* no memory */
} Gather;

/* A task's writes are added before its reads: a tile that it reads and writes is written. */
static void add(Gather* to, int sort, int32_t index, marline_depend_type_t type) {
  int32_t tile = to->base[sort] + index;
  ++to->plan->before_filtering;
  if (to->last[tile] == to->task) {
    return;
  }
  to->last[tile] = to->task;
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
  to->list[to->count++] = (marline_dependence_t){to->plan->address[tile], type};
}

/* Whether dependences that others imply are named, too. */
static bool names_all(const Gather* to) { return to->plan->tiling.naming == kNamingTiles; }

/* The kinds ------------------------------------------------------------------------------------------------------- */

static void add_places_of_elements(Gather* to, int block) {
  const Plan* plan = to->plan;
  Range range = plan->elements.share[block].elements;
  for (int32_t element = range.begin; element < range.end; ++element) {
    for (int k = 0; k < kCorners; ++k) {
      add(to, kPlaceTiles, cut_block_of(&plan->nodes, plan->mesh->node[element][k]), MARLINE_IN);
    }
  }
}

static void gather_step(Gather* to, int none) {
  (void)none;
  add(to, kStepTile, 0, MARLINE_OUT);
  for (int block = 0; block < to->plan->elements.shares; ++block) {
    add(to, kStateTiles, block, MARLINE_IN);
  }
}

/* Messages of a kind have consecutive numbers among those of all kinds. */
static int32_t number_of(const Exchange* exchange, ExchangeKind kind, int index) {
  int32_t number = index;
  for (ExchangeKind before = 0; before < kind; ++before) {
    number += exchange->messages[before];
  }
  return number;
}

/* Only after the step is it known whether messages of motion and gradients come; forces are sent in each cycle. */
static void gather_receive(Gather* to, int index) {
  const Exchange* exchange = to->plan->exchange;
  const Message* message = to->plan->received[index];
  int among_its_kind = (int)(message - exchange->message[message->kind]);
  add(to, kArrivedTiles, number_of(exchange, message->kind, among_its_kind), MARLINE_OUT);
  if (message->kind != kForces) {
    add(to, kStepTile, 0, MARLINE_IN);
  }
}

static void gather_forces(Gather* to, int block) {
  add(to, kCornerTiles, block, MARLINE_OUT);
  add(to, kStateTiles, block, MARLINE_IN);
  if (names_all(to)) {
    add_places_of_elements(to, block);
  }
}

static void gather_gather(Gather* to, int block) {
  const Plan* plan = to->plan;
  const Mesh* mesh = plan->mesh;
  Range range = plan->nodes.share[block].nodes;
  add(to, kForceTiles, block, MARLINE_OUT);
  for (int64_t at = mesh->first_corner[range.begin]; at < mesh->first_corner[range.end]; ++at) {
    add(to, kCornerTiles, cut_block_of(&plan->elements, (int32_t)(mesh->corner[at] / kCorners)), MARLINE_IN);
  }
}

/* The tiles of a message's nodes or elements. */
static void add_tiles(Gather* to, const Message* message, int sort, marline_depend_type_t type) {
  const Plan* plan = to->plan;
  const Cut* cut = sort == kKinematicTiles ? &plan->elements : &plan->nodes;
  for (int32_t i = 0; i < message->count; ++i) {
    add(to, sort, cut_block_of(cut, message->at[i]), type);
  }
}

static int sort_of(ExchangeKind kind) {
  const int sorts[kExchanges] = {
      [kMass] = kForceTiles, [kForces] = kForceTiles, [kMotion] = kPlaceTiles, [kGradients] = kKinematicTiles};
  return sorts[kind];
}

static void gather_send(Gather* to, ExchangeKind kind, int index) {
  const Exchange* exchange = to->plan->exchange;
  if (names_all(to)) {
    add(to, kSentTiles, number_of(exchange, kind, index), MARLINE_OUT);
  }
  add_tiles(to, &exchange->message[kind][index], sort_of(kind), MARLINE_IN);
}

static void gather_apply(Gather* to, ExchangeKind kind, int index) {
  const Exchange* exchange = to->plan->exchange;
  add_tiles(to, &exchange->message[kind][index], sort_of(kind), MARLINE_OUT);
  add(to, kArrivedTiles, number_of(exchange, kind, index), MARLINE_IN);
}

static void gather_send_forces(Gather* to, int index) { gather_send(to, kForces, index); }
static void gather_send_motion(Gather* to, int index) { gather_send(to, kMotion, index); }
static void gather_send_gradients(Gather* to, int index) { gather_send(to, kGradients, index); }
static void gather_add_forces(Gather* to, int index) { gather_apply(to, kForces, index); }
static void gather_set_motion(Gather* to, int index) { gather_apply(to, kMotion, index); }

static void gather_accelerate(Gather* to, int block) { add(to, kForceTiles, block, MARLINE_OUT); }

static void gather_move(Gather* to, int block) {
  add(to, kPlaceTiles, block, MARLINE_OUT);
  add(to, kForceTiles, block, MARLINE_IN);
  add(to, kStepTile, 0, MARLINE_IN);
}

static void gather_kinematics(Gather* to, int block) {
  add(to, kKinematicTiles, block, MARLINE_OUT);
  add_places_of_elements(to, block);
  if (names_all(to)) {
    add(to, kStepTile, 0, MARLINE_IN);
    add(to, kStateTiles, block, MARLINE_IN);
  }
}

/* The message that brings a ghost. */
static int message_with(const Exchange* exchange, int32_t ghost) {
  int index = 0;
  while (ghost >= exchange->message[kGradients][index].ghosts + exchange->message[kGradients][index].count) {
    ++index;
  }
  return index;
}

static void gather_material(Gather* to, int block) {
  const Plan* plan = to->plan;
  const Mesh* mesh = plan->mesh;
  Range range = plan->elements.share[block].elements;
  add(to, kStateTiles, block, MARLINE_OUT);
  for (int32_t element = range.begin; element < range.end; ++element) {
    add(to, kKinematicTiles, block, MARLINE_IN);
    for (int face = 0; face < kFaces; ++face) {
      int32_t neighbour = mesh->neighbour[element][face];
      if (mesh->beyond[element][face] == kInterior) {
        add(to, kKinematicTiles, cut_block_of(&plan->elements, neighbour), MARLINE_IN);
      } else if (mesh->beyond[element][face] == kCommunicated && plan->tiling.messages) {
        int index = message_with(plan->exchange, neighbour);
        add(to, kArrivedTiles, number_of(plan->exchange, kGradients, index), MARLINE_IN);
      }
    }
  }
  if (names_all(to)) {
    add(to, kStepTile, 0, MARLINE_IN);
  }
}

static void (*const kGather[kTaskKinds])(Gather* to, int index) = {
    [kTaskStep] = gather_step,
    [kTaskReceive] = gather_receive,
    [kTaskForces] = gather_forces,
    [kTaskGather] = gather_gather,
    [kTaskSendForces] = gather_send_forces,
    [kTaskAddForces] = gather_add_forces,
    [kTaskAccelerate] = gather_accelerate,
    [kTaskMove] = gather_move,
    [kTaskSendMotion] = gather_send_motion,
    [kTaskSetMotion] = gather_set_motion,
    [kTaskKinematics] = gather_kinematics,
    [kTaskSendGradients] = gather_send_gradients,
    [kTaskMaterial] = gather_material,
};

/* Priorities ------------------------------------------------------------------------------------------------------ */

enum { kUsual, kLeadsToMessage, kIsMessage };

/* Blocks with nodes or elements that a message sends. */
static char* at_border(const Exchange* exchange, ExchangeKind kind, const Cut* cut) {
  char* marks = calloc((size_t)cut->shares, 1);
  for (int i = 0; i < exchange->messages[kind] && marks; ++i) {
    const Message* message = &exchange->message[kind][i];
    for (int32_t k = 0; k < message->count; ++k) {
      marks[cut_block_of(cut, message->at[k])] = 1;
    }
  }
  return marks;
}

/* Tasks that send have the highest priority, then the blocks at the border, which lead to sends. Without messages
 * there are no priorities: they would only disturb the order in which a scheduler follows data. */
static int priority_of(const Gather* from, TaskKind kind, int index) {
  if (!from->plan->tiling.messages || from->plan->exchange->count == 0) {
    return kUsual;
  }
  switch (kind) {
    case kTaskForces:
    case kTaskKinematics:
    case kTaskMaterial: return from->elements_at_border[index] ? kLeadsToMessage : kUsual;
    case kTaskGather:
    case kTaskAccelerate:
    case kTaskMove: return from->nodes_at_border[index] ? kLeadsToMessage : kUsual;
    default: return kIsMessage;
  }
}

/* The plan -------------------------------------------------------------------------------------------------------- */

static void split(PlannedTask* task, const Gather* from) {
  for (size_t k = 0; k < from->count; ++k) {
    if (from->list[k].type == MARLINE_IN) {
      task->list[task->reads++] = from->list[k];
    }
  }
  for (size_t k = 0; k < from->count; ++k) {
    if (from->list[k].type != MARLINE_IN) {
      task->list[task->reads + task->writes++] = from->list[k];
    }
  }
}

static bool plan_task(Gather* from, TaskKind kind, int index) {
  Plan* plan = from->plan;
  PlannedTask* task = &plan->task[from->task];
  from->count = 0;
  kGather[kind](from, index);
  *task = (PlannedTask){.index = index, .priority = priority_of(from, kind, index)};
  task->list = malloc((from->count + 1) * sizeof *task->list);
  ++from->task;
  if (!task->list || from->failed) {
    return false;
  }
  split(task, from);
  plan->dependences += (long long)from->count;
  if (plan->tiling.objects) {
    task->object = plan->entries->depend_create(task->list, from->count);
  }
  return true;
}

/* The most tasks of a kind: one per block, or per message; of messages only some, see `takes_place`. */
static int most_of(const Plan* plan, TaskKind kind) {
  const int* messages = plan->exchange->messages;
  switch (kind) {
    case kTaskStep: return 1;
    case kTaskReceive: return messages[kForces] + messages[kMotion] + messages[kGradients];
    case kTaskSendForces:
    case kTaskAddForces: return messages[kForces];
    case kTaskSendMotion:
    case kTaskSetMotion: return messages[kMotion];
    case kTaskSendGradients: return messages[kGradients];
    case kTaskForces:
    case kTaskKinematics:
    case kTaskMaterial: return plan->elements.shares;
    default: return plan->nodes.shares;
  }
}

static bool takes_place(const Plan* plan, TaskKind kind, int index) {
  const Exchange* exchange = plan->exchange;
  switch (kind) {
    case kTaskReceive: return plan->tiling.messages && plan->received[index]->comes;
    case kTaskSendForces:
    case kTaskAddForces:
    case kTaskSendGradients: return plan->tiling.messages;
    case kTaskSendMotion: return plan->tiling.messages && exchange->message[kMotion][index].goes;
    case kTaskSetMotion: return plan->tiling.messages && exchange->message[kMotion][index].comes;
    case kTaskAccelerate: return plan_sums_forces(plan);
    default: return true;
  }
}

static bool plan_all(Gather* from) {
  Plan* plan = from->plan;
  for (TaskKind kind = 0; kind < kTaskKinds; ++kind) {
    plan->first[kind] = from->task;
    for (int index = 0; index < most_of(plan, kind); ++index) {
      if (takes_place(plan, kind, index) && !plan_task(from, kind, index)) {
        plan->first[kTaskKinds] = from->task;
        return false;
      }
    }
  }
  plan->first[kTaskKinds] = from->task;
  return true;
}

/* Messages of all kinds that tasks exchange, one kind after another. */
static bool list_received(Plan* plan) {
  const Exchange* exchange = plan->exchange;
  plan->received = malloc(((size_t)most_of(plan, kTaskReceive) + 1) * sizeof *plan->received);
  const Message** next = plan->received;
  for (ExchangeKind kind = kForces; kind <= kGradients && next; ++kind) {
    for (int i = 0; i < exchange->messages[kind]; ++i) {
      *next++ = &exchange->message[kind][i];
    }
  }
  return plan->received != NULL;
}

static void number_tiles(Gather* to) {
  const Plan* plan = to->plan;
  int messages = most_of(plan, kTaskReceive) + plan->exchange->messages[kMass];
  const int count[kTileSorts] = {[kStepTile] = 1,
                                 [kStateTiles] = plan->elements.shares,
                                 [kCornerTiles] = plan->elements.shares,
                                 [kForceTiles] = plan->nodes.shares,
                                 [kPlaceTiles] = plan->nodes.shares,
                                 [kKinematicTiles] = plan->elements.shares,
                                 [kArrivedTiles] = messages,
                                 [kSentTiles] = messages};
  for (int sort = 0; sort < kTileSorts; ++sort) {
    to->base[sort + 1] = to->base[sort] + count[sort];
  }
}

/* Tiles of a sort begin where the first value of each block does; `values` per node or element. */
static void name_by_data(Gather* to, int sort, double* array, const Cut* cut, bool nodes, int values) {
  for (int block = 0; block < cut->shares; ++block) {
    const Share* share = &cut->share[block];
    to->plan->address[to->base[sort] + block] =
        &array[(int64_t)values * (nodes ? share->nodes.begin : share->elements.begin)];
  }
}

/* A tile that belongs to no block keeps the address of its number. */
static void name_tiles(Gather* to, const Fields* fields) {
  Plan* plan = to->plan;
  for (int32_t tile = 0; tile < to->base[kTileSorts]; ++tile) {
    plan->address[tile] = &plan->tile[tile];
  }
  if (plan->tiling.addresses == kAddressData) {
    name_by_data(to, kStateTiles, fields->energy, &plan->elements, false, 1);
    name_by_data(to, kCornerTiles, fields->corner_force[0], &plan->elements, false, kCorners);
    name_by_data(to, kForceTiles, fields->force[0], &plan->nodes, true, 1);
    name_by_data(to, kPlaceTiles, fields->position[0], &plan->nodes, true, 1);
    name_by_data(to, kKinematicTiles, fields->new_volume, &plan->elements, false, 1);
  }
}

static bool prepare(Gather* gather, const Fields* fields) {
  Plan* plan = gather->plan;
  size_t tasks = 0;
  for (TaskKind kind = 0; kind < kTaskKinds; ++kind) {
    tasks += (size_t)most_of(plan, kind);
  }
  number_tiles(gather);
  size_t tiles = (size_t)gather->base[kTileSorts];
  plan->tile = calloc(tiles, sizeof *plan->tile);
  plan->task = calloc(tasks, sizeof *plan->task);
  plan->address = malloc(tiles * sizeof *plan->address);
  if (plan->tile && plan->address) {
    name_tiles(gather, fields);
  }
  gather->last = malloc(tiles * sizeof *gather->last);
  for (size_t tile = 0; tile < tiles && gather->last; ++tile) {
    gather->last[tile] = -1;
  }
  gather->nodes_at_border = at_border(plan->exchange, kForces, &plan->nodes);
  gather->elements_at_border = at_border(plan->exchange, kGradients, &plan->elements);
  return plan->tile && plan->address && plan->task && gather->last && gather->nodes_at_border &&
         gather->elements_at_border;
}

bool plan_create(Plan* plan, const Tiling* tiling, const Fields* fields, const Exchange* exchange,
                 const Entries* entries) {
  const Mesh* mesh = fields->mesh;
  *plan = (Plan){.tiling = *tiling, .entries = entries, .exchange = exchange, .mesh = mesh};
  Tiling* cut = &plan->tiling;
  cut->element_tasks = cut->element_tasks > 0 ? cut->element_tasks : plan_automatic_blocks(mesh->elements);
  cut->node_tasks = cut->node_tasks > 0 ? cut->node_tasks : plan_automatic_blocks(mesh->nodes);
  Gather gather = {.plan = plan};
  bool room = cut_elements(&plan->elements, mesh, fields->regions, cut->element_tasks) &&
              cut_nodes(&plan->nodes, mesh, cut->node_tasks) && list_received(plan) && prepare(&gather, fields) &&
              plan_all(&gather);
  cut->element_tasks = plan->elements.shares;
  cut->node_tasks = plan->nodes.shares;
  free(gather.last);
  free(gather.list);
  free(gather.nodes_at_border);
  free(gather.elements_at_border);
  return room;
}

void plan_destroy(Plan* plan) {
  for (int i = 0; i < plan_tasks(plan); ++i) {
    if (plan->task[i].object) {
      plan->entries->depend_destroy(plan->task[i].object);
    }
    free(plan->task[i].list);
  }
  cut_destroy(&plan->nodes);
  cut_destroy(&plan->elements);
  free(plan->task);
  free(plan->received);
  free(plan->tile);
  free(plan->address);
  *plan = (Plan){0};
}

char* plan_step_tile(const Plan* plan) { return (char*)&plan->tile[kStepTile]; }
