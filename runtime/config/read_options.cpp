// SPDX-License-Identifier: Apache-2.0
//
// Reads the environment by the option table.
#include "config/read_options.hpp"

#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <unistd.h>

#include "../common/environment.h"
#include "base/check.hpp"
#include "base/conditions.hpp"
#include "base/hash.hpp"
#include "config/foreign_table.hpp"
#include "config/names.hpp"
#include "config/option_table.hpp"

namespace marline {
namespace {

// The options in force before resolve: a later change of an option may change the values that resolve computes.
Options as_given;
int default_threads = 0;       // 0: not known yet
uint64_t the_fingerprint = 0;  // of the variables' values when they were read; written by options_init

// These options are only read when the initial task starts, a thread starts or a thread idles; no other place keeps
// their values.
constexpr const char* kChangeable[] = {
    "OMP_NUM_THREADS",  "OMP_DYNAMIC",   "OMP_SCHEDULE",       "OMP_MAX_ACTIVE_LEVELS",
    "OMP_THREAD_LIMIT", "OMP_STACKSIZE", "OMP_DEFAULT_DEVICE", "OMP_WAIT_POLICY",
    "MARLINE_SPIN",     "OMP_NESTED",    "OMP_TARGET_OFFLOAD"};

const Option* option_named(const char* name) {
  for (const Option& option : option_table()) {
    if (strcmp(option.name, name) == 0) return &option;
  }
  return nullptr;
}

bool changeable(const char* name) {
  for (const char* one : kChangeable) {
    if (strcmp(one, name) == 0) return true;
  }
  return false;
}

// The value of the variable or, for OpenMP's variables, of OMP_X_ALL, which is for the host and all devices (OpenMP
// 6.0, section 4.3). `called`: the name of the one that is set.
const char* given(const char* name, Lookup lookup, const char*& called) {
  static char for_all[64];  // for the message about the value; only one thread at a time reads the environment
  called = name;
  const char* value = lookup(name);
  if (!is_blank(value) || strncmp(name, "OMP_", 4) != 0) return value;
  snprintf(for_all, sizeof for_all, "%s_ALL", name);
  called = for_all;
  return lookup(for_all);
}

bool is_given(const char* name, Lookup lookup) {
  const char* called;
  return !is_blank(given(name, lookup, called));
}

void parse_option(const Option& option, Options& result, Lookup lookup) {
  const char* called;
  const char* value = given(option.name, lookup, called);
  auto refuse = [&](const char*) {
    if (!is_news(called, value)) return;
    char line[1024];
    Text message(line, sizeof line);
    describe_unusable(message, called, value, option.accepted, nullptr, option.default_value);
    warn("%s", line);
  };
  if (!read_option(option, value, result, refuse)) fatal("out of memory while reading %s", option.name);
}

const ForeignOption* foreign_named(const char* name) {
  for (const ForeignOption& foreign : foreign_table()) {
    if (strcmp(foreign.name, name) == 0) return &foreign;
  }
  return nullptr;
}

// Whether `name` is in the list `text`, which is separated by `, `.
bool lists(const char* text, const char* name) {
  const size_t length = strlen(name);
  const char* found = strstr(text, name);
  return found != nullptr && (found[length] == ',' || found[length] == '\0');
}

bool changeable(const ForeignOption& foreign) {
  for (const Option& option : option_table()) {
    if (lists(foreign.stands_for, option.name) && !changeable(option.name)) return false;
  }
  return true;
}

// The given option that has the same meaning as the foreign variable; or null.
const char* said_otherwise(const ForeignOption& foreign, Lookup lookup) {
  for (const Option& option : option_table()) {
    if (lists(foreign.stands_for, option.name) && is_given(option.name, lookup)) return option.name;
  }
  return nullptr;
}

bool parse_foreign_value(const ForeignOption& foreign, const char* value, Options& to) {
  Options parsed = to;
  if (!parse_value(foreign, value, parsed)) return false;
  to = parsed;
  return true;
}

// Warns of a malformed foreign variable: the defaults of the options that it represents apply instead.
void warn_of_foreign(const ForeignOption& foreign, const char* value) {
  if (!is_news(foreign.name, value)) return;
  char buffer[256];
  Text instead(buffer, sizeof buffer);
  for (const Option& option : option_table()) {
    if (!lists(foreign.stands_for, option.name)) continue;
    instead.add("%s%s=\"%s\"", instead.length() == 0 ? "" : ", ", option.name, option.default_value);
  }
  if (instead.length() == 0) instead.add("the default");
  warn("%s=\"%s\" is not usable: expected %s; using %s", foreign.name, value, foreign.accepted, instead.c_str());
}

bool says_where(const ForeignOption& foreign) { return strstr(foreign.name, "AFFINITY") != nullptr; }

// Ignores a foreign variable for affinity, with a warning if threads would be at other places. Its display_affinity
// still applies.
void pass_over(const ForeignOption& foreign, const char* value, const char* instead, Options& result) {
  Options trial = result;
  if (!parse_foreign_value(foreign, value, trial)) return warn_of_foreign(foreign, value);
  result.display_affinity = trial.display_affinity;
  if (trial.proc_bind_count == result.proc_bind_count && trial.proc_bind[0] == result.proc_bind[0] &&
      trial.affinity.kind == result.affinity.kind) {
    return;
  }
  if (is_news(foreign.name, value)) warn("%s=\"%s\" is ignored: %s holds", foreign.name, value, instead);
}

// In the order of the table; of two variables with the same meaning, the first usable one applies.
void parse_foreign_options(Options& result, Lookup lookup) {
  const ForeignOption* taken = nullptr;
  for (const ForeignOption& foreign : foreign_table()) {
    const char* value = lookup(foreign.name);
    if (is_blank(value)) continue;
    const bool second = taken != nullptr && strcmp(taken->stands_for, foreign.stands_for) == 0;
    const char* instead = second ? taken->name : said_otherwise(foreign, lookup);
    if (instead != nullptr) {
      if (says_where(foreign)) pass_over(foreign, value, instead, result);
      continue;
    }
    if (parse_foreign_value(foreign, value, result)) {
      if (*foreign.stands_for != '\0') taken = &foreign;
    } else {
      warn_of_foreign(foreign, value);
    }
  }
}

// Called before anything else is read, and so before any other warning.
void parse_warnings(Options& result, Lookup lookup) {
  const char* value = lookup("KMP_WARNINGS");
  result.warnings = true;
  if (!is_blank(value) && !parse_foreign_value(*foreign_named("KMP_WARNINGS"), value, result)) result.warnings = true;
  set_warnings(result.warnings);
}

void resolve_priority(Options& result) {
  auto& priority = result.priority;
  if (priority.given && result.max_task_priority == 0) result.max_task_priority = INT_MAX;
  // If the clause's values are not used, only the priorities of tasks that are known to send propagate.
  priority.propagates = priority.propagation != Propagation::kNone;
  priority.lineage_bytes = priority.propagates ? Options::kLineageBytes : 0;
  priority.profiles = priority.value == PriorityValue::kZero && priority.propagates;
  priority.on = result.max_task_priority > 0 && (priority.value != PriorityValue::kZero || priority.profiles);
  priority.exact = priority.value == PriorityValue::kCopy && result.max_task_priority < Options::kExactPriorities;
}

// Computes the options with a default that depends on other options (OpenMP 5.1, 2.4.3 and 6.4).
void resolve(Options& result) {
  if (result.library == Options::kSerial && result.num_threads_count == 0) {
    result.num_threads[0] = result.num_threads_count = 1;
  }
  if (result.max_active_levels < 0) {
    const bool many = result.nested || result.num_threads_count > 1 || result.proc_bind_count > 1;
    result.max_active_levels = many ? INT_MAX : 1;
  }
  if (result.proc_bind_count == 0) {
    result.proc_bind[result.proc_bind_count++] = result.places[0] == '\0' ? ProcBind::kUnbound : ProcBind::kBound;
  }
  resolve_priority(result);
  result.simple_creation = !result.priority.propagates && !result.discover_first && !result.strict_constraint &&
                           !result.shared_queues && !result.tool_started;
  result.ready_limit = result.max_ready != 0 ? result.max_ready : INT64_MAX;
  result.task_tail_bytes = result.priority.lineage_bytes + (result.tool_started ? Options::kToolTailBytes : 0);
  if (result.fiber_stacksize == 0) result.fiber_stacksize = result.stacksize;
}

void read_all(Options& result, Lookup lookup) {
  parse_warnings(result, lookup);
  for (const Option& option : option_table()) parse_option(option, result, lookup);
  parse_foreign_options(result, lookup);
}

void take_default_threads(Options& to) {
  if (to.num_threads_count == 0 && default_threads > 0) to.num_threads[to.num_threads_count++] = default_threads;
}

// Copies the fields that kChangeable sets, and the fields computed from them. No other field: the watchdog may be
// reading its own.
void take_changeable(Options& to, const Options& from) {
  memcpy(to.num_threads, from.num_threads, sizeof to.num_threads);
  to.num_threads_count = from.num_threads_count;
  to.dynamic = from.dynamic;
  to.schedule_kind = from.schedule_kind;
  to.schedule_modifier = from.schedule_modifier;
  to.schedule_chunk = from.schedule_chunk;
  to.nested = from.nested;
  to.max_active_levels = from.max_active_levels;
  to.thread_limit = from.thread_limit;
  to.reserved_structured = from.reserved_structured;
  to.reserved_agents = from.reserved_agents;
  to.process_threads = from.process_threads;
  to.stacksize = from.stacksize;
  to.fiber_stacksize = from.fiber_stacksize;
  to.default_device = from.default_device;
  to.default_device_list = from.default_device_list;
  to.wait_policy = from.wait_policy;
  to.spin_us = from.spin_us;
  to.library = from.library;
  to.warnings = from.warnings;
  to.settings = from.settings;
}

// Variables that are read in every program, even in one with rights that its user does not have: they set the number of
// threads, and how threads share work and CPUs. Stack sizes are not among them, nor variables that make the program
// print, load or write.
constexpr const char* kHarmless[] = {
    "OMP_NUM_THREADS",       "OMP_DYNAMIC",     "OMP_SCHEDULE",           "OMP_NESTED",         "OMP_MAX_ACTIVE_LEVELS",
    "OMP_THREAD_LIMIT",      "OMP_WAIT_POLICY", "OMP_PROC_BIND",          "OMP_PLACES",         "OMP_CANCELLATION",
    "OMP_MAX_TASK_PRIORITY", "OMP_NUM_TEAMS",   "OMP_TEAMS_THREAD_LIMIT", "OMP_THREADS_RESERVE"};

const char* from_environment(const char* name) {
  for (const char* one : kHarmless) {
    if (strcmp(one, name) == 0) return harmless_variable(name);
  }
  return trusted_variable(name);
}

void warn_of_foreign_environment() {
  auto warn_of = [](const char* name) {
    if (is_blank(harmless_variable(name)) || from_environment(name) != nullptr) return;
    if (is_news(name, "")) warn("%s is ignored: the program has rights that its user does not have", name);
  };
  for (const Option& option : option_table()) warn_of(option.name);
  for (const ForeignOption& foreign : foreign_table()) warn_of(foreign.name);
}

uint64_t with_value(uint64_t fingerprint, const char* name) {
  const char* value = from_environment(name);
  if (value == nullptr) return mix64(fingerprint);
  for (const char* c = value; *c != '\0'; ++c) fingerprint = mix64(fingerprint + static_cast<unsigned char>(*c));
  return mix64(fingerprint + 1);
}

uint64_t fingerprint_of_environment() {
  uint64_t result = 0;
  for (const Option& option : option_table()) result = with_value(result, option.name);
  for (const ForeignOption& foreign : foreign_table()) result = with_value(result, foreign.name);
  return result;
}

void note_condition(const Options& options) {
  if (options.simple_creation) {
    g_conditions.fetch_and(~condition::kOptions, relaxed);
  } else {
    g_conditions.fetch_or(condition::kOptions, relaxed);
  }
}

}  // namespace

void options_parse(Options& result, Lookup lookup) {
  forget_values();
  read_all(result, lookup);
  resolve(result);
}

bool options_init() {
  const uint64_t fingerprint = fingerprint_of_environment() | 1;  // not 0, which means: never read
  if (fingerprint == the_fingerprint) return false;
  Options fresh{};
  read_all(fresh, from_environment);
  as_given = fresh;
  resolve(fresh);
  if (default_threads != 0) take_default_threads(fresh);
  // Assigned as a whole: a thread that reads at the same time finds each option with its old or its new value.
  options_to_write() = fresh;
  note_condition(fresh);
  the_fingerprint = fingerprint;
  if (environment_is_foreign()) {
    drop_foreign_variables("HWLOC_");  // variables that hwloc obeys: files to read, plugins to load
    drop_foreign_variables("LTDL_");
    warn_of_foreign_environment();
  } else {
    check_names(environ);
  }
  return true;
}

void options_note_tool() {
  Options& noted = options_to_write();
  noted.tool_started = true;
  noted.simple_creation = false;
  note_condition(noted);
  noted.task_tail_bytes = noted.priority.lineage_bytes + Options::kToolTailBytes;
}

void options_set_default_threads(int threads) {
  default_threads = threads;
  take_default_threads(options_to_write());
}

OptionChange options_change(const char* name, const char* value, bool alone) {
  const Option* option = option_named(name);
  const ForeignOption* foreign = foreign_named(name);
  if (option == nullptr && foreign == nullptr) return OptionChange::kUnknown;
  // The only option that is not used in advance: it is read by the thread that encounters a target construct.
  const bool any_time = strcmp(name, "OMP_TARGET_OFFLOAD") == 0;
  if (!(alone || any_time) || !(option != nullptr ? changeable(name) : changeable(*foreign)))
    return OptionChange::kTooLate;
  Options trial = as_given;
  if (!(option != nullptr ? parse_value(*option, value, trial) : parse_value(*foreign, value, trial))) {
    return OptionChange::kMalformed;
  }
  // The program's own call has precedence over the number of threads in the environment.
  if (strcmp(name, "KMP_LIBRARY") == 0 && trial.library == Options::kSerial) {
    trial.num_threads[0] = trial.num_threads_count = 1;
  }
  if (trial.warnings != as_given.warnings) set_warnings(trial.warnings);
  as_given = trial;
  options_to_write().target_offload = trial.target_offload;
  if (any_time) return OptionChange::kDone;
  resolve(trial);
  take_default_threads(trial);
  take_changeable(options_to_write(), trial);
  return OptionChange::kDone;
}

}  // namespace marline
