/* SPDX-License-Identifier: Apache-2.0
 *
 * C++ objects that live on the device all the time: constructed there before the first region, with virtual functions
 * and static members; and functions of classes and templates called there.
 *
 * Covers: declare target, target update(to, from)
 */
#include "../device.h"

#pragma omp declare target
namespace {
int constructed = 0;
}

struct Counter {
  int start, steps;
  explicit Counter(int from) : start(from), steps(0) { constructed++; }
  int next() { return start + steps++; }
};

struct Shape {
  virtual ~Shape() = default;
  virtual int area() const = 0;
};
struct Square : Shape {
  int side;
  explicit Square(int s) : side(s) {}
  int area() const override { return side * side; }
};
struct Box : Shape {
  int a, b;
  Box(int x, int y) : a(x), b(y) {}
  int area() const override { return a * b; }
};

struct Shared {
  static int limit;
  static int below(int x) { return x < limit ? x : limit; }
};
int Shared::limit = 8;

int computed() { return 40; }
template <typename T>
T biggest(T a, T b) {
  return a < b ? b : a;
}

Counter counter(100);
int from_a_call = computed() + 2;
#pragma omp end declare target

/* Globals that need code to run are initialized on the device, too. */
static void constructors() {
  int seen[4] = {};
#pragma omp target map(tofrom : seen)
  {
    seen[0] = counter.next();
    seen[1] = counter.next();
    seen[2] = from_a_call;
    seen[3] = constructed;
  }
  CHECK_EQ(seen[0], 100);
  CHECK_EQ(seen[1], 101);
  CHECK_EQ(seen[2], 42);
  CHECK_EQ(seen[3], 1);
  CHECK_COPY(counter.steps, 0, 2);
#pragma omp target update from(counter)
  CHECK_EQ(counter.steps, 2);
}

/* Objects with virtual functions are made on the device, where their tables are. */
static void virtual_functions() {
  int areas[3] = {};
#pragma omp target map(tofrom : areas)
  {
    Square square(5);
    Box box(3, 4);
    const Shape* shapes[2] = {&square, &box};
    for (int i = 0; i < 2; i++) areas[i] = shapes[i]->area();
    const Shape* made = new Square(6);
    areas[2] = made->area();
    delete made;
  }
  CHECK_EQ(areas[0], 25);
  CHECK_EQ(areas[1], 12);
  CHECK_EQ(areas[2], 36);
}

static void statics() {
  int seen[2] = {};
  double big = 0;
  Shared::limit = 5;
#pragma omp target update to(Shared::limit)
#pragma omp target map(tofrom : seen, big)
  {
    seen[0] = Shared::below(3);
    seen[1] = Shared::below(30);
    big = biggest(2.5, 1.5);
  }
  CHECK_EQ(seen[0], 3);
  CHECK_EQ(seen[1], 5);
  CHECK_NEAR(big, 2.5, 0);
}

int main() {
  constructors();
  virtual_functions();
  statics();
  return 0;
}
