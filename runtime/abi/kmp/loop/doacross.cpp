// SPDX-License-Identifier: Apache-2.0
//
// Doacross loops, as Clang calls them: the nest is described before the loop and dropped after it, whatever the loop's
// schedule. Collapsed loops are dimensions of their own, so one thread need not run an iteration of the first one as a
// whole.
#include "construct/workshare/doacross.hpp"

#include "abi/kmp/types.hpp"
#include "base/check.hpp"

namespace marline::kmp {

namespace {

// struct kmp_dim: the first and the last value. Clang numbers the iterations from 0 and puts their number in `upper`
// (clang/lib/CodeGen/CGOpenMPRuntime.cpp, emitDoacrossInit), one beyond the last.
struct Dimension {
  int64_t lower;
  int64_t upper;
  int64_t stride;
};

DoacrossDimension dimension_of(const void* table, unsigned number) {
  Dimension loop = static_cast<const Dimension*>(table)[number];
  auto lower = static_cast<uint64_t>(loop.lower);
  auto upper = static_cast<uint64_t>(loop.upper);
  auto step = static_cast<uint64_t>(loop.stride);
  uint64_t count = 0;
  if (loop.stride == 0) {
    fatal("a worksharing loop has increment 0; OpenMP requires another one");
  } else if (loop.stride == 1 && loop.lower == 0) {
    count = loop.upper > 0 ? upper : 0;
  } else if (loop.stride > 0) {
    count = loop.upper >= loop.lower ? (upper - lower) / step + 1 : 0;
  } else {
    count = loop.upper <= loop.lower ? (lower - upper) / (0 - step) + 1 : 0;
  }
  return {count, lower, loop.stride};
}

const uint64_t* iteration(const int64_t* values) { return reinterpret_cast<const uint64_t*>(values); }

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

void __kmpc_doacross_init(Ident*, int32_t, int32_t dimensions, const Dimension* table) {
  doacross_begin(this_worker(), {static_cast<unsigned>(dimensions), dimension_of, table, false});
}
void __kmpc_doacross_post(Ident*, int32_t, const int64_t* values) { doacross_post(this_worker(), iteration(values)); }
void __kmpc_doacross_wait(Ident*, int32_t, const int64_t* values) { doacross_wait(this_worker(), iteration(values)); }
void __kmpc_doacross_fini(Ident*, int32_t) { doacross_end(this_worker()); }

}  // extern "C"
#pragma GCC visibility pop

}  // namespace marline::kmp
