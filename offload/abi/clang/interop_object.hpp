// SPDX-License-Identifier: Apache-2.0
//
// Which interoperability objects there are. An object of this library is a device's number, and never changes. Of each
// object of libomptarget's, this library knows the device, and the functions that are to be called when its stream is
// empty. Any thread; of the calls about one object, only additions of callbacks may be concurrent.
#pragma once

#include "device/contract/device.hpp"

#include <cstdint>

namespace marline::offload::abi {

using namespace device;

struct Object {
  uint64_t mark;
  int device;
  bool is_permanent;
  Object* next;  // of the permanent objects
};

// Null: the object is none, or libomptarget's.
[[nodiscard]] const Object* as_ours(const void* object);

[[nodiscard]] Object* make_object(int device);
// The one that is never freed, of the device.
[[nodiscard]] Object* permanent_object(int device);
// Of this library, or null.
void free_object(void* object);

using CompletionCallback = void(void* object, void* data);

void note_foreign_object(void* object, Device* device, int32_t type);
// Null: it is not one that libomptarget has made for this library.
[[nodiscard]] Device* device_of_foreign_object(const void* object);
void forget_foreign_object(void* object);
// Keeps a destroyed object for the next construct that makes one of its kind. Its stream is empty.
void keep_foreign_object(void* object);
[[nodiscard]] void* take_kept_object(Device* device, int32_t type);  // null: none is kept

// False: as above.
[[nodiscard]] bool add_callback(void* object, CompletionCallback* function, void* data);
// Calls the object's functions, in the order in which they came, and forgets them. They may add others, or fill the
// object's stream again. False: there were none.
bool run_callbacks(void* object);

}  // namespace marline::offload::abi
