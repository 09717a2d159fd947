// SPDX-License-Identifier: Apache-2.0
//
// The entry points of Clang's code for interoperability objects (OpenMP 5.2, chapter 14 and 18.12), and those of LLVM
// 22 and later (InteropAPI.h): the same with preferences, and for dispatch. A device that runs its kernels on this
// processor has no foreign runtime. An object for such a device only holds the device's number and is always ready:
// when a task has ended, so have its constructs on the device. For devices of libomptarget, libomptarget makes the
// objects and answers the questions about them. Its `use` and `destroy` do not wait for what the program has put into
// an object's stream, so this file does: tasks that depend on the construct come after it. From LLVM 22 on both wait by
// a function of the plugin that CUDA's does not have, and end the program. So objects of these versions are kept
// instead of destroyed, and `use` is called in no version: all that it would do has been done here.
#include "abi/clang/interop_object.hpp"
#include "base/report.hpp"
#include "device/libomptarget/cuda/cuda_copy.hpp"
#include "device/libomptarget/libomptarget.hpp"
#include "abi/omp/dependences.hpp"
#include "registry/registry.hpp"

#include <cstdint>
#include <cstdlib>

extern "C" void* omp_get_interop_ptr(const void* object, int property, int* code);

namespace marline::offload::abi {

using namespace device;
using namespace registry;

namespace {

// omp_interop_property_t and omp_interop_rc_t, as in omp.h.
constexpr int kDeviceNumber = -5, kContext = -8, kStream = -9, kFirstProperty = -9;
constexpr int kNoValue = 1, kSuccess = 0, kEmpty = -1, kOutOfRange = -2, kTypeInt = -3, kOther = -6;

// OFFLOAD_SUCCESS and OFFLOAD_FAIL of LLVM's omptarget.h.
constexpr int kDone = 0, kFailed = -1;

// How a construct is called from LLVM 22 on: interop_ctx_t, dep_pack_t. Nobody uses another version than 0 yet.
struct Context {
  uint32_t version;
  uint32_t flags;  // bit 0: the object is for a dispatch construct that names none; bit 1: nowait
  int thread;
};
struct Dependences {
  int32_t count;
  void* list;
  int32_t other_count;
  void* others;
};
constexpr uint32_t kForDispatch = 1, kNowait = 2;
constexpr int kTypeOfInit = 1;  // __tgt_interop_init has target as 1, and __tgt_interop_get as 0

template <class Function>
Function llvm(Function, const char* name) {
  void* routine = llvm_routine(name);
  if (routine == nullptr)
    fatal("this libomptarget has no %s: interoperability objects need that of LLVM 19 or later", name);
  return reinterpret_cast<Function>(routine);
}

void wait_for(const Dependences* dependences) {
  if (dependences == nullptr) return;
  wait_for_dependences(dependences->count, dependences->list);
  wait_for_dependences(dependences->other_count, dependences->others);
}

// Suspends until all that the program has put into the stream of libomptarget's object has ended. An object without
// targetsync has no stream. Then the object's callbacks run.
void await_stream(void* object, Device* device) {
  auto pointer = llvm(omp_get_interop_ptr, "omp_get_interop_ptr");
  int code = 0;
  void* stream = pointer(object, kStream, &code);
  const bool has_stream = code == kSuccess && stream != nullptr;
  do {
    if (has_stream) cuda_await_stream(stream, pointer(object, kContext, &code), device, "interop");
  } while (run_callbacks(object));
}

// The device of an object, as the device's library counts.
int number_of(const void* object) {
  Device* device = device_of_foreign_object(object);
  return device != nullptr ? llvm_number(device) : 0;
}

void set(int* code, int value) {
  if (code != nullptr) *code = value;
}

// The return code of a query that fails: there is no object, no such property, or no value of the type that the
// program asks for.
int refuse(const void* object, int property, bool is_int) {
  if (object == nullptr) return kEmpty;
  if (property >= 0 || property < kFirstProperty) return kOutOfRange;
  return property == kDeviceNumber && !is_int ? kTypeInt : kNoValue;
}

}  // namespace

extern "C" {
#pragma GCC visibility push(default)

void __tgt_interop_init(void* ident, int32_t thread, void** object, int32_t type, int32_t number, int32_t count,
                        void* list, int32_t nowait) {
  wait_for_dependences(count, list);
  Destination to = destination_of(number);
  Device* device = to.device;
  *object = nullptr;
  if (device == nullptr) return;
  prepare(device);
  if (device->kind->delegate == nullptr) {
    *object = make_object(to.number);
    return;
  }
  *object = take_kept_object(device, type);
  if (*object != nullptr) return;
  llvm(__tgt_interop_init, "__tgt_interop_init")(ident, thread, object, type, llvm_number(device), 0, nullptr, nowait);
  if (*object != nullptr) note_foreign_object(*object, device, type);
}

void __tgt_interop_use(void*, int32_t, void** object, int32_t, int32_t count, void* list, int32_t) {
  wait_for_dependences(count, list);
  if (Device* device = device_of_foreign_object(*object)) await_stream(*object, device);
}

void __tgt_interop_destroy(void* ident, int32_t thread, void** object, int32_t number, int32_t count, void* list,
                           int32_t nowait) {
  wait_for_dependences(count, list);
  if (Device* device = device_of_foreign_object(*object)) {
    await_stream(*object, device);
    const bool is_kept = llvm_routine("__tgt_interop_release") != nullptr;  // since LLVM 22
    if (is_kept) {
      keep_foreign_object(*object);
      *object = nullptr;
      return;
    }
    forget_foreign_object(*object);
    return llvm(__tgt_interop_destroy, "__tgt_interop_destroy")(ident, thread, object, number, 0, nullptr, nowait);
  }
  free_object(*object);
  *object = nullptr;
}

// An object of a dispatch construct is never released by the program. On a device of this library it is the device's
// only one; libomptarget's would have to be waited for at each taskwait.
void* __tgt_interop_get(void* ident, int32_t type, int64_t number, int32_t, void*, const Context* context,
                        const Dependences* dependences) {
  wait_for(dependences);
  Destination to = destination_of(number);
  if (to.device == nullptr) return nullptr;
  bool for_dispatch = (context->flags & kForDispatch) != 0;
  if (to.device->kind->delegate == nullptr) {
    prepare(to.device);
    return for_dispatch ? permanent_object(to.number) : make_object(to.number);
  }
  if (for_dispatch) {
    fatal(
        "dispatch on device %d needs an interoperability object, and none is given: make one (interop init) and name "
        "it in dispatch interop(...)",
        to.number);
  }
  void* object = nullptr;
  __tgt_interop_init(ident, context->thread, &object, type + kTypeOfInit, to.number, 0, nullptr,
                     (context->flags & kNowait) != 0);
  return object;
}

int __tgt_interop_use60(void* ident, void* object, const Context* context, const Dependences* dependences) {
  wait_for(dependences);
  if (object == nullptr) return kFailed;
  __tgt_interop_use(ident, context->thread, &object, number_of(object), 0, nullptr, (context->flags & kNowait) != 0);
  return kDone;
}

int __tgt_interop_release(void* ident, void* object, const Context* context, const Dependences* dependences) {
  wait_for(dependences);
  if (object == nullptr) return kFailed;
  __tgt_interop_destroy(ident, context->thread, &object, number_of(object), 0, nullptr,
                        (context->flags & kNowait) != 0);
  return kDone;
}

// The function is called when all that the object's stream holds has ended. Nothing is in flight for an object of this
// library.
int ompx_interop_add_completion_callback(void* object, CompletionCallback* function, void* data) {
  if (object == nullptr || function == nullptr) return kOther;
  if (as_ours(object) != nullptr) {
    function(object, data);
    return kSuccess;
  }
  return add_callback(object, function, data) ? kSuccess : kOther;
}

int omp_get_num_interop_properties(const void* object) {
  bool is_llvms = object != nullptr && as_ours(object) == nullptr;
  auto count =
      is_llvms ? reinterpret_cast<int (*)(const void*)>(llvm_routine("omp_get_num_interop_properties")) : nullptr;
  return count != nullptr ? count(object) : 0;  // 0: only the standard's properties, which LLVM 19 does not count
}

intptr_t omp_get_interop_int(const void* object, int property, int* code) {
  const Object* ours = as_ours(object);
  if (object != nullptr && ours == nullptr) {
    return llvm(omp_get_interop_int, "omp_get_interop_int")(object, property, code);
  }
  bool known = ours != nullptr && property == kDeviceNumber;
  set(code, known ? kSuccess : refuse(object, property, true));
  return known ? ours->device : 0;
}

void* omp_get_interop_ptr(const void* object, int property, int* code) {
  if (object != nullptr && as_ours(object) == nullptr) {
    return llvm(omp_get_interop_ptr, "omp_get_interop_ptr")(object, property, code);
  }
  set(code, refuse(object, property, false));
  return nullptr;
}

const char* omp_get_interop_str(const void* object, int property, int* code) {
  if (object != nullptr && as_ours(object) == nullptr) {
    return llvm(omp_get_interop_str, "omp_get_interop_str")(object, property, code);
  }
  set(code, refuse(object, property, false));
  return nullptr;
}

#pragma GCC visibility pop
}  // extern "C"

}  // namespace marline::offload::abi
