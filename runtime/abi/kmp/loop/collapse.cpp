// SPDX-License-Identifier: Apache-2.0
//
// Entry points of LLVM's runtime for collapsed loops whose iterations the runtime numbers (OpenMP 5.2, section 4.4.3).
// GCC and Clang call none of them: they number the iterations in inline code.
#include "abi/kmp/loop/loop_nest.hpp"
#include "abi/kmp/loop/static_share.hpp"
#include "abi/kmp/types.hpp"
#include "base/check.hpp"

namespace marline::kmp {

namespace {

void check_nest(const NestLoop* nest, int32_t count) {
  if (count < 1 || count > kMostNestedLoops) {
    fatal("%d loops are collapsed into one, Marline handles 1 to %d; collapse fewer", count, kMostNestedLoops);
  }
  for (int32_t i = 0; i < count; ++i) {
    if (step_of(nest[i]) == 0) fatal("a worksharing loop has increment 0; OpenMP requires another one");
  }
}

// The calling thread's share of the nest's iterations, numbered from 0; both bounds included.
struct Share {
  uint64_t lower, upper;
  bool any;
  int32_t last;
};

Share share_of(const NestLoop* nest, int32_t count) {
  uint64_t total = nest_iterations(nest, count);
  if (total == 0) return {};
  Division threads = among_threads(this_worker()->member);
  Share share{0, total - 1, threads.index < total, 0};
  int64_t stride;
  StaticShare<uint64_t>{&share.last, &share.lower, &share.upper, &stride, 1, 0}.divide(kStatic, threads);
  return share;
}

void make_run(const NestLoop* nest, int32_t count, const uint64_t* first, const uint64_t* end, NestLoop* chunk) {
  for (int32_t i = 0; i < count; ++i) {
    chunk[i] = nest[i];
    chunk[i].lower = first[i];
    chunk[i].upper = end[i];
    chunk[i].lower_factor = chunk[i].upper_factor = 0;
  }
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

// A nest in which the number of iterations of a loop does not depend on the variables of the loops around it. Returns
// the number of iterations of the nest.
uint64_t __kmpc_process_loop_nest_rectang(Ident*, int32_t, NestLoop* nest, int32_t count) {
  check_nest(nest, count);
  uint64_t total = 1;
  for (int32_t i = 0; i < count; ++i) {
    nest[i].trips = make_canonical(&nest[i]);
    total *= nest[i].trips;
  }
  return total;
}

// Computes the loop variables of one of these iterations.
void __kmpc_calc_original_ivs_rectang(Ident*, uint64_t iteration, const NestLoop* nest, uint64_t* variables,
                                      int32_t count) {
  nest_variables(nest, count, iteration, variables);
}

// A nest of any shape, with a static schedule without chunk size. The thread's share is one run of iterations, from the
// variables in `lower` of the chunk's records to those in `upper`, both included; 0: it has none.
int32_t __kmpc_for_collapsed_init(Ident*, int32_t, NestLoop* nest, NestLoop* chunk, int32_t count, int32_t* last) {
  check_nest(nest, count);
  Share share = share_of(nest, count);
  uint64_t first[kMostNestedLoops], end[kMostNestedLoops];
  if (share.any) {
    nest_find(nest, count, share.lower, first);
    nest_find(nest, count, share.upper, end);
  }
  for (int32_t i = 0; i < count; ++i) make_canonical(&nest[i]);
  if (share.any) make_run(nest, count, first, end, chunk);
  if (last != nullptr) *last = share.last;
  return share.any;
}

}  // extern "C"
#pragma GCC visibility pop

}  // namespace marline::kmp
