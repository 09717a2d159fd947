/* SPDX-License-Identifier: Apache-2.0
 *
 * Compares an object with the state that the model foretells.
 */
#include "maps.h"

uint64_t current_seed;
const char* current_mode;

const char* kind_name(Kind kind) {
  static const char* const names[kKinds] = {
      "host write",    "enter",        "exit",          "region",       "readers",      "update",       "copy",
      "associate",     "disassociate", "data region",   "holder write", "holder point", "holder enter", "holder exit",
      "holder update", "holder use",   "section enter", "section exit", "both enter",   "both region"};
  return names[kind];
}

static _Noreturn void differs(const Step* step, const char* what, int device, int at, long actual, long expected) {
  check_failed("seed", (int)current_seed,
               "mode %s, object %d, step %d (%s, form %d, device %d, section [%d:%d], second %d): %s, device %d, "
               "element %d: %ld, model %ld",
               current_mode, step->object, step->index, kind_name(step->kind), step->form, step->device, step->lo,
               step->n, step->lo2, what, device, at, actual, expected);
}

static void compare(const Step* step, const char* what, int device, const int* actual, const int* expected, int lo,
                    int n) {
  for (int i = 0; i < n; i++) {
    if (expected[i] != kUnknown && actual[i] != expected[i])
      differs(step, what, device, lo + i, actual[i], expected[i]);
  }
}

/* Long arrays are asked about at a distance, and at all ends of ranges. */
static void check_presence(const Step* step, int device) {
  Object* object = &objects[step->object];
  OnDevice* on = &step->after->on[device];
  int length = step->after->length, apart = length / 48;
  for (int i = 0; i < length; i += apart) {
    int expected = range_around(on, i, 1) != NULL;
    if (omp_target_is_present(&object->data[i], device) != expected)
      differs(step, "presence", device, i, !expected, expected);
  }
  for (int r = 0; r < on->ranges; r++) {
    for (int end = on->range[r].lo - 1; end <= on->range[r].hi; end += on->range[r].hi - on->range[r].lo) {
      for (int i = end; i <= end + 1; i++) {
        int expected = i >= 0 && i < length && range_around(on, i, 1) != NULL;
        if (i >= 0 && i < length && omp_target_is_present(&object->data[i], device) != expected)
          differs(step, "presence", device, i, !expected, expected);
      }
    }
  }
  if (omp_target_is_present(&object->holder, device) != (on->holders > 0))
    differs(step, "presence of the structure", device, 0, on->holders == 0, on->holders > 0);
}

static void check_device(const Step* step, int device) {
  Object* object = &objects[step->object];
  OnDevice* on = &step->after->on[device];
  int host = omp_get_initial_device();
  int* copy = malloc((size_t)step->after->length * sizeof *copy);
  for (int r = 0; r < on->ranges; r++) {
    int lo = on->range[r].lo, n = on->range[r].hi - lo;
    void* there = omp_get_mapped_ptr(&object->data[lo], device);
    CHECK_EQ(omp_target_memcpy(copy, there, (size_t)n * sizeof *copy, 0, 0, host, device), 0);
    compare(step, "device", device, copy, on->value + lo, lo, n);
  }
  free(copy);
}

static void compare_fields(const Step* step, int device, const Holder* holder, const int* field) {
  compare(step, "structure", device, holder->first, field, 0, kFirst);
  compare(step, "structure", device, holder->last, field + kFirst, kFirst, kLast);
}

static void check_holder(const Step* step, int device) {
  Object* object = &objects[step->object];
  OnDevice* on = &step->after->on[device];
  Holder holder;
  if (on->holders == 0) return;
  void* there = omp_get_mapped_ptr(&object->holder, device);
  CHECK_EQ(omp_target_memcpy(&holder, there, sizeof holder, 0, 0, omp_get_initial_device(), device), 0);
  compare_fields(step, device, &holder, on->field);
  const Range* range = range_with_id(on, on->attached);
  if (!range) return;
  uintptr_t expected = (uintptr_t)omp_get_mapped_ptr(&object->data[range->lo], device) -
                       (uintptr_t)(range->lo - on->attached_base) * sizeof(int);
  if ((uintptr_t)holder.data != expected)
    differs(step, "attached pointer", device, on->attached_base, (long)(uintptr_t)holder.data, (long)expected);
}

static void check_seen(const Step* step) {
  int regions = step->kind == kRegion || step->kind == kHolderUse || step->kind == kBothRegion;
  int count = step->kind == kReaders ? step->readers : regions;
  for (int r = 0; r < count; r++)
    compare(step, "seen by the kernel", step->device + r, step->got + r * step->n, step->seen + r * step->n, step->lo,
            step->n);
  if (step->kind == kRegion && step->form == kRegionSum && is_known(step->seen, 0, step->n) &&
      step->got_sum != step->sum)
    differs(step, "sum", step->device, 0, step->got_sum, step->sum);
}

void check_after(const Step* step) {
  Object* object = &objects[step->object];
  const State* after = step->after;
  check_seen(step);
  compare(step, "host", -1, object->data, after->value, 0, after->length);
  compare_fields(step, -1, &object->holder, after->field);
  if (object->holder.data != &object->data[after->base])
    differs(step, "host's pointer", -1, 0, object->holder.data - object->data, after->base);
  for (int d = 0; d < after->devices; d++) {
    check_presence(step, d);
    check_device(step, d);
    check_holder(step, d);
  }
}
