// SPDX-License-Identifier: Apache-2.0
//
// The dependences of marline.h for C++17: locators from lvalues, lists in braces, objects that destroy themselves.
// Contains only inline calls of marline.h, so its rules hold; exceptions are neither thrown nor caught.
#pragma once

#include <marline/marline.h>

#include <cstddef>
#include <initializer_list>
#include <utility>

namespace marline {

using dependence = marline_dependence_t;

template <class T>
dependence in(T& x) {
  return {const_cast<void*>(static_cast<const volatile void*>(&x)), MARLINE_IN};
}
template <class T>
dependence out(T& x) {
  return {&x, MARLINE_OUT};
}
template <class T>
dependence inout(T& x) {
  return {&x, MARLINE_INOUT};
}
template <class T>
dependence mutexinoutset(T& x) {
  return {&x, MARLINE_MUTEXINOUTSET};
}
template <class T>
dependence inoutset(T& x) {
  return {&x, MARLINE_INOUTSET};
}

// A list that is filtered once and used for any number of tasks, by any thread. Move-only; empty after a move.
class depend_object {
 public:
  depend_object() = default;
  depend_object(std::initializer_list<dependence> list) : depend_object(list.begin(), list.size()) {}
  depend_object(const dependence* list, std::size_t n) : object_(marline_depend_create(list, n)) {}
  // Takes the list of a container with data() and size(), std::vector for example.
  template <class Container, class = decltype(std::declval<const Container&>().data())>
  explicit depend_object(const Container& list) : depend_object(list.data(), list.size()) {}
  depend_object(depend_object&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  depend_object& operator=(depend_object&& other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  ~depend_object() { marline_depend_destroy(object_); }

  const marline_depend_object_t* get() const { return object_; }

 private:
  marline_depend_object_t* object_ = nullptr;
};

// Gives dependences to the next task that the current task creates.
inline void task_depend(std::initializer_list<dependence> list) { marline_task_depend(list.begin(), list.size()); }
inline void task_depend(const depend_object& object) { marline_task_depend_object(object.get()); }

// Gives dependences to each task of the next taskloop: calls f(first, count). f must live until the construct has been
// passed.
template <class F>
void taskloop_depend(F& f) {
  auto call = [](uint64_t first, uint64_t count, void* arg) { (*static_cast<F*>(arg))(first, count); };
  marline_taskloop_depend(call, &f);
}

}  // namespace marline
