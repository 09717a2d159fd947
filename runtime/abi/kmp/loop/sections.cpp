// SPDX-License-Identifier: Apache-2.0
//
// sections, as LLVM's runtime offers them to compilers that do not make a static loop of them: a dynamic loop whose
// number of iterations is passed only with the request for the next one.
#include "abi/kmp/types.hpp"
#include "construct/workshare/loop.hpp"

namespace marline::kmp {

#pragma GCC visibility push(default)
extern "C" {

// 0: the thread is alone and executes all sections, in order, without asking.
int32_t __kmpc_sections_init(Ident*, int32_t) {
  (void)loop_begin(this_worker(), {.kind = LoopKind::kDynamic,
                                   .chunk = 1,
                                   .iterations = 0,
                                   .work = tool::Work::kSections,
                                   .codeptr = __builtin_return_address(0)});
  return this_worker()->member->team->size > 1 ? 1 : 0;
}

// The number of a section, from 0; `count` if none is left.
int32_t __kmpc_next_section(Ident*, int32_t, int32_t count) {
  Worker* worker = this_worker();
  LoopPlace& loop = worker->member->loop;
  // Without `shared`, other threads have taken all sections.
  if (loop.shared != nullptr) loop.iterations = static_cast<uint64_t>(count);
  LoopChunk chunk;
  return loop_next(worker, &chunk) ? static_cast<int32_t>(chunk.first) : count;
}

void __kmpc_end_sections(Ident*, int32_t) { loop_leave(this_worker()); }

}  // extern "C"
#pragma GCC visibility pop

}  // namespace marline::kmp
