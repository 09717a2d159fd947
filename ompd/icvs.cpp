// SPDX-License-Identifier: Apache-2.0
//
// Internal control variables (OpenMP 5.2, section 20.5.9.3 and after). Names and scopes are those of LLVM's library,
// because its GDB plug-in asks for some by name, and passes the handle that belongs to LLVM's scope.
#include "space.hpp"
#include "text.hpp"

#include <cstdio>

namespace marline::ompd {

namespace {

// Where the value is: a member of the Options; of the Icvs of the handle's task, or of the thread's current one; of the
// Team; of the thread's Member; a bit of the task's flags; a number in the table; or what has no number: a text of the
// Options, or the schedule. The lists have an element for each level from the handle's on.
enum class In { kOptions, kIcvs, kTeam, kMember, kFlags, kTable, kText, kFormat, kSchedule, kThreads, kBind };

struct Icv {
  const char* name;
  Scope scope;
  In in;
  size_t place;  // in OmpdLayout: of the OmpdField, of the bit, or of the number
};

constexpr Scope kSpace = Scope::kAddressSpace, kThread = Scope::kThread, kRegion = Scope::kParallel,
                kTask = Scope::kTask;

constexpr Icv kIcvs[] = {
    {"dyn-var", kThread, In::kIcvs, offsetof(OmpdLayout, icvs.dynamic)},
    {"run-sched-var", kTask, In::kSchedule, 0},
    {"stacksize-var", kSpace, In::kOptions, offsetof(OmpdLayout, option.stacksize)},
    {"cancel-var", kSpace, In::kOptions, offsetof(OmpdLayout, option.cancellation)},
    {"max-task-priority-var", kSpace, In::kOptions, offsetof(OmpdLayout, option.max_task_priority)},
    {"debug-var", kSpace, In::kOptions, offsetof(OmpdLayout, option.debug)},
    {"nthreads-var", kThread, In::kThreads, offsetof(OmpdLayout, icvs.num_threads)},
    {"display-affinity-var", kSpace, In::kOptions, offsetof(OmpdLayout, option.display_affinity)},
    {"affinity-format-var", kSpace, In::kFormat, offsetof(OmpdLayout, option.affinity_format)},
    {"default-device-var", kThread, In::kIcvs, offsetof(OmpdLayout, icvs.default_device)},
    {"tool-var", kSpace, In::kOptions, offsetof(OmpdLayout, option.tool)},
    {"tool-libraries-var", kSpace, In::kText, offsetof(OmpdLayout, option.tool_libraries)},
    {"tool-verbose-init-var", kSpace, In::kText, offsetof(OmpdLayout, option.tool_verbose_init)},
    {"levels-var", kRegion, In::kTeam, offsetof(OmpdLayout, team.level)},
    {"active-levels-var", kRegion, In::kTeam, offsetof(OmpdLayout, team.active_level)},
    {"thread-limit-var", kTask, In::kIcvs, offsetof(OmpdLayout, icvs.thread_limit)},
    {"max-active-levels-var", kTask, In::kIcvs, offsetof(OmpdLayout, icvs.max_active_levels)},
    {"bind-var", kTask, In::kBind, offsetof(OmpdLayout, icvs.clause_bind)},
    {"num-procs-var", kSpace, In::kTable, offsetof(OmpdLayout, processors)},
    {"ompd-num-procs-var", kSpace, In::kTable, offsetof(OmpdLayout, processors)},
    {"thread-num-var", kThread, In::kMember, offsetof(OmpdLayout, member.index)},
    {"ompd-thread-num-var", kThread, In::kMember, offsetof(OmpdLayout, member.index)},
    {"final-task-var", kTask, In::kFlags, offsetof(OmpdLayout, task.final)},
    {"ompd-final-var", kTask, In::kFlags, offsetof(OmpdLayout, task.final)},
    {"ompd-final-task-var", kTask, In::kFlags, offsetof(OmpdLayout, task.final)},
    {"implicit-task-var", kTask, In::kFlags, offsetof(OmpdLayout, task.implicit)},
    {"ompd-implicit-var", kTask, In::kFlags, offsetof(OmpdLayout, task.implicit)},
    {"ompd-implicit-task-var", kTask, In::kFlags, offsetof(OmpdLayout, task.implicit)},
    {"team-size-var", kRegion, In::kTeam, offsetof(OmpdLayout, team.size)},
    {"ompd-team-size-var", kRegion, In::kTeam, offsetof(OmpdLayout, team.size)},
};
constexpr IcvId kCount = sizeof kIcvs / sizeof kIcvs[0];  // the ids are 1 to kCount

template <class T>
T from_table(const OmpdLayout& layout, size_t place) {
  T value;
  std::memcpy(&value, reinterpret_cast<const char*>(&layout) + place, sizeof value);
  return value;
}

// An internal control variable of one handle.
class Value {
 public:
  Value(const Space& space, void* handle, const Icv& icv) : in_(space), handle_(handle), icv_(icv) {}

  Rc number(Word* result) {
    const bool lists_more = (icv_.in == In::kThreads || icv_.in == In::kBind) && level() + 1 < list_length();
    *result = first_number();
    return in_.rc() != Rc::kOk ? in_.rc() : lists_more ? Rc::kIncomplete : Rc::kOk;
  }

  Rc text(const char** result) {
    char buffer[1024];
    switch (icv_.in) {
      case In::kText: in_.text(in_.word(options(), field()), buffer, sizeof buffer); break;
      case In::kFormat: in_.text(format(), buffer, sizeof buffer); break;
      case In::kSchedule: print_schedule(buffer, sizeof buffer); break;
      case In::kThreads:
      case In::kBind: print_list(buffer, sizeof buffer); break;
      default: std::snprintf(buffer, sizeof buffer, "%lld", static_cast<long long>(first_number()));
    }
    return in_.rc() == Rc::kOk ? hand_out_text(buffer, result) : in_.rc();
  }

 private:
  const OmpdLayout& layout() const { return in_.layout(); }
  uint64_t options() const { return layout().options; }
  OmpdField field() const { return from_table<OmpdField>(layout(), icv_.place); }

  uint64_t task() {
    if (icv_.scope == kTask) return static_cast<const Task*>(handle_)->task;
    return in_.word(static_cast<const Thread*>(handle_)->worker, layout().worker.task);
  }
  uint64_t icvs() { return in_.word(task(), layout().task.icvs); }

  int level() { return static_cast<int>(in_.number(in_.word(task(), layout().task.team), layout().team.level)); }
  int list_length() {
    const auto& option = layout().option;
    const OmpdField count = icv_.in == In::kThreads ? option.num_threads_count : option.proc_bind_count;
    return static_cast<int>(in_.number(options(), count));
  }
  Word list_element(int i) {
    constexpr uint16_t kBytes = sizeof(int32_t);
    const OmpdField list = icv_.in == In::kThreads ? layout().option.num_threads : layout().option.proc_bind;
    return in_.number(options(), {static_cast<uint16_t>(list.at + i * kBytes), kBytes});
  }

  // A value of omp_proc_bind_t: that of a clause around the task, or of OMP_PROC_BIND for the level (bind_var in
  // runtime/exec/team/binding.cpp). In order, which OpenMP does not have, is most like close.
  Word bind() {
    constexpr Word kClose = 3, kInOrder = 5;
    const int last = list_length() - 1, own = level();
    Word policy = in_.number(icvs(), field());
    if (policy == 0) policy = list_element(own < last ? own : last);
    return policy == kInOrder ? kClose : policy;
  }

  Word first_number() {
    switch (icv_.in) {
      case In::kOptions: return in_.number(options(), field());
      case In::kIcvs:
      case In::kThreads: return in_.number(icvs(), field());
      case In::kBind: return bind();
      case In::kTeam: return in_.number(static_cast<const Parallel*>(handle_)->team, field());
      case In::kMember: return thread_number();
      case In::kFlags: return (in_.word(task(), layout().task.flags) & from_table<uint32_t>(layout(), icv_.place)) != 0;
      case In::kTable: return from_table<int32_t>(layout(), icv_.place);
      default: in_.fail(Rc::kIncompatible); return 0;
    }
  }

  Word thread_number() {
    const auto* thread = static_cast<const Thread*>(handle_);
    return in_.number(in_.word(thread->worker, layout().worker.member), field());
  }

  uint64_t format() {
    const uint64_t set = in_.pointer(layout().affinity_format);
    return set != 0 ? set : in_.word(options(), field());
  }

  // As OMP_SCHEDULE; 0: no chunk size was given.
  void print_schedule(char* buffer, size_t size) {
    constexpr const char* kKinds[] = {"", "static", "dynamic", "guided", "auto"};
    const auto& icvs_layout = layout().icvs;
    const uint64_t at = icvs();
    Word kind = in_.number(at, icvs_layout.schedule);
    if (kind < 1 || kind > 4) kind = 3;  // LLVM's trapezoidal, which is served as guided
    const char* modifier = in_.number(at, icvs_layout.monotonic) != 0 ? "monotonic:" : "";
    std::snprintf(buffer, size, "%s%s,%d", modifier, kKinds[kind], static_cast<int>(in_.number(at, icvs_layout.chunk)));
  }

  void print_list(char* buffer, size_t size) {
    const int length = list_length();
    int used = std::snprintf(buffer, size, "%d", static_cast<int>(first_number()));
    for (int i = level() + 1; i < length && static_cast<size_t>(used) < size && in_.rc() == Rc::kOk; ++i) {
      used += std::snprintf(buffer + used, size - static_cast<size_t>(used), ",%d", static_cast<int>(list_element(i)));
    }
  }

  Reader in_;
  void* handle_;
  const Icv& icv_;
};

const Space* space_of(void* handle, Scope scope) {
  switch (scope) {
    case kSpace: return static_cast<const Space*>(handle);
    case kThread: return static_cast<const Thread*>(handle)->space;
    case kRegion: return static_cast<const Parallel*>(handle)->space;
    default: return static_cast<const Task*>(handle)->space;
  }
}

// kOk: `*icv` is the variable, and `handle` has its scope.
Rc find(void* handle, Scope scope, IcvId id, const Icv** icv) {
  if (handle == nullptr) return Rc::kStaleHandle;
  if (id == 0 || id > kCount || scope != kIcvs[id - 1].scope) return Rc::kBadInput;
  *icv = &kIcvs[id - 1];
  return Rc::kOk;
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

Rc ompd_enumerate_icvs(const Space* space, IcvId current, IcvId* next, const char** name, Scope* scope, int* more) {
  if (space == nullptr) return Rc::kStaleHandle;
  if (next == nullptr || name == nullptr || scope == nullptr || more == nullptr || current >= kCount) {
    return Rc::kBadInput;
  }
  const Icv& icv = kIcvs[current];
  *next = current + 1;
  *scope = icv.scope;
  *more = current + 1 < kCount;
  return hand_out_text(icv.name, name);
}

Rc ompd_get_icv_from_scope(void* handle, Scope scope, IcvId id, Word* value) {
  const Icv* icv = nullptr;
  const Rc rc = find(handle, scope, id, &icv);
  if (rc != Rc::kOk) return rc;
  return value != nullptr ? Value(*space_of(handle, scope), handle, *icv).number(value) : Rc::kBadInput;
}

Rc ompd_get_icv_string_from_scope(void* handle, Scope scope, IcvId id, const char** text) {
  const Icv* icv = nullptr;
  const Rc rc = find(handle, scope, id, &icv);
  if (rc != Rc::kOk) return rc;
  return text != nullptr ? Value(*space_of(handle, scope), handle, *icv).text(text) : Rc::kBadInput;
}

}  // extern "C"
#pragma GCC visibility pop

}  // namespace marline::ompd
