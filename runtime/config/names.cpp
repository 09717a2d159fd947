// SPDX-License-Identifier: Apache-2.0
//
// Checks the names of environment variables, and suggests the ones that are probably meant. Stateless.
#include "config/names.hpp"

#include <algorithm>
#include <cstring>
#include <strings.h>

#include "../common/environment.h"
#include "../common/option_names.hpp"
#include "base/check.hpp"
#include "base/hash.hpp"
#include "config/foreign_table.hpp"

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

// Variables of Marline that are no options: its launchers and its command set them for the program.
constexpr const char* kNoOptions[] = {"MARLINE_JOB",       "MARLINE_JOB_NUMBER", "MARLINE_JOB_COUNT",
                                      "MARLINE_JOB_TAKEN", "MARLINE_JOB_SERVE",  "MARLINE_JOB_ADDRESS",
                                      "MARLINE_PROOF",     "MARLINE_CHECK_DIR"};

// Names that suggest themselves, and the option that has another name.
constexpr struct {
  const char* name;
  const char* option;
} kOtherNames[] = {{"MARLINE_THREADS", "OMP_NUM_THREADS"},
                   {"MARLINE_NUM_THREADS", "OMP_NUM_THREADS"},
                   {"MARLINE_PLACES", "OMP_PLACES"},
                   {"MARLINE_PROC_BIND", "OMP_PROC_BIND"},
                   {"MARLINE_TRACE", "MARLINE_TRACE_DIR"}};

struct Name {
  const char* text;
  size_t length;
};

bool is(const Name& name, const char* other) {
  return strlen(other) == name.length && memcmp(name.text, other, name.length) == 0;
}

bool is_option(const Name& name) {
  for (const char* option : kOptionNames) {
    if (is(name, option)) return true;
  }
  return false;
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

// The number of insertions, deletions, replacements and exchanges of neighbours between two names (optimal string
// alignment; Boytsov, 2011, section 2.1).
size_t distance(const Name& a, const char* b) {
  size_t rows[3][kLongest + 1];  // of the last three characters of `a`, in turn
  const size_t width = strlen(b);
  for (size_t j = 0; j <= width; ++j) rows[0][j] = j;
  for (size_t i = 1; i <= a.length; ++i) {
    size_t* row = rows[i % 3];
    const size_t* last = rows[(i + 2) % 3];
    row[0] = i;
    for (size_t j = 1; j <= width; ++j) {
      const bool exchanged = i > 1 && j > 1 && a.text[i - 1] == b[j - 2] && a.text[i - 2] == b[j - 1];
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (a.text[i - 1] == b[j - 1] ? 0 : 1)});
      if (exchanged) row[j] = std::min(row[j], rows[(i + 1) % 3][j - 2] + 1);
    }
  }
  return rows[a.length % 3][width];
}

bool begins(const char* name, const char* prefix) { return strncmp(name, prefix, strlen(prefix)) == 0; }

// Finds the option, among those that are compared, whose name is most similar.
class Nearest {
 public:
  explicit Nearest(const Name& name) : name_(name) {}

  void compare(const char* with, const char* option) {
    if (name_.length > kLongest) return;
    const size_t here = distance(name_, with);
    if (here >= least_) return;
    least_ = here;
    option_ = option;
    length_ = strlen(with);
  }

  [[nodiscard]] const char* option() const { return option_; }
  // At most one letter of three behind the prefix is wrong.
  [[nodiscard]] bool is_similar(size_t prefix) const { return option_ != nullptr && 3 * least_ <= length_ - prefix; }

 private:
  static constexpr size_t kFar = 4;
  Name name_;
  size_t least_ = kFar;
  size_t length_ = 0;
  const char* option_ = nullptr;
};

// The option that the name begins with, followed by more, as in MARLINE_SPIN_US; or null.
const char* beginning_of(const Name& name) {
  for (const char* option : kOptionNames) {
    const size_t length = strlen(option);
    if (begins(option, "MARLINE_") && name.length > length && name.text[length] == '_' &&
        memcmp(name.text, option, length) == 0) {
      return option;
    }
  }
  return nullptr;
}

// The option that a name beginning with MARLINE_ probably means; or null.
const char* meant_by(const Name& name) {
  constexpr size_t kPrefix = sizeof "MARLINE_" - 1;
  const char* beginning = beginning_of(name);
  if (beginning != nullptr) return beginning;
  Nearest nearest(name);
  for (const char* option : kOptionNames) {
    if (begins(option, "MARLINE_")) nearest.compare(option, option);
  }
  for (const auto& other : kOtherNames) nearest.compare(other.name, other.option);
  return nearest.is_similar(kPrefix) ? nearest.option() : nullptr;
}

// Programs around Marline have their own variables (MARLINE_HOME): warns only of names that are very similar to an
// option's.
void warn_if_misspelt(const Name& name) {
  if (is_option(name)) return;
  for (const char* known : kNoOptions) {
    if (is(name, known)) return;
  }
  const char* meant = meant_by(name);
  if (meant == nullptr) return;
  warn("Marline has no variable %.*s: it is ignored; did you mean %s?", static_cast<int>(name.length), name.text,
       meant);
}

void warn_of_unknown(const Name& name) {
  const auto shown = static_cast<int>(name.length);
  Nearest nearest(name);
  for (const char* option : kOptionNames) {
    if (begins(option, "OMP_")) nearest.compare(option, option);
  }
  if (nearest.option() != nullptr) {
    warn("OpenMP has no variable %.*s: it is ignored; did you mean %s?", shown, name.text, nearest.option());
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

// Values that have been looked at, by their hash; only one thread at a time reads the environment. With more values
// than these, a line may come twice.
constexpr size_t kMostValues = 64;
uint64_t known_values[kMostValues];
size_t known_count = 0;

bool is_news(const Name& name, const char* value) {
  uint64_t key = 0;
  for (size_t i = 0; i < name.length; ++i) key = mix64(key + static_cast<unsigned char>(name.text[i]));
  key = mix64(key);
  for (const char* c = value; *c != '\0'; ++c) key = mix64(key + static_cast<unsigned char>(*c));
  for (size_t i = 0; i < known_count; ++i) {
    if (known_values[i] == key) return false;
  }
  if (known_count < kMostValues) known_values[known_count++] = key;
  return speaks_for_job();
}

void check(Name name, const char* value) {
  if (is_explained(name, value)) return;
  if (is_of_another_runtime(name.text)) return warn_unless_understood(name);
  if (begins(name.text, "MARLINE_")) return warn_if_misspelt(name);
  if (!begins(name.text, "OMP_") || is_option(name)) return;
  Name base = name;
  if (!cut_device(base) || !is_option(base)) warn_of_unknown(name);
}

}  // namespace

bool is_of_another_runtime(const char* name) {
  return begins(name, "KMP_") || begins(name, "GOMP_") || begins(name, "LIBOMP_");
}

bool is_news(const char* name, const char* value) { return is_news({name, strlen(name)}, value); }

void forget_values() { known_count = 0; }

void check_name(const char* name, const char* value) { check({name, strlen(name)}, value); }

void check_names(const char* const* environment) {
  if (environment == nullptr) return;  // clearenv
  for (; *environment != nullptr; ++environment) {
    const char* equals = strchr(*environment, '=');
    if (equals == nullptr || equals[1] == '\0') continue;  // an empty value counts as not given
    const Name name = {*environment, static_cast<size_t>(equals - *environment)};
    const bool concerns_us =
        begins(name.text, "OMP_") || begins(name.text, "MARLINE_") || is_of_another_runtime(name.text);
    if (concerns_us && is_news(name, equals + 1)) check(name, equals + 1);
  }
}

}  // namespace marline
