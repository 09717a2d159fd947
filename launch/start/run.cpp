// SPDX-License-Identifier: Apache-2.0
//
// What `marline run` does. A rank and a member of a job are each started by a `marline run` of their own, and take the
// same way as a program alone.
#include "start/run.hpp"

#include <cerrno>
#include <sched.h>
#include <sys/utsname.h>
#include <sys/wait.h>

#include "../common/environment.h"
#include "base/file.hpp"
#include "base/report.hpp"
#include "place/node.hpp"
#include "process/child.hpp"
#include "process/scratch.hpp"
#include "start/devices.hpp"
#include "start/job.hpp"
#include "start/launcher.hpp"
#include "start/mpi.hpp"
#include "start/native.hpp"
#include "start/printed.hpp"
#include "start/proof.hpp"
#include "start/served.hpp"

namespace marline::launch {
namespace {

constexpr int kMostCpus = 1 << 16;
// As Clang calls this processor and its system.
#if defined(__aarch64__)
constexpr const char* kTriple = "aarch64-unknown-linux-gnu";
#else
constexpr const char* kTriple = "x86_64-pc-linux-gnu";
#endif

void require_preloadable(const Layout& layout) {
  if (layout.prefix().find_first_of(" :") == std::string::npos) return;
  throw Refusal{layout.prefix() +
                " holds a space or a colon, which LD_PRELOAD cannot express; install Marline "
                "elsewhere"};
}

// The caller's environment with Marline's stand-ins first on the library path.
Environment searched_environment(const Layout& layout, Environment environment) {
  const std::string folders = environment.get("LD_LIBRARY_PATH");
  environment.set("LD_LIBRARY_PATH", layout.compat() + (folders.empty() ? "" : ":" + folders));
  return environment;
}

void note_missing_regions(const Program& program, const Environment& environment) {
  if (!program.uses_openmp || program.uses_devices || !speaks_for_job() || is_member_of_job(environment)) return;
  say("note: " + program.path +
      " has no target regions for devices; build it with Clang and -fopenmp-targets=" + kTriple + ", or with GCC");
}

bool bind_to(const Cpus& cpus) {
  cpu_set_t* mask = CPU_ALLOC(kMostCpus);
  const size_t bytes = CPU_ALLOC_SIZE(kMostCpus);
  CPU_ZERO_S(bytes, mask);
  for (int cpu : cpus) CPU_SET_S(static_cast<size_t>(cpu), bytes, mask);
  const bool is_bound = sched_setaffinity(0, bytes, mask) == 0;
  CPU_FREE(mask);
  return is_bound;
}

// Binds this process, and so the program, to the cores that are this rank's; returns what binds its workers.
std::vector<Variable> place(std::optional<int> threads, const Environment& environment) {
  const Placement placement = decide(situation(threads, environment));
  if (!placement.note.empty()) say(placement.note);
  if (placement.cpus && !bind_to(*placement.cpus)) {  // a control group has fewer than the launcher may use
    say("cannot be bound to " + std::to_string(placement.cpus->size()) + " CPUs (" + reason(errno) +
        "): the system places threads");
    return {};
  }
  return placement.variables;
}

int launch_ranks(Options& options, const Layout& layout, const Environment& environment) {
  options.nodes_as = named_nodes(options.nodes_as, *options.ranks);
  const bool has_nodes = own_workers(options.devices).count == 0 && wants_nodes(options.devices, environment);
  if (!options.devices.empty() && has_nodes) refuse_unfit_ranks(*options.ranks, options.nodes_as);
  Words words = unbound_ranks(options.mpi, *options.ranks, environment);
  append(words, of_one_rank(options, layout, environment));
  return run_launcher(words, environment);
}

int launch_job(Options& options, const Layout& layout, int count, const Environment& environment) {
  options.nodes_as = named_nodes(options.nodes_as, count);
  refuse_unfit_job(count, options.nodes_as);
  refuse_wire(environment.get("MARLINE_WIRE"));
  return run_job(of_one_rank(options, layout, environment), count, environment);
}

// Names this process among those of its job, for a message; "" if it is alone.
std::string which_process(const Environment& environment) {
  utsname system;
  uname(&system);
  const std::string on = std::string(" on ") + system.nodename;
  if (is_member_of_job(environment)) return "process " + number_in_job(environment) + " of the job" + on;
  const auto rank = rank_in(environment);
  return rank ? "rank " + *rank + on : "";
}

std::string name_of_signal(int number) {
  return "signal " + std::to_string(number) + " (" + words_for_signal(number) + ")";
}

// A launcher ends the job when a rank fails, and its message names `marline run`, if anything. So this line names the
// rank and the program. In a job without MPI, a process says itself why it ends, unless it is killed.
void say_which_rank_ended(const std::string& program, int status, const Environment& environment) {
  const bool is_killed = WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
  if (is_member_of_job(environment) && is_killed) {
    say(which_process(environment) + ": " + program + " ended with " + name_of_signal(SIGKILL) +
        ": by another process, or for want of memory");
    return;
  }
  const bool is_said = WIFEXITED(status) && (WEXITSTATUS(status) == kNotExecutable || WEXITSTATUS(status) == kNotFound);
  if (!rank_in(environment) || status == 0 || is_said) return;
  say(which_process(environment) + ": " + program + " ended with " +
      (WIFEXITED(status) ? "exit status " + std::to_string(WEXITSTATUS(status)) : name_of_signal(WTERMSIG(status))));
}

// Afterwards, because a program that uses no OpenMP itself may load or start what does (Python, a shell). A recorded
// program with MPI may be MPI alone: its report says what there was.
void note_unserved(const Program& program, const Options& options, const std::string& name, const Words& records,
                   int status, const Environment& environment) {
  const bool is_reported = !options.trace.empty() && !options.mpi.empty();
  if (program.uses_openmp || is_reported || !speaks_for_job() || is_member_of_job(environment)) return;
  const auto note = tell_of_unserved(records, status, name, program.started);
  if (note) say("note: " + *note);
}

// Runs the program and returns its wait status: that of exit(kRefused) if it left no proof of having run on this
// Marline.
int run_proved(const Program& program, const Options& options, Environment environment, const Environment& of_caller,
               const Layout& layout) {
  const Words words = words_of_program(options);
  const Scratch folder;
  const std::string proof = folder.path() + "/proof";
  environment.set("MARLINE_PROOF", proof);
  Signals arrived;
  const auto say_it_is_stopped = [&](pid_t process) {  // the others wait for it, and cannot know why
    const std::string which = which_process(of_caller);
    if (which.empty()) return;
    say(which + ": " + words[0] + " (pid " + std::to_string(process) +
        ") is stopped by SIGSTOP; the job waits for it until it gets SIGCONT");
  };
  const int status = run_child(words, environment, arrived, say_it_is_stopped);
  const Words records = split(read_file(proof).value_or(""), '\n');
  const auto complaint = judge(records, status, words[0], layout.runtime());
  if (!complaint) {
    note_unserved(program, options, words[0], records, status, of_caller);
    // A launcher ends the ranks that have not failed by these signals.
    if ((arrived & Signals{SIGTERM, SIGINT, SIGHUP}).lowest() == 0) say_which_rank_ended(words[0], status, of_caller);
    return status;
  }
  if (!complaint->empty()) say(*complaint);
  return wait_status_of_exit(kRefused);
}

}  // namespace

int run(Options options, const Layout& layout) {
  require_preloadable(layout);
  refuse_rank_starter(options.command, options.program, options.arguments);
  const Environment of_caller = Environment::of_process();
  if (options.is_native) return run_native(options, layout, of_caller);
  Layout::require(layout.runtime(), kInstallAgain);
  Environment environment = searched_environment(layout, of_caller);
  Environment as_loaded = environment;  // without what is added when the program has been read
  as_loaded.set("LD_PRELOAD", preloads({layout.runtime()}, of_caller));
  const Program program = examine(options.program, options.arguments, as_loaded);
  options.mpi = which_mpi(options, program, of_caller);
  if (options.print) return print_start(options, layout, program, environment, of_caller);
  const auto [workers, devices] = own_workers(options.devices);
  if (wants_nodes(devices, of_caller)) note_missing_regions(program, of_caller);
  if (options.ranks && !options.mpi.empty()) return launch_ranks(options, layout, of_caller);
  options.devices = devices;
  if (workers > 0) return launch_job(options, layout, workers + 1, of_caller);
  if (options.ranks) return launch_job(options, layout, *options.ranks, of_caller);
  environment.set(marline_environment(options, layout, program, environment));
  if (!options.no_bind) environment.set(place(options.threads, of_caller));
  return run_proved(program, options, environment, of_caller, layout);
}

}  // namespace marline::launch
