/* SPDX-License-Identifier: Apache-2.0
 *
 * The reference: what OpenMP 5.2 says a step does to the host, the devices and the counts. Plain code without OpenMP.
 */
#include "maps.h"

enum { kMapTo = 1, kMapFrom = 2, kMapAlways = 4, kMapDelete = 8, kMapHold = 16 };

static int* new_values(int length) {
  int* value = malloc((size_t)length * sizeof *value);
  for (int i = 0; i < length; i++) value[i] = kUnknown;
  return value;
}

State* new_state(int length, int devices) {
  State* state = calloc(1, sizeof *state);
  state->length = length;
  state->devices = devices;
  state->value = new_values(length);
  for (int d = 0; d < devices; d++) state->on[d].value = new_values(length);
  return state;
}

static int* same_values(const int* value, int length) {
  int* copy = malloc((size_t)length * sizeof *copy);
  return memcpy(copy, value, (size_t)length * sizeof *copy);
}

State* copy_of_state(const State* state) {
  State* copy = malloc(sizeof *copy);
  *copy = *state;
  copy->value = same_values(state->value, state->length);
  for (int d = 0; d < state->devices; d++) copy->on[d].value = same_values(state->on[d].value, state->length);
  return copy;
}

void free_state(State* state) {
  for (int d = 0; d < state->devices; d++) free(state->on[d].value);
  free(state->value);
  free(state);
}

Range* range_around(OnDevice* on, int lo, int n) {
  for (int r = 0; r < on->ranges; r++) {
    if (on->range[r].lo <= lo && lo + n <= on->range[r].hi) return &on->range[r];
  }
  return NULL;
}

Range* range_with_id(OnDevice* on, int id) {
  for (int r = 0; r < on->ranges; r++) {
    if (on->range[r].id == id) return &on->range[r];
  }
  return NULL;
}

int is_clear(const OnDevice* on, int lo, int n) {
  for (int r = 0; r < on->ranges; r++) {
    if (on->range[r].lo < lo + n && lo < on->range[r].hi) return 0;
  }
  return 1;
}

int is_known(const int* value, int lo, int n) {
  for (int i = lo; i < lo + n; i++) {
    if (value[i] == kUnknown) return 0;
  }
  return 1;
}

static void copy_values(int* to, const int* from, int n) { memmove(to, from, (size_t)n * sizeof *to); }

static Range* add_range(OnDevice* on, int lo, int n) {
  static int last_id;
  Range* range = &on->range[on->ranges++];
  *range = (Range){.lo = lo, .hi = lo + n, .id = ++last_id};
  for (int i = lo; i < lo + n; i++) on->value[i] = kUnknown;
  return range;
}

static void remove_range(OnDevice* on, Range* range) { *range = on->range[--on->ranges]; }

/* The begin of a map; 1: the range is new. */
static int map_begin(State* state, int device, int lo, int n, int flags) {
  OnDevice* on = &state->on[device];
  Range* range = range_around(on, lo, n);
  int fresh = range == NULL;
  if (fresh) range = add_range(on, lo, n);
  ++*((flags & kMapHold) ? &range->holds : &range->references);
  if ((flags & kMapTo) && (fresh || (flags & kMapAlways))) copy_values(on->value + lo, state->value + lo, n);
  return fresh;
}

static void map_end(State* state, int device, int lo, int n, int flags) {
  OnDevice* on = &state->on[device];
  Range* range = range_around(on, lo, n);
  if (!range) return;
  int* count = (flags & kMapHold) ? &range->holds : &range->references;
  if (flags & kMapDelete)
    *count = 0;
  else if (*count > 0)
    --*count;
  int last = !range->associated && range->references + range->holds == 0;
  if ((flags & kMapFrom) && (last || (flags & kMapAlways))) copy_values(state->value + lo, on->value + lo, n);
  if (last) remove_range(on, range);
}

/* The structure: its pointer is not among the fields, as copies leave an attached pointer as it is, on both sides. */
static int holder_begin(State* state, int device, int flags) {
  OnDevice* on = &state->on[device];
  int fresh = on->holders++ == 0;
  if (fresh) on->attached = on->through = 0;
  if ((flags & kMapTo) && (fresh || (flags & kMapAlways))) copy_values(on->field, state->field, kFields);
  return fresh;
}

static void holder_end(State* state, int device, int flags) {
  OnDevice* on = &state->on[device];
  if (on->holders == 0) return;
  on->holders = (flags & kMapDelete) ? 0 : on->holders - 1;
  if ((flags & kMapFrom) && (on->holders == 0 || (flags & kMapAlways))) copy_values(state->field, on->field, kFields);
}

static void attach(State* state, int device, int lo, int n) {
  OnDevice* on = &state->on[device];
  on->attached = range_around(on, lo, n)->id;
  on->attached_base = state->base;
}

static int flags_of_enter(int form) {
  static const int flags[] = {kMapTo, 0, kMapTo | kMapAlways, kMapTo, 0, kMapTo};
  return flags[form];
}

static int flags_of_exit(int form) {
  static const int flags[] = {kMapFrom, 0, kMapDelete, kMapFrom | kMapAlways, kMapFrom};
  return flags[form];
}

static int flags_of_region(int form) {
  enum { kBoth = kMapTo | kMapFrom };
  static const int flags[] = {
      kMapTo, kMapFrom, kBoth, 0,      kMapTo | kMapAlways, kMapFrom | kMapAlways, kBoth | kMapAlways,
      kBoth,  0,        0,     kMapTo, kBoth | kMapHold};
  return flags[form];
}

/* What the kernels do to the elements [lo, lo + n) of the device. */
static void kernel(OnDevice* on, Step* step, int writes) {
  step->sum = 0;
  for (int k = 0; k < step->n; k++) {
    int i = step->lo + k;
    step->seen[k] = on->value[i];
    step->sum += on->value[i];
    if (!writes) continue;
    int unknown = on->value[i] == kUnknown && !step->fill;
    on->value[i] = unknown ? kUnknown : next_value(on->value[i], step->salt, i, step->fill);
  }
}

/* The same for the structure: every field gets a new value. */
static void holder_kernel(OnDevice* on, const Step* step) {
  for (int f = 0; f < kFields; f++) on->field[f] = next_value(on->field[f], step->salt, f, 0);
}

static void apply_region(State* state, Step* step) {
  int flags = flags_of_region(step->form);
  int maps = step->form != kRegionImplicit && step->form != kRegionDevicePointer;
  if (maps) map_begin(state, step->device, step->lo, step->n, flags);
  kernel(&state->on[step->device], step, step->form != kRegionSum);
  if (maps) map_end(state, step->device, step->lo, step->n, flags);
}

/* Region r runs on one device after the other; all of them read the same elements. */
static void apply_readers(State* state, Step* step) {
  int* all = step->seen;
  for (int r = 0; r < step->readers; r++) {
    int device = (step->device + r) % state->devices;
    map_begin(state, device, step->lo, step->n, kMapTo);
    kernel(&state->on[device], step, 0);
    map_end(state, device, step->lo, step->n, kMapTo);
    step->seen += step->n;
  }
  step->seen = all;
}

static void copy_box(int* to, const int* from, const Box* box) {
  for (int i = 0; i < box->rows; i++) {
    for (int j = 0; j < box->columns; j++) {
      int row = box->row + i * box->row_stride, column = box->column + j * box->column_stride;
      int at = box->origin + row * kColumns + column;
      to[at] = from[at];
    }
  }
}

static void apply_update(State* state, const Step* step) {
  OnDevice* on = &state->on[step->device];
  if (step->form >= kBoxTo) {
    int to = step->form == kBoxTo || step->form == kStridesTo;
    copy_box(to ? on->value : state->value, to ? state->value : on->value, &step->box);
    return;
  }
  if (!range_around(on, step->lo, step->n)) return;
  int to = step->form == kUpdateTo || step->form == kUpdatePresentTo;
  copy_values((to ? on->value : state->value) + step->lo, (to ? state->value : on->value) + step->lo, step->n);
}

static void apply_copy(State* state, const Step* step) {
  int* device = state->on[step->device].value;
  switch (step->form) {
    case kCopyIn: copy_values(device + step->lo, state->value + step->lo2, step->n); break;
    case kCopyOut: copy_values(state->value + step->lo2, device + step->lo, step->n); break;
    case kCopyAcross: copy_values(state->on[step->other].value + step->lo2, device + step->lo, step->n); break;
    case kCopyThrough: copy_values(state->value + step->lo2, state->value + step->lo, step->n); break;
    case kCopyBoxIn: copy_box(device, state->value, &step->box); break;
    case kCopyBoxOut: copy_box(state->value, device, &step->box); break;
  }
}

static void apply_section_enter(State* state, const Step* step) {
  OnDevice* on = &state->on[step->device];
  int flags = flags_of_enter(step->form), fresh = 0;
  if (step->kind == kBothEnter) {
    fresh = holder_begin(state, step->device, kMapTo);
  } else {
    on->holders++;
    on->through++;
  }
  if (map_begin(state, step->device, step->lo, step->n, flags) || fresh) attach(state, step->device, step->lo, step->n);
}

static void apply_both_region(State* state, Step* step) {
  OnDevice* on = &state->on[step->device];
  int flags = kMapTo | kMapFrom, fresh = holder_begin(state, step->device, flags);
  if (map_begin(state, step->device, step->lo, step->n, flags) || fresh) attach(state, step->device, step->lo, step->n);
  kernel(on, step, 1);
  holder_kernel(on, step);
  map_end(state, step->device, step->lo, step->n, flags);
  holder_end(state, step->device, flags);
}

static void apply_to_holder(State* state, Step* step) {
  OnDevice* on = &state->on[step->device];
  switch (step->kind) {
    case kHolderWrite:
      for (int f = 0; f < kFields; f++) state->field[f] = next_value(0, step->salt, f, 1);
      break;
    case kHolderPoint: state->base = step->lo; break;
    case kHolderEnter: holder_begin(state, step->device, flags_of_enter(step->form)); break;
    case kHolderExit: holder_end(state, step->device, flags_of_exit(step->form)); break;
    case kHolderUpdate:
      if (on->holders == 0) break;
      if (step->form == kUpdateTo)
        copy_values(on->field, state->field, kFields);
      else
        copy_values(state->field, on->field, kFields);
      break;
    case kHolderUse:
      kernel(on, step, 1);
      holder_kernel(on, step);
      break;
    case kSectionExit:
      map_end(state, step->device, step->lo, step->n, flags_of_exit(step->form));
      on->holders--;
      on->through--;
      break;
    case kBothRegion: apply_both_region(state, step); break;
    default: apply_section_enter(state, step); break;
  }
}

void apply(State* state, Step* step) {
  OnDevice* on = &state->on[step->device];
  switch (step->kind) {
    case kHostWrite:
      for (int i = step->lo; i < step->lo + step->n; i++) state->value[i] = next_value(0, step->salt, i, 1);
      break;
    case kEnter:
      map_begin(state, step->device, step->lo, step->n, flags_of_enter(step->form));
      /* Two sections in one range are one mapping of it. */
      if (step->form == kTwoTo && range_around(on, step->lo, step->n) != range_around(on, step->lo2, step->n2))
        map_begin(state, step->device, step->lo2, step->n2, kMapTo);
      break;
    case kExit: map_end(state, step->device, step->lo, step->n, flags_of_exit(step->form)); break;
    case kRegion: apply_region(state, step); break;
    case kReaders: apply_readers(state, step); break;
    case kUpdate: apply_update(state, step); break;
    case kCopy: apply_copy(state, step); break;
    case kAssociate: add_range(on, step->lo, step->n)->associated = 1; break;
    case kDisassociate: remove_range(on, range_around(on, step->lo, step->n)); break;
    default: apply_to_holder(state, step); break;
  }
}

void begin_data(State* state, const Step* step) {
  int flags = flags_of_region(step->form);
  map_begin(state, step->device, step->lo, step->n, flags);
  if (!(flags & kMapHold)) range_around(&state->on[step->device], step->lo, step->n)->pinned++;
}

void end_data(State* state, const Step* step) {
  int flags = flags_of_region(step->form);
  if (!(flags & kMapHold)) range_around(&state->on[step->device], step->lo, step->n)->pinned--;
  map_end(state, step->device, step->lo, step->n, flags);
}
