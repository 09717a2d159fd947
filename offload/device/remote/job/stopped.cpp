// SPDX-License-Identifier: Apache-2.0
//
// Reads in /proc whether a worker is stopped, and warns.
#include "device/remote/job/stopped.hpp"

#include "base/report.hpp"
#include "base/now.hpp"
#include "device/remote/job/membership.hpp"
#include "device/remote/program/link.hpp"
#include "wire/base/peers.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>

namespace marline::offload::device {

using namespace wire;

namespace {

constexpr unsigned kPollsPerLook = 256;
constexpr uint64_t kBetween = 5'000'000'000;  // nanoseconds

unsigned g_polls = 0;
uint64_t g_looked = 0;
bool g_said[kMostPeers];

// proc(5): the state follows the process's name, which is in parentheses and may contain parentheses. The state of a
// process that a debugger has stopped is 't'; that does not count.
bool is_stopped(int process) {
  char path[32], text[512];
  std::snprintf(path, sizeof path, "/proc/%d/stat", process);
  int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return false;
  ssize_t got = read(file, text, sizeof text - 1);
  close(file);
  text[got > 0 ? got : 0] = '\0';
  const char* name_end = std::strrchr(text, ')');
  return name_end != nullptr && std::strncmp(name_end, ") T", 3) == 0;
}

}  // namespace

void look_for_stopped_workers() {
  if (++g_polls % kPollsPerLook != 0 || !is_serving_rank()) return;
  uint64_t time = now();
  if (time - g_looked < kBetween) return;
  g_looked = time;
  const NodeJob* job = node_job();
  const Peer* own = job->kind->peer(job->wire, job->number);
  for (int peer = 1; peer < job->count; ++peer) {
    const Peer* worker = job->kind->peer(job->wire, peer);
    if (g_said[peer] || !are_on_one_machine(*own, *worker) || !is_stopped(worker->pid)) continue;
    g_said[peer] = true;
    warn("device %d (node, %s on %s, pid %d) is stopped by SIGSTOP; the program waits for it until it gets SIGCONT",
         peer - 1, words_for_process(peer), worker->node, worker->pid);
  }
}

}  // namespace marline::offload::device
