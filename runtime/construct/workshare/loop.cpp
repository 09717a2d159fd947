// SPDX-License-Identifier: Apache-2.0
//
// Loops. A static loop without `ordered` computes its chunks from the thread's number and accesses no shared data. The
// other loops take their chunks from Workshare::next.
#include "construct/workshare/loop.hpp"

#include "config/options.hpp"
#include "construct/sync/cancel.hpp"
#include "construct/workshare/workshare.hpp"
#include "exec/team/region_cancellation.hpp"
#include "exec/worker/announce.hpp"
#include "exec/worker/parking.hpp"
#include "sched/queue.hpp"

#include <sched.h>

#include <algorithm>
#include <bit>

namespace marline {

namespace {

// Below this many iterations, `next` cannot wrap: at most 1024 threads each add one chunk after the end, and a chunk is
// not larger than the loop. So a chunk is taken by one addition (LoopPlace::adds_to), without a load before it, which
// would transfer the cache line twice.
constexpr uint64_t kFetchAddLimit = uint64_t{1} << 48;

struct Resolved {
  LoopKind kind;
  uint64_t chunk;
};

Resolved resolve(const Worker* worker, const LoopRequest& request) {
  if (request.kind == LoopKind::kAnyOrder) return {LoopKind::kDynamic, request.chunk};
  if (request.kind != LoopKind::kRuntime) return {request.kind, request.chunk};
  const Icvs* icvs = worker->task->icvs;
  auto chunk = static_cast<uint64_t>(std::max(icvs->run_sched_chunk, 0));
  switch (icvs->run_sched_kind) {
    case LoopSchedule::kDynamic: return {LoopKind::kDynamic, chunk};
    case LoopSchedule::kTrapezoidal:
    case LoopSchedule::kGuided: return {LoopKind::kGuided, chunk};
    case LoopSchedule::kStatic:
    case LoopSchedule::kAuto: break;
  }
  return {LoopKind::kStatic, chunk};
}

// schedule(simd: runtime): request.chunk is the length of the vectors.
Resolved resolve_simd(const Worker* worker, LoopRequest request) {
  uint64_t length = std::max<uint64_t>(request.chunk, 1);
  request.kind = LoopKind::kRuntime;
  auto [kind, chunk] = resolve(worker, request);
  if (kind == LoopKind::kGuided) kind = LoopKind::kGuidedSimd;
  if (kind == LoopKind::kStatic && chunk == 0) {  // one block per thread, of whole vectors
    uint64_t vectors = request.iterations / length + (request.iterations % length != 0 ? 1 : 0);
    auto threads = static_cast<uint64_t>(worker->member->team->size);
    chunk = vectors / threads + (vectors % threads != 0 ? 1 : 0);
  }
  chunk = std::max<uint64_t>(chunk, 1);
  return {kind, chunk <= request.iterations / length ? chunk * length : std::max(request.iterations, length)};
}

bool is_random() { return options().schedule.policy == SchedulePolicy::kRandom; }

// Decided by the first thread, for all. A tool is told of chunks one by one, and a random choice may come before each.
ChunkTaking taking_of(const Team* team, const LoopRequest& request, Resolved resolved) {
  if (request.ordered || tool::present() || is_random()) return ChunkTaking::kStepwise;
  if (resolved.kind == LoopKind::kGuided) return ChunkTaking::kByCount;
  if (resolved.kind != LoopKind::kDynamic) return ChunkTaking::kStepwise;
  if (request.kind == LoopKind::kAnyOrder && request.prepare == nullptr &&
      reserve_pays(team, request.iterations, resolved.chunk)) {
    return ChunkTaking::kIntoReserve;
  }
  return request.iterations < kFetchAddLimit ? ChunkTaking::kByAddition : ChunkTaking::kStepwise;
}

void fill(Workshare* shared, const Worker* worker, const LoopRequest& request) {
  Resolved resolved = request.kind == LoopKind::kRuntimeSimd ? resolve_simd(worker, request) : resolve(worker, request);
  shared->kind = resolved.kind;
  shared->chunk = resolved.chunk;
  shared->iterations = request.iterations;
  shared->taking = taking_of(worker->member->team, request, resolved);
  shared->has_reserves.store(false, relaxed);
  shared->all_taken.store(false, relaxed);
  shared->next.store(0, relaxed);
  shared->ordered_next.store(0, relaxed);
}

void place_static(LoopPlace& place, uint64_t chunk, const Member* member) {
  auto threads = static_cast<uint64_t>(member->team->size);
  auto thread = static_cast<uint64_t>(member->index);
  uint64_t n = place.iterations;
  if (chunk == 0) {  // one block per thread; the first n % threads blocks have one iteration more
    uint64_t extras = n % threads;
    place.chunk = n / threads + (thread < extras ? 1 : 0);
    place.position = place.chunk == 0 ? n : thread * (n / threads) + std::min(thread, extras);
    place.step = n;
  } else {
    place.chunk = std::min(chunk, n);
    bool far = thread != 0 && place.chunk > n / thread;  // thread * chunk would be after the end
    place.position = far ? n : thread * place.chunk;
    place.step = place.chunk > n / threads ? n : threads * place.chunk;
  }
}

bool next_static(LoopPlace& place) {
  if (place.position >= place.iterations) return false;
  uint64_t left = place.iterations - place.position;
  place.first = place.position;
  place.end = place.first + std::min(place.chunk, left);
  place.position = left > place.step ? place.position + place.step : place.iterations;
  return true;
}

bool take(LoopPlace& place, Atomic<uint64_t>& next, uint64_t (*size)(const LoopPlace&, uint64_t left, uint64_t threads),
          uint64_t threads) {
  uint64_t first = next.load(relaxed);
  uint64_t count;
  do {
    if (first >= place.iterations) return false;
    uint64_t left = place.iterations - first;
    count = std::min(left, size(place, left, threads));
  } while (!next.compare_exchange_weak(first, first + count, relaxed));
  place.first = first;
  place.end = first + count;
  return true;
}

bool next_dynamic(LoopPlace& place, Atomic<uint64_t>& next) {
  return take(place, next, [](const LoopPlace& p, uint64_t, uint64_t) { return p.chunk; }, 0);
}

// Half of an even share of the remaining iterations, at least `chunk` (Polychronopoulos and Kuck, 1987, with a factor
// of two). The chunks follow from the loop alone, so only their number is shared: one addition takes a chunk, where a
// compare-and-swap of the position would transfer the cache line twice, and each thread computes the chunks up to its
// own. That is work for the sum of all chunks per thread, about 2 `threads` ln(iterations / `threads`) steps. Of the
// last chunks, which have the smallest size, a thread passes all at once.
bool next_guided(LoopPlace& place, Atomic<uint64_t>& next) {
  uint64_t position = place.position;
  if (position >= place.iterations) return false;  // the thread had the last chunk
  const uint64_t number = next.fetch_add(1, relaxed);
  const bool shifts = (place.shares & (place.shares - 1)) == 0;  // a division takes several times as long as a shift
  const int shift = std::countr_zero(place.shares);
  uint64_t count = 0;
  for (uint64_t before = number - place.passed; position < place.iterations; --before) {
    const uint64_t left = place.iterations - position;
    const uint64_t share = shifts ? (left - 1) >> shift : (left - 1) / place.shares;
    count = std::min(left, std::max(place.chunk, share + 1));
    if (before == 0) break;
    if (share < place.chunk) {
      uint64_t smallest;
      if (__builtin_mul_overflow(before, place.chunk, &smallest)) smallest = left;
      position += std::min(smallest, left);
      count = std::min(place.iterations - position, place.chunk);
      break;
    }
    position += count;
  }
  if (position >= place.iterations) {
    place.position = place.iterations;
    return false;
  }
  place.passed = number + 1;
  place.first = position;
  place.position = place.end = position + count;
  return true;
}

bool next_guided_simd(LoopPlace& place, Atomic<uint64_t>& next, uint64_t threads) {
  auto size = [](const LoopPlace& p, uint64_t left, uint64_t n) {
    return std::max<uint64_t>(left / (2 * n) / p.chunk, 1) * p.chunk;
  };
  return take(place, next, size, threads);
}

bool next_chunk(LoopPlace& place, uint64_t threads) {
  switch (place.kind) {
    case LoopKind::kDynamic: return next_dynamic(place, place.shared->next);
    case LoopKind::kGuided: return next_guided(place, place.shared->next);
    case LoopKind::kGuidedSimd: return next_guided_simd(place, place.shared->next, threads);
    case LoopKind::kStatic:
    case LoopKind::kAnyOrder:
    case LoopKind::kRuntime:
    case LoopKind::kRuntimeSimd: break;
  }
  return next_static(place);
}

tool::Work kind_for_tools(LoopKind kind) {
  switch (kind) {
    case LoopKind::kDynamic: return tool::Work::kLoopDynamic;
    case LoopKind::kGuidedSimd:
    case LoopKind::kGuided: return tool::Work::kLoopGuided;
    case LoopKind::kStatic:
    case LoopKind::kAnyOrder:
    case LoopKind::kRuntime:
    case LoopKind::kRuntimeSimd: break;
  }
  return tool::Work::kLoopStatic;
}

[[gnu::noinline]] void announce_begin(Worker* worker, LoopPlace& place, const LoopRequest& request) {
  if (request.work == tool::Work::kNone) return;
  place.codeptr = request.codeptr;
  place.announced = request.work == tool::Work::kLoopStatic ? kind_for_tools(place.kind) : request.work;
  announce_work(worker, place.announced, tool::Endpoint::kBegin, place.iterations, request.codeptr);
}

[[gnu::noinline]] void announce_chunk(Worker* worker, const LoopPlace& place) {
  uint64_t* region = &worker->member->team->tool_data;
  uint64_t* task = &worker->task->tool_data;
  if (place.announced == tool::Work::kSections) {
    tool::dispatch_section(region, task, place.codeptr);
  } else {
    tool::dispatch_chunk(tool::Dispatch::kLoopChunk, region, task, place.first, place.end - place.first);
  }
}

// The address by which tools know the turn of an ordered region. In a loop without a shared part, the thread always has
// the turn.
const void* turn_of(const Member* member) {
  const LoopPlace& place = member->loop;
  return place.shared != nullptr ? static_cast<const void*>(&place.shared->ordered_next) : &member->loop;
}

// The chunk of a static loop that begins with iteration `at`: its thread, and its end.
struct StaticChunk {
  uint64_t thread;
  uint64_t end;
};

StaticChunk static_chunk_at(uint64_t at, uint64_t chunk, uint64_t n, uint64_t threads) {
  if (chunk != 0) return {at / std::min(chunk, n) % threads, at + std::min(chunk, n - at)};
  uint64_t small = n / threads;
  uint64_t of_large = n % threads * (small + 1);  // iterations in the longer blocks
  if (at < of_large) return {at / (small + 1), at + small + 1};
  return {n % threads + (at - of_large) / small, at + small};
}

// In a cancelled region, the turn of a static loop may belong to a thread that stays away. Each waiting thread passes
// such turns on, and so does the thread that had the turn before. In other loops only threads that are present have
// chunks.
void pass_turns_of_absent(const Team* team, const LoopPlace& place) {
  Workshare* shared = place.shared;
  if (place.kind != LoopKind::kStatic) return;
  for (;;) {
    uint64_t at = shared->ordered_next.load(seq_cst);
    if (at >= shared->iterations) return;
    auto [thread, end] = static_chunk_at(at, shared->chunk, shared->iterations, static_cast<uint64_t>(team->size));
    if (!stays_away(team->members[thread])) return;
    advance_from(shared->ordered_next, at, end);  // other threads may do the same
  }
}

[[gnu::noinline]] void wait_past_absent(const Member* member) {
  const LoopPlace& place = member->loop;
  Interruption departures;
  do {
    departures = departures_of(member->team);
    pass_turns_of_absent(member->team, place);
  } while (!wait_at_least(place.shared->ordered_next, place.first, departures));
}

[[gnu::noinline]] void pass_turn(const Team* team, const LoopPlace& place) {
  advance(place.shared->ordered_next, place.end);
  if (options().cancellation) [[unlikely]] {
    pass_turns_of_absent(team, place);
  }
}

void wait_for_turn(const Member* member) {
  const LoopPlace& place = member->loop;
  if (!place.ordered) return;
  if (options().cancellation) [[unlikely]] {
    wait_past_absent(member);
  } else {
    wait_at_least(place.shared->ordered_next, place.first);
  }
}

// The thread leaves a cancelled ordered loop before its last chunk: passes on all its turns, for which other threads
// wait.
[[gnu::noinline]] void pass_all_turns(Worker* worker) {
  for (LoopChunk chunk; loop_next(worker, &chunk);) {
  }
}

// Makes an empty place, for a construct of which the thread gets no part.
void enter_none(LoopPlace& place) {
  place.kind = LoopKind::kStatic;
  place.ordered = false;
  place.iterations = place.position = 0;
}

// Whether the loop can be one chunk: the team has one thread, and no tool is there to see chunks. Sections are still
// taken one by one.
bool is_one_chunk(const Worker* worker, const LoopRequest& request) {
  return worker->member->team->size == 1 && request.work == tool::Work::kLoopStatic && request.prepare == nullptr &&
         !tool::present();
}

[[gnu::noinline]] void ordered_begin_reporting(Worker* worker, const void* codeptr) {
  const void* turn = turn_of(worker->member);
  auto id = reinterpret_cast<uint64_t>(turn);
  bool is_reported = tool::on(tool::event::kMutex);
  if (is_reported) tool::mutex_acquire(tool::Mutex::kOrdered, 0, id, codeptr);
  begin_wait(worker, ompt::State::kWaitOrdered, turn);
  wait_for_turn(worker->member);
  end_wait(this_worker());
  if (is_reported) tool::mutex_acquired(tool::Mutex::kOrdered, id, codeptr);
}

}  // namespace

bool loop_begin(Worker* worker, const LoopRequest& request) {
  LoopPlace& place = worker->member->loop;
  place.shared = nullptr;
  place.adds_to = place.counts_in = place.reserve = nullptr;
  place.own_next = place.own_end = 0;
  place.owns_last = place.had_last = false;
  if (is_one_chunk(worker, request)) {
    enter_none(place);
    place.iterations = place.chunk = place.step = request.iterations;
    return true;
  }
  place.kind = request.kind;
  place.ordered = request.ordered;
  place.iterations = request.iterations;
  place.first = place.end = 0;
  uint64_t chunk = request.chunk;
  if (request.kind != LoopKind::kStatic || request.ordered || request.prepare != nullptr) {
    auto [shared, first] = workshare_enter(worker);
    worker = this_worker();
    if (first) fill(shared, worker, request);
    if (!first && shared->all_taken.load(relaxed) && !tool::present()) {
      enter_none(place);
      return false;
    }
    if (request.prepare != nullptr) request.prepare(worker, shared, first, request.context);
    if (first) workshare_publish(worker, shared);
    place.shared = shared;
    place.kind = shared->kind;
    place.plain = place.kind != LoopKind::kStatic && !request.ordered && request.prepare == nullptr;
    chunk = shared->chunk;
  }
  if (place.kind == LoopKind::kStatic) {
    place_static(place, chunk, worker->member);
  } else {
    place.chunk = std::clamp<uint64_t>(chunk, 1, std::max<uint64_t>(place.iterations, 1));
    place.position = place.passed = place.had = 0;
    place.shares = 2 * static_cast<uint64_t>(worker->member->team->size);
    if (place.shared->taking == ChunkTaking::kIntoReserve) reserve_begin(worker->member, place);
    if (place.shared->taking == ChunkTaking::kByAddition) place.adds_to = &place.shared->next;
    if (place.shared->taking == ChunkTaking::kByCount) place.counts_in = &place.shared->next;
  }
  if (tool::on(tool::event::kWork | tool::event::kDispatch)) [[unlikely]] {
    announce_begin(worker, place, request);
  }
  return true;
}

bool loop_count(LoopPlace& place, LoopChunk* chunk) {
  if (!next_guided(place, *place.counts_in)) return false;
  *chunk = {place.first, place.end - place.first, place.end == place.iterations};
  place.had += chunk->count;
  return true;
}

bool loop_next(Worker* worker, LoopChunk* chunk) {
  Member* member = worker->member;
  LoopPlace& place = member->loop;
  // Pass the turn on, even if none of our iterations had an ordered region.
  if (place.ordered && place.end != place.first) {
    wait_for_turn(member);
    pass_turn(member->team, place);
    place.first = place.end;
  }
  if (place.reserve != nullptr) return take_more(member, chunk);
  if (place.adds_to != nullptr) return loop_add(place, chunk);
  if (place.counts_in != nullptr) return loop_count(place, chunk);
  // Otherwise one thread may take all of a short loop.
  if (is_random() && (next_random(worker) & 1) != 0) sched_yield();
  if (!next_chunk(place, static_cast<uint64_t>(member->team->size))) return false;
  *chunk = {place.first, place.end - place.first, place.end == place.iterations};
  if (tool::on(tool::event::kDispatch)) [[unlikely]] {
    announce_chunk(worker, place);
  }
  return true;
}

void loop_leave(Worker* worker, const void* codeptr) {
  LoopPlace& place = worker->member->loop;
  if (place.announced != tool::Work::kNone) [[unlikely]] {
    announce_work(worker, place.announced, tool::Endpoint::kEnd, 0, codeptr);
    place.announced = tool::Work::kNone;
  }
  Workshare* shared = place.shared;
  if (shared == nullptr) return;
  if (place.reserve != nullptr) reserve_end(place);
  if (place.ordered && is_workshare_cancelled(worker->member->team)) [[unlikely]] {
    pass_all_turns(worker);
  }
  place.shared = nullptr;
  if (!place.plain) return workshare_leave(worker, shared);
  if (place.had == place.iterations) shared->all_taken.store(true, relaxed);
}

void ordered_begin(Worker* worker, const void* codeptr) {
  if (tool::present()) [[unlikely]] {
    ordered_begin_reporting(worker, codeptr);
  } else {
    wait_for_turn(worker->member);
  }
}

void ordered_end(Worker* worker, const void* codeptr) {
  if (!tool::on(tool::event::kMutex)) return;
  tool::mutex_released(tool::Mutex::kOrdered, reinterpret_cast<uint64_t>(turn_of(worker->member)), codeptr);
}

}  // namespace marline
