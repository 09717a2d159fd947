// SPDX-License-Identifier: Apache-2.0
//
// The table of other runtimes' variables, and the functions that read their values. Constant.
#include "config/foreign_table.hpp"

#include <algorithm>
#include <cstring>

#include "base/check.hpp"
#include "config/cpu_list.hpp"
#include "../common/readers.hpp"

namespace marline {
namespace {

constexpr const char* kInfiniteWords[] = {"infinite", "infinity"};
constexpr const char* kLibraryWords[] = {"serial", "turnaround", "throughput"};
constexpr const char* kTypeWords[] = {"compact", "scatter",  "balanced", "explicit",
                                      "logical", "physical", "none",     "disabled"};
enum Type : int { kCompact, kScatter, kBalanced, kExplicit, kLogical, kPhysical, kNone, kDisabled };

constexpr int64_t kRoundsPerMicrosecond = 100;  // one round of GOMP_SPINCOUNT takes about as long as a `pause`

bool read_infinite(Cursor& in, Options& to) {
  if (in.accept_one_of(kInfiniteWords) < 0) return false;
  to.spin_us = Options::kInfinite;
  return true;
}

// LLVM's runtime: a number without a unit is in milliseconds.
bool read_blocktime(Cursor& in, Options& to) {
  if (read_infinite(in, to)) return true;
  if (!read_number(in, 0, INT_MAX, to.spin_us)) return false;
  if (in.accept_word("us")) return true;
  in.accept_word("ms");
  to.spin_us *= 1000;
  return true;
}

// GCC's runtime: multiples are decimal.
bool read_spincount(Cursor& in, Options& to) {
  if (read_infinite(in, to)) return true;
  static constexpr const char* kUnits[] = {"k", "m", "g", "t"};
  int64_t rounds;
  if (!in.accept_number(0, INT64_MAX, rounds)) return false;
  for (int unit = in.accept_one_of(kUnits); unit >= 0; --unit) {
    if (__builtin_mul_overflow(rounds, int64_t{1000}, &rounds)) return false;
  }
  to.spin_us = std::min(rounds / kRoundsPerMicrosecond, Options::kInfinite);
  return true;
}

bool read_library(Cursor& in, Options& to) {
  const int word = in.accept_one_of(kLibraryWords);
  to.library = word + 1;
  if (word == 1) to.wait_policy = WaitPolicy::kActive;
  return word >= 0;
}

bool read_process_threads(Cursor& in, Options& to) {
  if (!in.accept_word("all")) return read_number(in, 1, INT_MAX, to.process_threads);
  to.process_threads = 0;
  return true;
}

bool read_granularity(Cursor& in, Granularity& result) {
  static constexpr struct {
    const char* word;
    Granularity granularity;
  } kWords[] = {
      {"fine", Granularity::kThread},    {"thread", Granularity::kThread},    {"core", Granularity::kCore},
      {"tile", Granularity::kCore},      {"ll_cache", Granularity::kCache},   {"l3_cache", Granularity::kCache},
      {"node", Granularity::kNuma},      {"numa_domain", Granularity::kNuma}, {"die", Granularity::kSocket},
      {"package", Granularity::kSocket}, {"socket", Granularity::kSocket},    {"group", Granularity::kSocket}};
  for (const auto& known : kWords) {
    if (!in.accept_word(known.word)) continue;
    result = known.granularity;
    return true;
  }
  return false;
}

void bind_in_order(Options& to, AffinityKind kind) {
  to.affinity.kind = kind;
  to.proc_bind[0] = kind == AffinityKind::kBalanced ? ProcBind::kClose : ProcBind::kInOrder;
  to.proc_bind_count = 1;
}

// Reads a list of CPUs, which is checked here and made into places later; leaves `in` after the list.
bool read_list(Cursor& in, char end, Options& to) {
  to.affinity.list = in.mark();
  bind_in_order(to, AffinityKind::kList);
  return read_cpu_list(in, end, [](int, bool) {});
}

// Copies the rest of the value, which is well-formed: a program may overwrite its environment.
bool keep_list(Options& to) {
  to.affinity.list = strdup(to.affinity.list);
  return to.affinity.list != nullptr;
}

bool read_type(Type type, Options& to) {
  switch (type) {
    case kCompact:
    case kLogical: bind_in_order(to, AffinityKind::kCompact); return true;
    case kScatter:
    case kPhysical: bind_in_order(to, AffinityKind::kScatter); return true;
    case kBalanced: bind_in_order(to, AffinityKind::kBalanced); return true;
    case kExplicit: return true;  // the proclist in the same value has the places
    case kNone:
    case kDisabled:
      to.proc_bind[0] = ProcBind::kUnbound;
      to.proc_bind_count = 1;
      return true;
  }
  return false;
}

// Accepts modifiers without an effect: Marline always stays on the process's CPUs.
bool accept_modifier(Cursor& in) {
  static constexpr const char* kWords[] = {"noverbose", "warnings", "nowarnings", "respect",
                                           "norespect", "reset",    "noreset"};
  return in.accept_one_of(kWords) >= 0;
}

// The order of places that KMP_AFFINITY gives.
struct Order {
  int type = -1;
  int numbers = 0;
  int number[2] = {};
};

// Reads one item of the value.
bool read_affinity_item(Cursor& in, Options& to, Order& order) {
  if (in.accept_word("granularity")) return in.accept('=') && read_granularity(in, to.affinity.granularity);
  if (in.accept_word("proclist")) return in.accept('=') && in.accept('[') && read_list(in, ']', to) && in.accept(']');
  if (in.accept_word("verbose")) return to.display_affinity = true;
  if (accept_modifier(in)) return true;
  if (order.numbers < 2 && order.type >= 0 && read_number(in, 0, INT_MAX, order.number[order.numbers])) {
    ++order.numbers;
    return true;
  }
  return order.type < 0 && read_word(in, kTypeWords, order.type);
}

// Takes permute and offset; `logical` and `physical`, which are old names, have only an offset.
void take_numbers(const Order& order, Options& to) {
  const bool old_name = order.type == kLogical || order.type == kPhysical;
  const int most = order.type == kCompact || order.type == kScatter ? 2 : old_name ? 1 : 0;
  if (order.numbers > most) {
    warn("KMP_AFFINITY: of the numbers behind \"%s\", %s", kTypeWords[order.type],
         most == 0 ? "none has a meaning: they are ignored" : "only the first has a meaning: the other is ignored");
  }
  if (most == 2) to.affinity.permute = order.number[0];
  if (most > 0) to.affinity.offset = order.number[most - 1];
}

// LLVM's runtime: [modifier,...]type[,permute[,offset]], in any order except for the numbers.
bool read_kmp_affinity(Cursor& in, Options& to) {
  Order order;
  to.affinity.granularity = Granularity::kCore;
  do {
    if (!read_affinity_item(in, to, order)) return false;
  } while (in.accept(','));
  const bool list = to.affinity.kind == AffinityKind::kList;
  if (!in.at_end() || (order.type == kExplicit && !list)) return false;
  if (order.type < 0 && !list) return true;  // modifiers alone have no places
  if (list && order.type >= 0 && order.type != kExplicit) return false;
  if (!list && !read_type(static_cast<Type>(order.type), to)) return false;
  if (order.type >= 0) take_numbers(order, to);
  return !list || keep_list(to);
}

constexpr ForeignOption kForeign[] = {
    {"KMP_WARNINGS", "", "true or false", "Whether warnings are printed at all.",
     [](Cursor& in, Options& to) { return read_bool(in, to.warnings); }},
    {"KMP_SETTINGS", "", "true or false", "Prints the variables that are set and the options in force.",
     [](Cursor& in, Options& to) { return read_bool(in, to.settings); }},
    {"KMP_STACKSIZE", "OMP_STACKSIZE", "a number and B, K, M or G (B if none), at least 16K",
     "Stack of a thread that the runtime creates.",
     [](Cursor& in, Options& to) { return read_stack_size(in, to.stacksize, 0); }},
    {"GOMP_STACKSIZE", "OMP_STACKSIZE", "a number and B, K, M or G (K if none), at least 16K", "The same.",
     [](Cursor& in, Options& to) { return read_stack_size(in, to.stacksize); }},
    {"KMP_BLOCKTIME", "MARLINE_SPIN, OMP_WAIT_POLICY", "a number from 0 up, with ms (if none) or us, or infinite",
     "How long an idle thread looks for work before it sleeps.", read_blocktime},
    {"GOMP_SPINCOUNT", "MARLINE_SPIN, OMP_WAIT_POLICY",
     "a number from 0 up, with k, M, G or T for thousands, or infinite",
     "The same, in rounds of a loop; 100 count as a microsecond.", read_spincount},
    {"KMP_LIBRARY", "OMP_WAIT_POLICY", "serial, turnaround or throughput",
     "`serial`: one thread, unless OMP_NUM_THREADS is given; `turnaround`: as OMP_WAIT_POLICY=active; `throughput`: no "
     "difference.",
     read_library},
    {"KMP_ENABLE_TASK_THROTTLING", "MARLINE_MAX_READY, MARLINE_MAX_TASKS, MARLINE_MAX_BYTES", "true or false",
     "`false`: no limit on the number of tasks and the memory that they hold.",
     [](Cursor& in, Options& to) {
       bool on;
       if (!read_bool(in, on)) return false;
       if (!on) to.max_ready = 0, to.max_tasks = 0, to.max_bytes = 0;
       return true;
     }},
    {"KMP_ALL_THREADS", "", "a positive number, or all", "An older name of the next one, which holds if both are set.",
     read_process_threads},
    {"KMP_DEVICE_THREAD_LIMIT", "", "a positive number, or all",
     "Threads of the process, at most; those that wait for a region count.", read_process_threads},
    {"KMP_AFFINITY", "OMP_PROC_BIND, OMP_PLACES",
     "a list of compact, scatter, balanced, none, disabled or proclist=[CPUs], then [,permute[,offset]] of compact and "
     "scatter; granularity=fine, core, ll_cache, numa_domain or socket; verbose",
     "Binds thread i to the i-th of a list of places, round and round: hardware threads side by side (compact) or "
     "apart (scatter), each widened to its granularity (core, if none is given). `balanced`: cores, neighbours side by "
     "side. `verbose`: as OMP_DISPLAY_AFFINITY.",
     read_kmp_affinity},
    {"GOMP_CPU_AFFINITY", "OMP_PROC_BIND, OMP_PLACES", "a list of CPU numbers, A-B or A-B:STRIDE",
     "Binds thread i to the i-th CPU of the list, round and round.",
     [](Cursor& in, Options& to) { return read_list(in, '\0', to) && in.at_end() && keep_list(to); }},
};

}  // namespace

std::span<const ForeignOption> foreign_table() { return kForeign; }

}  // namespace marline
