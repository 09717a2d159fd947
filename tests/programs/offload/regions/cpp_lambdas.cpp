/* SPDX-License-Identifier: Apache-2.0
 *
 * Lambdas in regions: what they capture by value goes with them, what they capture by reference is the device's copy if
 * it is mapped; and function objects with state. (A captured `this` is not here: Clang passes the capture's own
 * address in place of the object's.)
 *
 * Covers: target(map, firstprivate), target teams distribute parallel for(reduction)
 */
#include "../device.h"

namespace {

const int kN = 100;

void by_value() {
  int factor = 3, results[kN] = {};
  auto scale = [factor](int x) { return factor * x; };
#pragma omp target map(tofrom : results) map(to : scale)
  for (int i = 0; i < kN; i++) results[i] = scale(i);
  for (int i = 0; i < kN; i++) CHECK_EQ(results[i], 3 * i);
#pragma omp target map(tofrom : results) firstprivate(scale)
  for (int i = 0; i < kN; i++) results[i] += scale(1);
  CHECK_EQ(results[2], 9);
}

void pointers() {
  int data[kN], *p = data;
  for (int i = 0; i < kN; i++) data[i] = i;
#pragma omp target data map(tofrom : p[0 : kN])
  {
    auto bump = [=](int i) { p[i] += 5; };
#pragma omp target teams distribute parallel for
    for (int i = 0; i < kN; i++) bump(i);
  }
  for (int i = 0; i < kN; i++) CHECK_EQ(data[i], i + 5);
}

void by_reference() {
  int total = 0, data[kN];
  for (int i = 0; i < kN; i++) data[i] = i;
  auto add = [&](int i) { total += data[i]; };
#pragma omp target map(tofrom : total) map(to : data) map(to : add)
  for (int i = 0; i < kN; i++) add(i);
  CHECK_EQ(total, kN * (kN - 1) / 2);
}

template <typename F>
int sum_of(F f, int n) {
  int sum = 0;
#pragma omp target teams distribute parallel for reduction(+ : sum) map(tofrom : sum)
  for (int i = 0; i < n; i++) sum += f(i);
  return sum;
}

struct Line {
  int slope, offset;
  int operator()(int x) const { return slope * x + offset; }
};

void templates() {
  int offset = 2;
  CHECK_EQ(sum_of([offset](int i) { return i + offset; }, kN), kN * (kN - 1) / 2 + 2 * kN);
  CHECK_EQ(sum_of(Line{2, 1}, 10), 100);
}

}  // namespace

int main() {
  by_value();
  pointers();
  by_reference();
  templates();
  return 0;
}
