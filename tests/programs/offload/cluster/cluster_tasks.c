/* SPDX-License-Identifier: Apache-2.0
 *
 * A random graph of deferred target regions on few arrays, which all of them map as a whole. Each array has four
 * classes of bytes, by index modulo 4, with a dependence object each: so tasks without order write between each other's
 * bytes. Updates and host tasks are among them, and tasks that take an array off the device or bring it back: regions
 * in between map it for themselves. The same tasks, one by one on the host, say what must come out.
 *
 *   SEED [TASKS [BYTES [named | uneven]]]     arrays have less than that many bytes: 3000
 *
 * named: the classes are the quarters of an array, and each region maps, and names in its depend clauses, what it uses.
 * uneven: one region of four takes milliseconds.
 *
 * Covers: target(nowait, depend, map:tofrom), target enter data(map:to, nowait), target exit data(map:from, nowait),
 *   target update(to, from, nowait, depend), task(depend:inout)
 */
#include "../device.h"

#include <stdlib.h>
#include <string.h>

enum { kArrays = 5, kClasses = 4 };

static unsigned long long g_state;

static unsigned draw(unsigned below) {
  g_state = g_state * 6364136223846793005ULL + 1442695040888963407ULL;
  return (unsigned)(g_state >> 33) % below;
}

static int g_sizes[kArrays];
static unsigned char *g_arrays[kArrays], *g_device[kArrays], *g_host[kArrays]; /* the program's; what must come out */
static char g_cells[kArrays][kClasses];
static int g_is_there[kArrays]; /* on the device, as seen in the order of creation */

typedef enum { kRegion, kUpdateFrom, kUpdateTo, kHostTask, kMove } Kind;

typedef struct {
  Kind kind;
  int array[4], part[4]; /* read, read, written, written: distinct */
  unsigned salt;
} Task;

static int g_named, g_uneven;

static int begin_of(int n, int part) { return part * n / kClasses; }

#pragma omp declare target
static unsigned hash_bytes(const unsigned char* bytes, int first, int n, int step) {
  unsigned hash = 2166136261u;
  for (int i = first; i < n; i += step) hash = (hash ^ bytes[i]) * 16777619u;
  return hash;
}

/* Some bytes stay as they are. */
static void write_bytes(unsigned char* bytes, int first, int n, int step, unsigned hash) {
  for (int i = first; i < n; i += step) {
    hash = hash * 1664525u + 1013904223u;
    if (hash >> 30 != 0) bytes[i] = (unsigned char)(bytes[i] + (hash >> 16));
  }
}

static void run(unsigned salt, unsigned char* const* a, const int* first, const int* n, int step) {
  unsigned hash = salt ^ hash_bytes(a[0], first[0], n[0], step) ^ hash_bytes(a[1], first[1], n[1], step);
  write_bytes(a[2], first[2], n[2], step, hash);
  write_bytes(a[3], first[3], n[3], step, hash * 31);
}
/* Takes about as many microseconds. */
static void take_time(int microseconds) {
  volatile unsigned hash = 1;
  for (int i = 0; i < microseconds * 300; i++) hash = hash * 1664525u + 1013904223u;
}
#pragma omp end declare target

static void write_class(unsigned char* bytes, int n, int part, unsigned salt) {
  if (g_named)
    write_bytes(bytes, begin_of(n, part), begin_of(n, part + 1), 1, salt);
  else
    write_bytes(bytes, part, n, kClasses, salt);
}

static Task draw_task(void) {
  Task task = {kRegion, {0}, {0}, draw(1u << 30)};
  static const Kind kOthers[] = {kUpdateFrom, kUpdateTo, kHostTask, kMove};
  unsigned what = draw(16);
  task.kind =
      what < (g_named ? 3u : 4u) ? kOthers[what] : kRegion; /* named: arrays stay, as regions map parts of them */
  for (int i = 0; i < 4; i++) {
    int is_new;
    do {
      task.array[i] = (int)draw(kArrays), task.part[i] = (int)draw(kClasses);
      is_new = 1;
      for (int k = 0; k < i; k++) is_new = is_new && (task.array[k] != task.array[i] || task.part[k] != task.part[i]);
    } while (!is_new);
  }
  return task;
}

static void copy_all(int v, int to_device) {
  if (to_device)
    memmove(g_device[v], g_host[v], (size_t)g_sizes[v]);
  else
    memmove(g_host[v], g_device[v], (size_t)g_sizes[v]);
}

static void refer_region(const Task* task, unsigned char* const* a, const int* first, const int* n) {
  for (int i = 0; i < 4; i++)
    if (!g_is_there[task->array[i]]) copy_all(task->array[i], 1);
  run(task->salt, a, first, n, g_named ? 1 : kClasses);
  for (int i = 0; i < 4; i++)
    if (!g_is_there[task->array[i]]) copy_all(task->array[i], 0);
}

static void refer(const Task* task) {
  int v = task->array[0], first[4], n[4];
  unsigned char* a[4];
  for (int i = 0; i < 4; i++) {
    a[i] = g_device[task->array[i]], n[i] = g_sizes[task->array[i]], first[i] = task->part[i];
    if (g_named) first[i] = begin_of(n[i], task->part[i]), n[i] = begin_of(n[i], task->part[i] + 1);
  }
  if (task->kind == kRegion) refer_region(task, a, first, n);
  if (task->kind == kUpdateFrom && g_is_there[v]) copy_all(v, 0);
  if (task->kind == kUpdateTo && g_is_there[v]) copy_all(v, 1);
  if (task->kind == kMove) copy_all(v, !g_is_there[v]);
  if (task->kind == kHostTask) write_class(g_host[v], g_sizes[v], task->part[0], task->salt);
}

static void create_region(const Task* task) {
  char *in0 = &g_cells[task->array[0]][task->part[0]], *in1 = &g_cells[task->array[1]][task->part[1]];
  char *out0 = &g_cells[task->array[2]][task->part[2]], *out1 = &g_cells[task->array[3]][task->part[3]];
  int n0 = g_sizes[task->array[0]], n1 = g_sizes[task->array[1]], n2 = g_sizes[task->array[2]],
      n3 = g_sizes[task->array[3]];
  unsigned char *a0 = g_arrays[task->array[0]], *a1 = g_arrays[task->array[1]], *a2 = g_arrays[task->array[2]],
                *a3 = g_arrays[task->array[3]];
  int p0 = task->part[0], p1 = task->part[1], p2 = task->part[2], p3 = task->part[3];
  unsigned salt = task->salt;
  int time = g_uneven && salt % 4 == 0 ? 5000 : 0;
  (void)in0, (void)in1, (void)out0, (void)out1; /* GCC does not count their use in depend */
#pragma omp target nowait depend(in : in0[0], in1[0]) depend(inout : out0[0], out1[0]) map(tofrom : a0[0 : n0]) \
    map(tofrom : a1[0 : n1]) map(tofrom : a2[0 : n2]) map(tofrom : a3[0 : n3])
  {
    unsigned char* a[] = {a0, a1, a2, a3};
    int n[] = {n0, n1, n2, n3}, p[] = {p0, p1, p2, p3};
    take_time(time);
    run(salt, a, p, n, 4);
  }
}

static unsigned char* quarter(int array, int part, int* n) {
  int first = begin_of(g_sizes[array], part);
  *n = begin_of(g_sizes[array], part + 1) - first;
  return g_arrays[array] + first;
}

static void create_named(const Task* task) {
  int n0, n1, n2, n3;
  unsigned char *q0 = quarter(task->array[0], task->part[0], &n0), *q1 = quarter(task->array[1], task->part[1], &n1),
                *q2 = quarter(task->array[2], task->part[2], &n2), *q3 = quarter(task->array[3], task->part[3], &n3);
  unsigned salt = task->salt;
#pragma omp target nowait depend(in : q0[0 : n0], q1[0 : n1]) depend(inout : q2[0 : n2], q3[0 : n3]) \
    map(to : q0[0 : n0], q1[0 : n1]) map(tofrom : q2[0 : n2], q3[0 : n3])
  {
    unsigned char* a[] = {q0, q1, q2, q3};
    int n[] = {n0, n1, n2, n3}, first[4] = {0};
    run(salt, a, first, n, 1);
  }
}

static void create(const Task* task) {
  int v = task->array[0], n = g_sizes[v], part = task->part[0];
  unsigned char* a = g_arrays[v];
  char* c[kClasses];
  unsigned salt = task->salt;
  for (int k = 0; k < kClasses; k++) c[k] = g_named ? (char*)a + begin_of(n, k) : &g_cells[v][k];
  switch (task->kind) {
    case kRegion: g_named ? create_named(task) : create_region(task); break;
    case kUpdateFrom: {
#pragma omp target update nowait from(a[0 : n]) depend(inout : c[0][0], c[1][0], c[2][0], c[3][0])
      break;
    }
    case kUpdateTo: {
#pragma omp target update nowait to(a[0 : n]) depend(inout : c[0][0], c[1][0], c[2][0], c[3][0])
      break;
    }
    case kHostTask: {
#pragma omp task depend(inout : c[0][0], c[1][0], c[2][0], c[3][0]) firstprivate(a, n, part, salt)
      write_class(a, n, part, salt);
      break;
    }
    case kMove: {
      if (g_is_there[v]) {
#pragma omp target exit data nowait map(from : a[0 : n]) depend(inout : c[0][0], c[1][0], c[2][0], c[3][0])
      } else {
#pragma omp target enter data nowait map(to : a[0 : n]) depend(inout : c[0][0], c[1][0], c[2][0], c[3][0])
      }
      g_is_there[v] = !g_is_there[v];
      break;
    }
  }
}

int main(int count, char** words) {
  g_state = (unsigned long long)(count > 1 ? atoi(words[1]) : 1) * 0x9e3779b97f4a7c15ULL + 1;
  int tasks = count > 2 ? atoi(words[2]) : 300, most = count > 3 ? atoi(words[3]) : 3000;
  g_named = count > 4 && strcmp(words[4], "named") == 0;
  g_uneven = count > 4 && strcmp(words[4], "uneven") == 0;
  for (int v = 0; v < kArrays; v++) {
    int n = g_sizes[v] = 4 + (int)draw((unsigned)most - 4);
    g_arrays[v] = malloc((size_t)n), g_host[v] = malloc((size_t)n);
    g_device[v] = own_copies() ? malloc((size_t)n) : g_host[v];
    for (int i = 0; i < n; i++) g_arrays[v][i] = g_device[v][i] = g_host[v][i] = (unsigned char)draw(256);
    unsigned char* a = g_arrays[v];
    (void)a; /* GCC does not count its use in a map */
    g_is_there[v] = 1;
#pragma omp target enter data map(to : a[0 : n])
  }
#pragma omp parallel
#pragma omp single
  for (int i = 0; i < tasks; i++) {
    Task task = draw_task();
    refer(&task);
    create(&task);
  }
  for (int v = 0; v < kArrays; v++) {
    unsigned char* a = g_arrays[v];
    int n = g_sizes[v];
    for (int i = 0; i < n; i++) CHECK_EQ(a[i], g_host[v][i]);
    if (!g_is_there[v]) copy_all(v, 1);
#pragma omp target exit data map(from : a[0 : n])
    for (int i = 0; i < n; i++) CHECK_EQ(a[i], g_device[v][i]);
    if (own_copies()) free(g_device[v]);
    free(g_arrays[v]), free(g_host[v]);
  }
  return 0;
}
