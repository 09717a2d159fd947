// SPDX-License-Identifier: Apache-2.0
//
// Slabs of stacks. The lists are behind one lock: workers keep fibers of their own (exec/fiber/fiber.cpp), so it is
// taken when a program has more fibers alive than ever before, not when it switches.
#include "exec/fiber/stack.hpp"

#include "base/check.hpp"
#include "base/spin_lock.hpp"
#include "config/options.hpp"

#include <pthread.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#ifndef MADV_GUARD_INSTALL
#define MADV_GUARD_INSTALL 102  // Linux 6.13, include/uapi/asm-generic/mman-common.h
#endif

extern "C" void* __libc_stack_end;

namespace marline {

Atomic<bool> g_light_guards{true};

namespace {

constexpr size_t kStacksPerSlab = 64;
constexpr size_t kMaxSlabs = 1 << 15;
constexpr size_t kGuardBudget = 8192;       // stacks with a mapped guard: two mappings each
constexpr size_t kColours = 16;             // stack tops differ by up to this many times kColourStep
constexpr size_t kColourStep = 256;         // four cache lines
constexpr uint64_t kCanary = 0x6d61726c696e6531u;

enum class GuardKind : uint8_t { kNone, kPage };

struct Slab {
  char* base;
  GuardKind guard;
};

struct FreeStack {  // lies at the top of a free stack, where memory is committed anyway
  FreeStack* next;
};

FreeStack* g_free = nullptr;
Slab g_slabs[kMaxSlabs];
Atomic<size_t> g_slab_count{0};        // release on growth; the fault handler reads without the lock
size_t g_next_in_slab = kStacksPerSlab;
size_t g_mapped_guards = 0;

size_t page() {
  static const size_t bytes = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  return bytes;
}

// A stack and the guard page below it.
size_t pitch() { return options().fiber_stacksize + page(); }

void* install_guard(char* at, GuardKind* guard) {
  *guard = GuardKind::kPage;
  if (g_light_guards.load(relaxed) && madvise(at, page(), MADV_GUARD_INSTALL) == 0) return at;
  g_light_guards.store(false, relaxed);
  if (g_mapped_guards < kGuardBudget && mprotect(at, page(), PROT_NONE) == 0) {
    ++g_mapped_guards;
    return at;
  }
  *guard = GuardKind::kNone;
  return nullptr;
}

void open_slab() {
  size_t count = g_slab_count.load(relaxed);
  size_t bytes = pitch() * kStacksPerSlab;
  void* base = MAP_FAILED;
  if (count < kMaxSlabs) {
    base = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
  }
  if (base == MAP_FAILED) {
    fatal("cannot map stacks for more than %zu suspended tasks of %zu KiB each (%s): set a smaller OMP_STACKSIZE or "
          "MARLINE_STACKSIZE, or raise the limits on address space and vm.max_map_count",
          count * kStacksPerSlab, options().fiber_stacksize / 1024, std::strerror(errno));
  }
  madvise(base, bytes, MADV_NOHUGEPAGE);  // fails only on kernels without huge pages, which need no advice
  g_slabs[count] = {static_cast<char*>(base), GuardKind::kPage};
  g_slab_count.store(count + 1, release);  // pairs with locate and stacks_mapped
  g_next_in_slab = 0;
}

// The stack in slot `slot` of slab `index`.
Stack stack_at(size_t index, size_t slot) {
  char* guard = g_slabs[index].base + slot * pitch();
  size_t colour = (index * kStacksPerSlab + slot) % kColours * kColourStep;
  return {guard + page(), guard + pitch() - colour};
}

Stack cut_stack() {
  if (g_next_in_slab == kStacksPerSlab) open_slab();
  size_t index = g_slab_count.load(relaxed) - 1;
  if (static_cast<int64_t>(index * kStacksPerSlab + g_next_in_slab) >= options().max_fibers) {
    fatal("more than MARLINE_MAX_FIBERS=%ld tasks are suspended at once: raise it, or create fewer blocking tasks at a time",
          static_cast<long>(options().max_fibers));
  }
  Stack stack = stack_at(index, g_next_in_slab++);
  GuardKind guard;
  install_guard(stack.low - page(), &guard);
  if (guard == GuardKind::kNone) {
    g_slabs[index].guard = GuardKind::kNone;
    *reinterpret_cast<uint64_t*>(stack.low) = kCanary;
  }
  return stack;
}

FreeStack* top_link(Stack stack) { return reinterpret_cast<FreeStack*>(stack.high) - 1; }

bool locate(const void* address, size_t* index, size_t* slot, size_t* offset) {
  auto at = reinterpret_cast<uintptr_t>(address);
  for (size_t i = g_slab_count.load(acquire); i-- > 0;) {
    auto base = reinterpret_cast<uintptr_t>(g_slabs[i].base);
    if (at < base || at >= base + pitch() * kStacksPerSlab) continue;
    *index = i;
    *slot = (at - base) / pitch();
    *offset = (at - base) % pitch();
    return true;
  }
  return false;
}

// glibc reads /proc/self/maps to find the first thread's stack. Where there is no /proc: its upper end, which the loader
// leaves in __libc_stack_end, and the limit on its size.
Stack stack_of_first_thread() {
  constexpr rlim_t kUnlimited = rlim_t{8} << 20;  // so much of an unlimited one can be counted on
  rlimit limit{};
  if (getrlimit(RLIMIT_STACK, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) limit.rlim_cur = kUnlimited;
  auto* high = static_cast<char*>(__libc_stack_end);
  return {high - limit.rlim_cur, high};
}

}  // namespace

SpinLock g_stacks_lock;

Stack stack_allocate() {
  Guard<SpinLock> guard(g_stacks_lock);
  if (g_free == nullptr) return cut_stack();
  FreeStack* link = g_free;
  g_free = link->next;
  size_t index, slot, offset;
  locate(link, &index, &slot, &offset);
  return stack_at(index, slot);
}

void stack_free(Stack stack) {
  Guard<SpinLock> guard(g_stacks_lock);
  FreeStack* link = top_link(stack);
  link->next = g_free;
  g_free = link;
}

bool canary_is_gone(const Stack& stack) {
  size_t index, slot, offset;
  if (!locate(stack.low, &index, &slot, &offset) || g_slabs[index].guard == GuardKind::kPage) return false;
  uint64_t word = *reinterpret_cast<const uint64_t*>(stack.low);
  return word != kCanary && word != 0;  // 0: this one of a mixed slab has a page
}

bool stack_of_guard(const void* address, Stack* stack) {
  size_t index, slot, offset;
  if (!locate(address, &index, &slot, &offset) || offset >= page()) return false;
  *stack = stack_at(index, slot);
  return true;
}

size_t stacks_mapped() { return g_slab_count.load(acquire) * kStacksPerSlab; }  // pairs with open_slab

Stack stack_number(size_t number) { return stack_at(number / kStacksPerSlab, number % kStacksPerSlab); }

Stack stack_of_thread() {
  pthread_attr_t attributes;
  void* low = nullptr;
  size_t size = 0;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0) return stack_of_first_thread();
  pthread_attr_getstack(&attributes, &low, &size);
  pthread_attr_destroy(&attributes);
  return {static_cast<char*>(low), static_cast<char*>(low) + size};
}

}  // namespace marline
