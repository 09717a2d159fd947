// SPDX-License-Identifier: Apache-2.0
//
// Slabs of stacks, under one lock. Workers keep idle fibers of their own (exec/fiber/fiber.cpp), so the lock is taken
// when a program needs more fibers than before, not at each switch. Every step under it takes constant time: each slab
// has a word of bits, and the slabs with room, with nothing in use, with memory to give back and without a mapping are
// sets of numbers. The lowest stack with room is given first, so that slabs with high numbers empty and their memory
// can go back.
//
// Invariant: a slot is free or has one holder. A thread that gives memory back holds the slots while it does, without
// the lock.
#include "exec/fiber/stack.hpp"

#include "base/check.hpp"
#include "base/index_set.hpp"
#include "base/memory/memory_limit.hpp"
#include "base/sanitizer.hpp"
#include "base/spin_lock.hpp"
#include "../common/thread_id.h"
#include "config/options.hpp"

#include <pthread.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>

#ifndef MADV_GUARD_INSTALL
#define MADV_GUARD_INSTALL 102  // Linux 6.13, include/uapi/asm-generic/mman-common.h
#endif

extern "C" void* __libc_stack_end;

namespace marline {

Atomic<bool> g_light_guards{true};

namespace {

constexpr size_t kStacksPerSlab = 64;       // at most: one bit each
constexpr size_t kMaxSlabs = 1 << 15;       // two million stacks of suspended tasks; beyond it stack_allocate is fatal
constexpr size_t kShareOfRest = 16;         // a slab takes at most this part of the address space that is left
constexpr size_t kLeastStack = 256 * 1024;  // the least size, where stacks of the usual size cannot be mapped
constexpr size_t kGuardBudget = 8192;       // stacks with a mapped guard: two mappings each
// Slabs without a stack in use that are kept while the runtime has one thread.
constexpr size_t kEmptyAlone = 128;
constexpr size_t kTouchedWhileIdle = 1024;  // free stacks with memory that are kept when nobody has work
constexpr size_t kColours = 16;             // stack tops differ by up to this many times kColourStep
constexpr size_t kColourStep = 256;         // four cache lines
constexpr uint64_t kCanary = 0x6d61726c696e6531u;

// Bit i of a word is slot i. All fields are written under the lock; fields that are also read without it are atomic.
struct Slab {
  Atomic<char*> base;         // null: no mapping. Stays while a slot is in use
  Atomic<uint64_t> canaries;  // slots that have a canary instead of a guard
  uint64_t free;              // slots that no fiber has
  uint64_t touched;           // may hold memory
  uint64_t guarded;           // have their guard or canary
  Atomic<uint64_t> all;       // all slots of the slab
  Atomic<size_t> pitch;       // bytes from stack to stack
  bool from_arenas;           // malloc's memory: never unmapped
};

Slab g_slabs[kMaxSlabs];
Atomic<size_t> g_slab_count{
    0};  // one more than the highest number so far; release on growth, also read without the lock
size_t g_mapped_guards = 0;
size_t g_in_use = 0;               // stacks
size_t g_empty_slabs = 0;          // members of g_empty
Atomic<size_t> g_touched_free{0};  // free stacks that may hold memory; read without the lock as a hint
IndexSet<kMaxSlabs> g_with_room;   // slabs with a free slot
IndexSet<kMaxSlabs> g_empty;       // slabs with free slots only
IndexSet<kMaxSlabs> g_to_give;     // slabs with a free slot that may hold memory
IndexSet<kMaxSlabs> g_vacant;      // numbers below g_slab_count without a mapping

size_t page() {
  static const size_t bytes = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  return bytes;
}

// A stack and the guard page below it.
size_t pitch_for(size_t stack) { return ((stack + page() - 1) & ~(page() - 1)) + page(); }

uint64_t bit(size_t slot) { return uint64_t{1} << slot; }

size_t slab_bytes(const Slab& slab) {
  return static_cast<size_t>(std::popcount(slab.all.load(relaxed))) * slab.pitch.load(relaxed);
}

// Puts the slab into the right sets after a change of its words.
void file_slab(size_t index) {
  const Slab& slab = g_slabs[index];
  slab.free != 0 ? g_with_room.insert(index) : g_with_room.erase(index);
  (slab.free & slab.touched) != 0 ? g_to_give.insert(index) : g_to_give.erase(index);
  const bool empty = slab.free != 0 && slab.free == slab.all.load(relaxed);
  if (empty == g_empty.contains(index)) return;
  empty ? g_empty.insert(index) : g_empty.erase(index);
  g_empty_slabs += empty ? 1 : size_t{0} - 1;
}

// The memory of a new slab.
struct Found {
  char* base;  // null: nothing is left
  size_t pitch;
  size_t count;
  bool from_arenas;
};

// Maps stacks of `most` bytes in all, or fewer if there is less address space, down to one stack.
Found map_stacks(size_t pitch, size_t most) {
  for (size_t count = std::clamp<size_t>(most / pitch, 1, kStacksPerSlab); count > 0; count /= 2) {
    void* base = mmap(nullptr, count * pitch, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
    if (base != MAP_FAILED) return {static_cast<char*>(base), pitch, count, false};
  }
  return {};
}

void say_smaller_stacks(size_t stack) {
  static bool said = false;  // under the lock
  if (said) return;
  said = true;
  warn(
      "too little address space is left for tasks' stacks of %zu KiB%s: some have %zu KiB or less; set a smaller "
      "OMP_STACKSIZE or OMP_NUM_THREADS, or raise the limit",
      options().fiber_stacksize / 1024, AddressSpaceText().c_str(), stack / 1024);
}

// Under a limit, the program needs address space, too. The less is left, the fewer stacks a slab has; after that its
// stacks get smaller: few tasks need all of a stack of the usual size, but every task needs a stack.
Found find_stacks() {
  size_t stack = options().fiber_stacksize;
  const size_t most = address_space_left() / kShareOfRest;
  while (stack > most && stack / 2 >= kLeastStack) stack /= 2;
  Found found = map_stacks(pitch_for(stack), most);
  while (found.base == nullptr && stack / 2 >= kLeastStack) {
    stack /= 2;
    found = map_stacks(pitch_for(stack), most);
  }
  if (found.base == nullptr) {
    const size_t pitch = pitch_for(stack);
    found = {static_cast<char*>(last_memory(pitch, page())), pitch, 1, true};
  }
  if (found.base != nullptr && stack != options().fiber_stacksize) say_smaller_stacks(stack);
  return found;
}

[[noreturn]] void out_of_stacks(int error) {
  fatal(
      "cannot map stacks for more than %zu suspended tasks of %zu KiB each: %s%s; set a smaller OMP_STACKSIZE or "
      "MARLINE_STACKSIZE, or raise the limits on address space and vm.max_map_count",
      g_in_use, options().fiber_stacksize / 1024, std::strerror(error), AddressSpaceText().c_str());
}

// Under the lock.
size_t open_slab() {
  size_t index = g_vacant.first();
  if (index == g_vacant.kNone) index = g_slab_count.load(relaxed);
  errno = ENOMEM;
  const Found found = index < kMaxSlabs ? find_stacks() : Found{};
  if (found.base == nullptr) out_of_stacks(errno);
  madvise(found.base, found.count * found.pitch, MADV_NOHUGEPAGE);  // fails only where there are no huge pages
  Slab& slab = g_slabs[index];
  slab.free = found.count == 64 ? ~uint64_t{0} : bit(found.count) - 1;
  slab.all.store(slab.free, relaxed);
  slab.pitch.store(found.pitch, relaxed);
  slab.touched = slab.guarded = 0;
  slab.from_arenas = found.from_arenas;
  slab.canaries.store(0, relaxed);
  slab.base.store(found.base, release);  // pairs with locate and stack_number
  g_vacant.erase(index);
  if (index == g_slab_count.load(relaxed))
    g_slab_count.store(index + 1, release);  // pairs with locate and stack_numbers
  file_slab(index);
  return index;
}

// The stack in slot `slot` of slab `index`, which lies at `base`.
Stack stack_at(char* base, size_t index, size_t slot) {
  const size_t pitch = g_slabs[index].pitch.load(relaxed);
  char* guard = base + slot * pitch;
  size_t number = index * kStacksPerSlab + slot;
  return {guard + page(), guard + pitch - number % kColours * kColourStep, number};
}

// Called by the stack's holder, without the lock, because madvise is a system call. False: the kernel has no
// lightweight guards.
bool install_light_guard(const Stack& stack) {
  if (!g_light_guards.load(relaxed)) return false;
  if (madvise(stack.low - page(), page(), MADV_GUARD_INSTALL) == 0) return true;
  g_light_guards.store(false, relaxed);
  return false;
}

void install_other_guard(const Stack& stack) {
  Guard<SpinLock> guard(g_stacks_lock);
  if (g_mapped_guards < kGuardBudget && mprotect(stack.low - page(), page(), PROT_NONE) == 0) {
    ++g_mapped_guards;
    return;
  }
  g_slabs[stack.number / kStacksPerSlab].canaries.fetch_or(bit(stack.number % kStacksPerSlab), relaxed);
}

bool has_canary(const Stack& stack) {
  const Slab& slab = g_slabs[stack.number / kStacksPerSlab];
  return (slab.canaries.load(relaxed) & bit(stack.number % kStacksPerSlab)) != 0;
}

// Takes the lowest free stack. `fresh`: it has no guard yet.
Stack take_lowest(bool* fresh) {
  Guard<SpinLock> guard(g_stacks_lock);
  if (static_cast<int64_t>(g_in_use) >= options().max_fibers) {
    fatal(
        "more than MARLINE_MAX_FIBERS=%ld tasks are suspended at once: raise it, or create fewer blocking tasks at a "
        "time",
        static_cast<long>(options().max_fibers));
  }
  size_t index = g_with_room.first();
  if (index == g_with_room.kNone) index = open_slab();
  Slab& slab = g_slabs[index];
  auto slot = static_cast<size_t>(std::countr_zero(slab.free));
  *fresh = (slab.guarded & bit(slot)) == 0;
  if ((slab.touched & bit(slot)) != 0) g_touched_free.fetch_sub(1, relaxed);
  slab.free &= ~bit(slot);
  slab.touched |= bit(slot);
  slab.guarded |= bit(slot);
  ++g_in_use;
  file_slab(index);
  return stack_at(slab.base.load(relaxed), index, slot);
}

// Unused stacks with memory that is about to go back to the system. Meanwhile their slots are not free.
struct Surplus {
  size_t index;
  uint64_t slots;  // 0: there is none
  bool whole;      // all of a slab
};

// Under the lock.
Surplus take_surplus(size_t index) {
  Slab& slab = g_slabs[index];
  const bool whole =
      slab.free == slab.all.load(relaxed) && !slab.from_arenas && !g_sanitized;  // a sanitizer's shadow would stay
  const uint64_t slots = whole ? slab.all.load(relaxed) : slab.free & slab.touched;
  g_touched_free.fetch_sub(static_cast<size_t>(std::popcount(slots & slab.touched)), relaxed);
  slab.free &= ~slots;
  file_slab(index);
  return {index, slots, whole};
}

// Under the lock. The slab is unmapped, and its guards with it.
void forget_slab(size_t index) {
  Slab& slab = g_slabs[index];
  if (!g_light_guards.load(relaxed)) {
    const auto others = static_cast<size_t>(std::popcount(slab.guarded & ~slab.canaries.load(relaxed)));
    g_mapped_guards -= std::min(g_mapped_guards, others);  // lightweight guards may be among them
  }
  slab.touched = slab.guarded = 0;
  slab.all.store(0, relaxed);
  slab.base.store(nullptr, relaxed);
  g_vacant.insert(index);
}

// Without the lock. The guards stay: MADV_DONTNEED does not remove them. Unmapping fails where it would split a mapping
// and the process has too many mappings.
void give_back(const Surplus& surplus) {
  Slab& slab = g_slabs[surplus.index];
  char* base = slab.base.load(relaxed);
  const size_t pitch = slab.pitch.load(relaxed);
  const bool gone = surplus.whole && munmap(base, slab_bytes(slab)) == 0;
  for (uint64_t left = gone ? 0 : surplus.slots; left != 0; left &= left - 1) {
    auto slot = static_cast<size_t>(std::countr_zero(left));
    madvise(base + slot * pitch + page(), pitch - page(), MADV_DONTNEED);
  }
  Guard<SpinLock> guard(g_stacks_lock);
  if (gone) return forget_slab(surplus.index);
  slab.free |= surplus.slots;
  slab.touched &= ~surplus.slots;
  file_slab(surplus.index);
}

// The slab that an address lies in. Async-signal-safe.
bool locate(const void* address, size_t* index, char** base_found) {
  auto at = reinterpret_cast<uintptr_t>(address);
  for (size_t i = g_slab_count.load(acquire); i-- > 0;) {  // pairs with open_slab
    auto base = reinterpret_cast<uintptr_t>(g_slabs[i].base.load(acquire));
    if (base == 0 || at < base || at >= base + slab_bytes(g_slabs[i])) continue;
    *index = i;
    *base_found = reinterpret_cast<char*>(base);
    return true;
  }
  return false;
}

// Where the first thread's stack really ends. The kernel copies the program's file name there first, below one null
// pointer (bprm_mm_init and do_execveat_common in Linux's fs/exec.c), and AT_EXECFN says where that is.
uintptr_t top_of_first_stack() {
  const auto* name = reinterpret_cast<const char*>(getauxval(AT_EXECFN));
  if (name == nullptr) return 0;
  return (reinterpret_cast<uintptr_t>(name) + std::strlen(name) + 1 + sizeof(void*) + page() - 1) & ~(page() - 1);
}

// Computes what pthread_getattr_np returns for the first thread. That function reads /proc/self/maps line by line,
// which takes 0.1 ms of a program's first region. False where more must be known: on other threads, in emulators, and
// where a mapping may lie within the limit (the kernel keeps 128 MiB free, MIN_GAP in arch/x86/mm/mmap.c and
// mm/util.c).
bool know_first_stack(Stack* stack) {
  constexpr rlim_t kKeptFree = rlim_t{128} << 20;
  rlimit limit{};
  if (thread_id() != getpid() || getrlimit(RLIMIT_STACK, &limit) != 0 || limit.rlim_cur > kKeptFree) return false;
  const uintptr_t top = top_of_first_stack();
  const auto begin = reinterpret_cast<uintptr_t>(__libc_stack_end);
  const auto here = reinterpret_cast<uintptr_t>(__builtin_frame_address(0));
  const uintptr_t low = top - (limit.rlim_cur & ~(page() - 1));
  if (here < low || here >= begin || begin >= top) return false;  // after fork, the first thread may have another stack
  *stack = {reinterpret_cast<char*>(low), reinterpret_cast<char*>((begin & ~(page() - 1)) + page())};
  return true;
}

// Where there is no /proc: the stack's upper end, which the loader leaves in __libc_stack_end, and the limit on its
// size.
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
  bool fresh = false;
  Stack stack = take_lowest(&fresh);
  if (fresh && !install_light_guard(stack)) install_other_guard(stack);
  if (has_canary(stack)) [[unlikely]]
    *reinterpret_cast<uint64_t*>(stack.low) = kCanary;
  return stack;
}

void stack_free(Stack stack, bool alone) {
  const size_t index = stack.number / kStacksPerSlab;
  Surplus surplus{index, 0, false};
  {
    Guard<SpinLock> guard(g_stacks_lock);
    g_slabs[index].free |= bit(stack.number % kStacksPerSlab);
    g_touched_free.fetch_add(1, relaxed);
    --g_in_use;
    file_slab(index);
    // Memory is kept for the next burst of tasks, because new stacks cost page faults. A thread that falls asleep gives
    // it back.
    if (alone && g_empty_slabs > kEmptyAlone && g_empty.contains(index)) surplus = take_surplus(index);
  }
  if (surplus.slots != 0) give_back(surplus);
}

bool stacks_can_shrink() { return g_touched_free.load(relaxed) > kTouchedWhileIdle; }

bool stacks_shrink() {
  Surplus surplus{};
  {
    Guard<SpinLock> guard(g_stacks_lock);
    const size_t index = g_to_give.last();  // the lowest are given first, and keep their memory for that
    if (!stacks_can_shrink() || index == g_to_give.kNone) return false;
    surplus = take_surplus(index);
  }
  give_back(surplus);
  return true;
}

bool canary_is_gone(const Stack& stack) {
  if (stack.number == Stack::kOfThread || !has_canary(stack)) return false;
  return *reinterpret_cast<const uint64_t*>(stack.low) != kCanary;
}

bool stack_of_guard(const void* address, Stack* stack) {
  size_t index;
  char* base;
  if (!locate(address, &index, &base)) return false;
  const auto offset = static_cast<size_t>(static_cast<const char*>(address) - base);
  const size_t pitch = g_slabs[index].pitch.load(relaxed);
  if (offset % pitch >= page()) return false;
  *stack = stack_at(base, index, offset / pitch);
  return true;
}

size_t stack_numbers() { return g_slab_count.load(acquire) * kStacksPerSlab; }  // pairs with open_slab

bool stack_number(size_t number, Stack* stack) {
  const Slab& slab = g_slabs[number / kStacksPerSlab];
  char* base = slab.base.load(acquire);  // pairs with open_slab
  if (base == nullptr || (slab.all.load(relaxed) & bit(number % kStacksPerSlab)) == 0) return false;
  *stack = stack_at(base, number / kStacksPerSlab, number % kStacksPerSlab);
  return true;
}

bool stack_is_first(const Stack& stack) {
  const auto* end = static_cast<const char*>(__libc_stack_end);
  return stack.low <= end && end < stack.high;
}

Stack stack_of_thread(pthread_t thread) {
  Stack first{};
  if (pthread_equal(thread, pthread_self()) != 0 && know_first_stack(&first)) return first;
  pthread_attr_t attributes;
  void* low = nullptr;
  size_t size = 0;
  const bool first_own = getpid() == thread_id() && pthread_equal(thread, pthread_self()) != 0;
  if (pthread_getattr_np(thread, &attributes) != 0) return first_own ? stack_of_first_thread() : Stack{};
  pthread_attr_getstack(&attributes, &low, &size);
  pthread_attr_destroy(&attributes);
  return {static_cast<char*>(low), static_cast<char*>(low) + size};
}

}  // namespace marline
