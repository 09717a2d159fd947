// SPDX-License-Identifier: Apache-2.0
//
// Checks the names of environment variables, and suggests the ones that are probably meant. Stateless.
#include "config/names.hpp"

#include <algorithm>
#include <cstring>
#include <strings.h>

#include "base/check.hpp"
#include "config/foreign_table.hpp"
#include "config/option_table.hpp"

namespace marline {
namespace {

constexpr size_t kLongest = 48;  // name that is compared

// Variables without an effect here on which a user may rely. `holds_anyway`: values that ask for what Marline does
// anyway, separated by `, `, or * for all values. tools/gen_options_doc.py reads the table.
constexpr struct {
  const char* name;
  const char* holds_anyway;
  const char* instead;
} kNotObeyed[] = {
    {"OMP_THREADS_RESERVE", "", "no threads are reserved"},
    {"KMP_TEAMS_THREAD_LIMIT", "", "set OMP_NUM_TEAMS and OMP_TEAMS_THREAD_LIMIT"},
    {"KMP_TEAMS_PROC_BIND", "", "teams are bound as OMP_PROC_BIND says"},
    {"KMP_PLACE_THREADS", "", "set KMP_HW_SUBSET"},
    {"KMP_HOT_TEAMS_MAX_LEVEL", "1", "the outermost level keeps its threads, inner teams share a pool"},
    {"KMP_HOT_TEAMS_MODE", "", "a smaller team keeps its threads unless regions inside may want them"},
    {"KMP_NESTING_MODE", "0", "set OMP_MAX_ACTIVE_LEVELS and OMP_NUM_THREADS"},
    {"KMP_DYNAMIC_MODE", "", "OMP_DYNAMIC gives a region no more threads than cores are free"},
    {"KMP_DETERMINISTIC_REDUCTION", "false, no, off, 0", "the order of a reduction's operands is not fixed"},
    {"KMP_FORCE_REDUCTION", "", "the way of a reduction cannot be chosen"},
    {"KMP_SCHEDULE", "static,balanced", "static loops are balanced; set OMP_SCHEDULE for schedule(runtime)"},
    {"KMP_TASKING", "2", "tasks are deferred"},
    {"KMP_TASK_STEALING_CONSTRAINT", "0", "set MARLINE_TASK_CONSTRAINT"},
    {"KMP_INHERIT_FP_CONTROL", "true, yes, on, 1", "regions inherit it"},
    {"KMP_HANDLE_SIGNALS", "false, no, off, 0", "signals are the program's"},
    {"KMP_CONSISTENCY_CHECK", "none", "the nesting of constructs is not checked"},
    {"KMP_LOCK_KIND", "", "a thread that waits for a lock suspends its task"},
    {"KMP_PLAIN_BARRIER", "", "set MARLINE_BARRIER"},
    {"KMP_PLAIN_BARRIER_PATTERN", "", "set MARLINE_BARRIER"},
    {"KMP_FORKJOIN_BARRIER", "", "set MARLINE_BARRIER"},
    {"KMP_FORKJOIN_BARRIER_PATTERN", "", "set MARLINE_BARRIER"},
    {"KMP_REDUCTION_BARRIER", "", "set MARLINE_BARRIER"},
    {"KMP_REDUCTION_BARRIER_PATTERN", "", "set MARLINE_BARRIER"},
    {"KMP_USE_YIELD", "", "set OMP_WAIT_POLICY or MARLINE_SPIN"},
    {"KMP_USER_LEVEL_MWAIT", "false, no, off, 0", "set OMP_WAIT_POLICY or MARLINE_SPIN"},
    {"KMP_TPAUSE", "0", "set OMP_WAIT_POLICY or MARLINE_SPIN"},
    {"KMP_SPIN_BACKOFF_PARAMS", "", "set OMP_WAIT_POLICY or MARLINE_SPIN"},
    {"KMP_TOPOLOGY_METHOD", "all, hwloc", "hwloc says what the machine has"},
    {"KMP_CPUINFO_FILE", "", "hwloc says what the machine has"},
    {"KMP_VERSION", "false, no, off, 0", "set OMP_DISPLAY_ENV=verbose"},
    {"KMP_HIDDEN_HELPER_AFFINITY", "", "there are no hidden helper threads"},
    {"LIBOMP_USE_HIDDEN_HELPER_TASK", "false, no, off, 0", "there are no hidden helper threads"},
    {"LIBOMP_NUM_HIDDEN_HELPER_THREADS", "0", "there are no hidden helper threads"},
    {"GOMP_DEBUG", "0", "set OMP_DISPLAY_ENV=verbose"},
    {"KMP_FORCE_MONOTONIC_DYNAMIC_SCHEDULE", "*", "dynamic loops are monotonic"},
    {"KMP_INIT_AT_FORK", "*", "a forked child can open regions"},
    {"KMP_DUPLICATE_LIB_OK", "*", "`marline run` sees to it that there is one runtime"}};

struct Name {
  const char* text;
  size_t length;
};

bool is(const Name& name, const char* other) {
  return strlen(other) == name.length && memcmp(name.text, other, name.length) == 0;
}

const Option* option_named(const Name& name) {
  for (const Option& option : option_table()) {
    if (is(name, option.name)) return &option;
  }
  return nullptr;
}

// Cuts off _ALL, _DEV or _DEV_number (OpenMP 5.1, 6 and 6.0, 4.3). Variables for other devices are read by their
// library.
bool cut_device(Name& name) {
  size_t length = name.length;
  while (length > 0 && name.text[length - 1] >= '0' && name.text[length - 1] <= '9') --length;
  const bool numbered = length < name.length && name.text[length - 1] == '_';
  if (numbered)
    --length;
  else
    length = name.length;
  const auto ends = [&](const char* with) { return length > 4 && memcmp(name.text + length - 4, with, 4) == 0; };
  if (!ends("_DEV") && (numbered || !ends("_ALL"))) return false;
  name.length = length - 4;
  return true;
}

// The number of insertions, deletions and replacements between two names (Levenshtein).
size_t distance(const Name& a, const char* b) {
  size_t row[kLongest + 1];
  const size_t width = strlen(b);
  for (size_t j = 0; j <= width; ++j) row[j] = j;
  for (size_t i = 1; i <= a.length; ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= width; ++j) {
      const size_t replaced = diagonal + (a.text[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, replaced});
    }
  }
  return row[width];
}

bool begins(const char* name, const char* prefix) { return strncmp(name, prefix, strlen(prefix)) == 0; }

// The option, among the options with this prefix, that the name probably means; or null.
const char* nearest_to(const Name& name, const char* prefix) {
  constexpr size_t kFar = 4;
  const char* nearest = nullptr;
  size_t least = kFar;
  for (const Option& option : option_table()) {
    if (name.length > kLongest || !begins(option.name, prefix)) continue;
    const size_t here = distance(name, option.name);
    if (here >= least) continue;
    least = here;
    nearest = option.name;
  }
  return nearest;
}

// The option that the name begins with, followed by more, as in MARLINE_SPIN_US; or null.
const char* beginning_of(const Name& name) {
  for (const Option& option : option_table()) {
    const size_t length = strlen(option.name);
    if (begins(option.name, "MARLINE_") && name.length > length && name.text[length] == '_' &&
        memcmp(name.text, option.name, length) == 0) {
      return option.name;
    }
  }
  return nullptr;
}

// Other parts of Marline, and programs around it, have their own variables (MARLINE_HOME): warns only of names that are
// very similar to an option's.
void warn_if_misspelt(const Name& name) {
  if (option_named(name) != nullptr) return;
  const char* nearest = beginning_of(name);
  if (nearest == nullptr) {
    constexpr size_t kPrefix = sizeof "MARLINE_" - 1;
    nearest = nearest_to(name, "MARLINE_");
    if (nearest == nullptr || 3 * distance(name, nearest) > strlen(nearest) - kPrefix) return;
  }
  warn("Marline has no variable %.*s: it is ignored; did you mean %s?", static_cast<int>(name.length), name.text,
       nearest);
}

void warn_of_unknown(const Name& name) {
  const auto shown = static_cast<int>(name.length);
  const char* nearest = nearest_to(name, "OMP_");
  if (nearest != nullptr) {
    warn("OpenMP has no variable %.*s: it is ignored; did you mean %s?", shown, name.text, nearest);
  } else {
    warn("OpenMP has no variable %.*s: it is ignored; see docs/options.md", shown, name.text);
  }
}

// Whether the list, separated by `, `, contains the value. As in options, case does not matter.
bool holds_anyway(const char* list, const char* value) {
  if (*list == '*') return true;
  for (const char* item = list; *item != '\0';) {
    const size_t length = strcspn(item, " ");
    const size_t bare = item[length] == '\0' ? length : length - 1;  // without the comma
    if (strlen(value) == bare && strncasecmp(value, item, bare) == 0) return true;
    item += length + (item[length] != '\0' ? 1 : 0);
  }
  return false;
}

// True: the variable is in the table.
bool is_explained(const Name& name, const char* value) {
  for (const auto& known : kNotObeyed) {
    if (!is(name, known.name)) continue;
    if (!holds_anyway(known.holds_anyway, value)) warn("%s is not obeyed: %s", known.name, known.instead);
    return true;
  }
  return false;
}

// Warns of another runtime's variable, unless Marline reads it.
void warn_unless_understood(const Name& name) {
  if (is(name, "KMP_HW_SUBSET")) return;  // platform/topology/hw_subset.hpp
  for (const ForeignOption& foreign : foreign_table()) {
    if (is(name, foreign.name)) return;
  }
  warn("%.*s is not obeyed: Marline has nothing of that name; see docs/options.md", static_cast<int>(name.length),
       name.text);
}

void check(Name name, const char* value) {
  if (is_explained(name, value)) return;
  if (is_of_another_runtime(name.text)) return warn_unless_understood(name);
  if (begins(name.text, "MARLINE_")) return warn_if_misspelt(name);
  if (is(name, "OMP_AVAILABLE_DEVICES")) return;  // libmarline-target reads it
  if (!begins(name.text, "OMP_") || option_named(name) != nullptr) return;
  Name base = name;
  if (!cut_device(base) || option_named(base) == nullptr) warn_of_unknown(name);
}

}  // namespace

bool is_of_another_runtime(const char* name) {
  return begins(name, "KMP_") || begins(name, "GOMP_") || begins(name, "LIBOMP_");
}

void check_name(const char* name, const char* value) { check({name, strlen(name)}, value); }

void check_names(const char* const* environment) {
  if (environment == nullptr) return;  // clearenv
  for (; *environment != nullptr; ++environment) {
    const char* equals = strchr(*environment, '=');
    if (equals == nullptr || equals[1] == '\0') continue;  // an empty value counts as not given
    check({*environment, static_cast<size_t>(equals - *environment)}, equals + 1);
  }
}

}  // namespace marline
