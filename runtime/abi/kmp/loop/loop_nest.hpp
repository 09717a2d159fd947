// SPDX-License-Identifier: Apache-2.0
//
// Nests of loops that are collapsed into one, described by records (LLVM, openmp/runtime/src/kmp_collapse.h): the
// bounds of a loop may be linear functions of one loop around it. The records belong to the calling thread.
//
// Values are kept in 64 bits, extended as the loop's type says, and arithmetic wraps in that type.
#pragma once

#include <cstddef>
#include <cstdint>

namespace marline::kmp {

enum class Comparison : int32_t { kLessEqual = 0, kGreaterEqual = 1, kNotEqual = 2, kLess = 3, kGreater = 4 };

// Even values are unsigned types. Values 0 and 1 have 8 bits; each next pair has twice as many.
enum class LoopType : int32_t { kUint8, kInt8, kUint16, kInt16, kUint32, kInt32, kUint64, kInt64 };

// bounds_info_t. The variable goes from lower + lower_factor * outer to upper + upper_factor * outer, where outer is
// the variable of loop number `outer`. If a value is narrower than 64 bits, the compiler may have set only its low
// bits.
struct NestLoop {
  LoopType bounds_type;  // of bounds and step, which is signed: 32 or 64 bits
  LoopType variable_type;
  Comparison comparison;
  int32_t outer;  // less than the loop's own number; any number if both factors are 0
  uint64_t lower;
  uint64_t lower_factor;
  uint64_t upper;
  uint64_t upper_factor;
  int64_t step;
  uint64_t trips;  // set where the bounds depend on no variable
};
static_assert(sizeof(NestLoop) == 64 && offsetof(NestLoop, trips) == 56);

inline constexpr int kMostNestedLoops = 64;  // with more, the program ends with a message

int64_t step_of(const NestLoop& loop);

// Makes the comparison <= or >=, and returns the number of iterations that the two constants make.
uint64_t make_canonical(NestLoop* loop);

// Computes the loop variables of iteration number `iteration` of a nest in which every loop has `trips` set.
void nest_variables(const NestLoop* nest, int count, uint64_t iteration, uint64_t* variables);

// The number of iterations of the nest, whatever its shape.
uint64_t nest_iterations(const NestLoop* nest, int count);

// Computes the loop variables of iteration number `iteration`, which is less than nest_iterations().
void nest_find(const NestLoop* nest, int count, uint64_t iteration, uint64_t* variables);

}  // namespace marline::kmp
