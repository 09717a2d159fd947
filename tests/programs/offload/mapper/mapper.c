/* SPDX-License-Identifier: Apache-2.0
 *
 * Declared mappers: how a type moves is said once, and holds for variables, arrays and sections of it, for members that
 * have mappers of their own, and in every construct that maps or updates. (The objects are static since LLVM's own
 * library forgets to give up what a mapper has mapped.)
 *
 * Covers: declare mapper, target(map:mapper), target data(map), target enter data(map), target exit data(map),
 *  target update(to, from)
 */
#include "../device.h"

#define N 20

typedef struct {
  int n;
  double* data;
  int scratch; /* only `whole` names it */
} Vector;

#pragma omp declare mapper(Vector v) map(v.n, v.data[0 : v.n])
#pragma omp declare mapper(whole : Vector v) map(v.n, v.scratch, v.data[0 : v.n])
#pragma omp declare mapper(size_only : Vector v) map(v.n)

typedef struct {
  int id;
  Vector left, right;
} Pair;

#pragma omp declare mapper(Pair p) map(p.id) map(p.left) map(mapper(whole), tofrom : p.right)

static Vector make(int n, double first) {
  Vector v = {n, malloc(n * sizeof(double)), 5};
  for (int i = 0; i < n; i++) v.data[i] = first + i;
  return v;
}

static void plain(void) {
  static Vector v;
  v = make(N, 0);
  double* data = v.data;
#pragma omp target map(v)
  {
    for (int i = 0; i < v.n; i++) v.data[i] *= 2;
    v.n = -1;
  }
  CHECK_EQ(v.n, -1);
  CHECK(v.data == data);
  CHECK_NEAR(data[N - 1], 2 * (N - 1), 0);
  v.n = N;
#pragma omp target /* the default mapper, without a clause */
  for (int i = 0; i < v.n; i++) v.data[i] += 1;
  CHECK_NEAR(data[0], 1, 0);
  free(data);
}

static void by_name(void) {
  static Vector v, w;
  v = make(N, 0);
  w = make(N, 0);
  double* data = v.data;
  int seen = 0;
#pragma omp target map(mapper(whole), tofrom : v)
  {
    v.scratch = v.n;
    v.data[0] = 100;
  }
  CHECK_EQ(v.scratch, N);
  CHECK_NEAR(data[0], 100, 0);
  CHECK(v.data == data);
#pragma omp target map(mapper(size_only), to : w) map(from : seen)
  seen = w.n;
  CHECK_EQ(seen, N);
  CHECK(w.data[1] == 1);
  free(data);
  free(w.data);
}

/* The map type of the clause decides what the mapper's maps do. */
static void types(void) {
  static Vector v;
  v = make(N, 0);
  double* data = v.data;
#pragma omp target map(to : v)
  {
    v.data[1] = -1;
    v.n = 3;
  }
  CHECK_COPY(data[1], 1, -1);
  CHECK_COPY(v.n, N, 3);
  v.n = N;
#pragma omp target enter data map(to : v)
  CHECK_PRESENT(data, 1);
#pragma omp target map(tofrom : v)
  for (int i = 0; i < v.n; i++) v.data[i] = 10 + i;
  CHECK_COPY(data[5], 5, 15);
#pragma omp target update from(v)
  CHECK_NEAR(data[5], 15, 0);
  CHECK(v.data == data);
  data[5] = 16;
#pragma omp target update to(v)
#pragma omp target map(tofrom : v)
  v.data[5] += 1;
#pragma omp target exit data map(from : v)
  CHECK_PRESENT(data, 0);
  CHECK_NEAR(data[5], 17, 0);
  CHECK_NEAR(data[6], 16, 0);
  CHECK(v.data == data);
#pragma omp target enter data map(to : v)
#pragma omp target exit data map(delete : v)
  CHECK_PRESENT(data, 0);
#pragma omp target data map(tofrom : v)
  {
#pragma omp target map(tofrom : v)
    v.data[0] = 44;
  }
  CHECK_NEAR(data[0], 44, 0);
  free(data);
}

/* Every element of an array gets its maps. */
static void arrays(void) {
  enum { kVectors = 5 };
  static Vector many[kVectors], more[kVectors];
  Vector* p = more;
  double sums[kVectors] = {0};
  for (int i = 0; i < kVectors; i++) many[i] = make(3 + i, 100 * i), more[i] = make(4, 10 * i);
#pragma omp target enter data map(to : many)
#pragma omp target map(tofrom : many) map(tofrom : sums)
  for (int i = 0; i < kVectors; i++) {
    for (int j = 0; j < many[i].n; j++) sums[i] += many[i].data[j];
    many[i].data[0] = -i;
  }
#pragma omp target exit data map(from : many)
  for (int i = 0; i < kVectors; i++) {
    int n = 3 + i;
    CHECK_NEAR(sums[i], 100 * i * n + n * (n - 1) / 2, 0);
    CHECK_NEAR(many[i].data[0], -i, 0);
    CHECK_PRESENT(many[i].data, 0);
  }
#pragma omp target map(tofrom : p[1 : 3])
  for (int i = 1; i < 4; i++) p[i].data[1] = 50 + i;
  for (int i = 0; i < kVectors; i++) {
    CHECK_NEAR(more[i].data[1], i >= 1 && i < 4 ? 50 + i : 10 * i + 1, 0);
    free(many[i].data);
    free(more[i].data);
  }
}

static void nested(void) {
  static Pair pair, pairs[3];
  pair = (Pair){7, make(N, 0), make(N / 2, 50)};
  double *left = pair.left.data, *right = pair.right.data;
#pragma omp target map(tofrom : pair)
  {
    pair.id++;
    pair.left.data[1] = pair.right.data[2];
    pair.right.data[3] = pair.right.scratch + pair.left.n;
  }
  CHECK_EQ(pair.id, 8);
  CHECK_NEAR(left[1], 52, 0);
  CHECK_NEAR(right[3], 5 + N, 0);
  CHECK(pair.left.data == left && pair.right.data == right);
  for (int i = 0; i < 3; i++) pairs[i] = (Pair){i, make(4, i), make(5, 10 * i)};
#pragma omp target map(tofrom : pairs)
  for (int i = 0; i < 3; i++) pairs[i].left.data[0] = pairs[i].right.data[4] + pairs[i].id;
  for (int i = 0; i < 3; i++) {
    CHECK_NEAR(pairs[i].left.data[0], 10 * i + 4 + i, 0);
    free(pairs[i].left.data);
    free(pairs[i].right.data);
  }
  free(left);
  free(right);
}

static void deferred(void) {
  static Vector v;
  v = make(N, 0);
#pragma omp parallel
#pragma omp single
  {
#pragma omp target enter data map(to : v) nowait depend(out : v)
#pragma omp target map(tofrom : v) nowait depend(inout : v)
    v.data[2] = 30;
#pragma omp target update from(v) nowait depend(inout : v)
#pragma omp target exit data map(release : v) nowait depend(inout : v)
  }
  CHECK_NEAR(v.data[2], 30, 0);
  CHECK_PRESENT(v.data, 0);
  free(v.data);
}

int main(void) {
  plain();
  by_name();
  types();
  arrays();
  nested();
  deferred();
  return 0;
}
