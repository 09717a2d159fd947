// SPDX-License-Identifier: Apache-2.0
//
// Reads the frames of a crashed thread, and finds the names of their functions in the modules' symbol tables.
#include "device/processor/crash/crash_stack.hpp"

#include "image/load.hpp"
#include "../common/thread_id.h"

#include <dlfcn.h>
#include <execinfo.h>
#include <link.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/uio.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstring>

namespace marline::offload::device {

using namespace image;

namespace {

constexpr int kMostFrames = 64;  // frames to read, with the handler's own
constexpr int kMostShown = 8;    // frames to show; "..." stands for the others
constexpr int kPatience = 2;     // seconds that the reading may take

char g_program[256] = "the program";  // the last part of the program's path
const link_map* g_self = nullptr;     // this library, which programs may load by other names
timer_t g_timer;
bool g_has_timer = false;
void* g_frames[kMostFrames];     // zeros after the last one; used by the one thread that reads
std::atomic<pid_t> g_reader{0};  // the thread that reads, while it does; else 0. Handlers on all threads load it
sigjmp_buf g_back;

#ifdef DLFO_EH_SEGMENT_TYPE  // glibc 2.35
int (*g_find_object)(void* address, dl_find_object* found) = nullptr;

const link_map* module_of(uintptr_t address) {
  dl_find_object found;
  if (g_find_object == nullptr || g_find_object(reinterpret_cast<void*>(address), &found) != 0) return nullptr;
  return found.dlfo_link_map;
}

void prepare_modules() {
  g_find_object = reinterpret_cast<decltype(g_find_object)>(dlsym(RTLD_DEFAULT, "_dl_find_object"));
}
#else
const link_map* module_of(uintptr_t) { return nullptr; }
void prepare_modules() {}
#endif

void set_timer(int seconds) {
  itimerspec when = {{0, 0}, {seconds, 0}};
  if (g_has_timer) timer_settime(g_timer, 0, &when, nullptr);
}

// The address of the instruction that was interrupted.
uintptr_t place_of_fault(const ucontext_t* context) {
#ifdef __x86_64__
  return static_cast<uintptr_t>(context->uc_mcontext.gregs[REG_RIP]);
#else
  return context->uc_mcontext.pc;
#endif
}

// For an interrupted address that is no code: a call through a wrong pointer has led there. The address to which that
// call would have returned; 0: not known.
uintptr_t return_from_nowhere(const ucontext_t* context) {
#ifdef __x86_64__
  uintptr_t address = 0;
  iovec here = {&address, sizeof address};
  iovec there = {reinterpret_cast<void*>(context->uc_mcontext.gregs[REG_RSP]), sizeof address};
  return process_vm_readv(getpid(), &here, 1, &there, 1, 0) == sizeof address ? address : 0;
#else
  return context->uc_mcontext.regs[30];
#endif
}

void set_fault_mask(int how) {
  sigset_t faults;
  sigemptyset(&faults);
  sigaddset(&faults, SIGSEGV);
  sigaddset(&faults, SIGBUS);
  pthread_sigmask(how, &faults, nullptr);
}

// A fault during the reading comes back to here, with the frames that were read by then.
void read_frames() {
  set_timer(kPatience);
  if (sigsetjmp(g_back, 0) == 0) {
    g_reader.store(thread_id());
    set_fault_mask(SIG_UNBLOCK);
    (void)backtrace(g_frames, kMostFrames);
  }
  // From here on another fault kills the process: its handler would wait for this one for ever.
  set_fault_mask(SIG_BLOCK);
  g_reader.store(0);
  set_timer(0);
}

// How many symbols a module's table has, by its hash table of GNU's format (gABI has no other count in memory).
uint32_t count_symbols(const uint32_t* hash) {
  uint32_t buckets = hash[0], first = hash[1], bloom = hash[2], last = 0;
  const uint32_t* bucket = hash + 4 + bloom * (sizeof(ElfW(Addr)) / sizeof(uint32_t));
  for (uint32_t i = 0; i < buckets; ++i) last = std::max(last, bucket[i]);
  if (last < first) return first;
  const uint32_t* chain = bucket + buckets;
  while ((chain[last - first] & 1) == 0) ++last;
  return last + 1;
}

bool is_around(const ElfW(Sym) & symbol, uintptr_t offset) {
  bool is_function = ELF64_ST_TYPE(symbol.st_info) == STT_FUNC && symbol.st_shndx != SHN_UNDEF;
  return is_function && offset >= symbol.st_value && offset - symbol.st_value < symbol.st_size;
}

// Looks in the file's symbol table for the function that contains the offset, and copies its name to `to`. False: there
// is none, or it has no name.
bool read_function(int file, const ElfW(Shdr) & table, const ElfW(Shdr) & names, uintptr_t offset, char* to,
                   size_t bytes) {
  ElfW(Sym) some[32];
  for (uint64_t at = 0; at < table.sh_size;) {
    size_t want = std::min<uint64_t>(sizeof some, table.sh_size - at);
    ssize_t got = pread(file, some, want, static_cast<off_t>(table.sh_offset + at));
    auto count = got > 0 ? static_cast<size_t>(got) / sizeof *some : 0;
    if (count == 0) return false;
    for (size_t i = 0; i < count; ++i) {
      if (!is_around(some[i], offset)) continue;
      ssize_t length = pread(file, to, bytes - 1, static_cast<off_t>(names.sh_offset + some[i].st_name));
      to[length > 0 ? length : 0] = '\0';
      return length > 0;
    }
    at += count * sizeof *some;
  }
  return false;
}

// The name of an image's function that contains the offset: the image's file has a table of all functions. Null: there
// is none.
const char* function_of_image(int file, uintptr_t offset) {
  static char name[128];
  ElfW(Ehdr) header;
  ElfW(Shdr) section, names;
  if (pread(file, &header, sizeof header, 0) != sizeof header) return nullptr;
  auto read_section = [&](uint32_t index, ElfW(Shdr) & to) {
    return pread(file, &to, sizeof to, static_cast<off_t>(header.e_shoff + index * sizeof to)) == sizeof to;
  };
  for (uint32_t i = 0; i < header.e_shnum && read_section(i, section); ++i) {
    if (section.sh_type != SHT_SYMTAB || !read_section(section.sh_link, names)) continue;
    return read_function(file, section, names, offset, name, sizeof name) ? name : nullptr;
  }
  return nullptr;
}

// The name of the exported function that contains the address. Null: there is none.
const char* function_around(const link_map* module, uintptr_t address) {
  const char* names = nullptr;
  const ElfW(Sym)* symbols = nullptr;
  const uint32_t* hash = nullptr;
  for (const ElfW(Dyn)* entry = module->l_ld; entry->d_tag != DT_NULL; ++entry) {
    if (entry->d_tag == DT_STRTAB) names = reinterpret_cast<const char*>(entry->d_un.d_ptr);
    if (entry->d_tag == DT_SYMTAB) symbols = reinterpret_cast<const ElfW(Sym)*>(entry->d_un.d_ptr);
    if (entry->d_tag == DT_GNU_HASH) hash = reinterpret_cast<const uint32_t*>(entry->d_un.d_ptr);
  }
  if (names == nullptr || symbols == nullptr || hash == nullptr) return nullptr;
  uintptr_t offset = address - module->l_addr;
  for (uint32_t i = 0, count = count_symbols(hash); i < count; ++i) {
    if (is_around(symbols[i], offset)) return names + symbols[i].st_name;
  }
  return nullptr;
}

const char* file_of(const link_map* module) {
  if (module->l_name[0] == '\0') return g_program;
  if (file_of_image(module->l_name) >= 0) return "image";
  const char* slash = std::strrchr(module->l_name, '/');
  return slash != nullptr ? slash + 1 : module->l_name;
}

bool is_runtime(const link_map* module) {
  if (module == nullptr) return false;
  return module == g_self || std::strncmp(file_of(module), "libmarline", std::strlen("libmarline")) == 0;
}

// Writes "app+0x1299", as addr2line takes it. The function's name comes first if it is exported or the module is an
// image.
int write_frame(char* to, size_t bytes, const link_map* module, uintptr_t address) {
  if (module == nullptr) return std::snprintf(to, bytes, "%#lx", address);
  int image = file_of_image(module->l_name);
  uintptr_t offset = address - module->l_addr;
  const char* function = image >= 0 ? function_of_image(image, offset) : function_around(module, address);
  return std::snprintf(to, bytes, "%s%s%s+%#lx", function != nullptr ? function : "", function != nullptr ? " " : "",
                       file_of(module), offset);
}

// The text of the frames, from the fault up to the runtime's frames that have called the region.
class FrameText {
 public:
  FrameText(char* to, size_t bytes) : to_(to), bytes_(bytes) { to[0] = '\0'; }

  // False: no more frames are wanted.
  bool add(uintptr_t address) {
    const link_map* module = module_of(address);
    if (is_runtime(module) && seen_region_) return false;
    seen_region_ = seen_region_ || !is_runtime(module);
    bool is_last = shown_++ == kMostShown;
    length_ += static_cast<size_t>(std::snprintf(to_ + length_, bytes_ - length_, shown_ > 1 ? " < " : ""));
    if (length_ >= bytes_) return false;
    length_ += static_cast<size_t>(is_last ? std::snprintf(to_ + length_, bytes_ - length_, "...")
                                           : write_frame(to_ + length_, bytes_ - length_, module, address));
    return !is_last && length_ < bytes_;
  }

 private:
  char* to_;
  size_t bytes_;
  size_t length_ = 0;
  int shown_ = 0;
  bool seen_region_ = false;
};

}  // namespace

void prepare_crash_stack() {
  void* frame;
  (void)backtrace(&frame, 1);
  prepare_modules();
  g_self = module_of(reinterpret_cast<uintptr_t>(prepare_crash_stack));
  char path[sizeof g_program];
  ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
  if (length > 0) {
    path[length] = '\0';
    const char* slash = std::strrchr(path, '/');
    std::strcpy(g_program, slash != nullptr ? slash + 1 : path);
  }
  sigevent event = {};
  event.sigev_notify = SIGEV_SIGNAL;
  event.sigev_signo = SIGKILL;
  g_has_timer = timer_create(CLOCK_MONOTONIC, &event, &g_timer) == 0;
}

void read_crash_stack(const void* context, char* to, size_t bytes) {
  auto* machine = static_cast<const ucontext_t*>(context);
  uintptr_t fault = place_of_fault(machine);
  read_frames();
  int first = 0;  // the frames before it are the handler's
  while (first < kMostFrames && reinterpret_cast<uintptr_t>(g_frames[first]) != fault) ++first;
  FrameText text(to, bytes);
  bool more = text.add(fault);
  if (module_of(fault) == nullptr) {
    uintptr_t caller = return_from_nowhere(machine);
    if (more && module_of(caller) != nullptr) (void)text.add(caller - 1);
    return;
  }
  for (int i = first + 1; more && i < kMostFrames && g_frames[i] != nullptr; ++i) {
    more = text.add(reinterpret_cast<uintptr_t>(g_frames[i]) - 1);  // an address within the call instruction
  }
}

void leave_crash_stack() {
  if (g_reader.load() == thread_id()) siglongjmp(g_back, 1);
}

}  // namespace marline::offload::device
