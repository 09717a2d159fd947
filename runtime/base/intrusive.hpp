// SPDX-License-Identifier: Apache-2.0
//
// Containers with a link that is a member of the element: no allocation, and an element is in at most one container per
// link. A container never owns its elements.
#pragma once

#include "base/atomic.hpp"

namespace marline {

// A queue with a head and a tail. One thread at a time.
template <class T, T* T::* Next>
struct Fifo {
  T* head = nullptr;
  T* tail = nullptr;  // valid only while head is not null

  [[nodiscard]] bool empty() const { return head == nullptr; }

  void push_back(T* element) {
    element->*Next = nullptr;
    if (head == nullptr) {
      head = element;
    } else {
      tail->*Next = element;
    }
    tail = element;
  }

  void push_front(T* element) {
    element->*Next = head;
    if (head == nullptr) tail = element;
    head = element;
  }

  // Null if empty.
  T* pop_front() {
    T* element = head;
    if (element != nullptr) {
      head = element->*Next;
      element->*Next = nullptr;
    }
    return element;
  }

  // Appends all elements of `other`, in O(1); `other` is empty afterwards.
  void append(Fifo& other) {
    if (other.empty()) return;
    if (head == nullptr) {
      head = other.head;
    } else {
      tail->*Next = other.head;
    }
    tail = other.tail;
    other.head = nullptr;
  }
};

// Many threads push, any thread takes everything (Treiber 1986, with exchange instead of pop). A thread dereferences
// only elements that it has taken, and compares the head only to replace it by an element that points to it. So an
// element that was taken and pushed again in between (ABA) does no harm.
template <class T, T* T::* Next>
class MpscStack {
 public:
  // True if the stack was empty: the pusher that makes it non-empty notifies the consumer.
  bool push(T* element) { return push_chain(element, element); }

  // Pushes first -> ... -> last, linked by Next.
  bool push_chain(T* first, T* last) {
    T* head = head_.load(relaxed);
    do {
      last->*Next = head;
      // release pairs with the acquire in take_all: the thread that takes the elements sees their contents.
    } while (!head_.compare_exchange_weak(head, first, release, relaxed));
    return head == nullptr;
  }

  // The whole chain, newest first, or null.
  T* take_all() {
    if (head_.load(relaxed) == nullptr) return nullptr;
    return head_.exchange(nullptr, acquire);
  }

  // seq_cst, so that it can be the re-check of a sleep protocol if the pusher uses fence_seq_cst.
  [[nodiscard]] bool empty() const { return head_.load(seq_cst) == nullptr; }

 private:
  Atomic<T*> head_{nullptr};  // written by pushers (CAS) and takers (exchange)
};

// Reverses a chain, for example of take_all: the oldest element comes first.
template <class T, T* T::* Next>
T* reversed(T* chain) {
  T* result = nullptr;
  while (chain != nullptr) {
    T* next = chain->*Next;
    chain->*Next = result;
    result = chain;
    chain = next;
  }
  return result;
}

}  // namespace marline
