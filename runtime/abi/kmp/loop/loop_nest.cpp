// SPDX-License-Identifier: Apache-2.0
//
// Counts the iterations of loop nests and finds the variables of an iteration. A nest of any shape is counted row by
// row. A row is the innermost loop with the outer variables fixed; its length is computed by a division. So the cost is
// that of the outer loops.
#include "abi/kmp/loop/loop_nest.hpp"

namespace marline::kmp {

namespace {

uint64_t extend(LoopType type, uint64_t value) {
  switch (type) {
    case LoopType::kUint8: return static_cast<uint8_t>(value);
    case LoopType::kInt8: return static_cast<uint64_t>(static_cast<int8_t>(value));
    case LoopType::kUint16: return static_cast<uint16_t>(value);
    case LoopType::kInt16: return static_cast<uint64_t>(static_cast<int16_t>(value));
    case LoopType::kUint32: return static_cast<uint32_t>(value);
    case LoopType::kInt32: return static_cast<uint64_t>(static_cast<int32_t>(value));
    case LoopType::kUint64:
    case LoopType::kInt64: break;
  }
  return value;
}

bool is_signed(LoopType type) { return (static_cast<int32_t>(type) & 1) != 0; }
LoopType signed_of(LoopType type) { return static_cast<LoopType>(static_cast<int32_t>(type) | 1); }

// Compares two values that are extended to 64 bits by their type.
bool is_less(LoopType type, uint64_t a, uint64_t b) {
  return is_signed(type) ? static_cast<int64_t>(a) < static_cast<int64_t>(b) : a < b;
}

uint64_t unsigned_step(const NestLoop& loop) { return static_cast<uint64_t>(step_of(loop)); }
bool goes_up(const NestLoop& loop) { return step_of(loop) > 0; }

uint64_t at_outer(const NestLoop& loop, uint64_t constant, uint64_t factor, const uint64_t* variables) {
  uint64_t slope = extend(loop.bounds_type, factor);
  uint64_t value = slope == 0 ? constant : constant + slope * variables[loop.outer];
  return extend(loop.bounds_type, value);
}
uint64_t lower_of(const NestLoop& loop, const uint64_t* variables) {
  return at_outer(loop, loop.lower, loop.lower_factor, variables);
}
uint64_t upper_of(const NestLoop& loop, const uint64_t* variables) {
  return at_outer(loop, loop.upper, loop.upper_factor, variables);
}

// Iterations from `lower` to `upper`, by the loop's own comparison.
uint64_t iterations_between(const NestLoop& loop, uint64_t lower, uint64_t upper) {
  LoopType type = loop.bounds_type;
  bool open = loop.comparison != Comparison::kLessEqual && loop.comparison != Comparison::kGreaterEqual;
  bool up = goes_up(loop);
  if (up ? is_less(type, upper, lower) : is_less(type, lower, upper)) return 0;
  uint64_t distance = up ? upper - lower : lower - upper;
  if (open && distance-- == 0) return 0;
  uint64_t step = up ? unsigned_step(loop) : 0 - unsigned_step(loop);
  return distance / step + 1;
}

uint64_t row_length(const NestLoop& loop, const uint64_t* variables) {
  return iterations_between(loop, lower_of(loop, variables), upper_of(loop, variables));
}

void set_variable(const NestLoop& loop, uint64_t iteration, uint64_t* variables, int level) {
  variables[level] = extend(loop.variable_type, lower_of(loop, variables) + iteration * unsigned_step(loop));
}

// Goes through the nest's rows. `left_` holds, for each enclosing loop, how many of its iterations are still to come.
class Rows {
 public:
  Rows(const NestLoop* nest, int count, uint64_t* variables)
      : nest_(nest), innermost_(count - 1), variables_(variables), found_(find(0, Move::kEnter)) {}

  bool found() const { return found_; }
  uint64_t length() const { return row_length(nest_[innermost_], variables_); }
  void go_on() { found_ = find(innermost_ - 1, Move::kAdvance); }

 private:
  enum class Move { kEnter, kAdvance };

  // Enters or advances the loop at `level`, and from there goes inwards to the next row. Where a loop has no iteration
  // left, goes outwards and advances the loop around it. False: there is no further row.
  bool find(int level, Move move) {
    while (level >= 0 && (move == Move::kAdvance || level < innermost_)) {
      bool entered = move == Move::kEnter;
      if (entered) left_[level] = row_length(nest_[level], variables_);
      if (left_[level] == 0) {
        --level;
        move = Move::kAdvance;
        continue;
      }
      --left_[level];
      if (entered) {
        set_variable(nest_[level], 0, variables_, level);
      } else {
        variables_[level] = extend(nest_[level].variable_type, variables_[level] + unsigned_step(nest_[level]));
      }
      ++level;
      move = Move::kEnter;
    }
    return level >= 0;
  }

  const NestLoop* nest_;
  int innermost_;
  uint64_t* variables_;
  uint64_t left_[kMostNestedLoops];
  bool found_;
};

}  // namespace

int64_t step_of(const NestLoop& loop) {
  return static_cast<int64_t>(extend(signed_of(loop.bounds_type), static_cast<uint64_t>(loop.step)));
}

uint64_t make_canonical(NestLoop* loop) {
  uint64_t trips =
      iterations_between(*loop, extend(loop->bounds_type, loop->lower), extend(loop->bounds_type, loop->upper));
  bool open = loop->comparison != Comparison::kLessEqual && loop->comparison != Comparison::kGreaterEqual;
  bool up = goes_up(*loop);
  if (open) loop->upper = extend(loop->bounds_type, up ? loop->upper - 1 : loop->upper + 1);
  loop->comparison = up ? Comparison::kLessEqual : Comparison::kGreaterEqual;
  return trips;
}

void nest_variables(const NestLoop* nest, int count, uint64_t iteration, uint64_t* variables) {
  // First the number of each loop's iteration, then, below, the variables.
  for (int level = count - 1; level >= 0; --level) {
    variables[level] = iteration % nest[level].trips;
    iteration /= nest[level].trips;
  }
  for (int level = 0; level < count; ++level) set_variable(nest[level], variables[level], variables, level);
}

uint64_t nest_iterations(const NestLoop* nest, int count) {
  uint64_t variables[kMostNestedLoops];
  uint64_t total = 0;
  for (Rows rows(nest, count, variables); rows.found(); rows.go_on()) total += rows.length();
  return total;
}

void nest_find(const NestLoop* nest, int count, uint64_t iteration, uint64_t* variables) {
  for (Rows rows(nest, count, variables); rows.found(); rows.go_on()) {
    uint64_t length = rows.length();
    if (iteration < length) {
      set_variable(nest[count - 1], iteration, variables, count - 1);
      return;
    }
    iteration -= length;
  }
}

}  // namespace marline::kmp
