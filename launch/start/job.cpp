// SPDX-License-Identifier: Apache-2.0
//
// Process number 0 is the program. It ends when it loses a worker, and the workers end when it has ended.
#include "start/job.hpp"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <fcntl.h>
#include <optional>
#include <sys/random.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/report.hpp"
#include "place/node.hpp"
#include "process/child.hpp"

namespace marline::launch {
namespace {

// A process of a job sets this variable, so that the programs that it starts do not join the job
// (offload/device/remote/job/job.cpp).
constexpr const char* kTaken = "MARLINE_JOB_TAKEN";
// Variables by which a process takes itself for a rank of MPI. A worker is no rank: its environment keeps only the
// variables that say how many ranks share the node.
constexpr const char* kMpiVariables[] = {"OMPI_COMM_", "PMI_", "PMIX_", "MPI_LOCAL", "SLURM_PROCID", "SLURM_LOCALID"};
constexpr double kLastWordsIfStopped = 1;  // seconds that the others have if a signal has stopped number 0
constexpr double kLook = 1;                // seconds; the longest wait for a signal

std::string random_digits(size_t bytes) {
  std::string text;
  for (size_t i = 0; i < bytes; ++i) {
    unsigned char byte;
    if (getrandom(&byte, 1, 0) != 1) throw Refusal{"no random number: " + reason(errno)};
    char digits[3];
    snprintf(digits, sizeof digits, "%02x", byte);
    text += digits;
  }
  return text;
}

void drop_mpi(Environment& environment) {
  environment.drop_if([](const std::string& name) {
    return !is_local_size(name) && std::any_of(std::begin(kMpiVariables), std::end(kMpiVariables),
                                               [&](const char* prefix) { return name.starts_with(prefix); });
  });
}

class Job {
 public:
  Job(const Words& words, int count, const Environment& environment);
  ~Job() { kill_all(); }
  int attend(double last_words);

 private:
  struct Member {
    pid_t process;
    std::optional<int> status;
  };

  void start(const Words& words, int number, int count, Environment environment);
  void look();  // notes which members have ended
  bool stop_with_first();
  void kill_all();
  int status_of_job(bool is_stopped);

  std::string secret_ = random_digits(16), meeting_ = random_digits(8);  // the second is seen by all on the machine
  std::vector<Member> members_;
  std::optional<int> failed_;  // the status of the first other member that has failed
  size_t who_failed_ = 0;
};

Job::Job(const Words& words, int count, const Environment& environment) {
  const Signals watched = watched_signals();
  sigprocmask(SIG_BLOCK, watched.mask(), nullptr);
  for (int number = 0; number < count; ++number) start(words, number, count, environment);
  Signals pending;
  sigpending(pending.mask());
  const int came = (pending & ending_signals()).lowest();
  if (came == 0) return;
  kill_all();  // a member that was started later than the signal has not got it
  end_stopped(came);
}

void Job::start(const Words& words, int number, int count, Environment environment) {
  if (number != 0) drop_mpi(environment);
  environment.set({{"MARLINE_JOB", secret_},
                   {kNumberInJob, std::to_string(number)},
                   {kCountInJob, std::to_string(count)},
                   {"MARLINE_JOB_ADDRESS", "unix:@marline-" + meeting_}});
  const pid_t parent = getpid();
  const pid_t child = fork();
  if (child < 0) throw Refusal{"process " + std::to_string(number) + " of the job: " + reason(errno)};
  if (child > 0) return members_.push_back({child, std::nullopt});
  if (number != 0) {
    const int none = open("/dev/null", O_RDONLY);
    if (none != STDIN_FILENO) dup2(none, STDIN_FILENO);
  }
  become_program(parent);
  execute(words, environment);
}

void Job::look() {
  for (size_t number = 0; number < members_.size(); ++number) {
    Member& member = members_[number];
    int status;
    if (member.status || waitpid(member.process, &status, WNOHANG) != member.process) continue;
    member.status = status;
    if (number == 0 || failed_ || status == 0) continue;
    failed_ = status;
    who_failed_ = number;
  }
}

// Returns whether a signal of kEnding has ended number 0: somebody has stopped the job. Then the others get SIGTERM,
// because they may still wait for number 0 to join the job. SIGKILL is reported here: number 0 could not say it itself.
bool Job::stop_with_first() {
  if (!members_[0].status || !WIFSIGNALED(*members_[0].status)) return false;
  const int number = WTERMSIG(*members_[0].status);
  if (number == SIGKILL) {
    say("process 0 of the job, the program, ended with signal " + std::to_string(number) + " (" +
        words_for_signal(number) + ")");
  }
  if (std::find(std::begin(kEnding), std::end(kEnding), number) == std::end(kEnding)) return false;
  for (size_t i = 1; i < members_.size(); ++i) {
    if (!members_[i].status) kill(members_[i].process, SIGTERM);
  }
  return true;
}

void Job::kill_all() {
  for (Member& member : members_) {
    if (member.status) continue;
    kill(member.process, SIGKILL);
    int status;
    if (waitpid(member.process, &status, 0) == member.process) member.status = status;
  }
}

// Waits until all have ended. Once number 0 has ended, or another has failed, waits at most `last_words` seconds.
int Job::attend(double last_words) {
  double deadline = INFINITY;
  bool is_stopped = false;
  for (;;) {
    look();
    if (deadline == INFINITY && (failed_ || members_[0].status)) {
      is_stopped = stop_with_first();
      deadline = now() + (is_stopped ? kLastWordsIfStopped : last_words);
    }
    const bool is_alive = std::any_of(members_.begin(), members_.end(), [](auto& member) { return !member.status; });
    if (!is_alive || now() >= deadline) return status_of_job(is_stopped);
    const auto arrived = next_signal(std::clamp(deadline - now(), 0.0, kLook));
    if (arrived && arrived->number != SIGCHLD && !members_[0].status && !child_has_it(*arrived)) {
      kill(members_[0].process, arrived->number);
    }
  }
}

int Job::status_of_job(bool is_stopped) {
  Words late;
  for (size_t i = 0; i < members_.size(); ++i) {
    if (!members_[i].status) late.push_back(std::to_string(i));
  }
  const auto first = members_[0].status;
  const int status = first.value_or(0) != 0 ? *first : failed_.value_or(0);
  if (is_stopped || late.empty()) return status;
  const std::string is_late = "process " + join(late, ", ") + " of the job has not ended ";
  if (failed_) {
    say(is_late + "after process " + std::to_string(who_failed_) + " (" + outcome(*failed_) + "), and is killed");
  } else if (status == 0) {
    say(is_late + "with the program, and is killed");
    return wait_status_of_exit(1);
  }
  return status;
}

}  // namespace

bool is_member_of_job(const Environment& environment) {
  return environment.has(kNumberInJob) && !environment.has(kTaken);
}

std::string number_in_job(const Environment& environment) { return environment.get(kNumberInJob); }

int run_job(const Words& words, int count, Environment environment, double last_words) {
  environment.drop_if([](const std::string& name) { return name == kTaken; });  // this is another job
  int status;
  {
    Job job(words, count, environment);
    status = job.attend(last_words);
  }
  drain();
  return status;
}

}  // namespace marline::launch
