// SPDX-License-Identifier: Apache-2.0
//
// Starts constructs in libomptarget and polls for their ends. libomptarget asks the OpenMP runtime for a word in which
// it keeps the handle of its operations; libmarline gives it our word (marline_target_handle_set). One poll asks for at
// most 64 operations, the oldest first, so that thousands of them do not delay other hooks.
#include "device/libomptarget/libomptarget.hpp"

#include "base/intrusive_list.hpp"
#include "base/make.hpp"
#include "base/forks.hpp"
#include "base/report.hpp"
#include "device/contract/kinds.hpp"
#include "device/contract/place.hpp"
#include "device/contract/tool_reports.hpp"
#include "device/contract/wait.hpp"
#include "device/contract/pending_constructs.hpp"
#include "device/libomptarget/cuda/cuda_driver.hpp"
#include "device/libomptarget/cuda/cuda_provided.hpp"
#include "device/libomptarget/library_call.hpp"
#include "device/libomptarget/copies.hpp"
#include "device/libomptarget/library.hpp"
#include "device/libomptarget/staging/staged_construct.hpp"
#include "device/libomptarget/staging/staging_pool.hpp"
#include "image/foreign.hpp"
#include "image/images.hpp"
#include "image/requires.hpp"

#include <pthread.h>
#include <sched.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <new>

namespace marline::offload::device {

using namespace image;

namespace {

constexpr int kMostPerPoll = 64;
constexpr size_t kMostForHook = 64 << 10;   // the most bytes that the progress hook copies back for one construct
constexpr uint64_t kPatience = 20'000'000;  // nanoseconds until a query waits for the threads in libomptarget
constexpr uint64_t kLongCall = 20'000;      // nanoseconds

// The operations that libomptarget has started for a construct.
struct Started {
  void* handle = nullptr;  // libomptarget's word; null when the operations have ended
  // The task that is held, or null. With a task, this record and `staged` are in malloc's storage.
  marline_task_t* task = nullptr;
  StagedConstruct* staged = nullptr;  // of a held task; must be finished
  marline_event_t event = MARLINE_EVENT_INIT;
  Started* next = nullptr;
  PendingConstruct shown;  // of a held task
  Doing doing;
  ReportedConstruct* reported = nullptr;  // of a held task, if a tool listens
  // If a tool listens: when the operations were started, and when their end was seen (base/now.hpp).
  uint64_t begin = 0, end = 0;
  bool unlocks = false;  // no other thread may be in libomptarget while the operations end (g_calls)
  // When a query was first refused because other threads were in libomptarget (base/now.hpp).
  uint64_t refused_since = 0;
};

using Register = void (*)(void*);
using Query = void (*)(void**);
using Kernel = int (*)(void*, int64_t, int32_t, int32_t, void*, KernelArguments*);
using Data = void (*)(void*, int64_t, int32_t, void**, void**, int64_t*, int64_t*, void**, void**);
using DataNowait = void (*)(void*, int64_t, int32_t, void**, void**, int64_t*, int64_t*, void**, void**, int32_t, void*,
                            int32_t, void*);

// Constant once the list of devices is made.
int g_count = 0;
// By index_of.
Data g_data[3];
DataNowait g_data_nowait[3];
marline_hook_t* g_hook = nullptr;
Query g_query = nullptr;
Kernel g_kernel = nullptr;

int index_of(ConstructKind kind) { return static_cast<int>(kind) - static_cast<int>(ConstructKind::kEnterData); }

// When a `target update from` ends, libomptarget (15 to 22 at least) unlocks the lock of the map entry, which it has
// not locked: see the lambda at the end of targetDataContiguous. If another thread holds that lock, the lock is
// corrupted, and the program ends with an assertion in pthread_mutex_lock. So every call that may end such an update
// runs in libomptarget alone: a query, and the call that begins the update, since a short copy may end in it. All other
// calls and queries share the lock. One gap remains: the routines that ask whether data is mapped enter libomptarget
// without this lock.
pthread_rwlock_t g_calls = PTHREAD_RWLOCK_WRITER_NONRECURSIVE_INITIALIZER_NP;

Lock g_lock;                       // protects the list
IntrusiveList<Started> g_started;  // operations in flight, oldest first: as many as constructs in flight
std::atomic<int> g_under_way{0};   // the length of the list; written under the lock
const HeldAcrossForks g_held(g_lock, ForkOrder::kUnderWay);

std::atomic<bool> g_open{false};  // true from the opening of libomptarget to the end of the program

void append(Started* started) {
  Guard guard(g_lock);
  g_started.push(started);
  g_under_way.fetch_add(1, std::memory_order_relaxed);
}

Started* take_oldest() {
  Guard guard(g_lock);
  Started* started = g_started.pop();
  if (started != nullptr) g_under_way.fetch_sub(1, std::memory_order_relaxed);
  return started;
}

void end_staged(StagedConstruct* construct, bool ran) {
  construct->finish(ran);
  construct->~StagedConstruct();
  std::free(construct);
}

void finish(Started* started, bool ran = true) {
  marline_task_t* task = started->task;
  if (started->begin != 0) started->end = now();
  if (task == nullptr) return marline_event_fulfill(&started->event);
  if (started->staged != nullptr) end_staged(started->staged, ran);
  report_kernel_end(started->reported, started->begin, started->end);
  end_report(started->reported);
  remove_pending(&started->shown);
  std::free(started);
  marline_task_release(task);
}

// How many threads need to be alone in libomptarget. Other threads let them in first, for a short time.
std::atomic<int> g_alone{0};

bool try_to_enter(bool unlocks) {
  if (unlocks) return pthread_rwlock_trywrlock(&g_calls) == 0;
  return g_alone.load(std::memory_order_relaxed) == 0 && pthread_rwlock_tryrdlock(&g_calls) == 0;
}

// Tries for a while, because most calls take a few microseconds, less than sleeping and being woken takes.
bool enter_soon(bool unlocks) {
  if (unlocks) g_alone.fetch_add(1, std::memory_order_relaxed);
  bool is_in = try_to_enter(unlocks);
  for (uint64_t end = now() + kLongCall; !is_in && now() < end;) is_in = try_to_enter(unlocks);
  if (unlocks) g_alone.fetch_sub(1, std::memory_order_relaxed);
  return is_in;
}

void enter_library(bool unlocks) {
  if (try_to_enter(unlocks) || enter_soon(unlocks)) return;
  (void)(unlocks ? pthread_rwlock_wrlock(&g_calls) : pthread_rwlock_rdlock(&g_calls));
}

void leave_library() { pthread_rwlock_unlock(&g_calls); }

// Asks libomptarget for the end of the operations. False: nothing is done, because another thread is in libomptarget.
// That thread's call may be long: as long as a copy from memory that is not pinned, or as its kernel if the thread
// cannot be suspended. So a query waits only once, and only for a short call. But if such calls follow one another
// without a gap, some thread is always there. So after kPatience the query waits for the lock.
bool query(Started* started) {
  if (!try_to_enter(started->unlocks)) {
    uint64_t time = now();
    bool is_first = started->refused_since == 0;
    if (is_first) started->refused_since = time;
    bool is_patient = time - started->refused_since < kPatience;
    if (is_patient && !(is_first && enter_soon(started->unlocks))) return false;
    if (!is_patient) enter_library(started->unlocks);
  }
  {
    LibraryCall call(started->doing, true);
    g_query(&started->handle);
  }
  started->refused_since = 0;
  leave_library();
  return true;
}

// The progress hook.
int poll(void*) {
  int ended = 0;
  int under_way = g_under_way.load(std::memory_order_relaxed);
  for (int left = under_way < kMostPerPoll ? under_way : kMostPerPoll; left > 0; --left) {
    Started* started = take_oldest();
    if (started == nullptr) break;
    bool asked = query(started);
    if (!asked || started->handle != nullptr) {
      append(started);
      if (!asked) break;
      continue;
    }
    ++ended;
    finish(started);
  }
  if (ended != 0) marline_progress_add(g_hook, -ended);
  return ended;
}

template <class Call>
int call_library(const Doing& doing, bool unlocks, Call call, bool deferred) {
  enter_library(unlocks);
  int result;
  {
    LibraryCall scope(doing, false);
    result = call(deferred);
  }
  leave_library();
  return result;
}

// Calls libomptarget without cooperation: the call returns when the construct has ended.
template <class Call>
int call_and_report(const Doing& doing, bool unlocks, ReportedConstruct* reported, Call call) {
  Blocked blocked(doing.device, doing.what);
  uint64_t begin = reported != nullptr ? now() : 0;
  int result = call_library(doing, unlocks, call, false);
  report_kernel_end(reported, begin, reported != nullptr ? now() : 0);
  return result;
}

// The task that is held until the operations of a construct have ended.
struct Held {
  marline_task_t* task;  // null: no task is held, and the caller waits
  // The staged construct of a held task; it is finished and freed at the end. Null: the caller finishes its own
  // construct, if that is staged.
  StagedConstruct* staged;
};

// Allocates the record of a construct whose task is held. The construct is shown as pending until it ends.
Started* make_held(const Doing& doing, const Held& held, ReportScope& scope) {
  auto* started = make<Started>("a deferred target construct");
  started->task = held.task;
  started->staged = held.staged;
  started->reported = scope.leave();
  started->shown.device = doing.device;
  started->shown.what.store(doing.what, std::memory_order_relaxed);
  add_pending(&started->shown);
  return started;
}

// Starts the construct with `call` and waits for its operations, or leaves them to the progress hook if a task is held.
template <class Call>
int cooperate(const Doing& doing, const Held& held, bool unlocks, ReportScope& scope, Call call) {
  if (held.task == nullptr && !marline_target_can_suspend())
    return call_and_report(doing, unlocks, scope.reported(), call);
  Started here;
  Started* started = held.task != nullptr ? make_held(doing, held, scope) : &here;
  ReportedConstruct* reported = held.task != nullptr ? started->reported : scope.reported();
  if (reported != nullptr) started->begin = now();
  started->unlocks = unlocks;
  started->doing = doing;
  marline_target_handle_set(&started->handle);
  int result = call_library(started->doing, unlocks, call, true);
  marline_target_handle_set(nullptr);
  if (started->handle == nullptr) {  // the operations have ended already
    if (held.task != nullptr) {
      finish(started, result == 0);
    } else {
      report_kernel_end(reported, started->begin, reported != nullptr ? now() : 0);
    }
    return result;
  }
  marline_progress_add(g_hook, 1);
  if (held.task != nullptr) leave_report(reported);
  append(started);
  if (held.task == nullptr) {
    wait_for_event(&here.event, doing.device, doing.what);
    report_kernel_end(reported, here.begin, here.end);
  }
  return result;
}

// Whether the end of this construct unlocks a lock that it has not locked (g_calls). A mapper may copy anything back,
// so it counts.
bool brings_back(ConstructKind kind, const Items& items) {
  bool any = false;
  for (int i = 0; i < items.count && kind == ConstructKind::kUpdate; ++i) {
    bool has_mapper = items.mappers != nullptr && items.mappers[i] != nullptr;
    any = any || has_mapper || (items.types[i] & map_type::kFrom) != 0;
  }
  return any;
}

size_t mapped_bytes(const Items& items) {
  constexpr uint64_t kNone = map_type::kLiteral | map_type::kNonContiguous;
  size_t bytes = 0;
  for (int i = 0; i < items.count; ++i) {
    if ((items.types[i] & kNone) == 0 && !is_member(items.types[i])) bytes += static_cast<size_t>(items.sizes[i]);
  }
  return bytes;
}

Staging staging_of(ConstructKind kind) {
  switch (kind) {
    case ConstructKind::kEnterData: return Staging::kEnter;
    case ConstructKind::kExitData: return Staging::kExit;
    default: return Staging::kUpdate;
  }
}

[[noreturn]] void fail(const Doing& doing) {
  char construct[512];
  describe_construct(doing, construct, sizeof construct);
  fatal("a copy of %s on device %d has failed; the GPU's driver says no more: look at the system's log", construct,
        doing.device->number);
}

// Moves the construct from the caller's stack to the heap, for the progress hook that finishes it.
StagedConstruct* on_heap(StagedConstruct& construct) {
  void* memory = std::malloc(sizeof(StagedConstruct));
  if (memory == nullptr) fatal("no memory for a deferred target construct");
  return new (memory) StagedConstruct(construct, StagedConstruct::kPieces);
}

// The driver and libomptarget count the same GPUs in the same order, with two exceptions: the program has images for
// devices of several makers, or libomptarget leaves out GPUs for which the program has no image. In these cases the
// facts stay unknown.
bool is_numbered_as_gpu() { return cuda_gpu_count() == g_count && !have_amds_image(); }

void describe(int index, DeviceFacts& facts) {
  if (is_numbered_as_gpu()) {
    cuda_describe(index, facts);
  } else {
    facts = {};
    facts.is_gpu = true;
    facts.numa_domain = -1;
  }
  auto ask = reinterpret_cast<const char* (*)(int)>(llvm_routine("omp_get_uid_from_device"));  // since LLVM 22
  const char* uid = ask != nullptr ? ask(index) : nullptr;
  if (uid != nullptr) std::snprintf(facts.uid, sizeof facts.uid, "%s", uid);
  if (facts.uid[0] == '\0') std::snprintf(facts.uid, sizeof facts.uid, "libomptarget-%d", index);
}

void start(Device* device) {
  if (is_numbered_as_gpu()) provide_cuda_memory(device->index);
}
void stop(Device*) {}
void progress(Device*) {
  if (poll(nullptr) + poll_cuda_copies() == 0) sched_yield();
}

uint64_t allocate(Device* device, size_t bytes) {
  auto call = reinterpret_cast<void* (*)(size_t, int)>(llvm_routine("omp_target_alloc"));
  return reinterpret_cast<uint64_t>(call(bytes, llvm_number(device)));
}

void release(Device* device, uint64_t address) {
  auto call = reinterpret_cast<void (*)(void*, int)>(llvm_routine("omp_target_free"));
  call(reinterpret_cast<void*>(address), llvm_number(device));
}

void copy(Device* device, const CopyEnd& to, const CopyEnd& from, size_t bytes) {
  if (llvm_copy(to, from, bytes) == 0) return;
  fatal("cannot copy %zu bytes %s device %d (%s); LIBOMPTARGET_INFO=-1 shows what libomptarget does", bytes,
        to.device != nullptr ? "to" : "from", device->number, device->kind->name);
}

void write(Device* device, uint64_t to, const void* from, size_t bytes) {
  copy(device, {device, reinterpret_cast<char*>(to)}, {nullptr, static_cast<char*>(const_cast<void*>(from))}, bytes);
}

void read(Device* device, void* to, uint64_t from, size_t bytes) {
  copy(device, {nullptr, static_cast<char*>(to)}, {device, reinterpret_cast<char*>(from)}, bytes);
}

void unregister(Module* module) { reinterpret_cast<Register>(llvm_routine("__tgt_unregister_lib"))(module->foreign); }

// Another thread is registering the module. It may need the loader's lock, which this thread may hold, so the wait is
// limited.
void await_module(const Module* module) {
  constexpr uint64_t kModulePatience = 1'000'000'000;
  uint64_t end = now() + kModulePatience;
  while (!module->foreign_done.load(std::memory_order_acquire) && now() < end) sched_yield();  // pairs with add_module
}

void register_module(Module* module) {
  module->foreign = foreign_descriptor(module);
  if (module->foreign == nullptr) return;
  reinterpret_cast<Register>(llvm_routine("__tgt_register_lib"))(module->foreign);
  auto state = ForeignState::kUnknown;
  bool is_first = module->foreign_state.compare_exchange_strong(state, ForeignState::kRegistered,
                                                                std::memory_order_acq_rel);  // pairs with llvm_forget
  if (!is_first) unregister(module);
}

// Takes no lock: the module's library may be closed meanwhile by a thread that holds the loader's lock, which
// libomptarget needs to load a driver.
void add_module(Module* module) {
  if (module->foreign_claimed.exchange(true, std::memory_order_relaxed)) return await_module(module);
  register_module(module);
  module->foreign_done.store(true, std::memory_order_release);  // pairs with await_module
}

void note_end() { g_open.store(false, std::memory_order_relaxed); }

// libomptarget loads all modules on all its devices when they are needed. It keeps its own data environment, so there
// is no handle.
uint64_t load(Device*, Module* module) {
  add_module(module);
  return 0;
}

void unload(Device*, uint64_t) {}

uint64_t find(Device*, uint64_t, const char*) { return 0; }
bool launch(Device*, const Launch&, Operation*) {
  fatal("a kernel without its construct, for a device of libomptarget");
}

void find_routines() {
  constexpr const char* kPlain[] = {"__tgt_target_data_begin_mapper", "__tgt_target_data_end_mapper",
                                    "__tgt_target_data_update_mapper"};
  constexpr const char* kDeferred[] = {"__tgt_target_data_begin_nowait_mapper", "__tgt_target_data_end_nowait_mapper",
                                       "__tgt_target_data_update_nowait_mapper"};
  for (int i = 0; i < 3; ++i) {
    g_data[i] = reinterpret_cast<Data>(llvm_routine(kPlain[i]));
    g_data_nowait[i] = reinterpret_cast<DataNowait>(llvm_routine(kDeferred[i]));
  }
  g_query = reinterpret_cast<Query>(llvm_routine("__tgt_target_nowait_query"));
  g_kernel = reinterpret_cast<Kernel>(llvm_routine("__tgt_target_kernel"));
}

}  // namespace

constexpr DeviceTraits kTraits = {.name = "libomptarget", .is_asynchronous = true, .delegate = &kLlvmDelegate};
constinit const DeviceKind kLlvmKind = {kTraits, describe, start,   allocate, release, write,    read, load,
                                        unload,  find,     nullptr, nullptr,  launch,  progress, stop};

// Images are registered first, because libomptarget counts only devices for which there is an image.
int llvm_device_count(const char** why) {
  if (!open_llvm_library(why)) return -1;
  if (auto begin = reinterpret_cast<void (*)()>(llvm_routine("__tgt_rtl_init"))) begin();
  std::atexit(note_end);
  notify_aborts();
  g_open.store(true, std::memory_order_release);  // pairs with llvm_forget
  for (Module* module = module_after(0); module != nullptr; module = module_after(module->number)) add_module(module);
  find_routines();
  g_hook = marline_progress_register("libomptarget", poll, nullptr);
  if (g_hook == nullptr) fatal("no progress hook is left for devices: unregister one of the program's");
  marline_progress_may_rest(g_hook);
  open_cuda_copies();
  g_count = reinterpret_cast<int (*)()>(llvm_routine("omp_get_num_devices"))();
  note_llvm_count(g_count);
  *why = "LLVM's libomptarget finds no device for the program's images";
  return g_count;
}

uint64_t llvm_variable(Device* device, const void* host) {
  Data begin = g_data[index_of(ConstructKind::kEnterData)];
  begin(nullptr, llvm_number(device), 0, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr);
  auto ask = reinterpret_cast<void* (*)(const void*, int)>(llvm_routine("omp_get_mapped_ptr"));
  return ask != nullptr ? reinterpret_cast<uint64_t>(ask(host, llvm_number(device))) : 0;
}

// Removes the variable from libomptarget's map entries. Else libomptarget would take other data that later comes to the
// same address for the variable.
void llvm_remove_global(Device* device, const void* host) {
  if (!g_open.load(std::memory_order_acquire)) return;  // pairs with llvm_device_count
  using Ask = int (*)(const void*, int);
  auto is_present = reinterpret_cast<Ask>(llvm_routine("omp_target_is_present"));
  auto remove = reinterpret_cast<Ask>(llvm_routine("omp_target_disassociate_ptr"));
  if (is_present(host, llvm_number(device)) != 0) (void)remove(host, llvm_number(device));
}

void llvm_forget(Module* module) {
  if (!g_open.load(std::memory_order_acquire)) return;  // pairs with llvm_device_count
  auto state = module->foreign_state.exchange(ForeignState::kGone, std::memory_order_acq_rel);  // pairs with add_module
  if (state == ForeignState::kRegistered) unregister(module);
}

void llvm_forget_operations() {
  forget_cuda_copies();
  g_open.store(false, std::memory_order_relaxed);
  g_calls = PTHREAD_RWLOCK_INITIALIZER;  // the threads that hold it do not exist in the child
  g_alone.store(0, std::memory_order_relaxed);
  g_started = {};
  int under_way = g_under_way.exchange(0, std::memory_order_relaxed);
  if (under_way != 0) marline_progress_add(g_hook, -under_way);
}

static void warn_of_unknown_version(uint32_t arguments) {
  static std::atomic<bool> is_said{false};
  if (is_said.exchange(true, std::memory_order_relaxed)) return;  // warns once; orders no other memory
  warn(
      "the file name of libomptarget has no version: if it is older than LLVM 23, it takes the arguments of target "
      "regions of Clang 23 or later (version %u) for others; MARLINE_LIBOMPTARGET gives the path of another one",
      arguments);
}

// Ends the program if the library does not know this version of the arguments: libraries before LLVM 23 would read
// newer arguments in their own, different order.
static void must_know(uint32_t arguments) {
  constexpr uint32_t kEveryLibraryKnows = 3;
  constexpr int kFirstThatKnowsMore = 23;
  int version = llvm_version();
  if (arguments <= kEveryLibraryKnows || version >= kFirstThatKnowsMore) return;
  if (version == 0) return warn_of_unknown_version(arguments);
  fatal(
      "a target region of Clang 23 or later on a device of libomptarget %d, which does not know its arguments "
      "(version %u): give the path of libomptarget.so.23.1 or later in MARLINE_LIBOMPTARGET",
      version, arguments);
}

int llvm_kernel(Device* device, const Origin& origin, int32_t teams, int32_t threads, void* id,
                const KernelArguments& given, ReportScope& scope) {
  must_know(given.version);
  Items items = items_of(given);
  StagedConstruct construct(device, items, Staging::kRegion, marline_target_can_suspend() != 0 && !is_memory_shared());
  // A progress hook must not copy much.
  bool nowait = (given.flags & kNowaitFlag) != 0 && construct.bytes_back() <= kMostForHook;
  marline_task_t* task = nowait ? marline_target_task_hold() : nullptr;
  StagedConstruct* staged = task != nullptr && StagingPool::limit() != 0 ? on_heap(construct) : nullptr;
  ReportedConstruct* reported = scope.reported();
  report_kernel_begin(reported, device, reported_teams(teams));
  Doing doing = {device, "target", id, place_of(origin.ident), origin.code, mapped_bytes(items)};
  int result = cooperate(doing, {task, staged}, false, scope, [&](bool deferred) {
    KernelArguments arguments = given;
    arguments.version = foreign_version(id, given.version);
    arguments.bases = construct.bases();
    arguments.begins = construct.begins();
    arguments.flags = deferred ? given.flags | kNowaitFlag : given.flags & ~kNowaitFlag;
    int started = g_kernel(origin.ident, llvm_number(device), teams, threads, id, &arguments);
    construct.begun();
    report_kernel_started(reported);
    return started;
  });
  if (staged == nullptr) construct.finish(result == 0);
  return result;
}

void llvm_data(Device* device, const Origin& origin, ConstructKind kind, bool nowait, const Items& items, void** names,
               ReportScope& scope) {
  static constexpr const char* kWhat[] = {"target enter data", "target exit data", "target update"};
  auto* sizes = const_cast<int64_t*>(items.sizes);
  int number = llvm_number(device), index = index_of(kind);
  bool may_stage = marline_target_can_suspend() != 0 && !is_memory_shared() && are_cuda_copies_open();
  StagedConstruct construct(device, items, staging_of(kind), may_stage);
  marline_task_t* task = nowait && !construct.is_staged() ? marline_target_task_hold() : nullptr;
  Doing doing = {device, kWhat[index], nullptr, place_of(origin.ident), origin.code, mapped_bytes(items)};
  auto* types = reinterpret_cast<int64_t*>(const_cast<uint64_t*>(construct.types()));
  if (!construct.copy_before()) fail(doing);
  auto call = [&](bool deferred) {
    if (deferred) {
      g_data_nowait[index](origin.ident, number, items.count, items.bases, items.begins, sizes, types, names,
                           items.mappers, 0, nullptr, 0, nullptr);
    } else {
      g_data[index](origin.ident, number, items.count, items.bases, items.begins, sizes, types, names, items.mappers);
    }
    construct.begun();
    return 0;
  };
  if (construct.is_done()) {
    construct.begun();
  } else {
    (void)cooperate(doing, {task, nullptr}, brings_back(kind, items), scope, call);
  }
  if (!construct.copy_after()) fail(doing);
  construct.finish(true);
}

}  // namespace marline::offload::device
