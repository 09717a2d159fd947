// SPDX-License-Identifier: Apache-2.0
//
// Starting, attending and ending: in a process of its own for each case, as the launcher's is. Signals come at moments
// that no test of the whole command can choose.
#include "process/child.hpp"

#include <gtest/gtest.h>

#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <functional>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.hpp"
#include "base/report.hpp"
#include "process/scratch.hpp"
#include "process/stopping.hpp"
#include "start/job.hpp"

namespace marline::launch {
namespace {

struct Ended {
  int status;
  std::string said;  // on standard output and on standard error
};

// Runs `body` in a process that heeds signals, and ends it as the wait status that it returns. `meanwhile` gets the
// process and what it has said first, if it is to come between.
Ended launcher_of(const std::function<int()>& body, const std::function<void(pid_t)>& meanwhile = {}) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) abort();
  const pid_t process = fork();
  if (process == 0) {
    dup2(ends[1], STDOUT_FILENO);
    dup2(ends[1], STDERR_FILENO);
    heed_signals();
    end_as(body());
  }
  close(ends[1]);
  Ended ended{0, ""};
  char byte;
  while (meanwhile && read(ends[0], &byte, 1) == 1 && byte != '\n') ended.said += byte;
  if (meanwhile) meanwhile(process);
  ended.said += read_rest(ends[0]).value_or("");
  close(ends[0]);
  waitpid(process, &ended.status, 0);
  return ended;
}

int run_shell(const std::string& text) {
  Signals arrived;
  return run_child({"sh", "-c", text}, Environment::of_process(), arrived, {});
}

TEST(Child, PassesTheStatus) {
  EXPECT_EQ(WEXITSTATUS(launcher_of([] { return run_shell("exit 3"); }).status), 3);
  EXPECT_EQ(WTERMSIG(launcher_of([] { return run_shell("kill -HUP $$"); }).status), SIGHUP);
}

TEST(Child, ASignalThatIsPendingAtTheStartEndsIt) {
  const Ended ended = launcher_of([] {
    const Signals watched = watched_signals();
    sigprocmask(SIG_BLOCK, watched.mask(), nullptr);
    raise(SIGTERM);
    return run_shell("echo started");
  });
  EXPECT_EQ(WTERMSIG(ended.status), SIGTERM);
  EXPECT_EQ(ended.said, "marline: stopped by signal 15 (Terminated) before the program had started\n");
}

TEST(Child, ASignalThatComesLateIsNone) {  // another launcher passes on what it gets
  for (int late : {SIGINT, SIGTERM}) {
    const Ended ended = launcher_of([=] {
      const int status = run_shell("exit 3");
      raise(late);
      return status;
    });
    EXPECT_TRUE(WIFEXITED(ended.status) && WEXITSTATUS(ended.status) == 3) << ended.said;
    EXPECT_EQ(ended.said, "");
  }
}

TEST(Launcher, AJobThatRunsMayTakeItsTimeToEnd) {  // a checkpoint, say
  const std::string slow = "trap 'sleep 0.5; echo done; exit 0' TERM; echo ready; while :; do sleep 0.1; done";
  const Ended ended = launcher_of(
      [&] { return run_launcher({"sh", "-c", slow}, Environment::of_process(), {.last_words = 0.1, .starting = 0}); },
      [](pid_t process) { kill(process, SIGTERM); });
  EXPECT_EQ(WTERMSIG(ended.status), SIGTERM);
  EXPECT_EQ(ended.said, "readydone\n");
}

TEST(Launcher, IsKilledWithItsProcessesIfItDoesNotEnd) {  // as Hydra is, when a signal comes while it starts
  const std::string deaf = "trap '' TERM INT; (sleep 1000 & sleep 1000) & echo ready; while :; do sleep 1000; done";
  const Ended ended =
      launcher_of([&] { return run_launcher({"sh", "-c", deaf}, Environment::of_process(), {.last_words = 0.2}); },
                  [](pid_t process) { kill(process, SIGTERM); });  // the pipe is at its end only when all have ended
  EXPECT_EQ(WTERMSIG(ended.status), SIGTERM);
  EXPECT_EQ(ended.said,
            "readymarline: the launcher has not ended 0.2 s after a signal, and is killed with all that it "
            "has started\n");
}

TEST(Job, AProgramThatDoesNotNoticeIsEndedWithALine) {  // it computes, and asks its devices nothing meanwhile
  const Words words = {"sh", "-c", "test $MARLINE_JOB_NUMBER != 1 || kill -9 $$; exec sleep 60"};
  const Ended ended = launcher_of([&] { return run_job(words, 3, Environment::of_process(), 0.1); });
  EXPECT_EQ(WTERMSIG(ended.status), SIGKILL);
  EXPECT_EQ(ended.said, "marline: process 0, 2 of the job has not ended after process 1 (signal 9), and is killed\n");
}

TEST(Job, AnInterruptThatComesAfterTheEndIsNone) {  // a terminal's, which the processes have had, and ended by
  const Words words = {"sh", "-c", "kill -INT $$"};
  const Ended ended = launcher_of([&] {
    const int status = run_job(words, 2, Environment::of_process());
    raise(SIGINT);
    return status;
  });
  EXPECT_EQ(WTERMSIG(ended.status), SIGINT);
  EXPECT_EQ(ended.said, "");
}

TEST(Job, TheNameWhereItMeetsSaysNothingOfItsSecret) {
  const Words look = {"sh", "-c",
                      "case $MARLINE_JOB_ADDRESS in unix:@marline-*) ;; *) exit 2;; esac; "
                      "case $MARLINE_JOB_ADDRESS in *${MARLINE_JOB%????????????????}*) exit 1;; esac; "
                      "test ${#MARLINE_JOB} = 32"};
  EXPECT_EQ(launcher_of([&] { return run_job(look, 2, Environment::of_process()); }).status, 0);
}

class ScratchFolder : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_NE(mkdtemp(folder_), nullptr);
    setenv("TMPDIR", folder_, 1);
  }
  void TearDown() override {
    unsetenv("TMPDIR");
    rmdir(folder_);
  }
  // The remover works after the end of its process.
  bool is_empty_soon() const {
    for (int turn = 0; turn < 60'000 && !names_in(folder_).empty(); ++turn) usleep(1000);
    return names_in(folder_).empty();
  }

  char folder_[32] = "/tmp/launch-test-XXXXXX";
};

TEST_F(ScratchFolder, GoesWithItsScope) {
  launcher_of([&] {
    const Scratch scratch;
    if (names_in(folder_).size() != 1 || !is_folder(scratch.path())) abort();
    return 0;
  });
  EXPECT_TRUE(names_in(folder_).empty());
}

TEST_F(ScratchFolder, GoesWithAProcessThatIsStoppedOrKilled) {
  for (int number : {SIGTERM, SIGKILL}) {
    const Ended ended = launcher_of([&] {
      const Scratch scratch;
      close(open((scratch.path() + "/file").c_str(), O_CREAT | O_WRONLY, 0600));
      raise(number);
      return 0;
    });
    EXPECT_EQ(WTERMSIG(ended.status), number);
    EXPECT_TRUE(is_empty_soon());
  }
}

TEST_F(ScratchFolder, GoesWithTheCommandThatGoesOn) {
  const Ended ended = launcher_of([&] {
    Scratch scratch;
    scratch.leave_to_remover();
    end_with({"/bin/sh", "-c", "test -d \"$1\" && echo $2", "sh", scratch.path(), "--ended="}, scratch.descriptor());
    return 3 << 8;
  });
  EXPECT_EQ(ended.said, "--ended=768\n");
  EXPECT_TRUE(is_empty_soon());
}

}  // namespace
}  // namespace marline::launch
