// SPDX-License-Identifier: Apache-2.0
//
// posix_spawn starts the process without a copy of this one's memory.
#include "base/answer.hpp"

#include <cerrno>
#include <csignal>
#include <ctime>
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.hpp"
#include "base/report.hpp"

namespace marline::launch {
namespace {

int64_t now_in_ms() {
  timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1000 + time.tv_nsec / 1000000;
}

// Appends to `text` what arrives until the writer closes its end. False: the deadline came first.
bool read_until(int64_t deadline, int descriptor, std::string* text) {
  for (;;) {
    pollfd waiting{descriptor, POLLIN, 0};
    const int64_t left = deadline - now_in_ms();
    if (left <= 0) return false;
    if (poll(&waiting, 1, static_cast<int>(left)) <= 0) continue;
    char part[4096];
    const ssize_t count = read(descriptor, part, sizeof part);
    if (count == 0 || (count < 0 && errno != EINTR)) return true;
    if (count > 0) text->append(part, static_cast<size_t>(count));
  }
}

// The process id; -1: the program cannot be started.
pid_t spawn(const Words& words, Environment& environment, int output, bool with_errors) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
  if (with_errors) {
    posix_spawn_file_actions_adddup2(&actions, output, STDERR_FILENO);
  } else {
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  }
  std::vector<char*> arguments = pointers_to(words);
  pid_t process = -1;
  const int error =
      posix_spawn(&process, arguments[0], &actions, nullptr, arguments.data(), environment.pointers().data());
  posix_spawn_file_actions_destroy(&actions);
  return error == 0 ? process : -1;
}

}  // namespace

std::optional<std::string> answer_of(const Words& words, Environment environment, int seconds, bool with_errors) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) throw Refusal{"no pipe: " + reason(errno)};
  const File input(ends[0]);
  File output(ends[1]);
  const pid_t process = spawn(words, environment, output.descriptor(), with_errors);
  output.close();
  if (process < 0) return std::nullopt;
  std::string text;
  const bool is_whole = read_until(now_in_ms() + seconds * int64_t{1000}, input.descriptor(), &text);
  if (!is_whole) kill(process, SIGKILL);
  while (waitpid(process, nullptr, 0) < 0 && errno == EINTR) continue;
  if (!is_whole) return std::nullopt;
  return text;
}

}  // namespace marline::launch
