// SPDX-License-Identifier: Apache-2.0
//
// The remover reads from a pipe, whose other end this process holds and never writes to. When this process ends, the
// kernel closes that end: the remover reads the end of the file and deletes the folder. The remover is started before
// the folder is made, because this process may be killed at any time. It has a session of its own, so signals to our
// process group do not reach it. It closes all other descriptors, because launchers wait until the streams of a rank
// are closed. Its parent ends at once, so nobody has to wait for it.
#include "process/scratch.hpp"

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.hpp"
#include "base/report.hpp"
#include "process/stopping.hpp"

namespace marline::launch {
namespace {

constexpr size_t kRandomBytes = 16;

std::string random_name() {
  unsigned char bytes[kRandomBytes];
  if (getrandom(bytes, sizeof bytes, 0) != static_cast<ssize_t>(sizeof bytes)) {
    throw Refusal{"no random number: " + reason(errno)};
  }
  std::string name = "marline-";
  for (unsigned char byte : bytes) {
    char digits[3];
    snprintf(digits, sizeof digits, "%02x", byte);
    name += digits;
  }
  return name;
}

// The first of these that can be written to. TMPDIR may be relative, and the remover works elsewhere.
std::string temporary_folder() {
  Words folders;
  for (const char* variable : {"TMPDIR", "TEMP", "TMP"}) {
    const char* value = getenv(variable);
    if (value != nullptr && value[0] != '\0') folders.push_back(value);
  }
  for (const char* folder : {"/tmp", "/var/tmp", "/usr/tmp", "."}) folders.push_back(folder);
  for (const std::string& folder : folders) {
    if (access(folder.c_str(), W_OK | X_OK) == 0 && is_folder(folder)) return absolute(folder);
  }
  throw Refusal{"no folder for temporary files can be written to (" + join(folders, ", ") + "); set TMPDIR to one"};
}

void remove_tree(const std::string& path) {
  for (const std::string& name : names_in(path)) {
    const std::string inside = path + "/" + name;
    struct stat status;
    if (lstat(inside.c_str(), &status) == 0 && S_ISDIR(status.st_mode)) {
      remove_tree(inside);
    } else {
      unlink(inside.c_str());
    }
  }
  rmdir(path.c_str());
}

void close_from(unsigned first) {
#ifdef SYS_close_range
  if (syscall(SYS_close_range, first, ~0u, 0) == 0) return;
#endif
  for (long descriptor = static_cast<long>(first); descriptor < sysconf(_SC_OPEN_MAX); ++descriptor) {
    close(static_cast<int>(descriptor));
  }
}

[[noreturn]] void become_remover(const std::string& path, int wait_end) {
  setsid();
  if (fork() != 0) _exit(0);
  prctl(PR_SET_NAME, kRemoverName);
  if (chdir("/") != 0 || dup2(wait_end, 0) != 0) _exit(0);
  close_from(1);
  char byte;
  if (read(0, &byte, 1) == 0) remove_tree(path);
  _exit(0);
}

// Returns this process's end of the pipe to the remover.
int start_remover(const std::string& path) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) throw Refusal{"no pipe: " + reason(errno)};
  sigset_t all, before;  // a signal to our group would end the first child before it has started the remover
  sigfillset(&all);
  sigprocmask(SIG_BLOCK, &all, &before);
  const pid_t first = fork();
  if (first == 0) {
    close(ends[1]);
    become_remover(path, ends[0]);
  }
  sigprocmask(SIG_SETMASK, &before, nullptr);
  if (first < 0) throw Refusal{"no process can be started: " + reason(errno)};
  close(ends[0]);
  while (waitpid(first, nullptr, 0) < 0 && errno == EINTR) continue;
  return ends[1];
}

}  // namespace

Scratch::Scratch() : path_(temporary_folder() + "/" + random_name()) {
  end_ = start_remover(path_);
  if (mkdir(path_.c_str(), S_IRWXU) != 0) {
    const int error = errno;
    close(end_);
    throw Refusal{path_ + ": " + reason(error) + "; set TMPDIR to a folder that can be written to"};
  }
}

Scratch::Scratch(const std::string& folder) : path_(absolute(folder)), end_(start_remover(path_)) {}

Scratch::~Scratch() {
  if (is_left_) return;
  remove_tree(path_);
  const auto before = signal(SIGPIPE, SIG_IGN);  // somebody may have killed the remover
  if (write(end_, ".", 1) == 1) close(end_);
  signal(SIGPIPE, before);
}

void Scratch::leave_to_remover() { is_left_ = true; }

}  // namespace marline::launch
