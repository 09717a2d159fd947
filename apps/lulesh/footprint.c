/* SPDX-License-Identifier: Apache-2.0
 *
 * Walks through the loops of all tasks and writes the memory that they touch.
 */
#include "footprint.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "loop_table.h"

#define WRITTEN (UINT64_C(1) << 63)

/* An access walks through memory in streams, one per direction and corner; a piece is reported when a stream enters
 * it. The last accesses of a loop read the mesh's tables. */
enum { kStreamsOfAccess = 3 * kCorners, kTables = 3, kStreams = (kMostAccesses + kTables) * kStreamsOfAccess };
enum { kIndexTable = kMostAccesses, kListTable, kFaceTable };

typedef struct {
  Watch watch;
  uint64_t* piece;
  size_t count, room;
  bool failed; /* no memory */
  uint64_t last[kStreams];
} Walk;

static void touch(Walk* walk, int access, int stream, const void* address, bool writes) {
  uint64_t piece = (uint64_t)(uintptr_t)address / kGranule | (writes ? WRITTEN : 0);
  uint64_t* last = &walk->last[access * kStreamsOfAccess + stream];
  if (piece == *last) {
    return;
  }
  *last = piece;
  if (walk->count == walk->room) {
    size_t room = walk->room > 0 ? 2 * walk->room : 4096;
    uint64_t* pieces = realloc(walk->piece, room * sizeof *pieces);
    if (!pieces) {
      walk->failed = true;
      return;
    }
    walk->piece = pieces;
    walk->room = room;
  }
  walk->piece[walk->count++] = piece;
}

static void touch_faces(Walk* walk, int number, const Access* access, const double* array, int axis, const Mesh* mesh,
                        int32_t element) {
  for (int side = 0; side < 2; ++side) {
    int face = 2 * axis + side;
    touch(walk, kFaceTable, 0, &mesh->beyond[element][face], false);
    if (mesh->beyond[element][face] == kInterior || mesh->beyond[element][face] == kCommunicated) {
      touch(walk, kFaceTable, 1, &mesh->neighbour[element][face], false);
      touch(walk, number, axis * kCorners + side, &array[mesh->neighbour[element][face]], access->writes);
    }
  }
}

static void touch_corners(Walk* walk, int number, const Access* access, const double* array, int axis, const Mesh* mesh,
                          int32_t node) {
  touch(walk, kIndexTable, 0, &mesh->first_corner[node], false);
  for (int64_t at = mesh->first_corner[node]; at < mesh->first_corner[node + 1]; ++at) {
    int stream = axis * kCorners + (int)(at - mesh->first_corner[node]);
    touch(walk, kListTable, 0, &mesh->corner[at], false);
    touch(walk, number, stream, &array[mesh->corner[at]], access->writes);
  }
}

/* One access at one index, in one direction. */
static void touch_access(Walk* walk, const Fields* fields, const LoopInfo* info, int number, int axis, int32_t i) {
  const Mesh* mesh = fields->mesh;
  const Access* access = &info->access[number];
  const double* array = ((double* const*)((const char*)fields + access->offset))[axis];
  const int32_t* list = fields->regions->element;
  int first = axis * kCorners;
  switch (access->through) {
    case kSame: touch(walk, number, first, &array[i], access->writes); break;
    case kOwnCorners: touch(walk, number, first, &array[(int64_t)kCorners * i], access->writes); break;
    case kItsNodes:
      touch(walk, kIndexTable, 0, &mesh->node[i], false);
      for (int k = 0; k < kCorners; ++k) {
        touch(walk, number, first + k, &array[mesh->node[i][k]], access->writes);
      }
      break;
    case kItsCorners: touch_corners(walk, number, access, array, axis, mesh, i); break;
    case kOfPlace:
      touch(walk, kListTable, 0, &list[i], false);
      touch(walk, number, first, &array[list[i]], access->writes);
      break;
    case kBeyondFaces: touch_faces(walk, number, access, array, axis, mesh, list[i]); break;
    case kOfPlane:
      touch(walk, kListTable, 0, &mesh->symmetry[info->axis][i], false);
      touch(walk, number, first, &array[mesh->symmetry[info->axis][i]], access->writes);
      break;
    case kNothing: break;
  }
}

/* From direction `from` up to direction `to`, which is excluded. */
static void walk_range(Walk* walk, const Fields* fields, const LoopInfo* info, Range range, int from, int to) {
  for (int32_t i = range.begin; i < range.end; ++i) {
    for (int number = 0; info->access[number].through != kNothing; ++number) {
      int arrays = info->access[number].arrays;
      for (int axis = from; axis < to && axis < arrays; ++axis) {
        touch_access(walk, fields, info, number, axis, i);
      }
      if (arrays == 1 && from > 0) {
        touch_access(walk, fields, info, number, 0, i);
      }
    }
  }
}

static void walk_loop(Watch* watch, Fields* fields, Loop* loop, Range range) {
  Walk* walk = (Walk*)watch;
  const LoopInfo* info = loop_info(loop);
  memset(walk->last, 0, sizeof walk->last);
  if (!info->by_axis) {
    walk_range(walk, fields, info, range, 0, 3);
  } else {
    for (int axis = 0; axis < 3; ++axis) {
      walk_range(walk, fields, info, range, axis, axis + 1);
    }
  }
}

/* The file ------------------------------------------------------------------------------------------------------- */

typedef struct {
  Walk walk;
  FILE* file;
  Fields* fields;
} Writer;

static void describe(Writer* writer, const char* name, int phase, size_t before) {
  fprintf(writer->file, "task %s %d %zu\n", name, phase, writer->walk.count - before);
}

static void walk_threads(Writer* writer, const Cut* cut) {
  static const struct {
    const char* name;
    Phase *first, *second;
  } phases[] = {{"forces", phase_forces, NULL},         {"gather", phase_gather, NULL},
                {"move", phase_accelerate, phase_move}, {"kinematics", phase_kinematics, NULL},
                {"viscosity", phase_viscosity, NULL},   {"material", phase_material, NULL}};
  for (int phase = 0; phase < (int)(sizeof phases / sizeof *phases); ++phase) {
    for (int i = 0; i < cut->shares; ++i) {
      size_t before = writer->walk.count;
      phases[phase].first(writer->fields, &cut->share[i]);
      if (phases[phase].second) {
        phases[phase].second(writer->fields, &cut->share[i]);
      }
      describe(writer, phases[phase].name, phase, before);
    }
  }
}

/* The accesses of a task by its kind; tasks of messages and of the step touch too little memory to count. */
static void walk_task(Writer* writer, const Plan* plan, TaskKind kind, int index) {
  Fields* fields = writer->fields;
  const Share *nodes = &plan->nodes.share[index], *elements = &plan->elements.share[index];
  switch (kind) {
    case kTaskForces: phase_forces(fields, elements); break;
    case kTaskGather:
      phase_gather(fields, nodes);
      phase_accelerate(fields, nodes);
      break;
    case kTaskMove: phase_move(fields, nodes); break;
    case kTaskKinematics: phase_kinematics(fields, elements); break;
    case kTaskMaterial:
      phase_viscosity(fields, elements);
      phase_material(fields, elements);
      break;
    default: break;
  }
}

static void walk_tasks(Writer* writer, const Plan* plan) {
  static const char* const names[kTaskKinds] = {"step",       "receive",        "forces",  "gather",      "send_forces",
                                                "add_forces", "accelerate",     "move",    "send_motion", "set_motion",
                                                "kinematics", "send_gradients", "material"};
  for (TaskKind kind = 0; kind < kTaskKinds; ++kind) {
    for (int i = plan->first[kind]; i < plan->first[kind + 1]; ++i) {
      size_t before = writer->walk.count;
      walk_task(writer, plan, kind, plan->task[i].index);
      describe(writer, names[kind], (int)kind, before);
    }
  }
}

void footprint_write(const char* path, Fields* fields, const Cut* cut, const Plan* plan, Failure* failure) {
  Writer writer = {.walk = {.watch.loop = walk_loop}, .file = fopen(path, "wb"), .fields = fields};
  if (!writer.file) {
    failure_note(failure, kExitInput, "--footprint %s: cannot be written: %s", path, strerror(errno));
    return;
  }
  fields->watch = &writer.walk.watch;
  fprintf(writer.file, "marline-footprint 1\ngranule %d\n", kGranule);
  if (plan) {
    walk_tasks(&writer, plan);
  } else {
    walk_threads(&writer, cut);
  }
  fields->watch = NULL;
  fprintf(writer.file, "numbers\n");
  bool written =
      fwrite(writer.walk.piece, sizeof *writer.walk.piece, writer.walk.count, writer.file) == writer.walk.count;
  written = fclose(writer.file) == 0 && written;
  if (writer.walk.failed || !written) {
    failure_note(failure, kExitInput, "--footprint %s: %s", path,
                 writer.walk.failed ? "not enough memory" : "could not be written completely");
  }
  free(writer.walk.piece);
}
