/* SPDX-License-Identifier: Apache-2.0
 *
 * Random programs for the data environment, judged by a model (maps.h). SEED ROUNDS are the arguments, so a failure is
 * repeated by its seed. Each program runs in four ways, which must all give what the model foretells: step by step; the
 * objects on the threads of a team; the objects in tasks; and with `nowait depend`, each object a chain of constructs.
 */
#include "maps.h"

static Program programs[kObjects];

/* Most arrays are short. Regions bring back up to 64 KiB of one in another way than more than that. */
static int length_of(int object) { return object == kObjects - 1 ? 60000 : 96; }
static int steps_of(int object) { return object == kObjects - 1 ? 15 : 40; }

static void make_object(int o, int devices) {
  size_t bytes = (size_t)length_of(o) * sizeof(int);
  objects[o].data = malloc(bytes);
  for (int d = 0; d < devices; d++) objects[o].scratch[d] = omp_target_alloc(bytes, d);
}

static void end_object(int o, int devices) {
  free(objects[o].data);
  for (int d = 0; d < devices; d++) omp_target_free(objects[o].scratch[d], d);
}

static void set_up(int o) {
  const State* before = programs[o].before;
  Object* object = &objects[o];
  memcpy(object->data, before->value, (size_t)before->length * sizeof(int));
  memcpy(object->holder.first, before->field, sizeof object->holder.first);
  memcpy(object->holder.last, before->field + kFirst, sizeof object->holder.last);
  object->holder.data = object->data + before->base;
}

static void run_object(int o) {
  for (int i = 0; i < programs[o].count; i++) run_and_check(&programs[o].step[i]);
}

/* The first steps of all objects, the second ones, and so on. */
static void in_turn(void (*run)(Step*)) {
  for (int i = 0, more = 1; more; i++) {
    more = 0;
    for (int o = 0; o < kObjects; o++) {
      if (i >= programs[o].count) continue;
      run(&programs[o].step[i]);
      more = 1;
    }
  }
}

static void steps(void) { in_turn(run_and_check); }

static void threads(void) {
#pragma omp parallel for schedule(dynamic, 1)
  for (int o = 0; o < kObjects; o++) run_object(o);
}

static void tasks(void) {
#pragma omp parallel
#pragma omp single
  for (int o = 0; o < kObjects; o++) {
#pragma omp task firstprivate(o)
    run_object(o);
  }
}

static void defer(Step* step) {
  run_step(step, 1);
#pragma omp task depend(inout : objects[step->object].chain) firstprivate(step)
  check_after(step);
}

static void deferred(void) {
#pragma omp parallel
#pragma omp single
  in_turn(defer);
}

static void in_mode(const char* name, void (*mode)(void)) {
  current_mode = name;
  for (int o = 0; o < kObjects; o++) set_up(o);
  mode();
}

int main(int argc, char** argv) {
  uint64_t first = argc > 1 ? strtoull(argv[1], NULL, 10) : 1, rounds = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
  int devices = own_environments() < kDevices ? own_environments() : kDevices;
  CHECK(devices > 0);
  for (int o = 0; o < kObjects; o++) make_object(o, devices);
  for (current_seed = first; current_seed < first + rounds; current_seed++) {
    for (int o = 0; o < kObjects; o++) programs[o] = generate(current_seed, o, length_of(o), devices, steps_of(o));
    in_mode("steps", steps);
    in_mode("threads", threads);
    in_mode("tasks", tasks);
    in_mode("deferred", deferred);
    for (int o = 0; o < kObjects; o++) free_program(&programs[o]);
  }
  for (int o = 0; o < kObjects; o++) end_object(o, devices);
  return 0;
}
