// SPDX-License-Identifier: Apache-2.0
//
// teams on the host, as Clang calls it: a separate call before the construct passes the clauses.
#include "construct/parallel/teams.hpp"

#include "abi/kmp/parallel/microtask.hpp"
#include "abi/kmp/types.hpp"
#include "task/own_icvs.hpp"

#include <algorithm>
#include <cstdarg>

namespace marline::kmp {

namespace {

struct Body {
  void* microtask;
  void** arguments;
  int32_t count;
};

void run_body(void* context) {
  const auto* body = static_cast<const Body*>(context);
  call_microtask(body->microtask, this_worker()->id, 0, body->arguments, body->count);
}

void push(int32_t lower, int32_t upper, int32_t thread_limit) {
  PushedClauses& pushed = this_worker()->pushed;
  pushed.num_teams_lower = lower;
  pushed.num_teams = upper;
  pushed.thread_limit = thread_limit;
}

// Reads the clauses announced for the next construct, and forgets them.
LeagueRequest take_request(Worker* worker, Body* body, const void* codeptr) {
  LeagueRequest request{.run = run_body,
                        .context = body,
                        .lower = worker->pushed.num_teams_lower,
                        .upper = worker->pushed.num_teams,
                        .thread_limit = worker->pushed.thread_limit,
                        .codeptr = codeptr};
  push(0, 0, 0);
  return request;
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

void __kmpc_fork_teams(Ident*, int32_t argc, Microtask microtask, ...) {
  void* arguments[kMaxArguments];
  va_list list;
  va_start(list, microtask);
  collect_arguments(arguments, argc, list);
  va_end(list);
  Body body{reinterpret_cast<void*>(microtask), arguments, argc};
  teams(take_request(this_worker(), &body, __builtin_return_address(0)));
}

// 0: the clause is not given.
void __kmpc_push_num_teams(Ident*, int32_t, int32_t num_teams, int32_t thread_limit) {
  push(0, num_teams, thread_limit);
}
void __kmpc_push_num_teams_51(Ident*, int32_t, int32_t lower, int32_t upper, int32_t thread_limit) {
  push(lower, upper, thread_limit);
}

// The thread_limit clause of a target construct that runs on the host. Called at the beginning of its task.
void __kmpc_set_thread_limit(Ident*, int32_t, int32_t limit) {
  if (limit <= 0) return;
  Worker* worker = this_worker();
  Icvs& icvs = writable_icvs(worker->task, worker->pool);
  icvs.thread_limit = std::min(limit, icvs.thread_limit);
}

}  // extern "C"
#pragma GCC visibility pop

}  // namespace marline::kmp
