/* SPDX-License-Identifier: Apache-2.0
 *
 * Variables that exist on the device all the time, variables that are linked (mapped before use), and functions for
 * devices.
 *
 * Covers: declare target(to, link, device_type), target update(to, from), target(map:always),
 *  target enter data(map:to), target exit data(map:from)
 */
#include "../device.h"

#define N 50

#pragma omp declare target
int counter = 5;
double table[3] = {1, 2, 3};
int* buffer;
struct {
  int first;
  char text[12];
} record = {4, "four"};

static long calls;
static int add(int a, int b) {
  calls++; /* a variable that no other file can see: the host cannot reach the device's */
  return a + b;
}
int fibonacci(int n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }
static int next_number(void) {
  static int number = 100;
  return number++;
}
#pragma omp end declare target

int listed;
short small_listed[3];
int far[N], far_scalar = 8;
#pragma omp declare target to(listed, small_listed)
#pragma omp declare target link(far, far_scalar)

int on_host(int x);
int on_both(int x);
#pragma omp declare target to(on_host) device_type(host)
#pragma omp declare target to(on_both) device_type(any)
int on_host(int x) { return x + 1; }
int on_both(int x) { return x + 2; }

/* The device's variables have their own values, with the program's initial ones. */
static void own_values(void) {
  int seen[6] = {0};
  counter = 6;
#pragma omp target map(tofrom : seen)
  {
    seen[0] = counter++;
    seen[1] = (int)table[2];
    seen[2] = record.first + record.text[3];
    seen[3] = add(fibonacci(10), on_both(0));
    table[0] = 77;
  }
  CHECK_COPY(seen[0], 5, 6);
  CHECK_EQ(seen[1], 3);
  CHECK_EQ(seen[2], 4 + 'r');
  CHECK_EQ(seen[3], 57);
  CHECK_COPY(counter, 6, 7);
  CHECK_COPY(table[0], 1, 77);
  CHECK_EQ(on_host(1), 2);
#pragma omp target update from(counter, table)
  CHECK_COPY(counter, 6, 7);
  CHECK_EQ(table[0], 77);
  counter = 50;
  record.first = 51;
  record.text[3] = 'x';
#pragma omp target update to(counter, record)
#pragma omp target map(tofrom : seen)
  {
    seen[4] = counter + (int)calls * 1000;
    seen[5] = record.first + record.text[3];
  }
  CHECK_EQ(seen[4], 1050);
  CHECK_COPY(calls, 0, 1);
  CHECK_EQ(seen[5], 51 + 'x');
  CHECK_PRESENT(&counter, 1);
}

/* Mapping such a variable moves nothing and ends nothing: its count has no end. */
static void mapped(void) {
  int seen = 0;
  counter = 1;
#pragma omp target update to(counter)
  counter = 2;
#pragma omp target map(tofrom : counter) map(from : seen)
  seen = counter++;
  CHECK_COPY(seen, 1, 2);
  CHECK_COPY(counter, 2, 3);
#pragma omp target map(always, from : counter)
  counter++;
  CHECK_COPY(counter, 3, 4);
#pragma omp target enter data map(to : table)
#pragma omp target exit data map(delete : table)
#pragma omp target exit data map(delete : counter)
  CHECK_PRESENT(table, 1);
  CHECK_PRESENT(&counter, 1);
  counter = 20;
#pragma omp target map(always, tofrom : counter)
  counter++;
  CHECK_EQ(counter, 21);
}

static void listed_variables(void) {
  int seen = 0;
  listed = 3;
  small_listed[2] = 4;
#pragma omp target update to(listed, small_listed[2 : 1])
#pragma omp target map(tofrom : seen)
  {
    seen = listed + small_listed[2] + next_number();
    listed = small_listed[0] = 9;
  }
  CHECK_EQ(seen, 107);
#if !defined(__clang_major__) || __clang_major__ > 14 /* which takes a static variable of a function for a constant */
#pragma omp target map(tofrom : seen)
  seen = next_number();
  CHECK_EQ(seen, 101);
  CHECK_COPY(next_number(), 100, 102);
#endif
#pragma omp target update from(listed, small_listed)
  CHECK_EQ(listed, 9);
  CHECK_EQ(small_listed[0], 9);
}

/* A pointer that lives on the device gets attached to what it is mapped with. */
static void pointer(void) {
  int data[N], *host = data;
  for (int i = 0; i < N; i++) data[i] = i;
  buffer = data;
#pragma omp target enter data map(to : buffer[0 : N])
#pragma omp target
  for (int i = 0; i < N; i++) buffer[i] *= 2;
#pragma omp target exit data map(from : buffer[0 : N])
  CHECK(buffer == host);
  for (int i = 0; i < N; i++) CHECK_EQ(data[i], 2 * i);
}

static int far_at(int i) { return far[i]; }
#pragma omp declare target to(far_at)

static void linked(void) {
  int seen = 0;
  for (int i = 0; i < N; i++) far[i] = i;
#pragma omp target enter data map(to : far, far_scalar)
  far[3] = far_scalar = 0;
#pragma omp target map(from : seen) map(tofrom : far, far_scalar)
  {
    seen = far_at(3) + far_scalar;
    far[4] = 44;
    far_scalar = 9;
  }
  CHECK_COPY(seen, 11, 0);
  CHECK_COPY(far[4], 4, 44);
#pragma omp target exit data map(from : far, far_scalar)
  CHECK_EQ(far[4], 44);
  CHECK_EQ(far[3], own_copies() ? 3 : 0);
  CHECK_EQ(far_scalar, 9);
  CHECK_PRESENT(far, 0);
#pragma omp target map(tofrom : far) map(from : seen)
  seen = far_at(4) + far[5]++;
  CHECK_EQ(seen, 49);
  CHECK_EQ(far[5], 6);
}

int main(void) {
  own_values();
  mapped();
  listed_variables();
  pointer();
  linked();
  return 0;
}
