// SPDX-License-Identifier: Apache-2.0
//
// The atomic construct (OpenMP 5.2, section 15.8.4) on objects of the program, for compilers that leave it to the
// runtime. Any thread. Integers and reals of up to eight bytes are updated without a lock, as compilers do it inline.
// All other objects are updated under g_atomic_lock. GCC's code takes the same lock (GOMP_atomic_start) where it has no
// instruction, so that code of several compilers can share an object. The objects under the lock are:
//   - objects longer than eight bytes: an instruction for 16 needs support by the processor and an alignment by the
//     program, and neither is certain;
//   - complex numbers of eight bytes: the program aligns them to four, so GCC locks;
//   - objects that are not aligned as the processor requires.
// Under the lock, an object is still updated by an instruction where there is one: __kmpc_atomic_8 cannot know that its
// eight bytes are a complex number.
//
// Memory order: the entry points do not know the construct's clause, so they provide the strongest order. `seq_cst`
// requires one order of all such constructs; with acquire and release, two threads could each miss the other's write.
// Hence each lock-free access is seq_cst, and pairs with every other one. Programs with only locks and seq_cst atomics
// are sequentially consistent (C++20, [atomics.order]), so accesses under the lock need nothing beyond the lock.
#pragma once

#include "base/atomic.hpp"
#include "construct/sync/mutex.hpp"

#include <cstring>
#include <type_traits>

namespace marline {

// Holds the lock of atomics during its life, if `needed`.
class [[nodiscard]] AtomicSection {
 public:
  AtomicSection(bool needed, const void* codeptr) : codeptr_(codeptr), needed_(needed) {
    if (needed_) mutex_acquire(g_atomic_lock, tool::Mutex::kAtomic, 0, codeptr_);
  }
  ~AtomicSection() {
    if (needed_) mutex_release(g_atomic_lock, tool::Mutex::kAtomic, codeptr_);
  }
  AtomicSection(const AtomicSection&) = delete;
  AtomicSection& operator=(const AtomicSection&) = delete;

 private:
  const void* codeptr_;
  bool needed_;
};

template <class T>
inline constexpr bool kFitsWord = sizeof(T) <= sizeof(uint64_t);

template <class T>
inline bool is_aligned(const T* address) {
  return reinterpret_cast<uintptr_t>(address) % sizeof(T) == 0;
}

// Whether the instructions of AtomicBits are atomic on the object.
template <class T>
inline bool has_instructions(const T* address) {
#if defined(__x86_64__)
  static_cast<void>(address);
  return kFitsWord<T>;  // locked instructions are atomic at any address (Intel SDM 3A, section 9.1.2.2)
#else
  return kFitsWord<T> && is_aligned(address);
#endif
}

template <class T>
inline bool needs_lock(const T* address) {
  return !std::is_arithmetic_v<T> || !has_instructions(address);
}

// Accesses an object by the processor's instructions, which move bits of any type.
template <class T>
class AtomicBits {
  using Word = std::conditional_t<
      sizeof(T) == 1, uint8_t,
      std::conditional_t<sizeof(T) == 2, uint16_t, std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>>>;
  static_assert(sizeof(Word) == sizeof(T));

 public:
  explicit AtomicBits(T* address) : address_(address) {}

  T load() const {
    if (is_aligned(address_)) return value_of(word().load(seq_cst));
    return compare_exchange(T{}, T{});  // a plain load could be split in two; this is a locked instruction
  }
  T exchange(T value) const { return value_of(word().exchange(bits_of(value), seq_cst)); }
  T fetch_add(T value) const { return value_of(word().fetch_add(bits_of(value), seq_cst)); }

  // Returns the value before.
  T compare_exchange(T expected, T desired) const {
    Word seen = bits_of(expected);
    word().compare_exchange_strong(seen, bits_of(desired), seq_cst, seq_cst);
    return value_of(seen);
  }

  // Replaces the value by function(value). Returns the value before.
  template <class Function>
  T update(Function function) const {
    // relaxed, as after a failed attempt: the exchange compares the value again.
    Word seen = word().load(relaxed);
    while (!word().compare_exchange_weak(seen, bits_of(function(value_of(seen))), seq_cst, relaxed)) {
    }
    return value_of(seen);
  }

 private:
  AtomicRef<Word> word() const { return AtomicRef<Word>(*reinterpret_cast<Word*>(address_)); }

  static Word bits_of(T value) {
    Word bits;
    std::memcpy(&bits, &value, sizeof bits);
    return bits;
  }
  static T value_of(Word bits) {
    T value;
    std::memcpy(&value, &bits, sizeof value);
    return value;
  }

  T* address_;
};

// The functions below return the value before. They are inlined into the entry point so that tools get its return
// address as the position of the atomic construct.

template <class T>
[[gnu::always_inline]] inline T atomic_read(T* address) {
  AtomicSection section(needs_lock(address), __builtin_return_address(0));
  if constexpr (kFitsWord<T>) {
    if (has_instructions(address)) return AtomicBits<T>(address).load();
  }
  return *address;
}

template <class T>
[[gnu::always_inline]] inline T atomic_exchange(T* address, T value) {
  AtomicSection section(needs_lock(address), __builtin_return_address(0));
  if constexpr (kFitsWord<T>) {
    if (has_instructions(address)) return AtomicBits<T>(address).exchange(value);
  }
  T before = *address;
  *address = value;
  return before;
}

// The new value is function(the value before); the function may be called several times.
template <class T, class Function>
[[gnu::always_inline]] inline T atomic_update(T* address, Function function) {
  AtomicSection section(needs_lock(address), __builtin_return_address(0));
  if constexpr (kFitsWord<T>) {
    if (has_instructions(address)) return AtomicBits<T>(address).update(function);
  }
  T before = *address;
  *address = function(before);
  return before;
}

// For integers, which wrap around.
template <class T>
[[gnu::always_inline]] inline T atomic_add(T* address, T value) {
  AtomicSection section(needs_lock(address), __builtin_return_address(0));
  if (has_instructions(address)) return AtomicBits<T>(address).fetch_add(value);
  T before = *address;
  *address = static_cast<T>(static_cast<uint64_t>(before) + static_cast<uint64_t>(value));
  return before;
}

template <class T>
[[gnu::always_inline]] inline T atomic_compare_exchange(T* address, T expected, T desired) {
  AtomicSection section(needs_lock(address), __builtin_return_address(0));
  if (has_instructions(address)) return AtomicBits<T>(address).compare_exchange(expected, desired);
  T before = *address;
  if (before == expected) *address = desired;
  return before;
}

}  // namespace marline
