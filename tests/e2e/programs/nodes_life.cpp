// SPDX-License-Identifier: Apache-2.0
//
// test_nodes_ends.py: notes in the file NODES_LOG which process runs constructors, main, exit handlers and destructors,
// uses a device unless told not to, and ends in the way that its argument names.
#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

static void note(const char* what) {
  char line[64];
  int length = std::snprintf(line, sizeof line, "%s %d\n", what, getpid());
  int log = open(std::getenv("NODES_LOG"), O_WRONLY | O_CREAT | O_APPEND, 0600);
  if (write(log, line, static_cast<size_t>(length)) != length) _exit(99);
  close(log);
}

struct Noted {
  Noted() { note("constructor"); }
  ~Noted() { note("destructor"); }
};

static Noted noted;

static void use_a_device() {
  int value = 20;
#pragma omp target map(tofrom : value)
  value += 1;
  std::printf("value %d\n", value);
  std::fflush(stdout);
}

int main(int, char** arguments) {
  const char* way = arguments[1];
  note("main");
  std::atexit([] { note("atexit"); });
  if (std::strcmp(way, "unused") != 0) use_a_device();
  if (std::strcmp(way, "exit") == 0) std::exit(3);
  if (std::strcmp(way, "_exit") == 0) _exit(4);
  if (std::strcmp(way, "quick_exit") == 0) std::quick_exit(5);
  if (std::strcmp(way, "_exit 0") == 0) _exit(0);
  if (std::strcmp(way, "abort") == 0) std::abort();
  if (std::strcmp(way, "fault") == 0) *static_cast<volatile int*>(nullptr) = 1;
  return 0;
}
