// SPDX-License-Identifier: Apache-2.0
//
// The entry points of Clang's code for interoperability objects (OpenMP 5.2, chapter 14 and 18.12). A device that runs
// its kernels on this processor has no foreign runtime. An object for such a device only holds the device's number and
// is always ready: when a task has ended, so have its constructs on the device. For devices of libomptarget,
// libomptarget makes the objects and answers the questions about them. Its `use` and `destroy` do not wait for what the
// program has put into an object's stream, so this file does: tasks that depend on the construct come after it.
#include "base/make.hpp"
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
constexpr int kNoValue = 1, kSuccess = 0, kEmpty = -1, kOutOfRange = -2, kTypeInt = -3;

// First word of this library's objects; libomptarget's objects begin with small numbers.
constexpr uint64_t kMark = 0x6d61726c696e6521;

struct Object {
  uint64_t mark;
  int device;
};

const Object* as_ours(const void* object) {
  auto* ours = static_cast<const Object*>(object);
  return ours != nullptr && ours->mark == kMark ? ours : nullptr;
}

template <class Function>
Function llvm(Function, const char* name) {
  void* routine = llvm_routine(name);
  if (routine == nullptr)
    fatal("this libomptarget has no %s: interoperability objects need that of LLVM 19 or later", name);
  return reinterpret_cast<Function>(routine);
}

// Suspends until all that the program has put into the stream of libomptarget's object has ended. An object without
// targetsync has no stream.
void await_stream(void* object, int number) {
  auto pointer = llvm(omp_get_interop_ptr, "omp_get_interop_ptr");
  int code = 0;
  void* stream = pointer(object, kStream, &code);
  if (code != kSuccess || stream == nullptr) return;
  cuda_await_stream(stream, pointer(object, kContext, &code), destination_of(number).device, "interop");
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
  if (device->kind->delegate != nullptr) {
    return llvm(__tgt_interop_init, "__tgt_interop_init")(ident, thread, object, type, llvm_number(device), 0, nullptr,
                                                          nowait);
  }
  auto* made = make<Object>("an interoperability object");
  *made = {kMark, to.number};
  *object = made;
}

void __tgt_interop_use(void* ident, int32_t thread, void** object, int32_t number, int32_t count, void* list,
                       int32_t nowait) {
  wait_for_dependences(count, list);
  if (*object == nullptr || as_ours(*object) != nullptr) return;
  await_stream(*object, number);
  llvm(__tgt_interop_use, "__tgt_interop_use")(ident, thread, object, number, 0, nullptr, nowait);
}

void __tgt_interop_destroy(void* ident, int32_t thread, void** object, int32_t number, int32_t count, void* list,
                           int32_t nowait) {
  wait_for_dependences(count, list);
  if (*object != nullptr && as_ours(*object) == nullptr) {
    await_stream(*object, number);
    return llvm(__tgt_interop_destroy, "__tgt_interop_destroy")(ident, thread, object, number, 0, nullptr, nowait);
  }
  std::free(*object);
  *object = nullptr;
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
