// SPDX-License-Identifier: Apache-2.0
//
// The routines about devices and their memory (OpenMP 5.2, 18.7 and 18.8; 6.0, 24 and 25) where there are devices:
// libmarline's definitions, which programs meet first, lead here (version node VERS1.0, as libomptarget's). Copies between
// two devices go by way of the host in pieces, so that they take no memory of their size.
#include "base/report.hpp"
#include "device/kinds.hpp"
#include "device/llvm.hpp"
#include "device/tell.hpp"
#include "device/users_memory.hpp"
#include "face/dependences.hpp"
#include "mapping/devices.hpp"
#include "mapping/mapping.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>

namespace marline::target {

namespace {

constexpr size_t kPiece = 1 << 20;
constexpr int kMostDimensions = MARLINE_RECTANGLE_DIMENSIONS;
constexpr int kInvalidDevice = -2;

struct End {
  Device* device;  // null: the host
  char* address;

  [[nodiscard]] uint64_t word() const { return reinterpret_cast<uint64_t>(address); }
};

bool end_of(int number, const void* pointer, size_t offset, End& end) {
  bool exists;
  end.device = device_for_routine(number, exists);
  end.address = static_cast<char*>(const_cast<void*>(pointer)) + offset;
  // What a fork frees or asks for of the program's devices may be a destructor's business. It gets no further than that.
  if (exists && end.device != nullptr && !end.device->lost) prepare(end.device);
  return exists;
}

// A routine of libomptarget's, which each of its versions has.
template <class Result, class... Arguments>
Result ask_llvm(const char* name, Arguments... arguments) {
  return reinterpret_cast<Result (*)(Arguments...)>(llvm_routine(name))(arguments...);
}

int llvm_number(const End& end) { return end.device != nullptr ? llvm_number(end.device) : llvm_host_number(); }

// Whether a copy is between libomptarget's devices, or one of them and the host: it may know a shorter way.
bool is_llvms(const End& to, const End& from) {
  auto is = [](const End& end) { return end.device != nullptr && end.device->kind == &kLlvmKind; };
  return (is(to) || to.device == nullptr) && (is(from) || from.device == nullptr) && (is(to) || is(from));
}

void copy(const End& to, const End& from, size_t bytes) {
  if (to.device == nullptr && from.device == nullptr) {
    std::memmove(to.address, from.address, bytes);
  } else if (to.device == nullptr) {
    from.device->kind->read(from.device, to.address, from.word(), bytes);
  } else if (from.device == nullptr) {
    to.device->kind->write(to.device, to.word(), from.address, bytes);
  } else if (to.device->kind != from.device->kind || to.device->kind->copy == nullptr ||
             !to.device->kind->copy(to.device, to.word(), from.device, from.word(), bytes)) {
    size_t room = std::min(bytes, kPiece);
    char* buffer = static_cast<char*>(std::malloc(room));
    if (buffer == nullptr) fatal("no memory for a copy between devices");
    for (size_t done = 0; done < bytes; done += room) {
      size_t piece = std::min(room, bytes - done);
      from.device->kind->read(from.device, buffer, from.word() + done, piece);
      to.device->kind->write(to.device, to.word() + done, buffer, piece);
    }
    std::free(buffer);
  }
}

// Runs `work`, which copies that many bytes. A copy between two devices is the source's.
template <class Work>
void tell_copy(const End& to, const End& from, size_t bytes, const void* code, Work work) {
  if (to.device == nullptr && from.device == nullptr) return work();
  auto number = [](const End& end) { return end.device != nullptr ? end.device->number : MARLINE_HOST; };
  Ends ends = {from.address, number(from), to.address, number(to)};
  bool is_sources = from.device != nullptr;
  tell_whole(is_sources ? Whole::kFromDevice : Whole::kToDevice, is_sources ? from.device : to.device, ends, bytes, code,
             work);
}

// A rectangle between two ends, run by run.
struct RectangleCopy {
  End to;
  End from;
};

void copy_run(void* data, size_t to_offset, size_t from_offset, size_t bytes) {
  auto [to, from] = *static_cast<RectangleCopy*>(data);
  to.address += to_offset;
  from.address += from_offset;
  copy(to, from, bytes);
}

size_t bytes_of(const marline_rectangle_t& rectangle) {
  size_t bytes = rectangle.element;
  for (int i = 0; i < rectangle.dimensions; ++i) bytes *= rectangle.volume[i];
  return bytes;
}

void set(const End& end, int value, size_t bytes) {
  char pattern[4096];
  std::memset(pattern, value, std::min(bytes, sizeof pattern));
  for (size_t done = 0; done < bytes; done += sizeof pattern) {
    end.device->kind->write(end.device, end.word() + done, pattern, std::min(bytes - done, sizeof pattern));
  }
}

}  // namespace

extern "C" {
#pragma GCC visibility push(default)

int omp_get_num_devices() { return device_count(); }
int omp_get_initial_device() { return device_count(); }

void* omp_target_alloc(size_t bytes, int number) {
  End end;
  if (bytes == 0 || !end_of(number, nullptr, 0, end)) return nullptr;
  if (end.device == nullptr) return std::malloc(bytes);
  uint64_t address = end.device->kind->allocate(end.device, bytes);
  if (address == 0) return nullptr;
  note_users_block(end.device, address, bytes);
  tell_memory(Memory::kAllocate, end.device, nullptr, address, bytes, nullptr, __builtin_return_address(0));
  return reinterpret_cast<void*>(address);
}

void omp_target_free(void* pointer, int number) {
  End end;
  if (pointer == nullptr || !end_of(number, pointer, 0, end)) return;
  if (end.device == nullptr) return std::free(pointer);
  switch (forget_users_block(end.device, end.word())) {
    case Forgotten::kNoBlock:
      fatal("omp_target_free(%p, %d): omp_target_alloc has not given that address, or it is free already", pointer,
            number);
    case Forgotten::kAssociated:
      fatal("omp_target_free(%p, %d): data of the host is associated with memory there; call "
            "omp_target_disassociate_ptr first", pointer, number);
    case Forgotten::kYes: break;
  }
  tell_memory(Memory::kRelease, end.device, nullptr, end.word(), 0, nullptr, __builtin_return_address(0));
  end.device->kind->release(end.device, end.word());
}

int omp_target_memcpy(void* to, const void* from, size_t bytes, size_t to_offset, size_t from_offset, int to_number,
                      int from_number) {
  End to_end, from_end;
  if (!end_of(to_number, to, to_offset, to_end) || !end_of(from_number, from, from_offset, from_end)) return EINVAL;
  if (bytes == 0) return 0;
  if (to == nullptr || from == nullptr) return EINVAL;
  if (is_llvms(to_end, from_end)) {
    return ask_llvm<int>("omp_target_memcpy", to, from, bytes, to_offset, from_offset, llvm_number(to_end),
                         llvm_number(from_end));
  }
  tell_copy(to_end, from_end, bytes, __builtin_return_address(0), [&] { copy(to_end, from_end, bytes); });
  return 0;
}

int omp_target_memcpy_rect(void* to, const void* from, size_t element, int dimensions, const size_t* volume,
                           const size_t* to_offsets, const size_t* from_offsets, const size_t* to_extents,
                           const size_t* from_extents, int to_number, int from_number) {
  if (to == nullptr && from == nullptr) return kMostDimensions;
  End to_end, from_end;
  bool valid = to != nullptr && from != nullptr && element != 0 && dimensions >= 1 && dimensions <= kMostDimensions &&
               end_of(to_number, to, 0, to_end) && end_of(from_number, from, 0, from_end);
  if (!valid) return EINVAL;
  if (is_llvms(to_end, from_end)) {
    return ask_llvm<int>("omp_target_memcpy_rect", to, from, element, dimensions, volume, to_offsets, from_offsets,
                         to_extents, from_extents, llvm_number(to_end), llvm_number(from_end));
  }
  marline_rectangle_t rectangle = {element, dimensions, volume, to_offsets, from_offsets, to_extents, from_extents};
  RectangleCopy ends = {to_end, from_end};
  tell_copy(to_end, from_end, bytes_of(rectangle), __builtin_return_address(0),
            [&] { marline_rectangle_runs(&rectangle, copy_run, &ends); });
  return 0;
}

int omp_target_memcpy_async(void* to, const void* from, size_t bytes, size_t to_offset, size_t from_offset,
                            int to_number, int from_number, int count, void** objects) {
  wait_for_depend_objects(count, objects);
  return omp_target_memcpy(to, from, bytes, to_offset, from_offset, to_number, from_number);
}

int omp_target_memcpy_rect_async(void* to, const void* from, size_t element, int dimensions, const size_t* volume,
                                 const size_t* to_offsets, const size_t* from_offsets, const size_t* to_extents,
                                 const size_t* from_extents, int to_number, int from_number, int count,
                                 void** objects) {
  wait_for_depend_objects(count, objects);
  return omp_target_memcpy_rect(to, from, element, dimensions, volume, to_offsets, from_offsets, to_extents,
                                from_extents, to_number, from_number);
}

void* omp_target_memset(void* pointer, int value, size_t bytes, int number) {
  End end;
  if (bytes == 0 || pointer == nullptr || !end_of(number, pointer, 0, end)) return pointer;
  if (end.device == nullptr) return std::memset(pointer, value, bytes);
  Ends ends = {nullptr, MARLINE_HOST, end.address, end.device->number};
  tell_whole(Whole::kSet, end.device, ends, bytes, __builtin_return_address(0), [&] { set(end, value, bytes); });
  return pointer;
}

void* omp_target_memset_async(void* pointer, int value, size_t bytes, int number, int count, void** objects) {
  wait_for_depend_objects(count, objects);
  return omp_target_memset(pointer, value, bytes, number);
}

int omp_target_is_present(const void* pointer, int number) {
  End end;
  if (pointer == nullptr || !end_of(number, pointer, 0, end)) return 0;
  if (end.device == nullptr) return 1;
  if (end.device->kind == &kLlvmKind) return ask_llvm<int>("omp_target_is_present", pointer, llvm_number(end.device));
  return end.device->mapping->is_present(pointer);
}

int omp_target_is_accessible(const void* pointer, size_t, int number) {
  End end;
  if (pointer == nullptr || !end_of(number, pointer, 0, end)) return 0;
  return end.device == nullptr || end.device->mapping->is_shared();
}

void* omp_get_mapped_ptr(const void* pointer, int number) {
  End end;
  if (pointer == nullptr || !end_of(number, pointer, 0, end)) return nullptr;
  if (end.device == nullptr) return const_cast<void*>(pointer);
  if (end.device->kind == &kLlvmKind) return ask_llvm<void*>("omp_get_mapped_ptr", pointer, llvm_number(end.device));
  return reinterpret_cast<void*>(end.device->mapping->translate(pointer));
}

int omp_target_associate_ptr(const void* host, const void* device, size_t bytes, size_t offset, int number) {
  End end;
  bool valid = host != nullptr && device != nullptr && bytes != 0 && end_of(number, device, offset, end);
  if (!valid || end.device == nullptr) return EINVAL;
  if (end.device->kind == &kLlvmKind) {
    return ask_llvm<int>("omp_target_associate_ptr", host, device, bytes, offset, llvm_number(end.device));
  }
  if (!end.device->mapping->associate(host, bytes, end.word())) return EINVAL;
  tell_memory(Memory::kAssociate, end.device, host, end.word(), bytes, nullptr, __builtin_return_address(0));
  return 0;
}

int omp_target_disassociate_ptr(const void* host, int number) {
  End end;
  if (host == nullptr || !end_of(number, nullptr, 0, end) || end.device == nullptr) return EINVAL;
  if (end.device->kind == &kLlvmKind) return ask_llvm<int>("omp_target_disassociate_ptr", host, llvm_number(end.device));
  uint64_t address = end.device->mapping->translate(host);
  if (!end.device->mapping->disassociate(host)) return EINVAL;
  tell_memory(Memory::kDisassociate, end.device, host, address, 0, nullptr, __builtin_return_address(0));
  return 0;
}

const char* omp_get_uid_from_device(int number) {
  bool exists;
  Device* device = device_for_routine(number, exists);
  return device != nullptr ? device_facts(device).uid : nullptr;
}

int omp_get_device_from_uid(const char* uid) {
  for (int i = 0; i < device_count(); ++i) {
    if (std::strcmp(uid, omp_get_uid_from_device(i)) == 0) return i;
  }
  return kInvalidDevice;
}

#pragma GCC visibility pop
}  // extern "C"

}  // namespace marline::target
