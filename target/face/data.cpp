// SPDX-License-Identifier: Apache-2.0
//
// target data, enter data, exit data and update, as Clang's code calls them. With nowait they are the bodies of target
// tasks; the dependences that some versions pass along have been waited for by then, so the rest is the same. (14 and 16
// pass fewer arguments to these: what is behind `mappers` is not looked at.)
#include "device/devices.hpp"
#include "mapping/mapping.hpp"

namespace marline::target {

namespace {


template <void (Mapping::*kDo)(const Items&)>
void construct(int64_t number, int32_t count, void** bases, void** begins, int64_t* sizes, int64_t* types,
               void** mappers) {
  Device* device = device_for_construct(number);
  if (device == nullptr) return;
  prepare(device);
  (device->mapping->*kDo)({count, bases, begins, sizes, reinterpret_cast<const uint64_t*>(types), mappers});
}

}  // namespace

extern "C" {
#pragma GCC visibility push(default)

void __tgt_target_data_begin_mapper(void*, int64_t device, int32_t count, void** bases, void** begins, int64_t* sizes,
                                    int64_t* types, void**, void** mappers) {
  construct<&Mapping::begin>(device, count, bases, begins, sizes, types, mappers);
}
void __tgt_target_data_begin_nowait_mapper(void*, int64_t device, int32_t count, void** bases, void** begins,
                                           int64_t* sizes, int64_t* types, void**, void** mappers) {
  construct<&Mapping::begin>(device, count, bases, begins, sizes, types, mappers);
}
void __tgt_target_data_end_mapper(void*, int64_t device, int32_t count, void** bases, void** begins, int64_t* sizes,
                                  int64_t* types, void**, void** mappers) {
  construct<&Mapping::end>(device, count, bases, begins, sizes, types, mappers);
}
void __tgt_target_data_end_nowait_mapper(void*, int64_t device, int32_t count, void** bases, void** begins,
                                         int64_t* sizes, int64_t* types, void**, void** mappers) {
  construct<&Mapping::end>(device, count, bases, begins, sizes, types, mappers);
}
void __tgt_target_data_update_mapper(void*, int64_t device, int32_t count, void** bases, void** begins, int64_t* sizes,
                                     int64_t* types, void**, void** mappers) {
  construct<&Mapping::update>(device, count, bases, begins, sizes, types, mappers);
}
void __tgt_target_data_update_nowait_mapper(void*, int64_t device, int32_t count, void** bases, void** begins,
                                            int64_t* sizes, int64_t* types, void**, void** mappers) {
  construct<&Mapping::update>(device, count, bases, begins, sizes, types, mappers);
}

#pragma GCC visibility pop
}  // extern "C"

}  // namespace marline::target
