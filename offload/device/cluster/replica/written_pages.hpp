// SPDX-License-Identifier: Apache-2.0
//
// Finds the pages of a cluster's memory that have been written (MARLINE_CLUSTER_WRITES=pages). It uses the write
// protection of userfaultfd in its asynchronous mode, in which the kernel removes a page's protection at the first
// write, and the scan of /proc/self/pagemap, which finds such pages and protects them again in one step (Linux 6.7,
// Documentation/admin-guide/mm/pagemap.rst). This needs no thread and no signal, and system calls can write into
// protected pages, too. docs/design/cluster-replicas.md has the alternatives that were measured.
//
// A page that has never been protected counts as written. Any thread may call these functions. The caller must scan a
// page and compare it under one lock, so that the answers stay true.
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

  // Returns what the system refuses, with the error in errno, or null if it refuses nothing.
  [[nodiscard]] static const char* find_refusal();
  // Ends the process if the system refuses something, with a message that says what to do.
  static void refuse_if_impossible();

  // Begins to watch this memory, which must be private and anonymous. Ends the process if the system refuses that.
  void watch(uint64_t begin, uint64_t bytes);

  // Protects all pages that lie in the range as a whole: from then on they count as not written.
  void protect(uint64_t begin, uint64_t end) const;

  struct Run {
    uint64_t begin, end;  // addresses
  };
  // The largest number of pages in a scan, and of runs in it: every second page may have been written.
  static constexpr uint64_t kMostPages = 256, kMostRuns = kMostPages / 2;
  // Finds the pages in [begin, end) that have been written, as at most kMostRuns runs in order, and protects them
  // again. Returns the number of runs. `begin` and `end` must be begins of pages, with at most kMostPages between them.
  [[nodiscard]] uint64_t take(uint64_t begin, uint64_t end, Run* runs) const;

  [[nodiscard]] static uint64_t first_whole(uint64_t address) { return (address + kPage - 1) & ~(kPage - 1); }
  [[nodiscard]] static uint64_t last_whole(uint64_t address) { return address & ~(kPage - 1); }

 private:
  const char* try_to_watch(uint64_t begin, uint64_t bytes);

  int faults_ = -1, pagemap_ = -1;
};

}  // namespace marline::offload::device
