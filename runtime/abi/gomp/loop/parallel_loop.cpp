// SPDX-License-Identifier: Apache-2.0
//
// parallel loop and parallel sections in one call, as GCC makes it: the outlined function asks for its first chunk
// right away, so each implicit task enters the loop before it calls the function. GCC before 4.9 calls the function of
// the primary thread itself, between a start and GOMP_parallel_end.
#include "abi/gomp/loop/loop.hpp"
#include "abi/gomp/parallel.hpp"
#include "base/check.hpp"
#include "exec/worker/frames.hpp"

#include <cstdlib>
#include <new>

namespace marline::gomp {

namespace {

using Function = void (*)(void*);

struct Combined {
  Function function;
  void* data;
  Schedule schedule;
  Bounds limits;
};

void run_combined(Team* team, Member* member) {
  auto* combined = reinterpret_cast<Combined*>(team->arguments);
  (void)begin(combined->schedule, combined->limits, team->tool_codeptr);
  call_of(&member->implicit_task, combined->function, combined->data);
}

void run(Combined combined, unsigned threads, unsigned flags, const void* codeptr) {
  ParallelRequest request = parallel_request(combined.function, nullptr, threads, flags, codeptr);
  request.run_implicit = run_combined;
  request.arguments = reinterpret_cast<void**>(&combined);
  parallel(request);
}

// Like run_combined, with a record that outlives the caller: GOMP_parallel_end frees it.
void run_started(Team* team, Member* member) { run_combined(team, member); }

void start(const Combined& combined, unsigned threads, const void* codeptr) {
  void* memory = std::malloc(sizeof(Combined));
  if (memory == nullptr) fatal("no memory (%zu bytes) for a parallel loop", sizeof(Combined));
  auto* kept = new (memory) Combined(combined);
  ParallelRequest request = parallel_request(combined.function, nullptr, threads, 0, codeptr);
  request.run_implicit = run_started;
  request.arguments = reinterpret_cast<void**>(kept);
  request.called_by_program = true;
  parallel_begin(request);
  (void)begin(combined.schedule, combined.limits, codeptr);
}

}  // namespace

void* started_loop_of(const Team* team) { return team->run_implicit == run_started ? team->arguments : nullptr; }

#pragma GCC visibility push(default)
extern "C" {

void GOMP_parallel_loop_static(Function function, void* data, unsigned threads, long start, long end, long step,
                               long chunk, unsigned flags) {
  run({function, data, {LoopKind::kStatic, chunk}, bounds(start, end, step)}, threads, flags,
      __builtin_return_address(0));
}

void GOMP_parallel_loop_dynamic(Function function, void* data, unsigned threads, long start, long end, long step,
                                long chunk, unsigned flags) {
  run({function, data, {LoopKind::kDynamic, chunk}, bounds(start, end, step)}, threads, flags,
      __builtin_return_address(0));
}

void GOMP_parallel_loop_guided(Function function, void* data, unsigned threads, long start, long end, long step,
                               long chunk, unsigned flags) {
  run({function, data, {LoopKind::kGuided, chunk}, bounds(start, end, step)}, threads, flags,
      __builtin_return_address(0));
}

void GOMP_parallel_loop_runtime(Function function, void* data, unsigned threads, long start, long end, long step,
                                unsigned flags) {
  run({function, data, {LoopKind::kRuntime}, bounds(start, end, step)}, threads, flags, __builtin_return_address(0));
}

void GOMP_parallel_loop_nonmonotonic_dynamic(Function function, void* data, unsigned threads, long start, long end,
                                             long step, long chunk, unsigned flags) {
  run({function, data, {LoopKind::kAnyOrder, chunk}, bounds(start, end, step)}, threads, flags,
      __builtin_return_address(0));
}

void GOMP_parallel_loop_nonmonotonic_guided(Function function, void* data, unsigned threads, long start, long end,
                                            long step, long chunk, unsigned flags) {
  run({function, data, {LoopKind::kGuided, chunk}, bounds(start, end, step)}, threads, flags,
      __builtin_return_address(0));
}

void GOMP_parallel_loop_nonmonotonic_runtime(Function function, void* data, unsigned threads, long start, long end,
                                             long step, unsigned flags) {
  run({function, data, {LoopKind::kRuntime}, bounds(start, end, step)}, threads, flags, __builtin_return_address(0));
}

void GOMP_parallel_loop_maybe_nonmonotonic_runtime(Function function, void* data, unsigned threads, long start,
                                                   long end, long step, unsigned flags) {
  run({function, data, {LoopKind::kRuntime}, bounds(start, end, step)}, threads, flags, __builtin_return_address(0));
}

// Sections are the iterations of a dynamic loop, numbered from 1.
void GOMP_parallel_sections(Function function, void* data, unsigned threads, unsigned count, unsigned flags) {
  run({function, data, kSections, bounds_ull(true, 1, count + 1ull, 1)}, threads, flags, __builtin_return_address(0));
}

void GOMP_parallel_loop_static_start(Function function, void* data, unsigned threads, long first, long end, long step,
                                     long chunk) {
  start({function, data, {LoopKind::kStatic, chunk}, bounds(first, end, step)}, threads, __builtin_return_address(0));
}

void GOMP_parallel_loop_dynamic_start(Function function, void* data, unsigned threads, long first, long end, long step,
                                      long chunk) {
  start({function, data, {LoopKind::kDynamic, chunk}, bounds(first, end, step)}, threads, __builtin_return_address(0));
}

void GOMP_parallel_loop_guided_start(Function function, void* data, unsigned threads, long first, long end, long step,
                                     long chunk) {
  start({function, data, {LoopKind::kGuided, chunk}, bounds(first, end, step)}, threads, __builtin_return_address(0));
}

void GOMP_parallel_loop_runtime_start(Function function, void* data, unsigned threads, long first, long end,
                                      long step) {
  start({function, data, {LoopKind::kRuntime}, bounds(first, end, step)}, threads, __builtin_return_address(0));
}

void GOMP_parallel_sections_start(Function function, void* data, unsigned threads, unsigned count) {
  start({function, data, kSections, bounds_ull(true, 1, count + 1ull, 1)}, threads, __builtin_return_address(0));
}

}  // extern "C"
#pragma GCC visibility pop

}  // namespace marline::gomp
