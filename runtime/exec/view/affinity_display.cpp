// SPDX-License-Identifier: Apache-2.0
//
// Keeps affinity-format-var and prints the lines of threads. affinity-format-var belongs to the device: one string on
// the heap under a lock, or null while the option's value is used.
#include "exec/view/affinity_display.hpp"

#include "base/check.hpp"
#include "base/spin_lock.hpp"
#include "../common/thread_id.h"
#include "config/options.hpp"
#include "../common/text.hpp"
#include "exec/team/binding.hpp"
#include "exec/view/affinity_format.hpp"
#include "platform/topology/places.hpp"
#include "platform/thread.hpp"

#include <pthread.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace marline {

namespace {

SpinLock g_lock;  // guards g_format; held by a FormatGuard
char* g_format = nullptr;

// The holder takes no signal, so a handler that asks for the format waits for other threads only, and not for long.
class FormatGuard {
 public:
  FormatGuard() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
    g_lock.lock();
  }
  ~FormatGuard() {
    g_lock.unlock();
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  FormatGuard(const FormatGuard&) = delete;
  FormatGuard& operator=(const FormatGuard&) = delete;

 private:
  sigset_t before_;
};

const char* format_in_force() { return g_format != nullptr ? g_format : options().affinity_format; }

// The thread's number in the region around the current one, or -1.
int ancestor_number(const Member* member) {
  const Member* outer = member->team->parent_member;
  return member->team->level > 0 && outer != nullptr ? outer->index : -1;
}

// The policy by which the thread is at its place: that of the innermost region that gave places. The first thread has
// one before its first region, too.
ProcBind policy_of(const Member* member, int place) {
  if (place < 0) return ProcBind::kUnbound;
  for (; member != nullptr; member = member->team->parent_member) {
    if (member->team->places_given.policy != 0) return static_cast<ProcBind>(member->team->places_given.policy);
  }
  return options().proc_bind[0];
}

// The runtime chooses spread where threads are to be bound and nothing says how (places_assign).
const char* word_of(ProcBind policy) {
  static constexpr const char* kWords[] = {"false", "spread", "primary", "close", "spread", "in order"};
  return kWords[static_cast<int>(policy)];
}

}  // namespace

AffinityFormat::AffinityFormat(const char* text) {
  if (text != nullptr && text[0] != '\0') {
    set(text, std::strlen(text));
    return;
  }
  FormatGuard guard;
  const char* format = format_in_force();
  set(format, std::strlen(format));
}

AffinityFormat::AffinityFormat(const char* text, size_t length) { set(text, length); }

AffinityFormat::~AffinityFormat() { std::free(text_); }

const char* const* AffinityFormat::place() { return &g_format; }

void AffinityFormat::install() {
  FormatGuard guard;
  char* old = g_format;
  g_format = text_;
  text_ = old;
}

size_t AffinityFormat::read(char* buffer, size_t size) {
  FormatGuard guard;
  const char* format = format_in_force();
  const size_t length = std::strlen(format);
  std::memcpy(buffer, format, length < size ? length : size);
  return length;
}

void AffinityFormat::set(const char* text, size_t length) {
  text_ = static_cast<char*>(std::malloc(length + 1));
  if (text_ == nullptr) fatal("out of memory for an affinity format of %zu bytes", length);
  std::memcpy(text_, text, length);
  text_[length] = '\0';
}

size_t affinity_capture(char* buffer, size_t size, const char* format) {
  const int place = place_of(this_worker());  // a thread that has not been in a region yet is bound when it asks
  const Member* member = this_worker()->member;
  char host[256] = "";
  gethostname(host, sizeof host - 1);
  char cpus_text[1024];
  Text cpus(cpus_text, sizeof cpus_text);
  show_cpus(cpus, place >= 0 && !places_can_be_bound() ? process_places().masks[place] : thread_affinity());
  AffinityFacts facts{.team_num = this_worker()->task->icvs->team_num,
                      .num_teams = this_worker()->task->icvs->num_teams,
                      .nesting_level = member->team->level,
                      .thread_num = member->index,
                      .num_threads = member->team->size,
                      .ancestor_tnum = ancestor_number(member),
                      .host = host,
                      .process_id = getpid(),
                      .native_thread_id = thread_id(),
                      .thread_affinity = cpus.c_str(),
                      .place_num = place,
                      .proc_bind = word_of(policy_of(member, place))};
  return format_affinity(buffer, size, format, facts);
}

void affinity_display(const char* format) {
  char line[2048];
  affinity_capture(line, sizeof line, format);
  std::fprintf(stdout, "%s\n", line);
}

void note_affinity_of_region(Team* team) {
  bool changed = !(team->displayed == team->places_given);  // the same conditions give the same places
  team->displayed = team->places_given;
  for (int i = 0; i < team->size; ++i) {
    Worker* worker = team->members[i].worker;
    changed = changed || worker->shown_state.displayed_level != team->level ||
              worker->shown_state.displayed_size != team->size;
    worker->shown_state.displayed_level = team->level;
    worker->shown_state.displayed_size = team->size;
  }
  team->display_affinity = changed;
}

}  // namespace marline
