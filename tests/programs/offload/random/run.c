/* SPDX-License-Identifier: Apache-2.0
 *
 * Executes steps. A deferred step consists of constructs with `nowait` that depend on its object; what has no such form
 * is done at once in a task that depends on it.
 *
 * Covers: target(device, map:to/from, depend, nowait), target data(device, map),
 * target teams distribute parallel for(reduction), omp_target_memcpy, omp_target_memcpy_rect, omp_target_memcpy_async,
 * omp_target_associate_ptr, omp_target_disassociate_ptr, omp_get_mapped_ptr
 */
#include "maps.h"

Object objects[kObjects];

#define PRAGMA(...) _Pragma(#__VA_ARGS__)

#define STANDALONE(...)                                                           \
  do {                                                                            \
    if (deferred) {                                                               \
      PRAGMA(omp target __VA_ARGS__ device(device) nowait depend(inout : *chain)) \
    } else {                                                                      \
      PRAGMA(omp target __VA_ARGS__ device(device))                               \
    }                                                                             \
  } while (0)

#define REGION(KERNEL, ...)                                                                             \
  do {                                                                                                  \
    if (deferred) {                                                                                     \
      PRAGMA(omp target map(from : got [0:n]) __VA_ARGS__ device(device) nowait depend(inout : *chain)) \
      KERNEL                                                                                            \
    } else {                                                                                            \
      PRAGMA(omp target map(from : got [0:n]) __VA_ARGS__ device(device))                               \
      KERNEL                                                                                            \
    }                                                                                                   \
  } while (0)

/* The names that these macros use. */
#define LOCALS(step)                                                                                     \
  Object* object = &objects[(step)->object];                                                             \
  int *p = object->data, *got = (step)->got, *chain = &object->chain;                                    \
  Holder* h = &object->holder;                                                                           \
  int device = (step)->device, lo = (step)->lo, n = (step)->n, salt = (step)->salt, fill = (step)->fill; \
  (void)p, (void)got, (void)chain, (void)h, (void)device, (void)lo, (void)n, (void)salt, (void)fill

/* Reads and changes the n elements from `at` on, of which the first is element lo of the array. */
#define TOUCH(at)                                      \
  for (int k = 0; k < n; k++) {                        \
    got[k] = (at)[k];                                  \
    (at)[k] = next_value((at)[k], salt, lo + k, fill); \
  }

#define TOUCH_HOLDER(base)                                                                    \
  {                                                                                           \
    TOUCH(h->data + (lo - (base)))                                                            \
    for (int f = 0; f < kFirst; f++) h->first[f] = next_value(h->first[f], salt, f, 0);       \
    for (int f = 0; f < kLast; f++) h->last[f] = next_value(h->last[f], salt, kFirst + f, 0); \
  }

static void enter(Step* step, int deferred) {
  LOCALS(step);
  int lo2 = step->lo2, n2 = step->n2;
  switch (step->form) {
    case kTo: STANDALONE(enter data map(to : p [lo:n])); break;
    case kAlloc: STANDALONE(enter data map(alloc : p [lo:n])); break;
    case kAlwaysTo: STANDALONE(enter data map(always, to : p [lo:n])); break;
    case kPresentTo: STANDALONE(enter data map(present, to : p [lo:n])); break;
    case kPresentAlloc: STANDALONE(enter data map(present, alloc : p [lo:n])); break;
    case kTwoTo: STANDALONE(enter data map(to : p [lo:n], p [lo2:n2])); break;
  }
}

static void leave(Step* step, int deferred) {
  LOCALS(step);
  switch (step->form) {
    case kFrom: STANDALONE(exit data map(from : p [lo:n])); break;
    case kRelease: STANDALONE(exit data map(release : p [lo:n])); break;
    case kDelete: STANDALONE(exit data map(delete : p [lo:n])); break;
    case kAlwaysFrom: STANDALONE(exit data map(always, from : p [lo:n])); break;
    case kPresentFrom: STANDALONE(exit data map(present, from : p [lo:n])); break;
  }
}

static void region(Step* step, int deferred) {
  LOCALS(step);
  int* q = p + lo;
  long sum = 0;
  switch (step->form) {
    case kRegionTo: REGION(TOUCH(p + lo), map(to : p [lo:n])); break;
    case kRegionFrom: REGION(TOUCH(p + lo), map(from : p [lo:n])); break;
    case kRegionToFrom: REGION(TOUCH(p + lo), map(tofrom : p [lo:n])); break;
    case kRegionAlloc: REGION(TOUCH(p + lo), map(alloc : p [lo:n])); break;
    case kRegionAlwaysTo: REGION(TOUCH(p + lo), map(always, to : p [lo:n])); break;
    case kRegionAlwaysFrom: REGION(TOUCH(p + lo), map(always, from : p [lo:n])); break;
    case kRegionAlwaysToFrom: REGION(TOUCH(p + lo), map(always, tofrom : p [lo:n])); break;
    case kRegionPresent: REGION(TOUCH(p + lo), map(present, tofrom : p [lo:n])); break;
    case kRegionHold: REGION(TOUCH(p + lo), map(ompx_hold, tofrom : p [lo:n])); break;
    case kRegionImplicit: REGION(TOUCH(q), ); break;
    case kRegionDevicePointer:
      q = omp_get_mapped_ptr(q, device);
      REGION(TOUCH(q), is_device_ptr(q));
      break;
    case kRegionSum:
#pragma omp target teams distribute parallel for device(device) map(to : p[lo : n]) map(from : got[0 : n]) \
    reduction(+ : sum) num_teams(2)
      for (int k = 0; k < n; k++) {
        got[k] = p[lo + k];
        sum += got[k];
      }
      step->got_sum = sum;
      break;
  }
}

/* They read backwards: the last elements are the last to arrive where one of them brings the data. */
static void readers(Step* step, int deferred) {
  LOCALS(step);
  for (int r = 0; r < step->readers; r++, got += n) {
    device = (step->device + r) % step->after->devices;
    if (deferred) {
#pragma omp target map(to : p[lo : n]) map(from : got[0 : n]) device(device) nowait depend(in : *chain)
      for (int k = n - 1; k >= 0; k--) got[k] = p[lo + k];
    } else {
#pragma omp target map(to : p[lo : n]) map(from : got[0 : n]) device(device)
      for (int k = n - 1; k >= 0; k--) got[k] = p[lo + k];
    }
  }
}

typedef int Row[kColumns];

/* Never deferred: Clang's code keeps the list of dimensions on the stack of the function. */
static void update_box(Step* step) {
  const int deferred = 0;
  LOCALS(step);
  Row* g = (Row*)(p + step->box.origin);
  int rows = step->box.rows;
  switch (step->form) {
    case kBoxTo: STANDALONE(update to(g [1:rows] [2:3])); break;
    case kBoxFrom: STANDALONE(update from(g [1:rows] [2:3])); break;
    case kStridesTo: STANDALONE(update to(g [0:rows:2] [0:3:2])); break;
    case kStridesFrom: STANDALONE(update from(g [0:rows:2] [0:3:2])); break;
  }
}

static void update(Step* step, int deferred) {
  LOCALS(step);
  switch (step->form) {
    case kUpdateTo: STANDALONE(update to(p [lo:n])); break;
    case kUpdateFrom: STANDALONE(update from(p [lo:n])); break;
    case kUpdatePresentTo: STANDALONE(update to(present : p [lo:n])); break;
    case kUpdatePresentFrom: STANDALONE(update from(present : p [lo:n])); break;
    default: update_box(step); break;
  }
}

static void copy_box(Step* step, int to_device) {
  LOCALS(step);
  const Box* box = &step->box;
  int host = omp_get_initial_device(), at = box->origin + box->row * kColumns;
  size_t rows = (size_t)box->rows;
  size_t volume[2] = {rows, (size_t)box->columns}, offsets[2] = {0, (size_t)box->column}, extents[2] = {rows, kColumns};
  void* on_device = omp_get_mapped_ptr(p + at, device);
  CHECK(on_device != NULL);
  void *to = to_device ? on_device : p + at, *from = to_device ? p + at : on_device;
  int to_number = to_device ? device : host, from_number = to_device ? host : device;
  CHECK_EQ(omp_target_memcpy_rect(to, from, sizeof(int), 2, volume, offsets, offsets, extents, extents, to_number,
                                  from_number),
           0);
}

static void copy_through(Step* step, int deferred) {
  LOCALS(step);
  int host = omp_get_initial_device(), *scratch = object->scratch[device];
  size_t bytes = (size_t)n * sizeof(int);
  omp_depend_t behind;
#pragma omp depobj(behind) depend(inout : *chain)
  CHECK_EQ(omp_target_memcpy_async(scratch, p + lo, bytes, 0, 0, device, host, deferred, &behind), 0);
  if (!deferred) {
#pragma omp taskwait
  }
  CHECK_EQ(omp_target_memcpy_async(p + step->lo2, scratch, bytes, 0, 0, host, device, deferred, &behind), 0);
#pragma omp depobj(behind) destroy
  if (!deferred) {
#pragma omp taskwait
  }
}

static void copy(Step* step, int deferred) {
  LOCALS(step);
  int host = omp_get_initial_device(), other = step->other;
  size_t bytes = (size_t)n * sizeof(int), offset = (size_t)step->lo2 * sizeof(int);
  int* there = omp_get_mapped_ptr(p + lo, device);
  switch (step->form) {
    case kCopyIn: CHECK_EQ(omp_target_memcpy(there, p, bytes, 0, offset, device, host), 0); break;
    case kCopyOut: CHECK_EQ(omp_target_memcpy(p, there, bytes, offset, 0, host, device), 0); break;
    case kCopyAcross:
      CHECK_EQ(omp_target_memcpy(omp_get_mapped_ptr(p + step->lo2, other), there, bytes, 0, 0, other, device), 0);
      break;
    case kCopyBoxIn: copy_box(step, 1); break;
    case kCopyBoxOut: copy_box(step, 0); break;
    case kCopyThrough: copy_through(step, deferred); break;
  }
}

static void associate(Step* step) {
  LOCALS(step);
  size_t bytes = (size_t)n * sizeof(int), offset = (size_t)fill;
  object->block[device] = omp_target_alloc(bytes + offset, device);
  CHECK_EQ(omp_target_associate_ptr(p + lo, object->block[device], bytes, offset, device), 0);
}

static void disassociate(Step* step) {
  LOCALS(step);
  CHECK_EQ(omp_target_disassociate_ptr(p + lo, device), 0);
  omp_target_free(object->block[device], device);
}

static void run_inside(Step* step) {
  for (int i = 0; i < step->inside_count; i++) run_and_check(&step->inside[i]);
}

#define DATA(...)                                                      \
  {                                                                    \
    PRAGMA(omp target data device(device) map(__VA_ARGS__ : p [lo:n])) \
    run_inside(step);                                                  \
  }                                                                    \
  break

static void data(Step* step) {
  LOCALS(step);
  switch (step->form) {
    case kRegionTo: DATA(to);
    case kRegionFrom: DATA(from);
    case kRegionToFrom: DATA(tofrom);
    case kRegionAlloc: DATA(alloc);
    case kRegionAlwaysTo: DATA(always, to);
    case kRegionAlwaysFrom: DATA(always, from);
    case kRegionAlwaysToFrom: DATA(always, tofrom);
    case kRegionPresent: DATA(present, tofrom);
    case kRegionHold: DATA(ompx_hold, tofrom);
  }
}

static void holder_exit(Step* step, int deferred) {
  LOCALS(step);
  switch (step->form) {
    case kFrom: STANDALONE(exit data map(from : h [0:1])); break;
    case kRelease: STANDALONE(exit data map(release : h [0:1])); break;
    case kDelete: STANDALONE(exit data map(delete : h [0:1])); break;
    case kAlwaysFrom: STANDALONE(exit data map(always, from : h [0:1])); break;
  }
}

static void holder(Step* step, int deferred) {
  LOCALS(step);
  switch (step->kind) {
    case kHolderWrite:
      for (int f = 0; f < kFields; f++) *(f < kFirst ? &h->first[f] : &h->last[f - kFirst]) = next_value(0, salt, f, 1);
      break;
    case kHolderPoint: h->data = p + lo; break;
    case kHolderEnter:
      if (step->form == kTo)
        STANDALONE(enter data map(to : h [0:1]));
      else
        STANDALONE(enter data map(always, to : h [0:1]));
      break;
    case kHolderExit: holder_exit(step, deferred); break;
    case kHolderUpdate:
      if (step->form == kUpdateTo)
        STANDALONE(update to(h [0:1]));
      else
        STANDALONE(update from(h [0:1]));
      break;
    default: break;
  }
}

/* Steps with a list that names a section through the structure's pointer. */
static void behind_holder(Step* step, int deferred) {
  LOCALS(step);
  int base = step->kind == kHolderUse ? step->lo2 : (int)(h->data - p), at = lo - base;
  switch (step->kind) {
    case kHolderUse: REGION(TOUCH_HOLDER(base), map(to : h [0:1])); break;
    case kSectionEnter:
      if (step->form == kTo)
        STANDALONE(enter data map(to : h->data [at:n]));
      else
        STANDALONE(enter data map(always, to : h->data [at:n]));
      break;
    case kSectionExit:
      if (step->form == kFrom)
        STANDALONE(exit data map(from : h->data [at:n]));
      else
        STANDALONE(exit data map(release : h->data [at:n]));
      break;
    case kBothEnter:
      if (step->form == kTo)
        STANDALONE(enter data map(to : h [0:1], h->data [at:n]));
      else
        STANDALONE(enter data map(to : h [0:1]) map(always, to : h->data [at:n]));
      break;
    default: REGION(TOUCH_HOLDER(base), map(tofrom : h [0:1], h->data [at:n])); break;
  }
}

static void run(Step* step, int deferred) {
  Object* object = &objects[step->object];
  switch (step->kind) {
    case kHostWrite:
      for (int i = step->lo; i < step->lo + step->n; i++) object->data[i] = next_value(0, step->salt, i, 1);
      break;
    case kEnter: enter(step, deferred); break;
    case kExit: leave(step, deferred); break;
    case kRegion: region(step, deferred); break;
    case kReaders: readers(step, deferred); break;
    case kUpdate: update(step, deferred); break;
    case kCopy: copy(step, deferred); break;
    case kAssociate: associate(step); break;
    case kDisassociate: disassociate(step); break;
    case kData: data(step); break;
    case kHolderUse:
    case kSectionEnter:
    case kSectionExit:
    case kBothEnter:
    case kBothRegion: behind_holder(step, deferred); break;
    default: holder(step, deferred); break;
  }
}

static int can_be_deferred(const Step* step) {
  switch (step->kind) {
    case kRegion: return step->form != kRegionSum && step->form != kRegionDevicePointer;
    case kUpdate: return step->form < kBoxTo;
    case kHostWrite:
    case kAssociate:
    case kDisassociate:
    case kData:
    case kHolderWrite: return 0;
    case kCopy: return step->form == kCopyThrough;
    default: return 1;
  }
}

void run_step(Step* step, int deferred) {
  /* A list that names a section through the pointer reads the pointer when the construct is encountered. */
  if (deferred && step->kind == kHolderPoint) {
#pragma omp taskwait
  }
  if (!deferred || can_be_deferred(step)) {
    run(step, deferred);
    return;
  }
#pragma omp task depend(inout : objects[step->object].chain) firstprivate(step)
  run(step, 0);
}

void run_and_check(Step* step) {
  run_step(step, 0);
  check_after(step);
}
