/* SPDX-License-Identifier: Apache-2.0
 *
 * Pointer attachment: a mapped pointer points to its mapped data on the device, keeps its host value on the host when
 * it is copied back, and stays attached when the object around it is copied to the device again.
 *
 * Covers: target enter data(map:to), target exit data(map:from/release), target update(to, from)
 */
#include "../device.h"

#define N 32

typedef struct {
  int n;
  double *a, *b;
  int tail;
} Vector;

typedef struct Node {
  int value;
  struct Node* next;
} Node;

static void fill(double* array, double first) {
  for (int i = 0; i < N; i++) array[i] = first + i;
}

/* The object and its arrays in one construct; and the host's pointers after the object came back. */
static void object_with_arrays(void) {
  double a[N], b[N];
  Vector v = {N, a, b, 1};
  fill(a, 0), fill(b, 100);
#pragma omp target enter data map(to : v) map(to : v.a[0 : N], v.b[0 : N])
#pragma omp target
  {
    for (int i = 0; i < v.n; i++) v.b[i] += v.a[i];
    v.tail = 2;
  }
  CHECK_COPY(b[1], 101, 102);
#pragma omp target exit data map(from : v.a[0 : N], v.b[0 : N]) map(from : v)
  CHECK(v.a == a && v.b == b);
  CHECK_EQ(v.tail, 2);
  for (int i = 0; i < N; i++) CHECK_NEAR(b[i], 100 + 2 * i, 0);
  CHECK_PRESENT(a, 0);
  CHECK_PRESENT(&v, 0);
}

/* In one target construct: mapped, attached, used, and given back. */
static void all_at_once(void) {
  double a[N], b[N];
  Vector v = {N, a, b, 1};
  fill(a, 0), fill(b, 100);
#pragma omp target map(tofrom : v, v.a[0 : N]) map(to : v.b[0 : N])
  {
    for (int i = 0; i < N; i++) v.a[i] += v.b[i];
    v.tail++;
  }
  CHECK(v.a == a && v.b == b);
  CHECK_EQ(v.tail, 2);
  CHECK_NEAR(a[N - 1], 100 + 2 * (N - 1), 0);
#ifdef __clang__ /* GCC 12 passes a wrong p */
  Vector* p = &v;
#pragma omp target map(tofrom : p[0 : 1], p->a[0 : N]) map(to : p -> b[0 : N])
  {
    for (int i = 0; i < N; i++) p->a[i] -= p->b[i];
    p->tail++;
  }
  CHECK(p == &v && v.a == a && v.b == b);
  CHECK_EQ(v.tail, 3);
  CHECK_NEAR(a[N - 1], N - 1, 0);
#endif
}

/* The arrays come after the object, by constructs of their own. */
static void in_steps(void) {
  double a[N], b[N];
  Vector v = {N, a, b, 1};
  fill(a, 1), fill(b, 2);
#pragma omp target enter data map(to : v)
#pragma omp target enter data map(to : v.a[0 : N])
#pragma omp target enter data map(to : v.b[0 : N])
#pragma omp target
  v.a[3] = v.b[3] + v.n;
  /* Copies of the object in both directions leave both sides' pointers alone. */
  v.tail = 55;
#pragma omp target update to(v)
#pragma omp target
  {
    v.a[4] = v.b[4] + v.tail;
    v.tail++;
  }
#pragma omp target update from(v)
  CHECK_EQ(v.tail, 56);
  CHECK(v.a == a && v.b == b);
  CHECK_COPY(a[3], 4, 2 + 3 + N);
#pragma omp target exit data map(from : v.a[0 : N])
#pragma omp target exit data map(release : v.b[0 : N])
#pragma omp target exit data map(from : v)
  CHECK(v.a == a && v.b == b);
  CHECK_NEAR(a[3], 2 + 3 + N, 0);
  CHECK_NEAR(a[4], 2 + 4 + 55, 0);
}

/* A pointer is attached again when it gets other data. */
static void other_data(void) {
  double first[N], second[N], got[2] = {0};
  Vector v = {N, first, first, 0};
  fill(first, 10), fill(second, 20);
#pragma omp target enter data map(to : v)
#pragma omp target enter data map(to : v.a[0 : N])
#pragma omp target map(tofrom : got)
  got[0] = v.a[1];
#pragma omp target exit data map(release : v.a[0 : N])
  v.a = second;
#pragma omp target enter data map(to : v.a[0 : N])
#pragma omp target map(tofrom : got)
  {
    got[1] = v.a[1];
    v.a[2] = 0;
  }
#pragma omp target exit data map(from : v.a[0 : N])
#pragma omp target exit data map(from : v)
  CHECK(v.a == second && v.b == first);
  CHECK_NEAR(got[0], 11, 0);
  CHECK_NEAR(got[1], 21, 0);
  CHECK_NEAR(second[2], 0, 0);
  CHECK_NEAR(first[2], 12, 0);
}

#ifdef __clang__ /* GCC 12 does not tell the runtime that rows[r] is to be attached */
/* An array of pointers, one attached after the other; and the same through a pointer to pointers. */
static void pointers_to_pointers(void) {
  double data[4][N], *rows[4], **matrix = rows, sum = 0;
  for (int r = 0; r < 4; r++) {
    rows[r] = data[r];
    fill(data[r], 100 * r);
  }
#pragma omp target enter data map(to : rows)
  for (int r = 0; r < 4; r++) {
#pragma omp target enter data map(to : rows[r][0 : N])
  }
#pragma omp target map(tofrom : sum)
  for (int r = 0; r < 4; r++) {
    sum += rows[r][r];
    rows[r][0] = -r;
  }
  CHECK_NEAR(sum, 606, 0);
  for (int r = 0; r < 4; r++) {
#pragma omp target exit data map(from : rows[r][0 : N])
    CHECK_NEAR(data[r][0], -r, 0);
  }
#pragma omp target exit data map(from : rows)
  for (int r = 0; r < 4; r++) CHECK(rows[r] == data[r]);
#pragma omp target enter data map(to : matrix[0 : 4])
  for (int r = 0; r < 4; r++) {
#pragma omp target enter data map(to : matrix[r][0 : N])
  }
#pragma omp target map(tofrom : matrix[0 : 4])
  for (int r = 0; r < 4; r++) matrix[r][1] = r;
  for (int r = 0; r < 4; r++) {
#pragma omp target exit data map(from : matrix[r][0 : N])
    CHECK_NEAR(data[r][1], r, 0);
  }
#pragma omp target exit data map(from : matrix[0 : 4])
  CHECK(matrix == rows && rows[3] == data[3]);
}
#endif

/* A list: every node's `next` is attached to the node after it. */
static void linked_list(void) {
  enum { kNodes = 20 };
  Node *nodes[kNodes], *head = NULL;
  int sum = 0, count = 0;
  for (int i = 0; i < kNodes; i++) {
    nodes[i] = malloc(sizeof(Node));
    *nodes[i] = (Node){i, NULL};
    if (i > 0) nodes[i - 1]->next = nodes[i];
  }
  head = nodes[0];
#pragma omp target enter data map(to : head[0 : 1])
  for (Node* n = head; n->next; n = n->next) {
#pragma omp target enter data map(to : n->next[0 : 1])
  }
#pragma omp target map(tofrom : sum, count) map(to : head[0 : 0])
  for (Node* n = head; n; n = n->next) {
    sum += n->value;
    n->value *= 2;
    count++;
  }
  CHECK_EQ(count, kNodes);
  CHECK_EQ(sum, kNodes * (kNodes - 1) / 2);
  for (int i = 0; i < kNodes; i++) {
    Node* n = nodes[i];
#pragma omp target update from(n[0 : 1])
    CHECK_EQ(n->value, 2 * i);
    CHECK(n->next == (i + 1 < kNodes ? nodes[i + 1] : NULL));
  }
  for (int i = kNodes - 1; i >= 0; i--) {
    Node* n = nodes[i];
#pragma omp target exit data map(delete : n[0 : 1])
    CHECK_PRESENT(n, 0);
    free(n);
  }
}

int main(void) {
  object_with_arrays();
  all_at_once();
  in_steps();
  other_data();
#ifdef __clang__
  pointers_to_pointers();
#endif
  linked_list();
  return 0;
}
