// SPDX-License-Identifier: Apache-2.0
//
// Sets options in a running program. Run by the calling thread, which is the only thread when options change.
#include "construct/environment/defaults.hpp"

#include "base/check.hpp"
#include "config/names.hpp"
#include "config/options.hpp"
#include "config/read_options.hpp"
#include "exec/worker/runtime.hpp"
#include "exec/worker/worker.hpp"
#include "sched/this_worker.hpp"
#include "task/own_icvs.hpp"

#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace marline {

namespace {

constexpr int64_t kNanosecondsPerMillisecond = 1'000'000;
constexpr int kLlvmBlocktime = 200;  // the result of libomp's kmp_get_blocktime if no block time has been set

template <class T>
void take_if_changed(Icvs& icvs, const Icvs& before, const Icvs& after, T Icvs::* field) {
  if (before.*field != after.*field) icvs.*field = after.*field;
}

// The current task has the initial values or its own. Sets the values that depend on a changed option.
void renew_icvs(const Icvs& before) {
  Worker* worker = this_worker_or_null();
  if (worker == nullptr) return;  // the worker reads the options when it is created
  Icvs after = initial_icvs();
  Icvs& icvs = writable_icvs(worker->task, worker->pool);
  take_if_changed(icvs, before, after, &Icvs::num_threads);
  take_if_changed(icvs, before, after, &Icvs::max_active_levels);
  take_if_changed(icvs, before, after, &Icvs::run_sched_kind);
  take_if_changed(icvs, before, after, &Icvs::run_sched_chunk);
  take_if_changed(icvs, before, after, &Icvs::run_sched_monotonic);
  take_if_changed(icvs, before, after, &Icvs::default_device);
  take_if_changed(icvs, before, after, &Icvs::thread_limit);
  take_if_changed(icvs, before, after, &Icvs::dynamic);
}

OptionChange change(const char* name, const char* value) {
  runtime_start();  // first: it would replace the new value by the environment's
  Icvs before = initial_icvs();
  OptionChange result = options_change(name, value, worker_count() <= 1);
  if (result != OptionChange::kDone) return result;
  renew_icvs(before);
  for (const char* one : {"KMP_BLOCKTIME", "GOMP_SPINCOUNT", "MARLINE_SPIN", "OMP_WAIT_POLICY", "KMP_LIBRARY"}) {
    // This setting is newer than a call of kmp_set_blocktime, and replaces it.
    if (std::strcmp(name, one) == 0) set_idle_spin(-1);
  }
  return result;
}

bool blank(char c) { return c == ' ' || c == '\t'; }

// Applies one setting, in a copy that may be modified.
void set_default(char* setting) {
  while (blank(*setting)) ++setting;
  if (*setting == '\0') return;
  char* equals = std::strchr(setting, '=');
  if (equals == nullptr) {
    warn("kmp_set_defaults(\"%s\"): expected NAME=VALUE; ignored", setting);
    return;
  }
  char* end = equals;
  while (end > setting && blank(end[-1])) --end;
  *end = '\0';
  switch (change(setting, equals + 1)) {
    case OptionChange::kDone: break;
    case OptionChange::kTooLate:
      warn(
          "kmp_set_defaults: %s can no longer be set to \"%s\": it stays as it is; set the variable before the program "
          "starts",
          setting, equals + 1);
      break;
    case OptionChange::kMalformed:
      warn("kmp_set_defaults: %s=\"%s\" is not usable: it stays as it is; see docs/options.md", setting, equals + 1);
      break;
    case OptionChange::kUnknown:
      if (is_of_another_runtime(setting)) {
        check_name(setting, equals + 1);
      } else {
        warn("kmp_set_defaults: there is no variable %s; ignored", setting);
      }
      break;
  }
}

}  // namespace

void set_defaults(const char* settings, size_t length) {
  char* copy = strndup(settings, length);
  if (copy == nullptr) fatal("out of memory for the settings of kmp_set_defaults");
  char* rest = copy;
  while (char* setting = strsep(&rest, "|")) set_default(setting);
  std::free(copy);
}

void set_stack_size(size_t bytes) {
  char value[32];
  std::snprintf(value, sizeof value, "%zuB", bytes);
  OptionChange result = change("OMP_STACKSIZE", value);
  if (result == OptionChange::kDone) return;
  warn("kmp_set_stacksize(%zu) has no effect, stacks stay at %zu bytes: %s", bytes, options().stacksize,
       result == OptionChange::kTooLate ? "there are threads already; set OMP_STACKSIZE before the program starts"
                                        : "expected at least 16384");
}

void set_blocktime(int milliseconds) {
  set_idle_spin(milliseconds > 0 ? milliseconds * kNanosecondsPerMillisecond : 0);
}

int blocktime() {
  int64_t spin = idle_spin();
  if (spin < 0 && options().wait_policy == WaitPolicy::kActive) return INT_MAX;
  if (spin < 0 && options().wait_policy == WaitPolicy::kPassive) return 0;
  if (spin < 0 && options().spin_us < 0) return kLlvmBlocktime;
  int64_t milliseconds = spin >= 0 ? spin / kNanosecondsPerMillisecond : options().spin_us / 1000;
  return milliseconds < INT_MAX ? static_cast<int>(milliseconds) : INT_MAX;
}

}  // namespace marline
