/* SPDX-License-Identifier: Apache-2.0
 *
 * What a callback of MPI may do with OpenMP: each form of do_work() calls a function for each index once, in tasks,
 * loops or regions of one kind. A task of the program must not run on a thread that is inside of a callback.
 */
#ifndef MARLINE_TESTS_MPI_CALLBACKS_WORK_H
#define MARLINE_TESTS_MPI_CALLBACKS_WORK_H

#include <omp.h>
#include <stddef.h>

typedef void (*body_fn)(int i, void* data);

typedef struct Work {
  int count;
  body_fn body;
  void* data;
} Work;

enum { kForms = 18, kPieces = 4 };

/* Callbacks that the thread is in. */
static __thread int callbacks_here;

static inline void piece(const Work* work, int p) {
  for (int i = p * work->count / kPieces; i < (p + 1) * work->count / kPieces; ++i) work->body(i, work->data);
}

static inline void in_taskgroup(const Work* work) {
#pragma omp taskgroup
  for (int p = 0; p < kPieces; ++p) {
#pragma omp task firstprivate(p)
    piece(work, p);
  }
}

static inline void in_tasks(const Work* work) {
  for (int p = 0; p < kPieces; ++p) {
#pragma omp task untied firstprivate(p)
    {
#pragma omp taskyield
      piece(work, p);
    }
  }
#pragma omp taskwait
}

static inline void in_taskloop(const Work* work, int grouped) {
  if (grouped) {
#pragma omp taskloop grainsize(7)
    for (int i = 0; i < work->count; ++i) work->body(i, work->data);
    return;
  }
#pragma omp taskloop nogroup num_tasks(5)
  for (int i = 0; i < work->count; ++i) work->body(i, work->data);
#pragma omp taskwait
}

static inline void by_halves(const Work* work, int begin, int end) {
  if (end - begin <= 9) {
    for (int i = begin; i < end; ++i) work->body(i, work->data);
    return;
  }
  const int middle = begin + (end - begin) / 2;
#pragma omp task
  by_halves(work, begin, middle);
#pragma omp task if (begin % 2 == 0)
  by_halves(work, middle, end);
#pragma omp taskwait
}

/* Each piece is a task that is ordered after the previous one; the last wait has a depend clause. */
static inline void in_a_chain(const Work* work, int set) {
  char place = 0, other = 0;
  for (int p = 0; p < kPieces; ++p) {
    if (set) {
#pragma omp task depend(mutexinoutset : place) depend(in : other) firstprivate(p)
      piece(work, p);
    } else {
#pragma omp task depend(inout : place) priority(p) firstprivate(p)
      piece(work, p);
    }
  }
#pragma omp taskwait depend(in : place)
  (void)place;
  (void)other;
}

static inline void with_events(const Work* work) {
  char done[2];
#pragma omp taskgroup
  for (int p = 0; p < kPieces; p += 2) {
    omp_event_handle_t event;
#pragma omp task detach(event) firstprivate(p) depend(out : done[p / 2])
    piece(work, p);
#pragma omp task firstprivate(p) depend(in : done[p / 2])
    piece(work, p + 1);
#pragma omp taskyield
    omp_fulfill_event(event);
  }
  (void)done;
}

static inline void with_sums(const Work* work) {
  int sum = 0, again = 0;
#pragma omp taskgroup task_reduction(+ : sum)
  for (int p = 0; p < kPieces; ++p) {
#pragma omp task in_reduction(+ : sum) firstprivate(p)
    {
      piece(work, p);
      sum += p;
    }
  }
#pragma omp taskloop reduction(+ : again)
  for (int i = 0; i < 10; ++i) again += i;
  expect(sum == kPieces * (kPieces - 1) / 2 && again == 45, "reductions of tasks in a callback");
}

static inline void in_a_region(const Work* work, int threads, int in_tasks_too) {
  char seen = 0;
#pragma omp parallel num_threads(threads)
  {
    if (in_tasks_too) {
#pragma omp single
      for (int p = 0; p < kPieces; ++p) {
#pragma omp task firstprivate(p) depend(inout : seen)
        {
#pragma omp task firstprivate(p)
          piece(work, p);
#pragma omp taskwait
        }
      }
    } else {
#pragma omp for schedule(dynamic, 3) nowait
      for (int i = 0; i < work->count / 2; ++i) work->body(i, work->data);
#pragma omp barrier
#pragma omp for
      for (int i = work->count / 2; i < work->count; ++i) work->body(i, work->data);
    }
#pragma omp barrier
  }
  (void)seen;
}

static inline void under_locks(const Work* work, omp_lock_t* lock) {
  static int uses, more;
#pragma omp taskgroup
  for (int p = 0; p < kPieces; ++p) {
#pragma omp task firstprivate(p) untied
    {
#pragma omp critical(callbacks)
      ++uses;
      omp_set_lock(lock);
      piece(work, p);
      omp_unset_lock(lock);
#pragma omp atomic
      ++more;
    }
  }
}

/* Tasks that are left complete before MPI goes on, on Marline. A callback that computes a result waits for its
 * tasks. */
static inline void and_leave_some(const Work* work, int* left) {
  piece(work, 0);
#pragma omp task firstprivate(work)
  {
#pragma omp atomic
    ++*left;
  }
  for (int p = 1; p < kPieces; ++p) piece(work, p);
}

static inline void from_final(const Work* work) {
#pragma omp task final(1) mergeable
  {
    for (int p = 0; p < kPieces; ++p) {
#pragma omp task firstprivate(p)
      piece(work, p);
    }
#pragma omp taskwait
  }
#pragma omp taskwait
}

static inline void cancelled(const Work* work) {
#pragma omp taskgroup
  {
#pragma omp task
    for (int p = 0; p < kPieces; ++p) piece(work, p);
  }
#pragma omp taskgroup
  {
#pragma omp task
    {
#pragma omp cancel taskgroup
    }
#pragma omp task
    {
#pragma omp cancellation point taskgroup
    }
  }
}

static int left_behind; /* tasks that callbacks did not wait for */
static omp_lock_t work_lock;

static inline void do_work(int form, const Work* work) {
  ++callbacks_here;
  switch (form % kForms) {
    case 0: in_taskgroup(work); break;
    case 1: in_tasks(work); break;
    case 2: in_taskloop(work, 1); break;
    case 3: in_taskloop(work, 0); break;
    case 4: by_halves(work, 0, work->count); break;
    case 5: in_a_chain(work, 0); break;
    case 6: in_a_chain(work, 1); break;
    case 7: with_events(work); break;
    case 8: with_sums(work); break;
    case 9: in_a_region(work, 2, 0); break;
    case 10: in_a_region(work, 3, 1); break;
    case 11: in_a_region(work, 1, 1); break;
    case 12: under_locks(work, &work_lock); break;
    case 13: and_leave_some(work, &left_behind); break;
    case 14: from_final(work); break;
    case 15: cancelled(work); break;
    case 16: {
      int i = 0;
#pragma omp taskwait
      for (; i < work->count; ++i) {
        work->body(i, work->data);
#pragma omp taskyield
      }
      break;
    }
    default:
      for (int p = 0; p < kPieces; ++p) piece(work, p);
  }
  --callbacks_here;
}

#endif
