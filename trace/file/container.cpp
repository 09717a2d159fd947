// SPDX-License-Identifier: Apache-2.0
//
// See the header.
#include "file/container.hpp"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

namespace marline::trace {
namespace {

constexpr u64 kHeadBytes = 4096;  // of the first unit, this much is mapped

int file = -1;
FileHeader* head;  // shared by all processes of the node
uint32_t number;

bool is_plain(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '.';
}

// All processes store the same values, so they need not agree on who begins.
bool begin_head() {
  if (head->magic[0] != '\0' && memcmp(head->magic, kFileMagic, sizeof kFileMagic) != 0) {
    errno = EEXIST;
    return false;
  }
  head->unit_bytes = kUnitBytes;
  memcpy(head->magic, kFileMagic, sizeof kFileMagic);
  // Relaxed: the number is only a number; what the process writes is found by the headers of its units.
  number = __atomic_add_fetch(&head->processes, 1, __ATOMIC_RELAXED);
  return true;
}

}  // namespace

void container_name(char (&name)[kContainerNameBytes]) {
  char host[48] = "";
  char boot[9] = "";
  gethostname(host, sizeof host - 1);  // of a longer name, the first part
  for (char* c = host; *c != '\0'; ++c) {
    if (!is_plain(*c)) *c = '_';
  }
  FILE* in = fopen("/proc/sys/kernel/random/boot_id", "re");
  if (in != nullptr) {
    if (fgets(boot, sizeof boot, in) == nullptr) boot[0] = '\0';
    fclose(in);
  }
  snprintf(name, sizeof name, "node.%s.%s.mtr", host, boot);
}

bool open_container(const char* path) {
  file = ::open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (file < 0) return false;
  head = static_cast<FileHeader*>(map_part(0, kHeadBytes));
  if (head != nullptr && begin_head()) return true;
  const int error = errno;
  ::close(file);
  errno = error;
  return false;
}

uint32_t process_number() { return number; }

u64 reserve_units(u64 units) {
  // Relaxed: each unit is written by the one thread that reserved it, and read after the run.
  return (1 + __atomic_fetch_add(&head->units, units, __ATOMIC_RELAXED)) * kUnitBytes;
}

void* map_part(u64 offset, u64 bytes) {
  errno = posix_fallocate(file, static_cast<off_t>(offset), static_cast<off_t>(bytes));
  if (errno != 0) return nullptr;
  void* mapped = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, static_cast<off_t>(offset));
  return mapped == MAP_FAILED ? nullptr : mapped;
}

void prepare_part(u64 offset, u64 bytes) {
  if (fallocate(file, 0, static_cast<off_t>(offset), static_cast<off_t>(bytes)) == 0) return;
  // A file system without fallocate: writing is slower. The file still has to reach the end of what is reserved, so
  // that a reader notices a file that was cut.
  (void)!pwrite(file, "", 1, static_cast<off_t>(offset + bytes - 1));
}

bool write_part(u64 offset, const void* from, u64 bytes) {
  const auto* at = static_cast<const char*>(from);
  for (u64 done = 0; done < bytes;) {
    const ssize_t written = pwrite(file, at + done, bytes - done, static_cast<off_t>(offset + done));
    if (written < 0 && errno != EINTR) return false;
    done += written < 0 ? 0 : static_cast<u64>(written);
  }
  return true;
}

void drop_part(u64 offset, u64 bytes) {
  (void)!fallocate(file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(offset),
                   static_cast<off_t>(bytes));
}

}  // namespace marline::trace
