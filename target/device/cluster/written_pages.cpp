// SPDX-License-Identifier: Apache-2.0
//
// See the header. Names and numbers are those of linux/userfaultfd.h and linux/fs.h; what came with Linux 5.11 to 6.7 is
// missing in the headers of distributions that are older.
#include "device/cluster/written_pages.hpp"

#include "base/report.hpp"

#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace marline::target {

namespace {

constexpr int kUserModeOnly = 1;                            // UFFD_USER_MODE_ONLY
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
  fatal("MARLINE_CLUSTER_WRITES=pages needs %s (%s): Linux 6.7 or later with userfaultfd; use diff instead", what,
        strerror(errno));
}

// With UFFD_USER_MODE_ONLY it needs no privilege: in the asynchronous mode the kernel hands no fault to this process,
// so it lets system calls write, too.
int open_userfaultfd() {
  auto made = static_cast<int>(syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK | kUserModeOnly));
  if (made < 0) refuse("the system call userfaultfd");
  uffdio_api api = {};
  api.api = UFFD_API;
  api.features = kAsynchronous | kProtectsUnpopulated;
  if (ioctl(made, UFFDIO_API, &api) != 0) refuse("userfaultfd's asynchronous write protection");
  return made;
}

}  // namespace

void WrittenPages::watch(uint64_t begin, uint64_t bytes) {
  uffdio_register memory = {};
  memory.range = {begin, bytes};
  memory.mode = UFFDIO_REGISTER_MODE_WP;
  if (ioctl(open_userfaultfd(), UFFDIO_REGISTER, &memory) != 0) refuse("write protection of its memory");
  pagemap_ = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
  if (pagemap_ < 0) refuse("/proc/self/pagemap");
  Run run;
  (void)take(begin, begin + kPage, &run, 1);
}

uint64_t WrittenPages::take(uint64_t begin, uint64_t end, Run* runs, uint64_t most) const {
  constexpr uint64_t kMostAtOnce = 130;
  ScannedRun found[kMostAtOnce];
  ScanArguments scan = {};
  scan.bytes = sizeof scan;
  scan.flags = kProtectMatching | kOnlyAsynchronous;
  scan.begin = begin;
  scan.end = end;
  scan.runs = reinterpret_cast<uint64_t>(runs != nullptr ? found : nullptr);
  scan.most_runs = most < kMostAtOnce ? most : kMostAtOnce;
  scan.all_of = kIsWritten;
  scan.returned = runs != nullptr ? kIsWritten : 0;
  int count = ioctl(pagemap_, kScan, &scan);
  if (count < 0 || scan.walk_end != end) refuse("the scan of /proc/self/pagemap");
  for (int i = 0; i < count; ++i) runs[i] = {found[i].begin, found[i].end};
  return static_cast<uint64_t>(count);
}

void WrittenPages::protect(uint64_t begin, uint64_t end) const {
  begin = first_whole(begin);
  end = last_whole(end);
  if (begin < end) (void)take(begin, end, nullptr, 0);
}

}  // namespace marline::target
