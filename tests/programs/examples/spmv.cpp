// SPDX-License-Identifier: Apache-2.0
//
// Example: spmv.c in C++, with marline/depend.hpp. An object for each tile of rows, made from the matrix's pattern;
// then a taskloop with tasks that take the objects of their tiles.
//
// Covers: marline dependence calls
#include "../check.h"
#include <marline/depend.hpp>
#include <omp.h>

#include <array>
#include <cstdint>
#include <set>
#include <vector>

namespace {

constexpr int kTiles = 24, kRows = 8, kSteps = 10;
using Vector = std::vector<std::array<uint32_t, kRows>>;  // tile by tile; the tile is its locator

struct Entry {
  int tile, row;
  uint32_t value;
};

struct Matrix {
  std::vector<std::vector<Entry>> rows;  // of all tiles

  Matrix() : rows(kTiles * kRows) {
    uint32_t random = 1;
    for (int r = 0; r < kTiles * kRows; ++r)
      for (int k = 0; k < 5; ++k) {
        random = random * 1664525u + 1013904223u;
        rows[r].push_back({(r / kRows + int(random >> 16) % 6) % kTiles, int(random >> 24) % kRows, random});
      }
  }

  void multiply_tile(int t, const Vector& from, Vector& to) const {
    for (int r = 0; r < kRows; ++r) {
      uint32_t sum = 1;
      for (const Entry& entry : rows[t * kRows + r]) sum += entry.value * from[entry.tile][entry.row];
      to[t][r] = sum;
    }
  }

  // What multiply_tile depends on, an address for each entry: the object keeps one of each.
  marline::depend_object depend_object(int t, Vector& from, Vector& to) const {
    std::vector<marline::dependence> list{marline::out(to[t])};
    for (int r = t * kRows; r < (t + 1) * kRows; ++r)
      for (const Entry& entry : rows[r]) list.push_back(marline::in(from[entry.tile]));
    return marline::depend_object(list);
  }
};

}  // namespace

int main() {
  Matrix matrix;
  Vector x[2] = {Vector(kTiles), Vector(kTiles)};
  for (int t = 0; t < kTiles; ++t) x[0][t].fill(static_cast<uint32_t>(t));
  Vector expected = x[0], next(kTiles);

  std::vector<marline::depend_object> objects[2];
  for (int parity = 0; parity < 2; ++parity)
    for (int t = 0; t < kTiles; ++t) objects[parity].push_back(matrix.depend_object(t, x[parity], x[1 - parity]));

  bool last_was_read = false;
#pragma omp parallel
#pragma omp single
  {
    for (int step = 0; step < kSteps; ++step) {
      auto depend = [&](uint64_t first, uint64_t count) {
        for (uint64_t t = first; t < first + count; ++t) marline::task_depend(objects[step % 2][t]);
      };
      marline::taskloop_depend(depend);
#pragma omp taskloop nogroup grainsize(2)
      for (int t = 0; t < kTiles; ++t) matrix.multiply_tile(t, x[step % 2], x[1 - step % 2]);
    }
    marline::task_depend({marline::in(x[kSteps % 2][0]), marline::inout(last_was_read)});
#pragma omp task
    last_was_read = true;
  }

  for (int step = 0; step < kSteps; ++step) {
    for (int t = 0; t < kTiles; ++t) matrix.multiply_tile(t, expected, next);
    expected.swap(next);
  }
  CHECK(x[kSteps % 2] == expected);
  CHECK(last_was_read);
  return 0;
}
