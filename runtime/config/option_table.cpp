// SPDX-License-Identifier: Apache-2.0
//
// The table of options. To add an option: a field in Options, an entry here, and `tools/gen_options_doc.py` for the
// page. Each entry: name, default, accepted values, one line of description; then how it is read and shown. Constant.
#include "config/option_table.hpp"

#include <algorithm>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <sys/resource.h>

#include "base/check.hpp"
#include "../common/readers.hpp"
#include "config/names.hpp"

namespace marline {
namespace {

// Copies the rest of the value: a program may overwrite its environment.
bool read_rest(Cursor& in, const char*& result) {
  result = strdup(in.rest());
  in.reset(in.rest() + strlen(in.rest()));
  return result != nullptr;
}

constexpr const char* kScheduleWords[] = {"static", "dynamic", "guided", "auto"};
constexpr const char* kBindWords[] = {"false", "true", "primary", "close", "spread", "close"};  // by ProcBind
constexpr const char* kPlaceWords[] = {"threads", "cores", "ll_caches", "numa_domains", "sockets"};
constexpr const char* kWaitWords[] = {"auto", "active", "passive"};
constexpr const char* kOffloadWords[] = {"mandatory", "disabled", "default"};
constexpr const char* kDisplayWords[] = {"false", "true", "verbose"};
constexpr const char* kToolWords[] = {"disabled", "enabled"};
constexpr const char* kPolicyWords[] = {"lifo", "fifo", "random"};
constexpr const char* kConstraintWords[] = {"relaxed", "strict"};
// Bit 0: at scheduling points and when idle; bit 1: the watchdog. The last word is for idle workers only.
constexpr const char* kProgressWords[] = {"none", "weak", "strong", "both", "idle"};
constexpr int kProgressIdle = 4;
constexpr const char* kHashWords[] = {"mix", "xor_6_2", "xor_0_32", "div_8", "lookup2"};
constexpr const char* kDiscoveryWords[] = {"concurrent", "first"};
constexpr const char* kEdgeWords[] = {"duplicate", "transitive", "inoutset"};
constexpr const char* kBarrierWords[] = {"auto", "flat", "tree"};
constexpr const char* kValueWords[] = {"zero", "inf", "copy"};
constexpr const char* kPropagationWords[] = {"none", "equal", "decrement"};
constexpr const char* kSynchronyWords[] = {"synchronous", "asynchronous"};
constexpr const char* kClassWords[] = {"new", "successor", "untied"};
constexpr const char* kQueueLevelWords[] = {"core", "cache", "numa", "socket", "machine"};

bool read_num_threads(Cursor& in, Options& to) {
  to.num_threads_count = 0;
  if (in.accept_word("auto")) return true;
  do {
    int threads;
    if (!read_number(in, 1, INT_MAX, threads)) return false;
    if (to.num_threads_count < Options::kMaxLevels) to.num_threads[to.num_threads_count++] = threads;
  } while (in.accept(','));
  return true;
}

void show_num_threads(Text& out, const Options& from) {
  if (from.num_threads_count == 0) out.add("auto");
  for (int i = 0; i < from.num_threads_count; ++i) out.add("%s%d", i == 0 ? "" : ",", from.num_threads[i]);
}

// OpenMP 6.0, section 4.3.10: a number, a type, or a list of types with numbers.
bool read_threads_reserve(Cursor& in, Options& to) {
  to.reserved_structured = 1;
  to.reserved_agents = 0;
  if (read_number(in, 0, INT_MAX, to.reserved_structured)) return true;
  int types = 0, numbers = 0;
  do {
    int* number = in.accept_word("structured")   ? &to.reserved_structured
                  : in.accept_word("free_agent") ? &to.reserved_agents
                                                 : nullptr;
    if (number == nullptr) return false;
    ++types;
    *number = Options::kAllThreads;
    if (!in.accept('(')) continue;
    if (!read_number(in, 0, INT_MAX, *number) || !in.accept(')')) return false;
    ++numbers;
  } while (in.accept(','));
  return types == 1 || types == numbers;
}

void show_threads_reserve(Text& out, const Options& from) {
  auto show = [&out](const char* type, int number) {
    number == Options::kAllThreads ? out.add("%s", type) : out.add("%s(%d)", type, number);
  };
  const bool one = from.reserved_structured == Options::kAllThreads || from.reserved_agents == Options::kAllThreads;
  if (!one || from.reserved_structured == Options::kAllThreads) show("structured", from.reserved_structured);
  if (!one) out.add(",");
  if (!one || from.reserved_agents == Options::kAllThreads) show("free_agent", from.reserved_agents);
}

bool read_proc_bind(Cursor& in, Options& to) {
  to.proc_bind_count = 0;
  if (in.accept_word("auto")) return true;
  if (bool bound; read_bool(in, bound)) {
    to.proc_bind[to.proc_bind_count++] = bound ? ProcBind::kBound : ProcBind::kUnbound;
    return true;
  }
  static constexpr const char* kWords[] = {"primary", "close", "spread"};
  do {
    ProcBind bind = ProcBind::kPrimary;
    if (!in.accept_word("master") && !read_word(in, kWords, bind, static_cast<int>(ProcBind::kPrimary))) return false;
    if (to.proc_bind_count < Options::kMaxLevels) to.proc_bind[to.proc_bind_count++] = bind;
  } while (in.accept(','));
  return true;
}

void show_proc_bind(Text& out, const Options& from) {
  for (int i = 0; i < from.proc_bind_count; ++i) {
    out.add("%s%s", i == 0 ? "" : ",", kBindWords[static_cast<int>(from.proc_bind[i])]);
  }
}

// Also accepts two of LLVM's kinds: static_steal balances the load between threads, as dynamic does.
bool read_schedule_kind(Cursor& in, LoopSchedule& kind) {
  kind = in.accept_word("static_steal") ? LoopSchedule::kDynamic : LoopSchedule::kTrapezoidal;
  return kind == LoopSchedule::kDynamic || in.accept_word("trapezoidal") || read_word(in, kScheduleWords, kind, 1);
}

// Lists of numbers are checked only when the machine is known (platform/topology/places.hpp). An abstract name is used
// even if the text after it is malformed; any other text means cores.
bool read_places(Cursor& in, Options& to) {
  const char* whole = in.mark();
  const int word = in.accept_one_of(kPlaceWords);
  int64_t number;
  const bool good = word < 0 ? strchr("{!0123456789", *whole) != nullptr
                             : in.at_end() || (in.accept('(') && in.accept_number(1, INT_MAX, number) &&
                                               (!in.accept(':') || in.accept_number(1, INT_MAX, number)) &&
                                               in.accept(')') && in.at_end());
  in.reset(whole);
  if (good) return read_rest(in, to.places);
  to.places = word < 0 ? "cores" : kPlaceWords[word];
  if (is_news("OMP_PLACES", whole)) {
    warn(
        "OMP_PLACES=\"%s\" is not usable: expected threads, cores, ll_caches, numa_domains or sockets, each with an "
        "optional (count) or (count:increment), or a list of {numbers}; using \"%s\"",
        whole, to.places);
  }
  in.reset(whole + strlen(whole));
  return true;
}

// OpenMP 6.0, 4.3.8. A list is checked only when the devices are known (offload/base/selection.hpp).
bool read_default_device(Cursor& in, Options& to) {
  const char* whole = in.mark();
  to.default_device_list = nullptr;
  if (read_number(in, 0, INT_MAX, to.default_device) && in.at_end()) return true;
  in.reset(whole);
  to.default_device = kChosenByDevices;
  if (in.accept_word("auto")) return true;
  const bool is_list = *whole == '!' || *whole == '(' || *whole == '*' || strpbrk(whole, ",(") != nullptr ||
                       in.accept_word("initial") || in.accept_word("invalid");
  in.reset(whole);
  return is_list && *whole != '-' && read_rest(in, to.default_device_list);
}

void show_default_device(Text& out, const Options& from) {
  if (from.default_device != kChosenByDevices) return out.add("%d", from.default_device);
  out.add("%s", from.default_device_list != nullptr ? from.default_device_list : "auto");
}

// OpenMP 5.1, 6.1: [modifier:]kind[,chunk].
bool read_schedule(Cursor& in, Options& to) {
  to.schedule_chunk = 0;
  to.schedule_modifier = in.accept_word("monotonic")      ? ScheduleModifier::kMonotonic
                         : in.accept_word("nonmonotonic") ? ScheduleModifier::kNonmonotonic
                                                          : ScheduleModifier::kNone;
  if (to.schedule_modifier != ScheduleModifier::kNone && !in.accept(':')) return false;
  if (!read_schedule_kind(in, to.schedule_kind)) return false;
  return !in.accept(',') || read_number(in, 1, INT_MAX, to.schedule_chunk);
}

void show_schedule(Text& out, const Options& from) {
  if (from.schedule_modifier == ScheduleModifier::kMonotonic) out.add("monotonic:");
  if (from.schedule_modifier == ScheduleModifier::kNonmonotonic) out.add("nonmonotonic:");
  bool trapezoidal = from.schedule_kind == LoopSchedule::kTrapezoidal;
  out.add("%s", trapezoidal ? "trapezoidal" : kScheduleWords[static_cast<int>(from.schedule_kind) - 1]);
  if (from.schedule_chunk > 0) out.add(",%d", from.schedule_chunk);
}

// The first thread's stack size, within limits: code whose data fits on the first thread's stack should also fit on
// another thread's.
size_t usual_stacksize() {
  constexpr rlim_t kLeast = rlim_t{4} << 20, kMost = rlim_t{64} << 20;
  rlimit stack, memory;
  if (getrlimit(RLIMIT_STACK, &stack) != 0 || getrlimit(RLIMIT_AS, &memory) != 0) return kLeast;
  if (memory.rlim_cur != RLIM_INFINITY) return kLeast;
  return std::clamp(stack.rlim_cur, kLeast, kMost);
}

bool read_task_schedule(Cursor& in, Options& to) {
  to.schedule.seed = 0;
  if (in.accept_word("default")) {
    to.schedule.policy = SchedulePolicy::kLifo;
    return true;
  }
  if (!read_word(in, kPolicyWords, to.schedule.policy)) return false;
  return to.schedule.policy != SchedulePolicy::kRandom || (in.accept(':') && in.accept_unsigned(to.schedule.seed));
}

void show_task_schedule(Text& out, const Options& from) {
  out.add("%s", kPolicyWords[static_cast<int>(from.schedule.policy)]);
  if (from.schedule.policy == SchedulePolicy::kRandom) {
    out.add(":%llu", static_cast<unsigned long long>(from.schedule.seed));
  }
}

// A preset by name, or VALUE,PROPAGATION[,SYNCHRONY].
bool read_priority(Cursor& in, Options& to) {
  auto& priority = to.priority;
  priority = {};
  priority.value = PriorityValue::kCopy;
  priority.propagation = Propagation::kNone;
  if (in.accept_word("auto")) return true;
  priority.given = true;
  static constexpr struct {
    const char *family, *member;
    PriorityValue value;
    Propagation propagation;
    bool asynchronous;
  } kPresets[] = {{"ma", "1", PriorityValue::kCopy, Propagation::kNone, false},
                  {"ma", "2", PriorityValue::kCopy, Propagation::kEqual, false},
                  {"sa", nullptr, PriorityValue::kInf, Propagation::kDecrement, false},
                  {"fa", nullptr, PriorityValue::kZero, Propagation::kDecrement, true}};
  const char* start = in.mark();
  for (const auto& preset : kPresets) {
    in.reset(start);
    if (!in.accept_word(preset.family)) continue;
    if (preset.member != nullptr && !(in.accept('-') && in.accept_word(preset.member))) continue;
    priority.value = preset.value;
    priority.propagation = preset.propagation;
    priority.asynchronous = preset.asynchronous;
    return true;
  }
  in.reset(start);
  int synchrony = 0;
  if (!read_word(in, kValueWords, priority.value) || !in.accept(',')) return false;
  if (!read_word(in, kPropagationWords, priority.propagation)) return false;
  if (in.accept(',') && !read_word(in, kSynchronyWords, synchrony)) return false;
  priority.asynchronous = synchrony == 1;
  return true;
}

void show_priority(Text& out, const Options& from) {
  const auto& priority = from.priority;
  if (!priority.given) return out.add("auto");
  out.add("%s,%s,%s", kValueWords[static_cast<int>(priority.value)],
          kPropagationWords[static_cast<int>(priority.propagation)], kSynchronyWords[priority.asynchronous ? 1 : 0]);
}

bool read_queues(Cursor& in, Options& to) {
  to.shared_queues = false;
  for (QueueLevel& level : to.queues) level = QueueLevel::kCore;
  if (in.accept_word("default")) return true;
  do {
    const int kind = in.accept_one_of(kClassWords);
    if (kind < 0 || !in.accept('=') || !read_word(in, kQueueLevelWords, to.queues[kind])) return false;
  } while (in.accept(','));
  for (const QueueLevel level : to.queues) to.shared_queues |= level != QueueLevel::kCore;
  return true;
}

void show_queues(Text& out, const Options& from) {
  if (!from.shared_queues) return out.add("default");
  for (int i = 0; i < kPlaceableClasses; ++i) {
    out.add("%s%s=%s", i == 0 ? "" : ",", kClassWords[i], kQueueLevelWords[static_cast<int>(from.queues[i])]);
  }
}

bool read_edges(Cursor& in, Options& to) {
  const bool all = in.accept_word("all");
  to.edges = {all, all, all};
  if (all || in.accept_word("none")) return true;
  do {
    switch (in.accept_one_of(kEdgeWords)) {
      case 0: to.edges.duplicate = true; break;
      case 1: to.edges.transitive = true; break;
      case 2: to.edges.inoutset = true; break;
      default: return false;
    }
  } while (in.accept(','));
  return true;
}

void show_edges(Text& out, const Options& from) {
  const bool on[] = {from.edges.duplicate, from.edges.transitive, from.edges.inoutset};
  const char* separator = "";
  for (int i = 0; i < 3; ++i) {
    if (!on[i]) continue;
    out.add("%s%s", separator, kEdgeWords[i]);
    separator = ",";
  }
  if (*separator == '\0') out.add("none");
}

void show_bool(Text& out, bool value) { out.add("%s", value ? "TRUE" : "FALSE"); }
void show_number(Text& out, int64_t value) { out.add("%lld", static_cast<long long>(value)); }

void show_size(Text& out, size_t bytes) {
  static constexpr struct {
    int shift;
    char unit;
  } kUnits[] = {{30, 'G'}, {20, 'M'}, {10, 'K'}, {0, 'B'}};
  for (const auto& unit : kUnits) {
    if (bytes % (size_t{1} << unit.shift) != 0) continue;
    out.add("%zu%c", bytes >> unit.shift, unit.unit);
    return;
  }
}

constexpr Option kOptions[] = {
    {"OMP_NUM_THREADS", "auto", "a list of positive numbers, one per nesting level",
     "Threads of a parallel region. `auto`: as many as the process has cores, divided among the job's processes on the "
     "node.",
     read_num_threads, show_num_threads},
    {"OMP_DYNAMIC", "false", "true or false", "Whether a region may get fewer threads than it asks for.",
     [](Cursor& in, Options& to) { return read_bool(in, to.dynamic); },
     [](Text& out, const Options& from) { show_bool(out, from.dynamic); }},
    {"OMP_SCHEDULE", "static", "[monotonic:|nonmonotonic:]static, dynamic, guided or auto, then [,chunk]",
     "What `schedule(runtime)` means. libgomp's default is `dynamic`.", read_schedule, show_schedule},
    {"OMP_NESTED", "false", "true or false",
     "Deprecated by OpenMP: OMP_MAX_ACTIVE_LEVELS says more. `true` is an unlimited number of levels.",
     [](Cursor& in, Options& to) { return read_bool(in, to.nested); },
     [](Text& out, const Options& from) { show_bool(out, from.nested); }},
    {"OMP_MAX_ACTIVE_LEVELS", "auto", "a number from 0 up",
     "Nested parallel regions that may be active. `auto`: 1, or unlimited with OMP_NESTED=true or with a list in "
     "OMP_NUM_THREADS or OMP_PROC_BIND.",
     [](Cursor& in, Options& to) {
       to.max_active_levels = -1;
       return in.accept_word("auto") || read_number(in, 0, INT_MAX, to.max_active_levels);
     },
     [](Text& out, const Options& from) { show_number(out, from.max_active_levels); }},
    {"OMP_THREAD_LIMIT", "2147483647", "a positive number", "Threads of a contention group, at most.",
     [](Cursor& in, Options& to) { return read_number(in, 1, INT_MAX, to.thread_limit); },
     [](Text& out, const Options& from) { show_number(out, from.thread_limit); }},
    {"OMP_THREADS_RESERVE", "structured(1),free_agent(0)",
     "a number, structured or free_agent, or a list of structured(number) and free_agent(number)",
     "How many threads of the thread limit are kept for regions (`structured`; a number alone means this) and for "
     "tasks "
     "with `threadset(omp_pool)` outside of their team (`free_agent`). A type without a number: all.",
     read_threads_reserve, show_threads_reserve},
    {"OMP_STACKSIZE", "auto", "auto, or a number and B, K, M or G (K if none), at least 16K",
     "Stack of a thread that the runtime creates. `auto`: as the first thread's (`ulimit -s`), but from 4M to 64M; 4M "
     "if the process's memory is limited (`ulimit -v`).",
     [](Cursor& in, Options& to) {
       to.stacksize = usual_stacksize();
       return in.accept_word("auto") || read_stack_size(in, to.stacksize);
     },
     [](Text& out, const Options& from) { show_size(out, from.stacksize); }},
    {"OMP_WAIT_POLICY", "auto", "active or passive",
     "Whether idle threads spin (active) or sleep (passive). `auto`: they spin for as long as MARLINE_SPIN says.",
     [](Cursor& in, Options& to) { return read_word(in, kWaitWords, to.wait_policy); },
     [](Text& out, const Options& from) { out.add("%s", kWaitWords[static_cast<int>(from.wait_policy)]); }},
    {"OMP_PROC_BIND", "auto", "true, false, or a list of primary, close, spread",
     "Whether and how threads are bound to places. `auto`: true if OMP_PLACES is given, else false.", read_proc_bind,
     show_proc_bind},
    {"OMP_PLACES", "",
     "threads, cores, ll_caches, numa_domains or sockets, each with an optional (count) or "
     "(count:increment), or a list of {numbers}",
     "The places that threads are bound to. Empty: cores, when binding is asked for.", read_places,
     [](Text& out, const Options& from) { out.add("%s", from.places); }},
    {"OMP_DISPLAY_ENV", "false", "true, false or verbose",
     "Prints the options in force when the program starts; `verbose` adds Marline's own, of all its libraries that are "
     "loaded.",
     [](Cursor& in, Options& to) {
       bool on;
       if (!read_bool(in, on)) return read_word(in, kDisplayWords, to.display_env);
       to.display_env = on ? DisplayEnv::kOn : DisplayEnv::kOff;
       return true;
     },
     [](Text& out, const Options& from) { out.add("%s", kDisplayWords[static_cast<int>(from.display_env)]); }},
    {"OMP_DISPLAY_AFFINITY", "false", "true or false", "Prints each thread's binding when a region's binding changes.",
     [](Cursor& in, Options& to) { return read_bool(in, to.display_affinity); },
     [](Text& out, const Options& from) { show_bool(out, from.display_affinity); }},
    {"OMP_AFFINITY_FORMAT",
     "OMP: pid %P tid %i thread %n bound to OS proc set {%A}, place %{place_num}, policy %{proc_bind}",
     "a format of OpenMP 5.1, 6.14",
     "What OMP_DISPLAY_AFFINITY prints. Marline's own fields: `%{place_num}`, as of omp_get_place_num, and "
     "`%{proc_bind}`, the policy by which the thread is at its place, `false` if it is not bound.",
     [](Cursor& in, Options& to) { return read_rest(in, to.affinity_format); },
     [](Text& out, const Options& from) { out.add("%s", from.affinity_format); }},
    {"OMP_CANCELLATION", "false", "true or false", "Whether the cancel construct has an effect.",
     [](Cursor& in, Options& to) { return read_bool(in, to.cancellation); },
     [](Text& out, const Options& from) { show_bool(out, from.cancellation); }},
    {"OMP_MAX_TASK_PRIORITY", "0", "a number from 0 up",
     "The highest value of a priority clause that counts. With 0, tasks have no priorities, unless MARLINE_PRIORITY is "
     "given, with which it then means 2147483647.",
     [](Cursor& in, Options& to) { return read_number(in, 0, INT_MAX, to.max_task_priority); },
     [](Text& out, const Options& from) { show_number(out, from.max_task_priority); }},
    {"OMP_DEFAULT_DEVICE", "auto",
     "auto, a number from 0 up, or a list of numbers, initial, invalid and traits as in OMP_AVAILABLE_DEVICES",
     "The device of a target region without a device clause: of a list, the first that is there. `auto`: "
     "a GPU of its own for each rank of a node, else 0.",
     read_default_device, show_default_device},
    {"OMP_TARGET_OFFLOAD", "default", "mandatory, disabled or default",
     "Whether target regions must, must not or may run on a device.",
     [](Cursor& in, Options& to) { return read_word(in, kOffloadWords, to.target_offload); },
     [](Text& out, const Options& from) { out.add("%s", kOffloadWords[static_cast<int>(from.target_offload)]); }},
    {"OMP_ALLOCATOR", "omp_default_mem_alloc",
     "a predefined allocator, or a predefined memory space with an optional :trait=value,...",
     "The allocator of allocate directives, clauses and routines that name none.",
     [](Cursor& in, Options& to) { return read_allocator(in, to.allocator); },
     [](Text& out, const Options& from) { show_allocator(out, from.allocator); }},
    {"OMP_TOOL", "enabled", "enabled or disabled", "Whether an OMPT tool may be started.",
     [](Cursor& in, Options& to) { return read_word(in, kToolWords, to.tool); },
     [](Text& out, const Options& from) { out.add("%s", kToolWords[from.tool]); }},
    {"OMP_TOOL_LIBRARIES", "", "a list of libraries, separated by colons", "Where to look for an OMPT tool.",
     [](Cursor& in, Options& to) { return read_rest(in, to.tool_libraries); },
     [](Text& out, const Options& from) { out.add("%s", from.tool_libraries); }},
    {"OMP_TOOL_VERBOSE_INIT", "disabled", "disabled, stdout, stderr or a file name",
     "Where the search for an OMPT tool is reported.",
     [](Cursor& in, Options& to) { return read_rest(in, to.tool_verbose_init); },
     [](Text& out, const Options& from) { out.add("%s", from.tool_verbose_init); }},
    {"OMP_DEBUG", "disabled", "enabled or disabled",
     "Whether debuggers can ask for threads, regions and tasks, through lib/marline/libompd.so.",
     [](Cursor& in, Options& to) { return read_word(in, kToolWords, to.debug); },
     [](Text& out, const Options& from) { out.add("%s", kToolWords[from.debug]); }},
    {"OMP_NUM_TEAMS", "0", "a number from 0 up", "Teams of a teams region without a num_teams clause; 0: one.",
     [](Cursor& in, Options& to) { return read_number(in, 0, INT_MAX, to.num_teams); },
     [](Text& out, const Options& from) { show_number(out, from.num_teams); }},
    {"OMP_TEAMS_THREAD_LIMIT", "0", "a number from 0 up", "Threads of each team of a teams region; 0: no limit.",
     [](Cursor& in, Options& to) { return read_number(in, 0, INT_MAX, to.teams_thread_limit); },
     [](Text& out, const Options& from) { show_number(out, from.teams_thread_limit); }},
    {"MARLINE_SCHEDULE", "default", "default, fifo, lifo or random:SEED",
     "Order of ready tasks. `default` is lifo; `random:SEED` draws by the seed whether a worker takes its next task "
     "from its own queue, from which end, whom it steals from first, and whether it lets others go first for a chunk "
     "of a loop; to find errors that depend on the schedule.",
     read_task_schedule, show_task_schedule},
    {"MARLINE_PRIORITY", "auto",
     "MA-1, MA-2, SA, FA, or VALUE,PROPAGATION[,SYNCHRONY]: zero, inf or copy; none, equal or decrement; synchronous "
     "or asynchronous",
     "What a task's priority is: the clause's value (copy), the highest if it is not 0 (inf), or 0 (zero); and "
     "whether, and when, predecessors get it, the same (equal) or one less (decrement). Given, it switches priorities "
     "on. `auto`: copy,none, if OMP_MAX_TASK_PRIORITY is above 0. Presets: MA-1 is copy,none; MA-2 is copy,equal; SA "
     "is inf,decrement; FA is zero,decrement,asynchronous, where tasks like those that were seen to send get the "
     "highest.",
     read_priority, show_priority},
    {"MARLINE_QUEUES", "default",
     "default, or a list of new=, successor= or untied= and core, cache, numa, socket or machine",
     "Which threads share one queue for ready tasks that are new, that a predecessor's end made ready, or that were "
     "suspended and are untied: `new=numa` is one queue per NUMA domain. `default`: each thread (`core`) has its own "
     "for all.",
     read_queues, show_queues},
    {"MARLINE_SPIN", "auto", "auto, or microseconds from 0 up",
     "How long an idle worker looks for work before it sleeps. `auto`: short, and shorter with more workers, "
     "or ranks, than cores.",
     [](Cursor& in, Options& to) {
       to.spin_us = -1;
       return in.accept_word("auto") || read_number(in, 0, Options::kInfinite, to.spin_us);
     },
     [](Text& out, const Options& from) {
       if (from.spin_us < 0) return out.add("auto");
       show_number(out, from.spin_us);
     }},
    {"MARLINE_MAX_READY", "256", "a number from 0 up",
     "Ready tasks that a worker queues: with more, a new task that is ready runs at once; 0: no limit.",
     [](Cursor& in, Options& to) { return read_number(in, 0, INT_MAX, to.max_ready); },
     [](Text& out, const Options& from) { show_number(out, from.max_ready); }},
    {"MARLINE_MAX_TASKS", "1000000", "a number from 0 up",
     "Tasks of one generating task that have not completed, ready or not: with more, the generating task lets others "
     "run before it creates the next; 0: no limit.",
     [](Cursor& in, Options& to) { return read_number(in, 0, INT_MAX, to.max_tasks); },
     [](Text& out, const Options& from) { show_number(out, from.max_tasks); }},
    {"MARLINE_MAX_BYTES", "1G", "a number and B, K, M or G (K if none)",
     "Memory that the tasks created on one worker hold, with their private data: with more, a generating task lets "
     "others run before it creates the next; 0: no limit.",
     [](Cursor& in, Options& to) { return read_bytes(in, to.max_bytes); },
     [](Text& out, const Options& from) { show_size(out, from.max_bytes); }},
    {"MARLINE_TASK_CONSTRAINT", "relaxed", "relaxed or strict",
     "Whether a thread with suspended tied tasks starts only their descendants, as OpenMP's task scheduling constraint "
     "demands (strict), or any task (relaxed).",
     [](Cursor& in, Options& to) { return read_word(in, kConstraintWords, to.strict_constraint); },
     [](Text& out, const Options& from) { out.add("%s", kConstraintWords[from.strict_constraint]); }},
    {"MARLINE_WATCHDOG", "1000", "microseconds from 0 up",
     "How often the watchdog polls for completed operations while all workers are busy; 0: never. Up to 16 times more "
     "rarely where processes of a job share cores and it finds none.",
     [](Cursor& in, Options& to) { return read_number(in, 0, INT_MAX, to.watchdog); },
     [](Text& out, const Options& from) { show_number(out, from.watchdog); }},
    {"MARLINE_STACKSIZE", "auto", "auto, or a number and B, K, M or G (K if none), at least 16K",
     "Stack of a suspended task. `auto`: OMP_STACKSIZE.",
     [](Cursor& in, Options& to) {
       to.fiber_stacksize = 0;
       return in.accept_word("auto") || read_stack_size(in, to.fiber_stacksize);
     },
     [](Text& out, const Options& from) { show_size(out, from.fiber_stacksize); }},
    {"MARLINE_MAX_FIBERS", "1000000", "a positive number",
     "Tasks suspended at once, at most: beyond it the program aborts with a one-line error.",
     [](Cursor& in, Options& to) { return read_number(in, 1, INT64_MAX, to.max_fibers); },
     [](Text& out, const Options& from) { show_number(out, from.max_fibers); }},
    {"MARLINE_PROGRESS", "both", "weak, strong, both, idle or none",
     "Who polls for completed operations: workers at scheduling points and when idle (weak), the watchdog (strong), "
     "both, or workers only when idle (idle), which they are, too, when all their tasks yield. For study.",
     [](Cursor& in, Options& to) {
       int word;
       if (!read_word(in, kProgressWords, word)) return false;
       to.progress_points = (word & 1) != 0;
       to.progress_idle = to.progress_points || word == kProgressIdle;
       to.progress_strong = (word & 2) != 0;
       return true;
     },
     [](Text& out, const Options& from) {
       const int word = (from.progress_points ? 1 : 0) + (from.progress_strong ? 2 : 0);
       out.add("%s", kProgressWords[word == 0 && from.progress_idle ? kProgressIdle : word]);
     }},
    {"MARLINE_BARRIER", "auto", "auto, flat or tree",
     "Shape of the barrier. `auto`: flat for small teams, a tree for large ones.",
     [](Cursor& in, Options& to) { return read_word(in, kBarrierWords, to.barrier); },
     [](Text& out, const Options& from) { out.add("%s", kBarrierWords[static_cast<int>(from.barrier)]); }},
    {"MARLINE_EDGES", "all", "all, none, or a list of duplicate, transitive, inoutset",
     "Which redundant edges of the task graph are left out: between two tasks that have one; where another predecessor "
     "comes in between; between the members of two sets, which get an empty node instead.",
     read_edges, show_edges},
    {"MARLINE_HASH", "mix", "mix, xor_6_2, xor_0_32, div_8 or lookup2",
     "How the addresses of dependences are hashed. All but `mix` are for comparison: they are libomp's, libgomp's, "
     "Nanos6's and Jenkins'.",
     [](Cursor& in, Options& to) { return read_word(in, kHashWords, to.hash); },
     [](Text& out, const Options& from) { out.add("%s", kHashWords[static_cast<int>(from.hash)]); }},
    {"MARLINE_DISCOVERY", "concurrent", "concurrent or first",
     "Whether tasks may run while their creator goes on creating, or only once it waits or ends: then the graph is "
     "known before it runs. For measurement.",
     [](Cursor& in, Options& to) { return read_word(in, kDiscoveryWords, to.discover_first); },
     [](Text& out, const Options& from) { out.add("%s", kDiscoveryWords[from.discover_first]); }},
    {"MARLINE_COUNTERS", "false", "true or false", "Prints at exit what the discovery of dependences has done.",
     [](Cursor& in, Options& to) { return read_bool(in, to.counters); },
     [](Text& out, const Options& from) { show_bool(out, from.counters); }},
    {"MARLINE_INSPECT", "true", "true or false",
     "Whether the process answers `marline ps`: a thread sleeps until it is asked.",
     [](Cursor& in, Options& to) { return read_bool(in, to.inspect); },
     [](Text& out, const Options& from) { show_bool(out, from.inspect); }},
};

}  // namespace

std::span<const Option> option_table() { return kOptions; }

}  // namespace marline
