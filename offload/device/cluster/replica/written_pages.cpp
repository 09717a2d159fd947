// SPDX-License-Identifier: Apache-2.0
//
// Watches pages by userfaultfd and /proc/self/pagemap. The names and numbers are copied from linux/userfaultfd.h and
// linux/fs.h, as the headers of older distributions lack what came with Linux 5.11 to 6.7.
#include "device/cluster/replica/written_pages.hpp"

#include "base/report.hpp"

#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace marline::offload::device {

namespace {

constexpr int kUserModeOnly = 1;                              // UFFD_USER_MODE_ONLY
constexpr uint64_t kProtectsUnpopulated = uint64_t{1} << 13;  // UFFD_FEATURE_WP_UNPOPULATED
constexpr uint64_t kAsynchronous = uint64_t{1} << 15;         // UFFD_FEATURE_WP_ASYNC

// struct pm_scan_arg
struct ScanArguments {
  uint64_t bytes, flags, begin, end, walk_end, runs, most_runs, most_pages;
  uint64_t inverted, all_of, any_of, returned;
};
struct ScannedRun {  // struct page_region
  uint64_t begin, end, categories;
};
constexpr uint64_t kProtectMatching = 1, kOnlyAsynchronous = 2;  // PM_SCAN_WP_MATCHING, PM_SCAN_CHECK_WPASYNC
constexpr uint64_t kIsWritten = 2;                               // PAGE_IS_WRITTEN
constexpr unsigned long kScan = _IOWR('f', 16, ScanArguments);   // PAGEMAP_SCAN

[[noreturn]] void refuse(const char* what) {
  end_by_options("MARLINE_CLUSTER_WRITES=pages needs Linux 6.7 or later, and %s is refused (%s): leave pages out", what,
                 strerror(errno));
}

// With UFFD_USER_MODE_ONLY this needs no privilege. In the asynchronous mode the kernel passes no fault to this
// process, so system calls can write into protected pages, too.
const char* watch_faults(uint64_t begin, uint64_t bytes, int& faults) {
  faults = static_cast<int>(syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK | kUserModeOnly));
  if (faults < 0) return "the system call userfaultfd";
  uffdio_api api = {};
  api.api = UFFD_API;
  api.features = kAsynchronous | kProtectsUnpopulated;
  if (ioctl(faults, UFFDIO_API, &api) != 0) return "userfaultfd's asynchronous write protection";
  uffdio_register memory = {};
  memory.range = {begin, bytes};
  memory.mode = UFFDIO_REGISTER_MODE_WP;
  return ioctl(faults, UFFDIO_REGISTER, &memory) == 0 ? nullptr : "write protection by userfaultfd";
}

// Finds the written pages of [begin, end) and protects them again. Writes them to `found` as at most `most` runs,
// unless it is null. Returns the number of runs, or a negative number for an error.
int scan_pages(int pagemap, uint64_t begin, uint64_t end, ScannedRun* found, uint64_t most) {
  ScanArguments scan = {};
  scan.bytes = sizeof scan;
  scan.flags = kProtectMatching | kOnlyAsynchronous;
  scan.begin = begin;
  scan.end = end;
  scan.runs = reinterpret_cast<uint64_t>(found);
  scan.most_runs = most;
  scan.all_of = kIsWritten;
  scan.returned = found != nullptr ? kIsWritten : 0;
  int count = ioctl(pagemap, kScan, &scan);
  return count >= 0 && scan.walk_end != end ? -1 : count;
}

}  // namespace

WrittenPages::~WrittenPages() {
  if (faults_ >= 0) close(faults_);
  if (pagemap_ >= 0) close(pagemap_);
}

const char* WrittenPages::find_refusal() {
  void* page = mmap(nullptr, kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) return "a page of memory";
  WrittenPages pages;
  const char* refused = pages.try_to_watch(reinterpret_cast<uint64_t>(page), kPage);
  int error = errno;
  munmap(page, kPage);
  errno = error;
  return refused;
}

const char* WrittenPages::try_to_watch(uint64_t begin, uint64_t bytes) {
  if (const char* missing = watch_faults(begin, bytes, faults_)) return missing;
  pagemap_ = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
  if (pagemap_ < 0) return "/proc/self/pagemap";
  return scan_pages(pagemap_, begin, begin + kPage, nullptr, 0) < 0 ? "the scan of /proc/self/pagemap" : nullptr;
}

void WrittenPages::watch(uint64_t begin, uint64_t bytes) {
  if (const char* what = try_to_watch(begin, bytes)) refuse(what);
}

void WrittenPages::refuse_if_impossible() {
  if (const char* what = find_refusal()) refuse(what);
}

uint64_t WrittenPages::take(uint64_t begin, uint64_t end, Run* runs) const {
  ScannedRun found[kMostRuns];
  int count = scan_pages(pagemap_, begin, end, found, kMostRuns);
  if (count < 0)
    fatal("pages of the cluster's memory cannot be scanned for what has been written (%s)", strerror(errno));
  for (int i = 0; i < count; ++i) runs[i] = {found[i].begin, found[i].end};
  return static_cast<uint64_t>(count);
}

void WrittenPages::protect(uint64_t begin, uint64_t end) const {
  begin = first_whole(begin);
  end = last_whole(end);
  if (begin >= end || scan_pages(pagemap_, begin, end, nullptr, 0) >= 0) return;
  fatal("pages of the cluster's memory cannot be protected (%s)", strerror(errno));
}

}  // namespace marline::offload::device
