/* SPDX-License-Identifier: Apache-2.0
 *
 * Dependences given by calls (marline.h): marline_task_depend and depend objects order tasks as the clause does, alone,
 * several together and with the clause; undeferred, final and included tasks wait for them; misuse ends in one line.
 *
 * Covers: marline dependence calls, parallel(num_threads), task(if, final, untied, firstprivate, depend:in/inout),
 *  taskwait(depend:in)
 */
#include "../child.h"
#include <marline/marline.h>
#include <omp.h>

enum { kChain = 200, kWide = 300 };

static int value, ran, cells[kWide];

static void depend(void* address, marline_depend_type_t type) {
  const marline_dependence_t list[] = {{address, type}};
  marline_task_depend(list, 1);
}

/* Each task finds the value that the one before left. */
static void chain(int mode) {
  const marline_dependence_t list[] = {{&value, MARLINE_INOUT}};
  marline_depend_object_t* object = marline_depend_create(list, 1);
  for (int i = 0; i < kChain; i++) {
    if (mode == 0)
      marline_task_depend(list, 1);
    else if (mode == 1)
      marline_task_depend_object(object);
    if (mode == 2) {
#pragma omp task depend(inout : value) firstprivate(i)
      CHECK_EQ(value++, i);
    } else {
#pragma omp task firstprivate(i)
      CHECK_EQ(value++, i);
    }
    if (i % 5 == 0 && mode != 2) mode = 1 - mode; /* both ways meet in one table */
  }
  marline_depend_destroy(object);
#pragma omp taskwait
  CHECK_EQ(value, kChain);
  value = 0;
}

/* One writer per cell, then a reader of all: by calls that add up, by an object and the clause, by two objects. */
static void add_up(int way) {
  static marline_dependence_t all[kWide];
  for (int i = 0; i < kWide; i++) {
    all[i] = (marline_dependence_t){&cells[i], MARLINE_IN};
    depend(&cells[i], MARLINE_OUT);
#pragma omp task firstprivate(i)
    {
      if (i % 50 == 0) usleep(200);
      cells[i] = i + 1;
    }
  }
  marline_depend_object_t* half = marline_depend_create(all, kWide / 2);
  marline_depend_object_t* rest = marline_depend_create(all + kWide / 2, kWide - kWide / 2 - 1);
  if (way == 0) {
    for (int i = 0; i < kWide; i++) depend(&cells[i], MARLINE_IN);
  } else if (way == 1) {
    marline_task_depend(all, kWide - 1);
  } else {
    marline_task_depend_object(half);
    marline_task_depend_object(rest);
  }
  if (way == 0) {
#pragma omp task
    for (int i = 0; i < kWide; i++) CHECK_EQ(cells[i], i + 1);
  } else {
#pragma omp task depend(in : cells[kWide - 1])
    for (int i = 0; i < kWide; i++) CHECK_EQ(cells[i], i + 1);
  }
  marline_depend_destroy(half);
  marline_depend_destroy(rest);
#pragma omp taskwait
  memset(cells, 0, sizeof cells);
}

/* Undeferred, final and included tasks wait for these dependences, too, and a taskwait leaves them alone. */
static void undeferred(void) {
  depend(&value, MARLINE_OUT);
#pragma omp task
  {
    usleep(500);
    value = 1;
  }
  depend(&value, MARLINE_IN);
#pragma omp task if (0)
  CHECK_EQ(value, 1);
  depend(&value, MARLINE_OUT);
#pragma omp task
  {
    usleep(500);
    value = 2;
  }
  depend(&value, MARLINE_IN);
#pragma omp taskwait depend(in : cells[0])
#pragma omp task final(1) depend(in : cells[1]) if (0)
  CHECK_EQ(value, 2);
#pragma omp task final(1)
  {
    depend(&value, MARLINE_OUT);
#pragma omp task
    value = 3;
    CHECK_EQ(value, 3);
  }
#pragma omp taskwait
  value = 0;
}

/* The types: inoutset and mutexinoutset keep their meaning, several for one address order like inout. */
static void types(void) {
  int inside = 0, pairs = 0;
  marline_dependence_t twice[] = {{&value, MARLINE_INOUTSET}, {&cells[3], MARLINE_IN}, {&value, MARLINE_IN}};
  marline_depend_object_t* mixed = marline_depend_create(twice, 3);
  for (int i = 0; i < 20; i++) {
    if (i % 2 == 0)
      marline_task_depend_object(mixed);
    else
      marline_task_depend(twice, 3);
#pragma omp task firstprivate(i)
    CHECK_EQ(value++, i);
  }
  marline_depend_destroy(mixed);
  for (int i = 0; i < 50; i++) {
    depend(&inside, MARLINE_MUTEXINOUTSET);
#pragma omp task shared(inside, pairs)
    {
      CHECK_EQ(inside, 0);
      inside = 1;
      usleep(1);
      inside = 0;
      pairs++;
    }
  }
  depend(NULL, MARLINE_OUT); /* omp_all_memory */
  depend(NULL, MARLINE_IN);
#pragma omp task shared(pairs)
  {
    CHECK_EQ(value, 20);
    CHECK_EQ(pairs, 50);
    value = 0;
  }
  depend(&value, MARLINE_IN);
#pragma omp task
  CHECK_EQ(value, 0);
#pragma omp taskwait
}

/* Two inoutset tasks run at the same time (with two threads or a fiber for each), then one that reads. */
static void sets(void) {
  marline_event_t met[2] = {MARLINE_EVENT_INIT, MARLINE_EVENT_INIT};
  const marline_dependence_t list[] = {{&value, MARLINE_INOUTSET}, {&value, MARLINE_INOUTSET}};
  marline_depend_object_t* set = marline_depend_create(list, 2);
  for (int i = 0; i < 2; i++) {
    marline_task_depend_object(set);
#pragma omp task untied shared(met) firstprivate(i)
    {
      marline_event_fulfill(&met[i]);
      marline_event_wait(&met[1 - i]);
#pragma omp atomic
      value++;
    }
  }
  depend(&value, MARLINE_IN);
#pragma omp task
  CHECK_EQ(value, 2);
#pragma omp taskwait
  marline_depend_destroy(set);
  value = 0;
}

/* A name and dependences for one task; the next task has neither. */
static void with_name(void) {
  depend(&value, MARLINE_OUT);
  marline_task_label("writer");
#pragma omp task
  {
    usleep(300);
    value = 1;
  }
#pragma omp task
  {
#pragma omp atomic
    ran++;
  }
  marline_task_label("reader");
  depend(&value, MARLINE_IN);
#pragma omp task
  CHECK_EQ(value, 1);
#pragma omp taskwait
  CHECK_EQ(ran, 1);
  ran = value = 0;
}

/* Nested: each generating task's calls are about its own children. */
static void nested(void) {
  for (int t = 0; t < 20; t++) {
#pragma omp task
    {
      int own = 0;
      for (int i = 0; i < 10; i++) {
        depend(&own, MARLINE_INOUT);
#pragma omp task shared(own) firstprivate(i)
        CHECK_EQ(own++, i);
      }
#pragma omp taskwait
    }
  }
#pragma omp taskwait
}

static int misuse(const char* how) {
  marline_dependence_t list[] = {{&value, MARLINE_IN}, {&value, (marline_depend_type_t)9}};
  if (strcmp(how, "null_list") == 0)
    marline_task_depend(NULL, 3);
  else if (strcmp(how, "type") == 0)
    marline_task_depend(list, 2);
  else if (strcmp(how, "create") == 0)
    marline_depend_create(list, 2);
  else if (strcmp(how, "null_object") == 0)
    marline_task_depend_object(NULL);
#pragma omp parallel num_threads(1)
#pragma omp single
  {
#pragma omp task
    marline_task_depend(list, 1); /* and no task construct */
#pragma omp taskwait
#pragma omp task
    value++;
  }
  return 0;
}

int main(int argc, char** argv) {
  if (argc > 1) return misuse(argv[1]);
#pragma omp parallel
#pragma omp single
  for (int round = 0; round < 10; round++) {
    for (int mode = 0; mode < 3; mode++) chain(mode);
    for (int way = 0; way < 3; way++) add_up(way);
    undeferred();
    types();
    sets();
    with_name();
    nested();
  }
  expect_fatal("null_list", "marline_task_depend: a null list of 3 dependences");
  expect_fatal("type", "marline_task_depend: entry 1 of the list has the type 9");
  expect_fatal("create", "marline_depend_create: entry 1 of the list has the type 9");
  expect_fatal("null_object", "marline_task_depend_object: no object");
  expect_fatal("no_task", "then did not create a task");
  return 0;
}
