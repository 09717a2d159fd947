/* SPDX-License-Identifier: Apache-2.0
 *
 * Draws the steps of one object. What the standard forbids is not drawn: a section that is partly in a range, a map
 * with `present` of what is absent, an end of a data region after its data has been deleted. Nor is what it leaves
 * open: a pointer that is mapped with its section when both are there and not attached to each other.
 */
#include "maps.h"

typedef struct {
  uint64_t random;
  State* state;
  Step* inside_of; /* the data region around the step, or null */
} Draw;

static Program draw_steps(Draw* draw, int object, int count);

/* splitmix64 (Steele, Lea, Flood, 2014). */
static int below(Draw* draw, int limit) {
  uint64_t z = (draw->random += 0x9e3779b97f4a7c15u);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return (int)((z ^ (z >> 31)) % (uint64_t)limit);
}

static void part_of(Draw* draw, int lo, int hi, int* part_lo, int* part_n) {
  if (below(draw, 3) == 0) {
    *part_lo = lo, *part_n = hi - lo;
    return;
  }
  int a = lo + below(draw, hi - lo), b = lo + below(draw, hi - lo);
  *part_lo = a < b ? a : b;
  *part_n = (a < b ? b - a : a - b) + 1;
}

/* Several rows inside a range. */
static int draw_rows(Draw* draw, int device, int rows, int* lo, int* n) {
  const OnDevice* on = &draw->state->on[device];
  for (int r = 0; r < on->ranges; r++) {
    const Range* range = &on->range[r];
    if (range->hi - range->lo < rows * kColumns) continue;
    do part_of(draw, range->lo, range->hi, lo, n);
    while (*n < rows * kColumns);
    return 1;
  }
  return 0;
}

/* A section inside a range. */
static int draw_mapped(Draw* draw, int device, int* lo, int* n) {
  OnDevice* on = &draw->state->on[device];
  if (on->ranges == 0) return 0;
  const Range* range = &on->range[below(draw, on->ranges)];
  part_of(draw, range->lo, range->hi, lo, n);
  return 1;
}

/* A section of which nothing is there. Half of them begin where a range ends. */
static int draw_absent(Draw* draw, int device, int* lo, int* n) {
  OnDevice* on = &draw->state->on[device];
  if (on->ranges >= kRanges - 2) /* a step adds two at most */
    return 0;
  for (int tries = 0; tries < 8; tries++) {
    int begin = below(draw, draw->state->length);
    if (on->ranges > 0 && below(draw, 2)) begin = on->range[below(draw, on->ranges)].hi;
    int longest = draw->state->length - begin;
    if (longest <= 0) continue;
    *lo = begin, *n = 1 + below(draw, below(draw, 2) ? longest : (longest + 5) / 6);
    if (is_clear(on, *lo, *n)) return 1;
  }
  return 0;
}

static int draw_section(Draw* draw, int device, int* lo, int* n) {
  return below(draw, 5) < 3 ? draw_mapped(draw, device, lo, n) : draw_absent(draw, device, lo, n);
}

/* A box for a copy: any rows and columns that lie in one range. */
static int draw_box(Draw* draw, Step* step) {
  int lo, n;
  if (!draw_rows(draw, step->device, 1, &lo, &n)) return 0;
  Box* box = &step->box;
  *box = (Box){.origin = lo % kColumns, .row_stride = 1, .column_stride = 1};
  part_of(draw, lo / kColumns, lo / kColumns + n / kColumns, &box->row, &box->rows);
  part_of(draw, 0, kColumns, &box->column, &box->columns);
  return 1;
}

/* Boxes of updates have the shapes that run.c writes as numbers: Clang takes them for one run of elements otherwise.
 * The matrix may begin in front of the range. */
static int draw_update_box(Draw* draw, Step* step) {
  int lo, n, strides = step->form >= kStridesTo;
  if (!draw_rows(draw, step->device, 2, &lo, &n)) return 0;
  if (strides) {
    step->box = (Box){.origin = lo, .rows = (n / kColumns + 1) / 2, .columns = 3, .row_stride = 2, .column_stride = 2};
    return 1;
  }
  int in_front = lo >= kColumns && below(draw, 2);
  step->box = (Box){lo - in_front * kColumns, 1, n / kColumns - !in_front, 1, 2, 3, 1};
  return 1;
}

static int draw_enter(Draw* draw, Step* step) {
  step->form = below(draw, kEnterForms);
  int found = step->form == kPresentTo || step->form == kPresentAlloc
                  ? draw_mapped(draw, step->device, &step->lo, &step->n)
                  : draw_section(draw, step->device, &step->lo, &step->n);
  if (!found || step->form != kTwoTo) return found;
  if (!draw_section(draw, step->device, &step->lo2, &step->n2)) return 0;
  return step->lo + step->n <= step->lo2 || step->lo2 + step->n2 <= step->lo;
}

/* Whether an enclosing data region keeps its references. */
static int may_exit(Draw* draw, const Step* step) {
  const Range* range = range_around(&draw->state->on[step->device], step->lo, step->n);
  if (!range) return step->form != kPresentFrom;
  return step->form == kDelete ? range->pinned == 0 : range->references == 0 || range->references > range->pinned;
}

static int draw_exit(Draw* draw, Step* step) {
  step->form = below(draw, kExitForms);
  return draw_section(draw, step->device, &step->lo, &step->n) && may_exit(draw, step);
}

static void draw_kernel(Draw* draw, Step* step, int reads_host) {
  int known = range_around(&draw->state->on[step->device], step->lo, step->n)
                  ? is_known(draw->state->on[step->device].value, step->lo, step->n)
                  : reads_host;
  step->fill = !known || below(draw, 4) == 0;
}

static int draw_region(Draw* draw, Step* step) {
  step->form = below(draw, kRegionForms);
  int present = step->form >= kRegionPresent && step->form <= kRegionDevicePointer;
  int found = present ? draw_mapped(draw, step->device, &step->lo, &step->n)
                      : draw_section(draw, step->device, &step->lo, &step->n);
  if (!found) return 0;
  draw_kernel(draw, step, step->form != kRegionFrom && step->form != kRegionAlloc && step->form != kRegionAlwaysFrom);
  return 1;
}

static int draw_readers(Draw* draw, Step* step) {
  step->readers = 2 + below(draw, 4);
  if (!draw_section(draw, step->device, &step->lo, &step->n)) return 0;
  for (int d = 0; d < draw->state->devices; d++) {
    OnDevice* on = &draw->state->on[d];
    if (!range_around(on, step->lo, step->n) && (!is_clear(on, step->lo, step->n) || on->ranges == kRanges)) return 0;
  }
  return 1;
}

static int draw_update(Draw* draw, Step* step) {
  step->form = below(draw, kUpdateForms);
  if (step->form >= kBoxTo) return draw_update_box(draw, step);
  if (step->form >= kUpdatePresentTo) return draw_mapped(draw, step->device, &step->lo, &step->n);
  return draw_section(draw, step->device, &step->lo, &step->n);
}

static int draw_copy(Draw* draw, Step* step) {
  step->form = below(draw, kCopyForms);
  if (step->form == kCopyBoxIn || step->form == kCopyBoxOut) return draw_box(draw, step);
  if (step->form == kCopyThrough)
    part_of(draw, 0, draw->state->length, &step->lo, &step->n);
  else if (!draw_mapped(draw, step->device, &step->lo, &step->n))
    return 0;
  if (step->form != kCopyAcross) {
    step->lo2 = below(draw, draw->state->length - step->n + 1);
    return 1;
  }
  int n, devices = draw->state->devices;
  if (devices == 1) return 0;
  step->other = (step->device + 1 + below(draw, devices - 1)) % devices;
  if (!draw_mapped(draw, step->other, &step->lo2, &n)) return 0;
  if (step->n > n) step->n = n;
  return 1;
}

static int draw_associate(Draw* draw, Step* step) {
  OnDevice* on = &draw->state->on[step->device];
  for (int r = 0; r < on->ranges; r++) {
    if (on->range[r].associated) return 0;
  }
  step->fill = 4 * below(draw, 5); /* where in the block it begins */
  return draw_absent(draw, step->device, &step->lo, &step->n);
}

static int draw_disassociate(Draw* draw, Step* step) {
  OnDevice* on = &draw->state->on[step->device];
  for (int r = 0; r < on->ranges; r++) {
    const Range* range = &on->range[r];
    if (range->associated && range->references + range->holds == 0) {
      step->lo = range->lo, step->n = range->hi - range->lo;
      return 1;
    }
  }
  return 0;
}

static int draw_data(Draw* draw, Step* step) {
  if (draw->inside_of || !draw_region(draw, step)) return 0;
  if (step->form >= kRegionImplicit && step->form <= kRegionSum) return 0;
  begin_data(draw->state, step);
  Draw inside = {draw->random ^ 0x5555, draw->state, step};
  Program steps = draw_steps(&inside, step->object, 1 + below(draw, 8));
  step->inside = steps.step, step->inside_count = steps.count;
  end_data(draw->state, step);
  return 1;
}

/* The host's pointer may change where no device has the structure, or where it has attached the pointer already. */
static int draw_point(Draw* draw, Step* step) {
  if (draw->inside_of) /* a task may run it while other constructs are met */
    return 0;
  for (int d = 0; d < draw->state->devices; d++) {
    if (draw->state->on[d].holders > 0 && draw->state->on[d].attached == 0) return 0;
  }
  step->lo = below(draw, draw->state->length);
  return 1;
}

static int draw_holder_exit(Draw* draw, Step* step) {
  const OnDevice* on = &draw->state->on[step->device];
  step->form = below(draw, kPresentFrom);
  return on->holders == 0 || on->through == 0 || (step->form != kDelete && on->holders - on->through > 1);
}

static int draw_use(Draw* draw, Step* step) {
  OnDevice* on = &draw->state->on[step->device];
  Range* range = on->holders > 0 ? range_with_id(on, on->attached) : NULL;
  if (!range) return 0;
  part_of(draw, range->lo, range->hi, &step->lo, &step->n);
  step->lo2 = on->attached_base;
  draw_kernel(draw, step, 0);
  return 1;
}

/* A section that begins at or after the element that the structure's pointer is the address of. */
static int draw_behind(Draw* draw, Step* step) {
  if (!draw_section(draw, step->device, &step->lo, &step->n)) return 0;
  int base = draw->state->base;
  if (step->lo + step->n <= base) return 0;
  if (step->lo < base) step->n -= base - step->lo, step->lo = base;
  return 1;
}

/* Whether it is clear if the pointer gets attached: one of both is new, or nothing changes. */
static int attaches_clearly(Draw* draw, const Step* step) {
  OnDevice* on = &draw->state->on[step->device];
  const Range* range = range_around(on, step->lo, step->n);
  return range == NULL || (on->holders == 0 && step->kind != kSectionEnter) ||
         (on->attached == range->id && on->attached_base == draw->state->base);
}

static int draw_behind_holder(Draw* draw, Step* step) {
  const OnDevice* on = &draw->state->on[step->device];
  step->form = step->kind == kSectionExit ? below(draw, 2) : below(draw, 2) ? kTo : kAlwaysTo;
  if (!draw_behind(draw, step)) return 0;
  if (step->kind == kSectionExit) return on->through > 0 && may_exit(draw, step);
  if (step->kind == kSectionEnter && on->holders == 0) return 0;
  draw_kernel(draw, step, 1);
  return attaches_clearly(draw, step);
}

static int draw_kind(Draw* draw, Step* step) {
  switch (step->kind) {
    case kHostWrite: part_of(draw, 0, draw->state->length, &step->lo, &step->n); return 1;
    case kEnter: return draw_enter(draw, step);
    case kExit: return draw_exit(draw, step);
    case kRegion: return draw_region(draw, step);
    case kReaders: return draw_readers(draw, step);
    case kUpdate: return draw_update(draw, step);
    case kCopy: return draw_copy(draw, step);
    case kAssociate: return draw_associate(draw, step);
    case kDisassociate: return draw_disassociate(draw, step);
    case kData: return draw_data(draw, step);
    case kHolderPoint: return draw_point(draw, step);
    case kHolderEnter: step->form = below(draw, 2) ? kTo : kAlwaysTo; return 1;
    case kHolderExit: return draw_holder_exit(draw, step);
    case kHolderUpdate: step->form = below(draw, 2) ? kUpdateTo : kUpdateFrom; return 1;
    case kHolderUse: return draw_use(draw, step);
    case kSectionEnter:
    case kSectionExit:
    case kBothEnter:
    case kBothRegion: return draw_behind_holder(draw, step);
    default: return 1;
  }
}

/* How often each kind is tried; many tries of some come to nothing. */
static Kind any_kind(Draw* draw) {
  static const int weight[kKinds] = {
      [kHostWrite] = 3,   [kEnter] = 8,        [kExit] = 7,        [kRegion] = 8,       [kReaders] = 2,
      [kUpdate] = 8,      [kCopy] = 4,         [kAssociate] = 2,   [kDisassociate] = 3, [kData] = 3,
      [kHolderWrite] = 2, [kHolderPoint] = 2,  [kHolderEnter] = 3, [kHolderExit] = 3,   [kHolderUpdate] = 3,
      [kHolderUse] = 5,   [kSectionEnter] = 5, [kSectionExit] = 4, [kBothEnter] = 2,    [kBothRegion] = 3};
  int all = 0, kind = 0;
  for (int k = 0; k < kKinds; k++) all += weight[k];
  for (int left = below(draw, all); left >= weight[kind]; kind++) left -= weight[kind];
  return (Kind)kind;
}

static void finish(Draw* draw, Step* step) {
  size_t read = (size_t)step->n * (step->readers > 0 ? (size_t)step->readers : 1);
  step->salt = below(draw, 1 << 16);
  step->seen = calloc(read + 1, sizeof(int));
  step->got = calloc(read + 1, sizeof(int));
  if (step->kind != kData) apply(draw->state, step);
  step->after = copy_of_state(draw->state);
}

/* Readers of a long array meet while its data is on the way. */
static void draw_step(Draw* draw, Step* step, int object, int index) {
  do {
    int reads = draw->state->length > 1000 && below(draw, 4) == 0;
    *step = (Step){.kind = reads ? kReaders : any_kind(draw), .object = object, .index = index};
    step->device = draw->inside_of && below(draw, 3) ? draw->inside_of->device : below(draw, draw->state->devices);
  } while (!draw_kind(draw, step));
  finish(draw, step);
}

static Program draw_steps(Draw* draw, int object, int count) {
  Program program = {count, calloc((size_t)count, sizeof(Step)), NULL};
  for (int i = 0; i < count; i++) draw_step(draw, &program.step[i], object, i);
  return program;
}

/* One step nearer to nothing mapped; 0: nothing is. */
static int draw_last(Draw* draw, Step* step, int device) {
  OnDevice* on = &draw->state->on[device];
  step->device = device;
  if (on->through > 0) {
    step->kind = kSectionExit;
    step->form = kRelease;
    step->lo = draw->state->base, step->n = 1;
  } else if (on->holders > 0) {
    step->kind = kHolderExit;
    step->form = below(draw, kPresentFrom);
  } else if (on->ranges > 0) {
    const Range* range = &on->range[below(draw, on->ranges)];
    step->kind = range->associated && range->references == 0 ? kDisassociate : kExit;
    step->form = below(draw, 3) ? below(draw, 2) : below(draw, kExitForms);
    step->lo = range->lo, step->n = range->hi - range->lo;
  } else {
    return 0;
  }
  return 1;
}

Program generate(uint64_t seed, int object, int length, int devices, int steps) {
  enum { kMostLast = 400 };
  Draw draw = {seed * 1000003u + (uint64_t)object, new_state(length, devices), NULL};
  Step start[2] = {{.kind = kHostWrite, .n = length}, {.kind = kHolderWrite}};
  apply(draw.state, &start[0]);
  apply(draw.state, &start[1]);
  State* before = copy_of_state(draw.state);
  Program program = draw_steps(&draw, object, steps);
  program.before = before;
  program.step = realloc(program.step, (size_t)(steps + kMostLast) * sizeof(Step));
  for (int d = 0; d < devices; d++) {
    for (Step* step; program.count < steps + kMostLast; program.count++) {
      step = &program.step[program.count];
      *step = (Step){.object = object, .index = program.count};
      if (!draw_last(&draw, step, d)) break;
      finish(&draw, step);
    }
  }
  free_state(draw.state);
  return program;
}

void free_program(Program* program) {
  for (int i = 0; i < program->count; i++) {
    Step* step = &program->step[i];
    Program inside = {step->inside_count, step->inside, NULL};
    free_program(&inside);
    free(step->seen);
    free(step->got);
    free_state(step->after);
  }
  free(program->step);
  if (program->before) free_state(program->before);
}
