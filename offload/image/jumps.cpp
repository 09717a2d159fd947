// SPDX-License-Identifier: Apache-2.0
//
// Makes the jumps. Their pages are of one file in memory, which is written through its descriptor: executable memory is
// never writable, and threads may run in a page while it gets another jump. A page that has lost all its jumps stays
// mapped, but unreadable: this process does not have what the program may have there later, so an access must fault.
// There are as many jumps as the program has indirect functions, so the lists are searched from one end to the other.
#include "image/jumps.hpp"

#include "base/list.hpp"
#include "base/lock.hpp"
#include "base/report.hpp"
#include "image/load.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace marline::offload::image {

namespace {

#if defined(__x86_64__)
// jmp *(%rip), and then the address.
struct [[gnu::packed]] Code {
  uint8_t jump[6] = {0xff, 0x25, 0, 0, 0, 0};
  uint64_t to;
};
constexpr int kTrap = 0xcc;  // each byte: int3
#elif defined(__aarch64__)
// ldr x16, . + 8; br x16; and then the address.
struct [[gnu::packed]] Code {
  uint32_t jump[2] = {0x58000050, 0xd61f0200};
  uint64_t to;
};
constexpr int kTrap = 0;  // four bytes: udf
#else
#error "no code for jumps on this architecture"
#endif

struct Page {
  uint64_t address;
  off_t offset;  // in the file
  int jumps;
};

struct Made {
  uint64_t from, to;
};

Lock g_lock;  // protects the variables below
int g_file = -1;
List<Page, 16> g_pages;
List<Made, 16> g_made;

// Jumps begin where functions begin, and functions are aligned. A jump that would reach into the next page, or overlap
// another jump, is refused.
bool has_room(uint64_t from, uint64_t page_bytes) {
  if (from % page_bytes + sizeof(Code) > page_bytes) return false;
  for (const Made& made : g_made) {
    if (made.from < from + sizeof(Code) && from < made.from + sizeof(Code)) return false;
  }
  return true;
}

// Returns the page at the address, and makes it if needed. If it cannot be made, returns null and sets `why`. A page
// that may be replaced is replaced in one step: otherwise another thread's mapping could take the place meanwhile.
Page* page_at(uint64_t address, size_t bytes, bool may_replace, Jump& why) {
  for (Page& page : g_pages) {
    if (page.address == address) return &page;
  }
  off_t offset = static_cast<off_t>(g_pages.count() * bytes);
  why = Jump::kRefused;
  if (g_file < 0) g_file = memfd_create("marline-jumps", MFD_CLOEXEC);
  if (g_file < 0 || ftruncate(g_file, offset + static_cast<off_t>(bytes)) != 0) return nullptr;
  void* wanted = reinterpret_cast<void*>(address);
  int flags = MAP_SHARED | (may_replace ? MAP_FIXED : MAP_FIXED_NOREPLACE);
  void* mapped = mmap(wanted, bytes, PROT_READ | PROT_EXEC, flags, g_file, offset);
  if (mapped != wanted) {
    if (mapped != MAP_FAILED) munmap(mapped, bytes);  // a kernel that does not know the flag maps elsewhere
    why = mapped != MAP_FAILED || errno == EEXIST ? Jump::kOccupied : Jump::kRefused;
    return nullptr;
  }
  g_pages.push({address, offset, 0});
  return &g_pages[g_pages.count() - 1];
}

bool set_access(const Page& page, size_t bytes, int access) {
  return mprotect(reinterpret_cast<void*>(page.address), bytes, access) == 0;
}

bool write_code(const Page& page, uint64_t from, const void* code) {
  off_t at = page.offset + static_cast<off_t>(from - page.address);
  if (pwrite(g_file, code, sizeof(Code), at) != static_cast<ssize_t>(sizeof(Code))) return false;
  __builtin___clear_cache(reinterpret_cast<char*>(from), reinterpret_cast<char*>(from + sizeof(Code)));
  return true;
}

Jump make(uint64_t from, uint64_t to, bool may_replace) {
  auto bytes = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  Guard guard(g_lock);
  for (const Made& made : g_made) {
    if (made.from == from) return made.to == to ? Jump::kMade : Jump::kTaken;
  }
  if (!has_room(from, bytes)) return Jump::kTaken;
  Jump why;
  Page* page = page_at(from & ~(bytes - 1), bytes, may_replace, why);
  if (page == nullptr) return why;
  if (page->jumps == 0 && !set_access(*page, bytes, PROT_READ | PROT_EXEC)) return Jump::kRefused;
  Code code;
  code.to = to;
  if (!write_code(*page, from, &code)) {
    if (page->jumps == 0) (void)set_access(*page, bytes, PROT_NONE);
    return Jump::kRefused;
  }
  ++page->jumps;
  g_made.push({from, to});
  return Jump::kMade;
}

}  // namespace

Jump make_jump(uint64_t from, void* image, const char* pointer, bool may_replace) {
  ImageRange range = range_of_image(image);
  uint64_t at = find_in_image(image, pointer), to = 0;
  if (at != 0) std::memcpy(&to, reinterpret_cast<const void*>(at), sizeof to);
  return to >= range.begin && to < range.end ? make(from, to, may_replace) : Jump::kNoFunction;
}

bool is_indirect_function(const Entry& entry) {
  return (entry.flags & kEntryIndirect) != 0 && entry.size == sizeof(void*) && entry.host != nullptr;
}

void warn_unless_made(Jump made, const Entry& entry, int device, const char* kind) {
  if (made == Jump::kMade || made == Jump::kNoFunction) return;
  const char* why = made == Jump::kOccupied ? "its process has something else at that address"
                    : made == Jump::kTaken  ? "another device of its process, or a function beside it, is reached there"
                                            : "its system lets no code be at that address";
  warn(
      "device %d (%s): target regions cannot call %s (declare target indirect) by its address %p, and crash there: "
      "%s; call it by its name, or open its library before the first construct",
      device, kind, entry.name, entry.host, why);
}

void remove_jumps(uint64_t begin, uint64_t end) {
  auto bytes = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  uint8_t nothing[sizeof(Code)];
  std::memset(nothing, kTrap, sizeof nothing);
  Guard guard(g_lock);
  uint32_t kept = 0;
  for (uint32_t i = 0; i < g_made.count(); ++i) {
    Made made = g_made[i];
    if (made.to < begin || made.to >= end) {
      g_made[kept++] = made;
      continue;
    }
    for (Page& page : g_pages) {
      if (page.address != (made.from & ~(bytes - 1))) continue;
      (void)write_code(page, made.from, nothing);
      if (--page.jumps == 0) (void)set_access(page, bytes, PROT_NONE);
    }
  }
  g_made.shrink(kept);
}

}  // namespace marline::offload::image
