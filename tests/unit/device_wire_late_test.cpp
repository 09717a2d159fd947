// SPDX-License-Identifier: Apache-2.0
//
// A process that does not run for a while in the middle of a handshake joins its job all the same. The handshake draws
// a random number at each end; this program's getrandom sleeps at one of these places.
#include "wire_job.hpp"

#include <sys/random.h>
#include <sys/syscall.h>

namespace {

int g_calls = 0;  // of getrandom, in this process
int g_late_call = -1;

}  // namespace

extern "C" ssize_t getrandom(void* bytes, size_t count, unsigned flags) {
  if (g_calls++ == g_late_call) usleep(1'300'000);
  return syscall(SYS_getrandom, bytes, count, flags);
}

namespace marline::offload::wire::test {
namespace {

constexpr int kProcesses = 3, kCalls = 4;  // no process draws more numbers than that

struct LateJob {
  TestJob job;
  int late, call;
  std::vector<pid_t> processes;
};

LateJob start_late(const char* const (&nodes)[kProcesses], int late, int call) {
  LateJob made = {{}, late, call, {}};
  made.job.nodes.assign(nodes, nodes + kProcesses);
  made.job.address += "-" + std::string(nodes[1]) + std::to_string(late) + std::to_string(call);
  for (int number = 0; number < kProcesses; ++number) {
    made.processes.push_back(start([&] {
      if (number == late) g_late_call = call;
      g_patience = 30'000;
      End end;
      end.join(made.job.of(number, kProcesses));
      end.leave();
    }));
  }
  return made;
}

// All jobs at the same time, as their processes sleep.
TEST(LateTest, TheJobStarts) {
  std::deque<LateJob> jobs;
  for (int late = 0; late < kProcesses; ++late) {
    for (int call = 0; call < kCalls; ++call) {
      jobs.push_back(start_late({"a", "a", "a"}, late, call));
      jobs.push_back(start_late({"a", "b", "c"}, late, call));
    }
  }
  for (const LateJob& job : jobs) {
    for (pid_t process : job.processes) {
      EXPECT_EQ(status_of(process), 0) << "process " << job.late << " is late in call " << job.call
                                       << ", the second is on node " << job.job.nodes[1];
    }
  }
}

}  // namespace
}  // namespace marline::offload::wire::test
