// SPDX-License-Identifier: Apache-2.0
//
// Doacross loops with difficult bounds: 32 and 64 bits, signed and unsigned, downwards, next to the limits of the type,
// strides that leave a remainder; sinks outside of the nest, also beyond the end of an inner loop; nests without
// iterations.
//
// Covers: for(ordered, collapse, schedule:static/dynamic), ordered(depend:source/sink)
#include "../check.h"

#include <omp.h>

#include <climits>
#include <cstdint>
#include <vector>

namespace {

// What stock runtimes or GCC 12 cannot do. Of loops over unsigned types GCC names iterations that do not exist, and
// libgomp crashes or waits for ever; downwards it names later ones, for which no runtime can wait. libomp waits for
// ever for an iteration one beyond the end of an inner loop, and stops at an assertion where that has none.
#ifdef __clang__
constexpr bool kWithGcc = false;
#else
constexpr bool kWithGcc = true;
#endif
bool on_marline() {
  const char* runtime = getenv("MARLINE_TEST_RUNTIME");
  return runtime != nullptr && strcmp(runtime, "marline") == 0;
}

// What each iteration leaves: one more than the one before the last, so k / 2 + 1 for number k.
class Trail {
 public:
  explicit Trail(size_t count) : left_(count + 2, 0) {}
  void pass(uint64_t k) {
    CHECK(k + 2 < left_.size());
    if (k % 32 == 5) usleep(1);
    left_[k + 2] = left_[k] + 1;
  }
  void check() const {
    for (size_t k = 0; k + 2 < left_.size(); k++) CHECK_EQ(left_[k + 2], k / 2 + 1);
  }

 private:
  std::vector<int> left_;
};

#define PRAGMA(...) _Pragma(#__VA_ARGS__)

// `twice`: two strides, a literal, which is all that GCC takes in a sink.
#define LOOP(schedule_clause, trail, init, test, next, before, distance) \
  PRAGMA(omp for ordered(1) nowait schedule_clause)                      \
  for (init; test; next) {                                               \
    PRAGMA(omp ordered depend(sink : before))                            \
    trail.pass(distance);                                                \
    PRAGMA(omp ordered depend(source))                                   \
  }

#define BOUNDS(type, count, init, test, next, before, distance)                                                        \
  do {                                                                                                                 \
    Trail a(count), b(count), c(count), d(count);                                                                      \
    PRAGMA(omp parallel){LOOP(schedule(dynamic, 2), a, type init, test, next, before, distance)                        \
                             LOOP(schedule(static), b, type init, test, next, before, distance)                        \
                                 LOOP(schedule(guided), c, type init, test, next, before, distance)                    \
                                     LOOP(schedule(static, 3), d, type init, test, next, before, distance)} a.check(), \
        b.check(), c.check(), d.check();                                                                               \
  } while (0)

#define UP(type, from, to, step, twice)                                         \
  BOUNDS(type, strides(from, to, step), i = from, i < to, i += step, i - twice, \
         (static_cast<uint64_t>(i) - static_cast<uint64_t>(from)) / step)
#define DOWN(type, from, to, step, twice)                                       \
  BOUNDS(type, strides(to, from, step), i = from, i > to, i -= step, i + twice, \
         (static_cast<uint64_t>(from) - static_cast<uint64_t>(i)) / step)

// How many it takes from `low` to `high`.
template <class T>
size_t strides(T low, T high, uint64_t step) {
  return low < high ? (static_cast<uint64_t>(high) - static_cast<uint64_t>(low) - 1) / step + 1 : 0;
}

void bounds() {
  constexpr int64_t kWide = INT64_C(1) << 35;
  constexpr uint64_t kHalf = UINT64_C(1) << 63;
  UP(int, 0, 100, 1, 2);
  UP(int, -100, 100, 7, 14);
  UP(int, INT_MAX - 200, INT_MAX - 3, 3, 6);
  UP(int, 5, 5, 2, 4);
  UP(int, 5, 6, 2, 4);
  UP(int, 5, -5, 2, 4);
  UP(short, -200, 300, 5, 10);
  if (!kWithGcc || on_marline()) UP(unsigned, UINT_MAX - 1000, UINT_MAX - 13, 6, 12);
  UP(int64_t, INT64_MAX - 1000, INT64_MAX - 7, 6, 12);
  UP(int64_t, -kWide, kWide, 536870913, 1073741826);
  if (!kWithGcc || on_marline()) UP(uint64_t, 0, 100, 1, 2);
  UP(uint64_t, UINT64_MAX - 1000, UINT64_MAX - 13, 6, 12);
  UP(uint64_t, kHalf - 500, kHalf + 500, 11, 22);
  DOWN(int, 100, -100, 7, 14);
  DOWN(int, INT_MIN + 200, INT_MIN + 7, 3, 6);
  DOWN(int, 0, 0, 3, 6);
  if (!kWithGcc) DOWN(unsigned, 1000, 26, 13, 26);
  DOWN(int64_t, INT64_MIN + 1000, INT64_MIN + 13, 6, 12);
  if (!kWithGcc) DOWN(uint64_t, kHalf + 500, kHalf - 500, 11, 22);
}

// The neighbour to the right in the row above: the last column has none.
void beyond_the_end() {
  constexpr int kRows = 20, kColumns = 30;
  static int left[kRows + 1][kColumns + 1];
  memset(left, 0, sizeof left);
#pragma omp parallel for ordered(2) schedule(static, 1)
  for (int i = kRows - 1; i >= 0; i--)
    for (long j = 0; j < kColumns; j++) {
#pragma omp ordered depend(sink : i + 1, j + 1) depend(sink : i, j - 1)
      if ((i + 3 * j) % 32 == 0) usleep(1);
      left[i][j] = left[i + 1][j + 1] + (j > 0 ? left[i][j - 1] : 0) + 1;
#pragma omp ordered depend(source)
    }
  for (int i = kRows - 1; i >= 0; i--)
    for (int j = 0; j < kColumns; j++) CHECK_EQ(left[i][j], left[i + 1][j + 1] + (j > 0 ? left[i][j - 1] : 0) + 1);
}

// Nothing runs; and the loops around have iterations, or not.
void without_iterations(int none, unsigned five, long rows) {
  int ran = 0;
#pragma omp parallel reduction(+ : ran)
  {
#pragma omp for ordered(2) schedule(dynamic)
    for (long i = 0; i < rows; i++)
      for (int j = 5; j < none; j++) {
#pragma omp ordered depend(sink : i - 1, j)
        ran++;
#pragma omp ordered depend(source)
      }
#pragma omp for ordered(3) schedule(static)
    for (long i = 0; i < rows; i++)
      for (unsigned j = five; j < 2; j++)
        for (int k = 0; k < 3; k++) {
#pragma omp ordered depend(sink : i - 1, j, k)
          ran++;
#pragma omp ordered depend(source)
        }
#pragma omp for ordered(2) collapse(2)
    for (long i = 0; i < rows; i++)
      for (int j = 5; j < none; j++) {
#pragma omp ordered depend(sink : i - 1, j)
        ran++;
#pragma omp ordered depend(source)
      }
  }
  CHECK_EQ(ran, 0);
}

}  // namespace

int main() {
  omp_set_dynamic(0);
  bounds();
  if (kWithGcc || on_marline()) {
    beyond_the_end();
    without_iterations(3, 5, 4);
    without_iterations(3, 5, 0);
  }
  return 0;
}
