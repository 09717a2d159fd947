// SPDX-License-Identifier: Apache-2.0
//
// Which pages of a cluster's memory have been written (MARLINE_CLUSTER_WRITES=pages): by the write protection of
// userfaultfd in its asynchronous mode, in which the kernel takes a page's protection away at the first write, and
// the scan of /proc/self/pagemap, which finds such pages and protects them again in one step (Linux 6.7,
// Documentation/admin-guide/mm/pagemap.rst). No thread and no signal is in it, and system calls may write into
// protected pages, too. docs/design/cluster.md has what else was measured.
//
// A page that was never protected counts as written. Any thread; what the answers mean is the caller's: it scans and
// compares a page under one lock.
#pragma once

#include <cstdint>

namespace marline::offload::device {

class WrittenPages {
 public:
  static constexpr uint64_t kPage = 4096;

  WrittenPages() = default;
  ~WrittenPages();
  WrittenPages(const WrittenPages&) = delete;
  WrittenPages& operator=(const WrittenPages&) = delete;

  // What the system refuses, and errno; null: nothing.
  [[nodiscard]] static const char* find_refusal();
  // Ends the process in that case, and says what to do.
  static void refuse_if_impossible();

  // Of that memory, which is the process's own and anonymous. Ends the process likewise.
  void watch(uint64_t begin, uint64_t bytes);

  // All pages that lie inside as a whole are protected from here on.
  void protect(uint64_t begin, uint64_t end) const;

  struct Run {
    uint64_t begin, end;  // addresses
  };
  // Of that many pages, every second one written.
  static constexpr uint64_t kMostPages = 256, kMostRuns = kMostPages / 2;
  // The pages among these that have been written, in order, as at most kMostRuns runs; they are protected again.
  // Returns how many runs there are. `begin` and `end` are pages' begins, and there are at most kMostPages between
  // them.
  [[nodiscard]] uint64_t take(uint64_t begin, uint64_t end, Run* runs) const;

  [[nodiscard]] static uint64_t first_whole(uint64_t address) { return (address + kPage - 1) & ~(kPage - 1); }
  [[nodiscard]] static uint64_t last_whole(uint64_t address) { return address & ~(kPage - 1); }

 private:
  const char* try_to_watch(uint64_t begin, uint64_t bytes);

  int faults_ = -1, pagemap_ = -1;
};

}  // namespace marline::offload::device
