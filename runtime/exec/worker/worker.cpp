// SPDX-License-Identifier: Apache-2.0
//
// Workers: registration of the program's threads, the pool, and the main function of pool threads. Worker structures
// are never freed, only reused, so that another thread may wake a worker whose thread has ended.
#include "exec/worker/worker.hpp"

#include "base/check.hpp"
#include "base/clock.hpp"
#include "base/memory/memory_limit.hpp"
#include "base/memory/shared_pool.hpp"
#include "base/spin_lock.hpp"
#include "../common/thread_id.h"
#include "config/options.hpp"
#include "exec/fiber/fiber.hpp"
#include "exec/fiber/stack.hpp"
#include "exec/team/barrier.hpp"
#include "exec/team/binding.hpp"
#include "exec/team/free_agent.hpp"
#include "exec/team/team.hpp"
#include "exec/team/threadprivate.hpp"
#include "exec/view/inspect.hpp"
#include "exec/worker/completion.hpp"
#include "exec/worker/ended_ancestors.hpp"
#include "exec/worker/forks.hpp"
#include "exec/worker/parking.hpp"
#include "platform/allocator.hpp"
#include "platform/memory_space.hpp"
#include "platform/refusal.hpp"
#include "platform/thread.hpp"
#include "sched/held.hpp"
#include "sched/idle.hpp"
#include "sched/pool_tasks.hpp"
#include "sched/progress.hpp"
#include "sched/queue.hpp"
#include "tool/tool.hpp"

#include <pthread.h>
#include <sched.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>

namespace marline {

namespace {

SpinLock g_lock;                    // the lists and the key; taken where a team grows, shrinks or ends, and per thread
Worker* g_idle = nullptr;           // pool workers without a team
Worker* g_retired = nullptr;        // structures of ended threads
Atomic<int> g_created{0};           // structures, hence ids
Atomic<int> g_living{0};            // workers with a thread, or with one that is being started
Atomic<int> g_idle_count{0};        // written under g_lock
int g_known = 0;                    // threads of the program's that live, workers or only noted; under g_lock
Atomic<Worker*> g_newest{nullptr};  // written under g_lock
pthread_key_t g_key;                // of the program's threads: a root's worker, or kNoted
bool g_key_made = false;

// The job of a pool thread that is to end, instead of a team: with the process (end_pool_threads), or before it. And
// that of a free agent.
alignas(Team) char g_end, g_retirement, g_agent;
Atomic<int> g_ending{0};  // threads that have been told to end and have not confirmed it yet
Team* end_job() { return reinterpret_cast<Team*>(&g_end); }
Team* retirement() { return reinterpret_cast<Team*>(&g_retirement); }
Team* agent_job() { return reinterpret_cast<Team*>(&g_agent); }

// In place of a worker, for a thread that has none (note_program_thread).
char g_noted;
void* const kNoted = &g_noted;

void program_thread_ends(void* argument);

// Sets up the parts of a worker that only its own thread can set up.
void worker_enter_thread(Worker* worker) {
  worker_enter(worker);
  worker->pool = worker->root ? SlabPool::acquire() : SlabPool::acquire(worker->thread.beginning.pool);
  worker->fiber = worker->shown_state.own_fiber = fiber_for_thread(worker);
  worker->thread.signal_stack = stack_watch_overflow();
}

void run_job(Worker* worker, Team* team) {
  Member* member = &team->members[worker->job_index];
  bool inner = team->nesting.inner;
  worker->context.called_back = team->nesting.called_back;
  team->fp_control.install(FpControl::current());
  follow_cpu_share(worker, team->share);
  if (team->share == nullptr) bind_to_place(worker, member->place);
  implicit_task_begin(worker, member);
  team->run_implicit(team, member);
  worker = this_worker();
  team_barrier(worker);
  implicit_task_end(worker, member, nullptr, nullptr);
  if (inner) team->nesting.inside.fetch_sub(1, release);  // pairs with team_inner
  worker->in_region.fetch_sub(1, release);                // pairs with wait_for_stragglers
}

// The process is ending: the thread reports its end to the tool and does nothing after that.
[[noreturn]] void end_thread(Worker* worker) {
  if (tool::on(tool::event::kThread)) tool::thread_end(&worker->tool_view.data);
  g_ending.fetch_sub(1, release);  // pairs with end_pool_threads
  for (;;) pause();
}

// Gives back the resources of a thread that ends, except its structure.
void give_up_thread(Worker* worker) {
  team_dissolve(worker);
  if (worker->pushed.kept != nullptr) SlabPool::release(worker->pushed.kept, worker->pool);
  while (Task* task = worker->spare_tasks) {
    worker->spare_tasks = task->next;
    SlabPool::release(task, worker->pool);
  }
  SlabPool::release(worker->fiber, worker->pool);
  stack_unwatch_overflow(worker->thread.signal_stack);
  worker->pool->retire();
  worker->pool = nullptr;
  worker->fiber = nullptr;
  worker->shown_state.thread = 0;
  set_this_worker(nullptr);
}

void put_retired(Worker* worker) {
  Guard<SpinLock> guard(g_lock);
  worker->next = g_retired;
  g_retired = worker;
}

// Between regions: the worker has no tasks. It no longer counts among the living.
void retire_pool_worker(Worker* worker) {
  Team* team = begin_initial_task(worker);  // destructors of the program's may call OpenMP
  threadprivate_end_thread(worker);
  implicit_task_end(worker, &team->members[0], nullptr, nullptr);
  team_serial_release(worker, team);
  if (tool::on(tool::event::kThread)) tool::thread_end(&worker->tool_view.data);
  g_ending.fetch_sub(1, release);  // pairs with end_pool_threads
  progress_drop_idle_role(worker);
  give_up_thread(worker);
  put_retired(worker);
}

void pool_main(void* argument) {
  auto* worker = static_cast<Worker*>(argument);
  worker_enter_thread(worker);
  if (tool::on(tool::event::kThread)) tool::thread_begin(&worker->tool_view.data, false);
  for (;;) {
    Team* team = wait_for_job(worker);
    if (team == end_job()) end_thread(worker);
    if (team == retirement()) return retire_pool_worker(worker);
    team == agent_job() ? run_as_agent(worker) : run_job(worker, team);
  }
}

Worker* take_idle() {
  Guard<SpinLock> guard(g_lock);
  Worker* worker = g_idle;
  if (worker == nullptr) return nullptr;
  g_idle = worker->next;
  worker->in_pool.store(0, relaxed);
  g_idle_count.store(g_idle_count.load(relaxed) - 1, relaxed);
  return worker;
}

Worker* take_all_idle() {
  Guard<SpinLock> guard(g_lock);
  Worker* list = g_idle;
  g_idle = nullptr;
  g_idle_count.store(0, relaxed);
  return list;
}

// Gives an idle thread its last job. It no longer counts: the next region may start another thread at once.
void send_away(Worker* worker, Team* job) {
  g_living.fetch_sub(1, relaxed);
  worker->job.store(job, seq_cst);  // before the look at `announced`
  wake_worker(worker);
}

// Under g_lock.
void put_idle(Worker* worker) {
  worker->next = g_idle;
  g_idle = worker;
  worker->in_pool.store(1, relaxed);
  g_idle_count.store(g_idle_count.load(relaxed) + 1, relaxed);
}

// Counts one more thread, unless KMP_DEVICE_THREAD_LIMIT forbids it. Several threads may hire at a time.
bool reserve_thread() {
  const int most = options().process_threads;
  int living = g_living.load(relaxed);
  do {
    if (most != 0 && living >= most) return false;
  } while (!g_living.compare_exchange_weak(living, living + 1, relaxed));
  return true;
}

// Under a limit on address space, threads leave a part of it: their tasks need stacks and memory, too.
bool has_address_space() {
  constexpr size_t kLeaveOfLimit = 8;
  const size_t left = address_space_left();
  return left == SIZE_MAX || left > options().stacksize + address_space_limit() / kLeaveOfLimit;
}

// False: errno says why.
bool start_thread(Worker* worker) {
  errno = ENOMEM;
  ThreadBeginning& beginning = worker->thread.beginning;
  beginning.stack_known.store(false, relaxed);
  beginning.pool = {};
  if (!has_address_space() || !SlabPool::reserve(&beginning.pool)) return false;
  char name[16];
  snprintf(name, sizeof name, "marline/%d", worker->id);
  pthread_t thread;
  if (thread_start_detached(name, pool_main, worker, options().stacksize, nullptr, Signals::kAsTheCreator, &thread)) {
    const Stack stack = stack_of_thread(thread);
    beginning.stack_low = stack.low;
    beginning.stack_high = stack.high;
    beginning.stack_known.store(true, release);  // pairs with own_stack
    return true;
  }
  const int error = errno;
  SlabPool::acquire(beginning.pool)->retire();  // for the next one
  errno = error;
  return false;
}

void say_fewer_threads(int error) {
  static Atomic<int> said{0};
  if (said.exchange(1, relaxed) != 0) return;
  if (const Refusal why(error, options().stacksize); why.is_of_number()) {
    return warn("cannot start a thread: %s: regions have fewer threads than asked; %s (OMP_NUM_THREADS)", why.cause(),
                why.help());
  }
  warn(
      "cannot start a thread with a stack of %zu KiB (%s)%s: regions have fewer threads than asked; set a smaller "
      "OMP_STACKSIZE or OMP_NUM_THREADS, or raise the limits on memory",
      options().stacksize / 1024, std::strerror(error), AddressSpaceText().c_str());
}

Worker* hire_one() {
  if (Worker* worker = take_idle()) return worker;
  if (!reserve_thread()) return nullptr;
  inspect_start();
  Worker* worker = worker_create();
  if (worker != nullptr && start_thread(worker)) return worker;
  const int error = errno;
  g_living.fetch_sub(1, relaxed);
  say_fewer_threads(error);
  if (worker != nullptr) put_retired(worker);
  return nullptr;
}

// fork: shared data is consistent while it happens, and no lock is held by a thread that the child does not have. The
// child has one thread, the caller's, and none of the pool or of the hot team.
//
// The locks, in the order in which one thread takes them; the locks of the shared pools come between the two lists.
SpinLock* const kAcrossFork[] = {
    &g_agents_lock,          &g_pool_lock,   &g_sweep_lock,           &g_lock, &g_detach_lock,
    &g_abandoned_teams_lock, &g_stacks_lock, &g_callback_workers_lock};
SpinLock* const kOfMemoryAcrossFork[] = {&g_slab_pools_lock, &g_quarantine_lock, &g_allocators_lock,
                                         &g_memory_spaces_lock, &g_free_allocators_lock};

int g_forking_thread = 0;  // under the locks that are held across fork

void before_fork() {
  threadprivate_before_fork();
  parking_before_fork();
  for (SpinLock* lock : kAcrossFork) lock->lock();
  shared_pools_lock_all();
  for (SpinLock* lock : kOfMemoryAcrossFork) lock->lock();
  SlabPool::lock_all();
  g_forking_thread = thread_id();
  tool::before_fork();
}

void unlock_lists() {
  SlabPool::unlock_all();
  for (SpinLock* lock : kOfMemoryAcrossFork) lock->unlock();
  shared_pools_unlock_all();
  for (SpinLock* lock : kAcrossFork) lock->unlock();
}

void after_fork_in_parent() {
  tool::after_fork_in_parent();
  unlock_lists();
  parking_after_fork();
  threadprivate_after_fork_in_parent();
}

// The child has only the thread that forks. That thread may be inside a library's call, or in a callback of the
// library: it has several workers then, and only the first of them shows the thread. Returns how many workers show a
// thread.
int forget_other_threads() {
  int shown = 0;
  for (Worker* one = g_newest.load(relaxed); one != nullptr; one = one->created_before) {
    one->hot_team = one->nesting.free_inner = nullptr;
    const bool shows = one->shown_state.thread == g_forking_thread;
    one->shown_state.thread = shows ? thread_id() : 0;
    shown += shows;
  }
  return shown;
}

void after_fork_in_child() {
  tool::after_fork_in_child();
  unlock_lists();
  parking_after_fork_in_child();
  threadprivate_after_fork_in_child();
  g_idle = nullptr;
  g_idle_count.store(0, relaxed);
  g_living.store(forget_other_threads(), relaxed);
  agents_after_fork_in_child();
  g_known = pthread_getspecific(g_key) != nullptr ? 1 : 0;
  g_ending.store(0, relaxed);
}

void make_key() {
  Guard<SpinLock> guard(g_lock);
  if (g_key_made) return;
  g_key_made = true;
  if (int error = pthread_key_create(&g_key, program_thread_ends); error != 0) {
    fatal("no thread-specific key is left (%s): the program uses more than the system allows", std::strerror(error));
  }
  pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
}

// Makes the runtime notice the calling thread's end. `what`: a root's worker, or kNoted.
void know_this_thread(void* what) {
  if (pthread_getspecific(g_key) == nullptr) {
    Guard<SpinLock> guard(g_lock);
    if (g_known++ == 0) progress_keep_watchdog(true);
  }
  pthread_setspecific(g_key, what);
}

// True: it was the last thread of the program that the runtime knows.
[[nodiscard]] bool forget_this_thread() {
  Guard<SpinLock> guard(g_lock);
  if (--g_known > 0) return false;
  progress_keep_watchdog(false);
  return true;
}

// libc ends a process, with its exit handlers, when the last thread ends, so the runtime's threads must not outlive the
// program's. A thread of the program that the runtime has not seen may still be there, and open regions later: the
// runtime's threads start anew then.
void end_threads_of_ours() {
  inspect_stop();
  retire_idle_workers();
}

// The thread ends: its structure, descriptors and hot team's threads stay for others.
void retire_root_worker(Worker* worker) {
  set_this_worker(worker);  // glibc runs this after the thread's own thread-locals are gone, but the slot is static TLS
  finish_root_tasks(worker);
  threadprivate_end_thread(worker);
  announce_root_end(worker);
  progress_drop_idle_role(worker);
  Member* member = worker->member;
  bool ended = subtree_has_ended(&member->implicit_task);
  implicit_task_end(worker, member, nullptr, nullptr);
  if (ended) team_serial_release(worker, member->team);
  give_up_thread(worker);
  g_living.fetch_sub(1, relaxed);
  // The event of a task that no thread is left to complete may still be fulfilled: the worker that it points to stays
  // as it is.
  if (ended) put_retired(worker);
}

void program_thread_ends(void* argument) {
  if (argument != kNoted) retire_root_worker(static_cast<Worker*>(argument));
  if (forget_this_thread()) end_threads_of_ours();
}

}  // namespace

void handle_forks() { make_key(); }

SpinLock g_callback_workers_lock;

Worker* worker_create() {
  {
    Guard<SpinLock> guard(g_lock);
    if (Worker* worker = g_retired) {
      g_retired = worker->next;
      worker->root = false;
      return worker;
    }
  }
  void* memory = std::aligned_alloc(alignof(Worker), sizeof(Worker));
  if (memory == nullptr) return nullptr;
  auto* worker = new (memory) Worker;
  worker->id = g_created.fetch_add(1, relaxed);
  Guard<SpinLock> guard(g_lock);
  worker->created_before = g_newest.load(relaxed);
  g_newest.store(worker, release);  // pairs with newest_worker
  return worker;
}

void worker_enter(Worker* worker) {
  worker->thread.error_number = &errno;
  worker->shown_state.thread = thread_id();
  worker->shown_state.handle = pthread_self();
  worker->shown_state.blocked = nullptr;
  worker->shown_state.block_depth = 0;
  worker->binding = {};  // not that of the thread that had this structure before
  worker->pushed = {};
  worker->next_task = nullptr;
  worker->context = {};
  worker->nesting.open_inner = 0;
  worker->nesting.must_wake = false;
  worker->thread.exception_globals = nullptr;
  fence_signal();  // a signal handler on this thread finds no data of the thread that had this structure before
  set_this_worker(worker);
  worker->random = static_cast<uint32_t>(options().schedule.seed * 2654435761u + static_cast<uint32_t>(worker->id)) | 1;
  exception_state_look_up(worker);
}

Worker* make_root_worker() {
  make_key();
  Worker* worker = worker_create();
  if (worker == nullptr) fatal("no memory for one more thread%s", AddressSpaceText().c_str());
  worker->root = true;
  worker_enter_thread(worker);
  g_living.fetch_add(1, relaxed);
  know_this_thread(worker);
  if (worker->id > 0) inspect_start();  // the program has several threads
  begin_initial_task(worker);
  return worker;
}

void announce_root_begin(Worker* worker) {
  if (tool::on(tool::event::kThread)) tool::thread_begin(&worker->tool_view.data, true);
  if (tool::on(tool::event::kImplicitTask)) {
    tool::implicit_task(tool::Endpoint::kBegin, &worker->member->team->tool_data, &worker->task->tool_data, 1, 1,
                        tool::task_bits::kInitial);
  }
}

void note_program_thread() {
  const Worker* worker = this_worker_or_null();
  if (worker != nullptr && !worker->root) return;  // one of the runtime's
  make_key();
  if (pthread_getspecific(g_key) == nullptr) know_this_thread(kNoted);
}

void announce_root_end(Worker* worker) {
  if (tool::on(tool::event::kImplicitTask)) {
    // OpenMP has no region here, but LLVM's runtime names it, and its multiplexer for tools relies on that.
    tool::implicit_task(tool::Endpoint::kEnd, &worker->member->team->tool_data, &worker->task->tool_data, 0, 1,
                        tool::task_bits::kInitial);
  }
  if (tool::on(tool::event::kThread)) tool::thread_end(&worker->tool_view.data);
}

namespace {

bool is_in_region(const Worker* worker) { return worker != nullptr && worker->in_region.load(acquire) != 0; }

// Whether a thread of the root's last region, or of a region inside it, has not yet reported the end of its implicit
// task to a tool.
bool somebody_is_leaving(const Worker* root) {
  const Team* team = root != nullptr ? root->hot_team : nullptr;
  for (int i = 1; team != nullptr && !team->in_use && i < team->capacity; ++i) {
    if (is_in_region(team->members[i].worker)) return true;
  }
  Guard<SpinLock> guard(g_lock);
  const Worker* idle = g_idle;
  while (idle != nullptr && !is_in_region(idle)) idle = idle->next;
  return idle != nullptr;
}

// A callback of the tool may block, and a program that ends must not wait for that for ever.
template <class Condition>
void wait_while(Condition condition) {
  constexpr uint64_t kPatience = 1'000'000'000;  // ns
  uint64_t since = nanoseconds_now();
  while (condition() && nanoseconds_now() - since < kPatience) sched_yield();
}

}  // namespace

void end_pool_threads(Worker* worker) {
  if (!tool::present()) return;
  if (!tool::on(tool::event::kThread))
    // No tool asks for the end of threads, so they need not end.
    return wait_while([worker] { return somebody_is_leaving(worker); });
  Worker* list = take_all_idle();
  // A region that a static destructor opens after this hires threads anew.
  Team* team = worker != nullptr ? worker->hot_team : nullptr;
  if (team != nullptr && !team->in_use) list = team_give_threads(team, list);
  while (list != nullptr) {
    Worker* next = list->next;
    g_ending.fetch_add(1, relaxed);
    send_away(list, end_job());
    list = next;
  }
  wait_while([] { return g_ending.load(acquire) != 0; });
}

void retire_idle_workers() {
  for (Worker* list = take_all_idle(); list != nullptr;) {
    Worker* next = list->next;
    list->in_pool.store(0, relaxed);
    g_ending.fetch_add(1, relaxed);
    send_away(list, retirement());
    list = next;
  }
}

int hire_workers(Team* team, int first, int count) {
  for (int i = 0; i < count; ++i) {
    Worker* worker = hire_one();
    if (worker == nullptr) return i;
    team->members[first + i].worker = worker;
  }
  return count;
}

void dismiss_workers(Team* team, int first) {
  Guard<SpinLock> guard(g_lock);
  for (int i = team->capacity - 1; i >= first; --i) {  // the next team that grows gets them in this order
    Worker* worker = team->members[i].worker;
    if (worker != nullptr) put_idle(worker);
    team->members[i].worker = nullptr;
  }
}

void dismiss_inner_workers(Team* team) {
  Guard<SpinLock> guard(g_lock);
  for (int i = team->size - 1; i > 0; --i)
    put_idle(team->members[i].worker);  // the next region gets them in this order
}

Team* begin_initial_task(Worker* worker) {
  Team* team = team_serial(worker);
  team_describe_initial(team, initial_icvs());
  implicit_task_begin(worker, &team->members[0]);
  return team;
}

Worker* hire_agent() { return hire_one(); }

void start_agent(Worker* worker) {
  worker->in_region.fetch_add(1, relaxed);
  worker->job.store(agent_job(), seq_cst);  // releases Worker::agent; before the look at `announced`
  wake_worker(worker);
}

void return_to_pool(Worker* worker) {
  worker->in_region.fetch_sub(1, release);  // pairs with somebody_is_leaving
  bool last;
  {
    Guard<SpinLock> guard(g_lock);
    put_idle(worker);
    last = g_known == 0;
  }
  if (last) retire_idle_workers();  // the program's last thread has ended, and has not found this one in the pool
}

void finish_root_tasks(Worker* worker) {
  release_held(worker, nullptr);
  flush_reports(worker);
  Member* member = worker->member;
  member->at_barrier = AtBarrier::kImplementation;
  member->barrier_epoch = member->team->epoch.load(relaxed);
  work_until(
      [](void* task) {
        if (subtree_has_ended(static_cast<Task*>(task))) return true;
        // seq_cst: a free agent that stops working wakes this thread after it has left the count.
        return !work_in_sight(this_worker()) && !progress_pending() && agents_are_done();
      },
      worker->task);
  member->at_barrier = AtBarrier::kNot;
}

bool oversubscribed() { return busy_worker_count() > cores_per_process() || shares_cores(); }

bool more_threads_than_cores() { return g_living.load(relaxed) > cores_per_process(); }

const Worker* newest_worker() { return g_newest.load(acquire); }  // pairs with worker_create

const void* newest_worker_place() { return &g_newest; }

int worker_count() { return g_living.load(relaxed); }

int busy_worker_count() { return g_living.load(relaxed) - g_idle_count.load(relaxed); }

Icvs initial_icvs() {
  const Options& o = options();
  AllocatorHandle allocator = memory_allocator_initial();
  // The bit says that the modifier was given, as in LLVM's runtime: `static` alone is monotonic, too
  // (OpenMP 5.1, 2.11.4), but programs compare what omp_get_schedule says with omp_sched_static.
  bool monotonic = o.schedule_modifier == ScheduleModifier::kMonotonic;
  return {o.num_threads[0], o.max_active_levels, o.schedule_kind, o.schedule_chunk, o.default_device,
          o.thread_limit,   allocator,           o.dynamic,       monotonic};
}

}  // namespace marline
