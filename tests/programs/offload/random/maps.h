/* SPDX-License-Identifier: Apache-2.0
 *
 * Random programs for the data environment: what their parts share.
 *
 * A program works on objects. An object is an array and a structure with a pointer into this array. Each object has a
 * list of steps of its own, so steps of different objects may run at the same time. `generate.c` draws the steps and
 * applies each one to a model (`model.c`): the values on the host and on every device, and the reference counts of what
 * is mapped, by OpenMP 5.2, section 5.8. Each step keeps the state that the model has after it. `run.c` executes a step
 * by directives and routines, and `check.c` compares what is there with the state of the model.
 */
#ifndef PROGRAMS_TARGET_RANDOM_MAPS_H
#define PROGRAMS_TARGET_RANDOM_MAPS_H

#include "../device.h"
#include <stdint.h>

enum { kObjects = 6, kDevices = 3, kRanges = 6, kColumns = 8, kUnknown = INT32_MIN, kValueMask = 0xffffff };
enum { kFirst = 2, kLast = 5, kFields = kFirst + kLast };

/* The structure of an object. */
typedef struct {
  int first[kFirst];
  int* data;
  int last[kLast];
} Holder;

/* Elements [lo, hi) of the array that are mapped as one. */
typedef struct {
  int lo, hi;
  int id;         /* no two ranges of a program have the same */
  int references; /* without the references of ompx_hold */
  int holds;
  int pinned;     /* references that enclosing data regions will take away */
  int associated; /* by omp_target_associate_ptr: stays when nothing refers to it */
} Range;

/* What a device has of an object. A value is kUnknown where nothing has been written to new memory. */
typedef struct {
  int ranges;
  Range range[kRanges];
  int* value;
  int holders; /* references of the structure; 0: it is not there */
  int through; /* the references that came with a section through its pointer */
  int field[kFields];
  int attached;      /* the range that the pointer is attached to, 0: none. The range may be gone. */
  int attached_base; /* which element the pointer is the address of */
} OnDevice;

typedef struct {
  int length, devices;
  int* value;
  int field[kFields];
  int base; /* which element the host's pointer is the address of */
  OnDevice on[kDevices];
} State;

typedef enum {
  kHostWrite,
  kEnter,
  kExit,
  kRegion,
  kReaders, /* regions that may run at the same time */
  kUpdate,
  kCopy,
  kAssociate,
  kDisassociate,
  kData, /* a data region with steps inside */
  kHolderWrite,
  kHolderPoint,
  kHolderEnter,
  kHolderExit,
  kHolderUpdate,
  kHolderUse,    /* a region that follows the attached pointer */
  kSectionEnter, /* the section through the structure's pointer */
  kSectionExit,
  kBothEnter, /* the structure and the section through its pointer */
  kBothRegion,
  kKinds
} Kind;

/* How the step is written. The names are the clauses' names. */
typedef enum { kTo, kAlloc, kAlwaysTo, kPresentTo, kPresentAlloc, kTwoTo, kEnterForms } EnterForm;
typedef enum { kFrom, kRelease, kDelete, kAlwaysFrom, kPresentFrom, kExitForms } ExitForm;
typedef enum {
  kRegionTo,
  kRegionFrom,
  kRegionToFrom,
  kRegionAlloc,
  kRegionAlwaysTo,
  kRegionAlwaysFrom,
  kRegionAlwaysToFrom,
  kRegionPresent,
  kRegionImplicit,
  kRegionDevicePointer,
  kRegionSum,
  kRegionHold, /* the last one: not for a data region above */
  kRegionForms
} RegionForm;
typedef enum {
  kUpdateTo,
  kUpdateFrom,
  kUpdatePresentTo,
  kUpdatePresentFrom,
  kBoxTo,
  kBoxFrom,
  kStridesTo,
  kStridesFrom,
  kUpdateForms
} UpdateForm;
typedef enum {
  kCopyIn,
  kCopyOut,
  kCopyAcross,
  kCopyBoxIn,
  kCopyBoxOut,
  kCopyThrough, /* from host to host by way of the device, in two steps that are not waited for */
  kCopyForms
} CopyForm;

/* Rows and columns of the array, seen as a matrix that begins at one of its elements. */
typedef struct {
  int origin, row, rows, row_stride, column, columns, column_stride;
} Box;

typedef struct Step {
  Kind kind;
  int form;
  int device, other; /* other: of a copy between devices */
  int lo, n, lo2, n2;
  Box box;
  int salt, fill; /* kernels: new values from old ones, or without them */
  int readers;
  int* seen; /* what the kernel will have read: n elements per region */
  int* got;  /* what it has read */
  long sum, got_sum;
  struct Step* inside;
  int inside_count;
  State* after;
  int object, index;
} Step;

/* model.c */
State* new_state(int length, int devices);
State* copy_of_state(const State* state);
void free_state(State* state);
Range* range_around(OnDevice* on, int lo, int n); /* null: not all of it is in one range */
Range* range_with_id(OnDevice* on, int id);
int is_clear(const OnDevice* on, int lo, int n); /* no range has any of it */
int is_known(const int* value, int lo, int n);
void apply(State* state, Step* step); /* one that has no steps inside */
void begin_data(State* state, const Step* step);
void end_data(State* state, const Step* step);

/* The values that a kernel and the host write. */
#pragma omp begin declare target
static inline int next_value(int old, int salt, int i, int fill) {
  return (int)(((fill ? 0u : 3u * (unsigned)old) + (unsigned)salt + 7u * (unsigned)i) & kValueMask);
}
#pragma omp end declare target

/* generate.c */
typedef struct {
  int count;
  Step* step;
  State* before;
} Program;
Program generate(uint64_t seed, int object, int length, int devices, int steps);
void free_program(Program* program);

/* run.c: what the steps work on. A step runs at once, or its constructs are deferred and depend on `chain`. */
typedef struct {
  int* data;
  Holder holder;
  void* block[kDevices]; /* associated memory */
  int* scratch[kDevices];
  int chain;
} Object;
extern Object objects[kObjects];
void run_step(Step* step, int deferred);
void run_and_check(Step* step);

/* check.c: ends the program at a difference. */
void check_after(const Step* step);
extern uint64_t current_seed;
extern const char* current_mode;
const char* kind_name(Kind kind);

#endif
