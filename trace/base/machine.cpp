// SPDX-License-Identifier: Apache-2.0
//
// See the header. A figure that the kernel does not give is 0 in both samples.
#include "base/machine.hpp"

#include <inttypes.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

namespace marline::trace {
namespace {

constexpr uint64_t kMicrosecond = 1000;
constexpr uint64_t kSecond = 1000000000;
constexpr int kMostFrequencies = 64;  // CPUs that are asked: each costs a file

struct Sample {
  uint64_t monotonic_ns;
  uint64_t steal_ns;         // of the node, all CPUs: another virtual machine had the core
  uint64_t busy_ns;          // of the node, all CPUs: any process ran
  uint64_t cpu_ns;           // this process ran
  uint64_t system_ns;        // of that, in the kernel
  uint64_t throttled_ns;     // this process's cgroup had used up its quota
  uint64_t memory_stall_ns;  // of the node: some process waited for memory (reclaim, swap)
  uint64_t minor_faults;
  uint64_t major_faults;       // those that read a disk
  uint64_t frequency_khz;      // mean of the CPUs that the process may use
  uint64_t peak_memory_bytes;  // resident
};

pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
Sample first;        // under lock
Sample last;         // under lock: valid once ended
bool ended = false;  // under lock

uint64_t nanoseconds(const timeval& time) {
  return static_cast<uint64_t>(time.tv_sec) * kSecond + static_cast<uint64_t>(time.tv_usec) * kMicrosecond;
}

// proc(5): user, nice, system, idle, iowait, irq, softirq, steal, ..., in clock ticks.
void read_cpus(Sample& sample) {
  FILE* in = fopen("/proc/stat", "re");
  if (in == nullptr) return;
  uint64_t user, nice, system, idle, iowait, irq, softirq, steal;
  if (fscanf(in, "cpu %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64,
             &user, &nice, &system, &idle, &iowait, &irq, &softirq, &steal) == 8) {
    const uint64_t tick = kSecond / static_cast<uint64_t>(sysconf(_SC_CLK_TCK));
    sample.steal_ns = steal * tick;
    sample.busy_ns = (user + nice + system + irq + softirq) * tick;
  }
  fclose(in);
}

void read_usage(Sample& sample) {
  rusage usage;
  if (getrusage(RUSAGE_SELF, &usage) != 0) return;
  sample.system_ns = nanoseconds(usage.ru_stime);
  sample.cpu_ns = nanoseconds(usage.ru_utime) + sample.system_ns;
  sample.minor_faults = static_cast<uint64_t>(usage.ru_minflt);
  sample.major_faults = static_cast<uint64_t>(usage.ru_majflt);
  sample.peak_memory_bytes = static_cast<uint64_t>(usage.ru_maxrss) * 1024;
}

// The number behind `key` at the begin of a line of the file; 0 if there is none.
uint64_t value_in(const char* path, const char* key) {
  FILE* in = fopen(path, "re");
  if (in == nullptr) return 0;
  char line[256];
  uint64_t value = 0;
  const size_t length = strlen(key);
  while (fgets(line, sizeof line, in) != nullptr) {
    if (strncmp(line, key, length) == 0 && sscanf(line + length, "%" SCNu64, &value) == 1) break;
  }
  fclose(in);
  return value;
}

// A group's parents have quotas of their own, so this is the greatest figure from `path` up to the root of `mount`.
uint64_t throttled_below(const char* mount, char* path, const char* key) {
  uint64_t most = 0;
  for (;;) {
    char file[2 * PATH_MAX];
    snprintf(file, sizeof file, "%s%s/cpu.stat", mount, path);
    const uint64_t here = value_in(file, key);
    if (here > most) most = here;
    char* slash = strrchr(path, '/');
    if (slash == nullptr) return most;
    *slash = '\0';
  }
}

// cgroups(7): a line is `NUMBER:CONTROLLERS:PATH`, of version 2 with the number 0 and no controllers.
uint64_t throttled() {
  FILE* in = fopen("/proc/self/cgroup", "re");
  if (in == nullptr) return 0;
  char line[PATH_MAX + 256];
  uint64_t most = 0;
  while (fgets(line, sizeof line, in) != nullptr) {
    line[strcspn(line, "\n")] = '\0';
    char* controllers = strchr(line, ':');
    char* path = controllers == nullptr ? nullptr : strchr(controllers + 1, ':');
    if (path == nullptr) continue;
    *path++ = '\0';
    ++controllers;
    uint64_t here = 0;
    if (*controllers == '\0') {
      here = throttled_below("/sys/fs/cgroup", path, "throttled_usec ") * kMicrosecond;
    } else if (strcmp(controllers, "cpu") == 0 || strcmp(controllers, "cpu,cpuacct") == 0) {
      here = throttled_below("/sys/fs/cgroup/cpu", path, "throttled_time ");
    }
    if (here > most) most = here;
  }
  fclose(in);
  return most;
}

// The kernel's pressure stall information: `some avg10=… avg60=… avg300=… total=MICROSECONDS`.
uint64_t memory_stall() {
  FILE* in = fopen("/proc/pressure/memory", "re");
  if (in == nullptr) return 0;
  uint64_t total = 0;
  if (fscanf(in, "some avg10=%*s avg60=%*s avg300=%*s total=%" SCNu64, &total) != 1) total = 0;
  fclose(in);
  return total * kMicrosecond;
}

uint64_t frequency() {
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return 0;
  uint64_t sum = 0, count = 0;
  for (int cpu = 0; cpu < CPU_SETSIZE && count < kMostFrequencies; ++cpu) {
    if (!CPU_ISSET(cpu, &allowed)) continue;
    char path[96];
    snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/cpufreq/scaling_cur_freq", cpu);
    const uint64_t here = value_in(path, "");
    if (here == 0) return 0;  // this machine does not say
    sum += here;
    ++count;
  }
  return count == 0 ? 0 : sum / count;
}

Sample sample_now() {
  Sample sample = {};
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  sample.monotonic_ns = static_cast<uint64_t>(now.tv_sec) * kSecond + static_cast<uint64_t>(now.tv_nsec);
  read_cpus(sample);
  read_usage(sample);
  sample.throttled_ns = throttled();
  sample.memory_stall_ns = memory_stall();
  sample.frequency_khz = frequency();
  return sample;
}

void write_sample(FILE* out, const char* name, const Sample& sample) {
  const struct {
    const char* name;
    uint64_t value;
  } members[] = {{"monotonic_ns", sample.monotonic_ns},
                 {"steal_ns", sample.steal_ns},
                 {"busy_ns", sample.busy_ns},
                 {"cpu_ns", sample.cpu_ns},
                 {"system_ns", sample.system_ns},
                 {"throttled_ns", sample.throttled_ns},
                 {"memory_stall_ns", sample.memory_stall_ns},
                 {"minor_faults", sample.minor_faults},
                 {"major_faults", sample.major_faults},
                 {"frequency_khz", sample.frequency_khz},
                 {"peak_memory_bytes", sample.peak_memory_bytes}};
  const char* separator = "";
  fprintf(out, "  \"%s\": {", name);
  for (const auto& member : members) {
    fprintf(out, "%s\"%s\": %" PRIu64, separator, member.name, member.value);
    separator = ", ";
  }
  fputs("},\n", out);
}

}  // namespace

void begin_machine() {
  const Sample now = sample_now();
  pthread_mutex_lock(&lock);
  first = now;
  pthread_mutex_unlock(&lock);
}

void end_machine() {
  const Sample now = sample_now();
  pthread_mutex_lock(&lock);
  last = now;
  ended = true;
  pthread_mutex_unlock(&lock);
}

void write_machine_samples(FILE* out) {
  pthread_mutex_lock(&lock);
  const Sample begin = first;
  const Sample end = ended ? last : sample_now();
  pthread_mutex_unlock(&lock);
  write_sample(out, "machine_begin", begin);
  write_sample(out, "machine_end", end);
}

}  // namespace marline::trace
