/* SPDX-License-Identifier: Apache-2.0
 *
 * The target tasks in progress are in a table, each with the places at which its creator's stack pointer was higher
 * than ever before. These are compared with what a region maps when the region reports its maps, which may be sooner or
 * later.
 */
#include "frames.h"

#include "left_frame.h"
#include "lock.h"
#include "report.h"
#include <dlfcn.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>
#include <unwind.h>

/* kMostTasks: target tasks in progress that are looked at. kMostParts: parts of the creator's stack that a task
 * maps; further parts are not looked at. kMostPlaces: a further place overwrites the last one. */
enum { kMostTasks = 1024, kMostParts = 8, kMostPlaces = 4, kMostUnwound = 64 };

typedef struct Part {
  uintptr_t begin;
  size_t bytes;
} Part;

typedef struct Entry {
  uint64_t creator, task; /* task 0: free */
  uintptr_t low, top;     /* of the creator's stack; its frames end at `top`, or before it if `own_top` is false */
  bool own_top;
  Place created;
  Place left[kMostPlaces]; /* each is higher than the one before */
  int lefts;
  Part parts[kMostParts];
  int count;
  bool is_reported;
} Entry;

static Entry entries[kMostTasks];
static Lock entries_lock;
/* Entries in use are before this index. Written under the lock; relaxed: the thread that looks has created the task
 * that it looks for, or continues a task that has. */
static _Atomic int entries_end;

static ompt_get_task_info_t task_info;
static int (*task_stack)(void** low, void** high);

static bool is_ours(uintptr_t address) {
  Dl_info info;
  if (dladdr((const void*)(address - 1), &info) == 0 || info.dli_fname == NULL) return false;
  const char* slash = strrchr(info.dli_fname, '/');
  return strncmp(slash != NULL ? slash + 1 : info.dli_fname, "libmarline", strlen("libmarline")) == 0;
}

typedef struct Walk {
  Place place;
  int unwound;
} Walk;

/* The CFA that the unwinder gives for a frame is the frame's stack pointer after the call that it is in has
 * returned. */
static _Unwind_Reason_Code step(struct _Unwind_Context* context, void* data) {
  Walk* walk = data;
  const uintptr_t address = _Unwind_GetIP(context);
  Place* place = &walk->place;
  if (address == 0 || ++walk->unwound > kMostUnwound) return _URC_END_OF_STACK;
  if (place->pointer == 0) {
    if (is_ours(address)) return _URC_NO_REASON;
    place->pointer = _Unwind_GetCFA(context);
  }
  place->stack[place->frames++] = (void*)address;
  return place->frames < kPlaceFrames ? _URC_NO_REASON : _URC_END_OF_STACK;
}

/* Returns false if the task is on a stack of the program, or on an unknown one. */
static bool find_place(Place* place, uintptr_t* low, uintptr_t* high) {
  void *from = NULL, *to = NULL;
  if (task_stack == NULL || task_stack(&from, &to) == 0) return false;
  *low = (uintptr_t)from, *high = (uintptr_t)to;
  Walk walk = {{0}, 0};
  _Unwind_Backtrace(step, &walk);
  *place = walk.place;
  const uintptr_t here = (uintptr_t)__builtin_frame_address(0);
  return here >= *low && here < *high && place->pointer > here && place->pointer <= *high;
}

static void add(const ompt_data_t* creator, const ompt_data_t* task) {
  Entry made = {.creator = creator->value, .task = task->value};
  uintptr_t high;
  if (creator->value == 0 || !find_place(&made.created, &made.low, &high)) return;
  int flags = 0;
  ompt_data_t* data = NULL;
  ompt_frame_t* frame = NULL;
  made.top = high;
  if (task_info(0, &flags, &data, &frame, NULL, NULL) != 0 && frame != NULL && frame->exit_frame.ptr != NULL &&
      (frame->exit_frame_flags & ompt_frame_application) == 0)
    made.top = (uintptr_t)frame->exit_frame.ptr;
  made.own_top = made.top != high;
  if (data != creator || made.top <= made.created.pointer || made.top > high) return;
  lock_take(&entries_lock);
  int i = 0;
  while (i < kMostTasks && entries[i].task != 0) ++i;
  if (i < kMostTasks) entries[i] = made;
  if (i < kMostTasks && i >= atomic_load_explicit(&entries_end, memory_order_relaxed))
    atomic_store_explicit(&entries_end, i + 1, memory_order_relaxed);
  lock_give(&entries_lock);
}

/* Called under the lock. Returns true if the stack pointer was never as high before. */
static bool add_left(Entry* entry, const Place* place, uintptr_t pointer) {
  if (pointer <= entry->created.pointer || (entry->lefts > 0 && pointer <= entry->left[entry->lefts - 1].pointer))
    return false;
  entry->lefts += entry->lefts < kMostPlaces;
  entry->left[entry->lefts - 1] = *place;
  entry->left[entry->lefts - 1].pointer = pointer;
  return true;
}

/* Called under the lock. Returns true if `found` is to be reported, with the first place at which a part's frame had
 * been left. */
static bool judge(Entry* entry, LeftFrame* found) {
  for (int i = 0; i < entry->count && !entry->is_reported; ++i) {
    const Part* part = &entry->parts[i];
    const Place* left = entry->left;
    while (left < entry->left + entry->lefts && part->begin >= left->pointer) ++left;
    if (part->begin < entry->created.pointer || left == entry->left + entry->lefts) continue;
    entry->is_reported = true;
    *found = (LeftFrame){entry->creator, entry->task, part->begin, part->bytes, entry->created, *left};
    return true;
  }
  return false;
}

static void note_left(uint64_t creator, const Place* place, uintptr_t low, bool has_ended) {
  LeftFrame found;
  const int end = atomic_load_explicit(&entries_end, memory_order_relaxed);
  for (int i = 0; i < end; ++i) {
    bool is_found = false;
    lock_take(&entries_lock);
    Entry* entry = &entries[i];
    if (entry->task != 0 && entry->creator == creator && (has_ended ? entry->own_top : entry->low == low)) {
      const uintptr_t pointer = has_ended || place->pointer > entry->top ? entry->top : place->pointer;
      is_found = add_left(entry, place, pointer) && judge(entry, &found);
    }
    lock_give(&entries_lock);
    if (is_found) report_left(&found);
  }
}

static bool any(void) { return atomic_load_explicit(&entries_end, memory_order_relaxed) != 0; }

/* Whether the task has created a target task that is in progress. */
static bool is_creator(const ompt_data_t* task) {
  bool is = false;
  if (!any() || task == NULL || task->value == 0) return false;
  lock_take(&entries_lock);
  const int end = atomic_load_explicit(&entries_end, memory_order_relaxed);
  for (int i = 0; i < end && !is; ++i) is = entries[i].task != 0 && entries[i].creator == task->value;
  lock_give(&entries_lock);
  return is;
}

void frames_look(const ompt_data_t* task) {
  Place place;
  uintptr_t low, high;
  if (is_creator(task) && find_place(&place, &low, &high)) note_left(task->value, &place, low, false);
}

void frames_create(const ompt_data_t* creator, const ompt_data_t* task, int flags) {
  frames_look(creator);
  if (creator != NULL && (flags & ompt_task_target) != 0 && (flags & ompt_task_undeferred) == 0) add(creator, task);
}

/* Code that the program runs in line, such as Clang's undeferred tasks, has an unknown top: the frame around it is
 * the program's, and still exists. What is below that frame has been left. */
void frames_end(const ompt_data_t* task) {
  const Place nowhere = {0};
  if (!is_creator(task)) return;
  note_left(task->value, &nowhere, 0, true);
  frames_look(task);
}

static void forget(uint64_t task) {
  lock_take(&entries_lock);
  int end = atomic_load_explicit(&entries_end, memory_order_relaxed);
  for (int i = 0; i < end; ++i) {
    if (entries[i].task == task) entries[i].task = 0;
  }
  while (end > 0 && entries[end - 1].task == 0) --end;
  atomic_store_explicit(&entries_end, end, memory_order_relaxed);
  lock_give(&entries_lock);
}

/* A task has ended, or its structured block has: then it has no frames. The end of a target task is reported before
 * a task that waits for it goes on. */
static void on_schedule(ompt_data_t* prior, ompt_task_status_t status, ompt_data_t* next) {
  (void)next;
  if (!any() || prior == NULL || prior->value == 0) return;
  if (status == ompt_task_complete || status == ompt_task_cancel || status == ompt_task_detach) frames_end(prior);
  if (status == ompt_task_complete || status == ompt_task_cancel || status == ompt_task_late_fulfill)
    forget(prior->value);
}

/* The word of a construct is the number of its target task if it is deferred, otherwise 0. */
static void on_target(ompt_target_t kind, ompt_scope_endpoint_t endpoint, int device, ompt_data_t* task,
                      ompt_data_t* target_task, ompt_data_t* target, const void* code) {
  (void)device, (void)code;
  enum { kDeferred = 8 };
  const uint64_t number = (kind & kDeferred) != 0 && target_task != NULL ? target_task->value : 0;
  if (endpoint == ompt_scope_begin) {
    if (target != NULL) target->value = number;
    if (number == 0) frames_look(task);
  } else if (number != 0 && any()) {
    forget(number);
  }
}

static void on_map(ompt_data_t* target, unsigned count, void** host, void** device, size_t* bytes, unsigned* flags,
                   const void* code) {
  (void)device, (void)code;
  if (!any() || target == NULL || target->value == 0) return;
  LeftFrame found;
  bool is_found = false;
  lock_take(&entries_lock);
  const int end = atomic_load_explicit(&entries_end, memory_order_relaxed);
  for (int i = 0; i < end && !is_found; ++i) {
    Entry* entry = &entries[i];
    if (entry->task != target->value) continue;
    for (unsigned item = 0; item < count && entry->count < kMostParts; ++item) {
      const Part part = {(uintptr_t)host[item], bytes[item]};
      const bool is_in_frames = part.begin >= entry->created.pointer && part.begin < entry->top && part.bytes != 0;
      if ((flags[item] & ompt_target_map_flag_from) != 0 && is_in_frames) entry->parts[entry->count++] = part;
    }
    is_found = judge(entry, &found);
  }
  lock_give(&entries_lock);
  if (is_found) report_left(&found);
}

void frames_begin(ompt_function_lookup_t lookup) {
  ompt_set_callback_t set = (ompt_set_callback_t)lookup("ompt_set_callback");
  task_info = (ompt_get_task_info_t)lookup("ompt_get_task_info");
  task_stack = (int (*)(void**, void**))lookup("marline_task_stack");
  set(ompt_callback_task_schedule, (ompt_callback_t)on_schedule);
  set(ompt_callback_target_emi, (ompt_callback_t)on_target);
  set(ompt_callback_target_map_emi, (ompt_callback_t)on_map);
}
