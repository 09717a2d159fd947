// SPDX-License-Identifier: Apache-2.0
//
// The table of other runtimes' variables. See foreign_table.hpp. Constant.
#include "config/foreign_table.hpp"

#include <algorithm>
#include <cstring>

#include "config/cpu_list.hpp"
#include "config/readers.hpp"

namespace marline {
namespace {

constexpr const char* kForeverWords[] = {"infinite", "infinity"};
constexpr const char* kLibraryWords[] = {"serial", "turnaround", "throughput"};
constexpr const char* kTypeWords[] = {"compact", "scatter",  "balanced", "explicit",
                                      "logical", "physical", "none",     "disabled"};
enum Type : int { kCompact, kScatter, kBalanced, kExplicit, kLogical, kPhysical, kNone, kDisabled };

constexpr int64_t kRoundsPerMicrosecond = 100;  // of GOMP_SPINCOUNT: one lasts about as long as a `pause`

bool read_forever(Cursor& in, Options& to) {
  if (in.accept_one_of(kForeverWords) < 0) return false;
  to.spin_us = Options::kForever;
  return true;
}

// LLVM's runtime: milliseconds without a unit.
bool read_blocktime(Cursor& in, Options& to) {
  if (read_forever(in, to)) return true;
  if (!read_number(in, 0, INT_MAX, to.spin_us)) return false;
  if (in.accept_word("us")) return true;
  in.accept_word("ms");
  to.spin_us *= 1000;
  return true;
}

// GCC's runtime: decimal multiples.
bool read_spincount(Cursor& in, Options& to) {
  if (read_forever(in, to)) return true;
  static constexpr const char* kUnits[] = {"k", "m", "g", "t"};
  int64_t rounds;
  if (!in.accept_number(0, INT64_MAX, rounds)) return false;
  for (int unit = in.accept_one_of(kUnits); unit >= 0; --unit) {
    if (__builtin_mul_overflow(rounds, int64_t{1000}, &rounds)) return false;
  }
  to.spin_us = std::min(rounds / kRoundsPerMicrosecond, Options::kForever);
  return true;
}

bool read_library(Cursor& in, Options& to) {
  const int word = in.accept_one_of(kLibraryWords);
  to.library = word + 1;
  switch (word) {
    case 0:
      if (to.num_threads_count == 0) to.num_threads[0] = to.num_threads_count = 1;
      return true;
    case 1: to.wait_policy = WaitPolicy::kActive; return true;
    case 2: return true;
    default: return false;
  }
}

bool read_granularity(Cursor& in, Granularity& result) {
  static constexpr struct {
    const char* word;
    Granularity granularity;
  } kWords[] = {{"fine", Granularity::kThread},      {"thread", Granularity::kThread}, {"core", Granularity::kCore},
                {"tile", Granularity::kCore},        {"ll_cache", Granularity::kCache}, {"l3_cache", Granularity::kCache},
                {"node", Granularity::kNuma},        {"numa_domain", Granularity::kNuma}, {"die", Granularity::kSocket},
                {"package", Granularity::kSocket},   {"socket", Granularity::kSocket}, {"group", Granularity::kSocket}};
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

// A list of CPUs, checked here and made places of later; `in` is left behind it.
bool read_list(Cursor& in, char end, Options& to) {
  to.affinity.list = in.mark();
  bind_in_order(to, AffinityKind::kList);
  return read_cpu_list(in, end, [](int, bool) {});
}

// The rest of the value, which is well-formed, as a copy: a program may overwrite its environment.
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
    case kExplicit: return true;  // the list that comes with it says the rest
    case kNone:
    case kDisabled:
      to.proc_bind[0] = ProcBind::kUnbound;
      to.proc_bind_count = 1;
      return true;
  }
  return false;
}

// Accepted for what they would switch, which Marline does not do: it always keeps to the process's CPUs.
bool accept_modifier(Cursor& in) {
  static constexpr const char* kWords[] = {"noverbose", "warnings", "nowarnings", "respect", "norespect", "reset", "noreset"};
  return in.accept_one_of(kWords) >= 0;
}

// LLVM's runtime: [modifier,...]type[,permute[,offset]], in any order but for the numbers.
bool read_kmp_affinity(Cursor& in, Options& to) {
  int numbers = 0, type = -1;
  to.affinity.granularity = Granularity::kCore;
  do {
    int number;
    if (in.accept_word("granularity")) {
      if (!in.accept('=') || !read_granularity(in, to.affinity.granularity)) return false;
    } else if (in.accept_word("proclist")) {
      if (!in.accept('=') || !in.accept('[') || !read_list(in, ']', to) || !in.accept(']')) return false;
    } else if (in.accept_word("verbose")) {
      to.display_affinity = true;
    } else if (numbers < 2 && type >= 0 && read_number(in, 0, INT_MAX, number)) {
      (numbers++ == 0 ? to.affinity.permute : to.affinity.offset) = number;
    } else if (!accept_modifier(in)) {
      if (type >= 0 || !read_word(in, kTypeWords, type) || !read_type(static_cast<Type>(type), to)) return false;
    }
  } while (in.accept(','));
  if (!in.at_end() || (type == kExplicit && to.affinity.kind != AffinityKind::kList)) return false;
  if (type == kLogical || type == kPhysical) {  // old names, which have an offset only
    to.affinity.offset = to.affinity.permute;
    to.affinity.permute = 0;
  }
  return to.affinity.kind != AffinityKind::kList || keep_list(to);
}

constexpr ForeignOption kForeign[] = {
    {"KMP_WARNINGS", "", "true or false", "Whether warnings are printed at all.",
     [](Cursor& in, Options& to) { return read_bool(in, to.warnings); }},
    {"KMP_SETTINGS", "OMP_DISPLAY_ENV", "true or false", "Prints the options in force, Marline's own too.",
     [](Cursor& in, Options& to) {
       bool on;
       if (!read_bool(in, on)) return false;
       if (on) to.display_env = DisplayEnv::kVerbose;
       return true;
     }},
    {"KMP_STACKSIZE", "OMP_STACKSIZE", "a number and B, K, M or G (B if none), at least 16K",
     "Stack of a thread that the runtime creates.",
     [](Cursor& in, Options& to) { return read_size(in, to.stacksize, 1, 0); }},
    {"GOMP_STACKSIZE", "OMP_STACKSIZE", "a number and B, K, M or G (K if none), at least 16K", "The same.",
     [](Cursor& in, Options& to) { return read_size(in, to.stacksize); }},
    {"KMP_BLOCKTIME", "MARLINE_SPIN, OMP_WAIT_POLICY", "a number from 0 up, with ms (if none) or us, or infinite",
     "How long an idle thread looks for work before it sleeps.", read_blocktime},
    {"GOMP_SPINCOUNT", "MARLINE_SPIN, OMP_WAIT_POLICY", "a number from 0 up, with k, M, G or T for thousands, or infinite",
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
    {"KMP_AFFINITY", "OMP_PROC_BIND, OMP_PLACES",
     "a list of compact, scatter, balanced, none, disabled or proclist=[CPUs], then [,permute[,offset]]; granularity=fine, "
     "core, ll_cache, numa_domain or socket; verbose",
     "Binds thread i to the i-th of a list of places, round and round: hardware threads side by side (compact) or apart "
     "(scatter), each widened to its granularity (core, if none is given). `balanced`: cores, neighbours side by side. "
     "`verbose`: as OMP_DISPLAY_AFFINITY.",
     read_kmp_affinity},
    {"GOMP_CPU_AFFINITY", "OMP_PROC_BIND, OMP_PLACES", "a list of CPU numbers, A-B or A-B:STRIDE",
     "Binds thread i to the i-th CPU of the list, round and round.",
     [](Cursor& in, Options& to) { return read_list(in, '\0', to) && in.at_end() && keep_list(to); }},
};

}  // namespace

std::span<const ForeignOption> foreign_table() { return kForeign; }

}  // namespace marline
