// SPDX-License-Identifier: Apache-2.0
//
// Lists of objects under one lock: a program has few of them.
#include "abi/clang/interop_object.hpp"

#include "base/forks.hpp"
#include "base/intrusive_list.hpp"
#include "base/list.hpp"
#include "base/lock.hpp"
#include "base/make.hpp"

#include <utility>

#include <unistd.h>

namespace marline::offload::abi {

namespace {

// First word of this library's objects; libomptarget's objects begin with small numbers.
constexpr uint64_t kMark = 0x6d61726c696e6521;

struct Callback {
  CompletionCallback* function;
  void* data;
};

struct Foreign {
  void* object;
  Device* device;
  int32_t type;
  pid_t process = getpid();  // a fork's child has no contexts and streams
  List<Callback> callbacks{};
  Foreign* next = nullptr;
};

Lock g_lock;
const HeldAcrossForks g_held(g_lock, ForkOrder::kInterop);
IntrusiveList<Object> g_permanent;
IntrusiveList<Foreign> g_foreign;
IntrusiveList<Foreign> g_kept;  // as many as the program has had at the same time

// Under the lock.
Foreign* find(const void* object) {
  for (Foreign* one : g_foreign) {
    if (one->object == object) return one;
  }
  return nullptr;
}

}  // namespace

const Object* as_ours(const void* object) {
  auto* ours = static_cast<const Object*>(object);
  return ours != nullptr && ours->mark == kMark ? ours : nullptr;
}

Object* make_object(int device) { return make<Object>("an interoperability object", kMark, device, false, nullptr); }

Object* permanent_object(int device) {
  Guard guard(g_lock);
  for (Object* one : g_permanent) {
    if (one->device == device) return one;
  }
  Object* object = make_object(device);
  object->is_permanent = true;
  g_permanent.push(object);
  return object;
}

void free_object(void* object) {
  const Object* ours = as_ours(object);
  if (ours != nullptr && !ours->is_permanent) std::free(object);
}

void note_foreign_object(void* object, Device* device, int32_t type) {
  auto* noted = make<Foreign>("an interoperability object", object, device, type);
  Guard guard(g_lock);
  g_foreign.push(noted);
}

Device* device_of_foreign_object(const void* object) {
  if (object == nullptr || as_ours(object) != nullptr) return nullptr;
  Guard guard(g_lock);
  Foreign* found = find(object);
  return found != nullptr ? found->device : nullptr;
}

void forget_foreign_object(void* object) {
  Foreign* found;
  {
    Guard guard(g_lock);
    found = find(object);
    if (found != nullptr) g_foreign.remove(found);
  }
  if (found != nullptr) destroy(found);
}

void keep_foreign_object(void* object) {
  Guard guard(g_lock);
  Foreign* found = find(object);
  if (found == nullptr) return;
  g_foreign.remove(found);
  g_kept.push(found);
}

void* take_kept_object(Device* device, int32_t type) {
  Guard guard(g_lock);
  for (Foreign* one : g_kept) {
    if (one->device != device || one->type != type || one->process != getpid()) continue;
    g_kept.remove(one);
    g_foreign.push(one);
    return one->object;
  }
  return nullptr;
}

bool add_callback(void* object, CompletionCallback* function, void* data) {
  Guard guard(g_lock);
  Foreign* found = find(object);
  if (found == nullptr) return false;
  found->callbacks.push({function, data});
  return true;
}

bool run_callbacks(void* object) {
  List<Callback> due;
  {
    Guard guard(g_lock);
    Foreign* found = find(object);
    if (found == nullptr) return false;
    found->callbacks.swap(due);
  }
  for (const Callback& one : due) one.function(object, one.data);
  return !due.is_empty();
}

}  // namespace marline::offload::abi
