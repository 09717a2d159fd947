// SPDX-License-Identifier: Apache-2.0
//
// A parking lot: tasks wait here for a change of a word in memory that has no room for a list of waiters (a 4-byte
// omp_lock_t, the turn of an ordered loop, the posts of a doacross loop). A waiter is in a bucket, which the word's
// address selects, with an Event on its own stack. Waiters are suspended, so they block no thread, even if
// the task that will write the word is suspended.
//
// Invariant: a Parked is in its bucket exactly from push to removal, both under the bucket's lock; the thread that
// removes it fulfils its event, after releasing the lock, and does not access it again.
//
// Any number of tasks may wait, for one word or for a word each: what a wake-up costs does not grow with the waiters of
// the same word, and with the logarithm of the number of words that are waited for.
//
// The forking thread holds the buckets' locks across fork, so no lock stays held in the child.
//
// A wait may have a second way to end: a count that is raised (interrupt) when the word may never change any more.
#pragma once

#include "base/intrusive.hpp"
#include "base/spin_lock.hpp"
#include "task/event.hpp"

#include <cstdint>

namespace marline {

struct Worker;

// A count, and the value of it that the waiter read before it found that it must wait. No count: the wait cannot be
// interrupted.
struct Interruption {
  const Atomic<uint64_t>* count = nullptr;
  uint64_t seen = 0;
};

struct Parked {
  Event event;
  const void* key = nullptr;
  uint64_t value = 0;
  Interruption interruption;
  Parked* next = nullptr;  // the next waiter for the same word
  Parked* last = nullptr;  // of a word's first waiter: the word's last waiter
  Parked* below[2] = {};   // of a word's first waiter: its two subtrees
};

using ParkedList = Fifo<Parked, &Parked::next>;

// Waiters by word; the waiters for one word are in the order in which they came. The first of each word is a node of a
// digital search tree (Coffman and Eve, 1970): on level n the n-th bit of the key's hash chooses the side. The hash is
// a bijection, so the tree is never deeper than it has bits, and with random bits about as deep as the logarithm of its
// size. One thread at a time.
class ParkedTree {
 public:
  void push(Parked* parked);

  // The longest waiter of `key`, or null; `*more`: there is another one.
  Parked* take_first(const void* key, bool* more);

  // The waiters of `key` for which `is_due` holds, the longest-waiting first. Looks at all waiters of `key`: they wait
  // for a turn or a post, so they are threads of one team.
  template <class Due>
  ParkedList take_due(const void* key, Due is_due) {
    return divide(take_all(key), is_due);
  }

  // The same for every key. Looks at every waiter.
  template <class Due>
  ParkedList take_due(Due is_due) {
    return divide(take_all(), is_due);
  }

 private:
  ParkedList take_all(const void* key);
  ParkedList take_all();

  template <class Due>
  ParkedList divide(ParkedList all, Due is_due) {
    ParkedList due;
    while (Parked* parked = all.pop_front()) {
      if (is_due(*parked)) {
        due.push_back(parked);
      } else {
        push(parked);
      }
    }
    return due;
  }

  Parked** find(const void* key);  // the link to the first waiter of `key`, or the null link where it would be

  Parked* root_ = nullptr;
};

// The number of buckets spreads the locks only: threads that park for different words at a time rarely meet.
struct alignas(kCacheLine) ParkingBucket {
  SpinLock lock;
  Atomic<uint32_t> count{0};  // parked or about to be; written by waiters and removers, read by wakers
  ParkedTree waiting;
};

ParkingBucket& parking_bucket(const void* key);

void parking_before_fork();
void parking_after_fork();
void parking_after_fork_in_child();  // drops the waiters of threads that the child does not have

// Bounded spinning before a task parks: about a microsecond, none if MARLINE_SPIN is 0.
int spins_before_parking();

// Waits until `word` is at least `value`, which an `advance` must bring about. False: it was interrupted before.
bool wait_at_least(Atomic<uint64_t>& word, uint64_t value, Interruption interruption = {});

// Raises `word` to `value` and wakes the tasks that wait for that value or less; they see what was written before.
void advance(Atomic<uint64_t>& word, uint64_t value);

// If `word` is `from`, does the same as advance(word, value); otherwise does nothing. Several threads may call this for
// one word at a time, but advance only one thread at a time.
void advance_from(Atomic<uint64_t>& word, uint64_t from, uint64_t value);

// The same for a word of 64 flags: waits until one of `bits` is set, which a `set_bits` must bring about.
bool wait_for_bits(Atomic<uint64_t>& word, uint64_t bits, Interruption interruption = {});
void set_bits(Atomic<uint64_t>& word, uint64_t bits);

// Raises `count`, and wakes all tasks with waits that this count interrupts, in all buckets.
void interrupt(Atomic<uint64_t>& count);

}  // namespace marline
