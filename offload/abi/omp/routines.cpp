// SPDX-License-Identifier: Apache-2.0
//
// The routines about devices and their memory (OpenMP 5.2, 18.7 and 18.8; 6.0, 24 and 25) for programs with devices. A
// program calls libmarline's definitions, and these call the definitions here (version node VERS1.0, as
// libomptarget's). A copy between two devices goes through the host in parts, so that it needs no buffer of its full
// size.
#include "base/report.hpp"
#include "device/contract/delegate.hpp"
#include "device/contract/tool_reports.hpp"
#include "device/contract/users_memory.hpp"
#include "abi/omp/copies.hpp"
#include "registry/registry.hpp"
#include "data/data_environment.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>

namespace marline::offload::abi {

using namespace data;
using namespace device;
using namespace registry;

namespace {

constexpr size_t kPiece = 1 << 20;
constexpr int kMostDimensions = MARLINE_RECTANGLE_DIMENSIONS;
constexpr int kInvalidDevice = -2;

bool end_of(int number, const void* pointer, size_t offset, CopyEnd& end) {
  bool exists;
  end.device = device_for_routine(number, exists);
  end.address = static_cast<char*>(const_cast<void*>(pointer)) + offset;
  // A destructor in a fork's child may free or query memory of the program's devices, which are lost there. A lost
  // device is not prepared, as that would end the process.
  if (exists && end.device != nullptr && !end.device->lost) prepare(end.device);
  return exists;
}

// The other OpenMP runtime (delegate.hpp) that manages the copy's source and destination, as far as they are not the
// host. It may know a faster way than through the host. Null: no runtime manages both.
const Delegate* delegate_of(const CopyEnd& to, const CopyEnd& from) {
  auto of = [](const CopyEnd& end) { return end.device != nullptr ? end.device->kind->delegate : nullptr; };
  if (to.device == nullptr) return of(from);
  return from.device == nullptr || of(from) == of(to) ? of(to) : nullptr;
}

void copy(const CopyEnd& to, const CopyEnd& from, size_t bytes) {
  if (to.device == nullptr && from.device == nullptr) {
    std::memmove(to.address, from.address, bytes);
  } else if (to.device == nullptr) {
    from.device->kind->read(from.device, to.address, from.word(), bytes);
  } else if (from.device == nullptr) {
    to.device->kind->write(to.device, to.word(), from.address, bytes);
  } else if (to.device->kind->copy == nullptr || to.device->kind->copy != from.device->kind->copy ||
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

// Runs `work`, which copies `bytes` bytes, and reports the copy to a tool. A copy between two devices is reported as
// the source's.
template <class Work>
void report_copy(const CopyEnd& to, const CopyEnd& from, size_t bytes, const void* code, Work work) {
  if (to.device == nullptr && from.device == nullptr) return work();
  auto number = [](const CopyEnd& end) { return end.device != nullptr ? end.device->number : MARLINE_HOST; };
  Ends ends = {from.address, number(from), to.address, number(to)};
  bool is_sources = from.device != nullptr;
  report_whole(is_sources ? Whole::kFromDevice : Whole::kToDevice, is_sources ? from.device : to.device, ends, bytes,
               code, work);
}

// The ends of a rectangular copy, which is made run by run.
struct Ways {
  CopyEnd to;
  CopyEnd from;
};

void copy_run(void* data, size_t to_offset, size_t from_offset, size_t bytes) {
  auto [to, from] = *static_cast<Ways*>(data);
  to.address += to_offset;
  from.address += from_offset;
  copy(to, from, bytes);
}

size_t bytes_of(const marline_rectangle_t& rectangle) {
  size_t bytes = rectangle.element;
  for (int i = 0; i < rectangle.dimensions; ++i) bytes *= rectangle.volume[i];
  return bytes;
}

void set(const CopyEnd& end, int value, size_t bytes) {
  if (const Delegate* delegate = end.device->kind->delegate) {
    if (delegate->fill(end.device, end.address, value, bytes) == 0) return;
    fatal("omp_target_memset: cannot fill %zu bytes at %p of device %d", bytes, static_cast<void*>(end.address),
          end.device->number);
  }
  char pattern[4096];
  std::memset(pattern, value, std::min(bytes, sizeof pattern));
  for (size_t done = 0; done < bytes; done += sizeof pattern) {
    end.device->kind->write(end.device, end.word() + done, pattern, std::min(bytes - done, sizeof pattern));
  }
}

}  // namespace

bool is_valid(const LinearCopy& copy) {
  bool known, from_known;
  (void)device_for_routine(copy.to_device, known);
  (void)device_for_routine(copy.from_device, from_known);
  return known && from_known && (copy.bytes == 0 || (copy.to != nullptr && copy.from != nullptr));
}

int run(const LinearCopy& asked) {
  CopyEnd to, from;
  if (!end_of(asked.to_device, asked.to, asked.to_offset, to)) return EINVAL;
  if (!end_of(asked.from_device, asked.from, asked.from_offset, from)) return EINVAL;
  if (asked.bytes == 0) return 0;
  int result = 0;
  report_copy(to, from, asked.bytes, asked.code, [&] {
    if (const Delegate* delegate = delegate_of(to, from)) {
      result = delegate->copy(to, from, asked.bytes);
    } else {
      copy(to, from, asked.bytes);
    }
  });
  return result;
}

bool is_valid(const RectangleCopy& copy) {
  bool known, from_known;
  (void)device_for_routine(copy.to_device, known);
  (void)device_for_routine(copy.from_device, from_known);
  const marline_rectangle_t& shape = copy.shape;
  return known && from_known && copy.to != nullptr && copy.from != nullptr && shape.element != 0 &&
         shape.dimensions >= 1 && shape.dimensions <= kMostDimensions;
}

int run(const RectangleCopy& asked) {
  Ways ways;
  if (!end_of(asked.to_device, asked.to, 0, ways.to)) return EINVAL;
  if (!end_of(asked.from_device, asked.from, 0, ways.from)) return EINVAL;
  size_t bytes = bytes_of(asked.shape);
  int result = 0;
  report_copy(ways.to, ways.from, bytes, asked.code, [&] {
    if (const Delegate* delegate = delegate_of(ways.to, ways.from)) {
      result = delegate->copy_rectangle(ways.to, ways.from, asked.shape, bytes);
    } else {
      marline_rectangle_runs(&asked.shape, copy_run, &ways);
    }
  });
  return result;
}

void run(const Fill& asked) {
  CopyEnd end;
  if (asked.bytes == 0 || asked.to == nullptr || !end_of(asked.device, asked.to, 0, end)) return;
  if (end.device == nullptr) return void(std::memset(asked.to, asked.value, asked.bytes));
  Ends ends = {nullptr, MARLINE_HOST, end.address, end.device->number};
  report_whole(Whole::kSet, end.device, ends, asked.bytes, asked.code, [&] { set(end, asked.value, asked.bytes); });
}

extern "C" {
#pragma GCC visibility push(default)

int omp_get_num_devices() { return device_count(); }
int omp_get_initial_device() { return device_count(); }

void* omp_target_alloc(size_t bytes, int number) {
  CopyEnd end;
  if (bytes == 0 || !end_of(number, nullptr, 0, end)) return nullptr;
  if (end.device == nullptr) return std::malloc(bytes);
  uint64_t address = end.device->kind->allocate(end.device, bytes);
  if (address == 0) return nullptr;
  note_users_block(end.device, address, bytes);
  report_memory(Memory::kAllocate, end.device, nullptr, address, bytes, nullptr, __builtin_return_address(0));
  return reinterpret_cast<void*>(address);
}

void omp_target_free(void* pointer, int number) {
  CopyEnd end;
  if (pointer == nullptr || !end_of(number, pointer, 0, end)) return;
  if (end.device == nullptr) return std::free(pointer);
  switch (forget_users_block(end.device, end.word())) {
    case Forgotten::kNoBlock:
      fatal("omp_target_free(%p, %d): omp_target_alloc has not given that address, or it is free already", pointer,
            number);
    case Forgotten::kAssociated:
      fatal(
          "omp_target_free(%p, %d): data of the host is associated with memory there; call "
          "omp_target_disassociate_ptr first",
          pointer, number);
    case Forgotten::kYes: break;
  }
  report_memory(Memory::kRelease, end.device, nullptr, end.word(), 0, nullptr, __builtin_return_address(0));
  end.device->kind->release(end.device, end.word());
}

int omp_target_memcpy(void* to, const void* from, size_t bytes, size_t to_offset, size_t from_offset, int to_number,
                      int from_number) {
  LinearCopy copy = {to, from, bytes, to_offset, from_offset, to_number, from_number, __builtin_return_address(0)};
  return is_valid(copy) ? run(copy) : EINVAL;
}

int omp_target_memcpy_rect(void* to, const void* from, size_t element, int dimensions, const size_t* volume,
                           const size_t* to_offsets, const size_t* from_offsets, const size_t* to_extents,
                           const size_t* from_extents, int to_number, int from_number) {
  if (to == nullptr && from == nullptr) return kMostDimensions;
  RectangleCopy copy = {
      to,        from,        {element, dimensions, volume, to_offsets, from_offsets, to_extents, from_extents},
      to_number, from_number, __builtin_return_address(0)};
  return is_valid(copy) ? run(copy) : EINVAL;
}

void* omp_target_memset(void* pointer, int value, size_t bytes, int number) {
  run(Fill{pointer, value, bytes, number, __builtin_return_address(0)});
  return pointer;
}

int omp_target_is_present(const void* pointer, int number) {
  CopyEnd end;
  if (pointer == nullptr || !end_of(number, pointer, 0, end)) return 0;
  if (end.device == nullptr) return 1;
  if (const Delegate* delegate = end.device->kind->delegate) return delegate->is_present(end.device, pointer);
  return end.device->mapping->is_present(pointer);
}

int omp_target_is_accessible(const void* pointer, size_t, int number) {
  CopyEnd end;
  if (pointer == nullptr || !end_of(number, pointer, 0, end)) return 0;
  return end.device == nullptr || end.device->mapping->is_shared();
}

void* omp_get_mapped_ptr(const void* pointer, int number) {
  CopyEnd end;
  if (pointer == nullptr || !end_of(number, pointer, 0, end)) return nullptr;
  if (end.device == nullptr) return const_cast<void*>(pointer);
  if (const Delegate* delegate = end.device->kind->delegate) return delegate->mapped(end.device, pointer);
  return reinterpret_cast<void*>(end.device->mapping->translate(pointer));
}

// What flang 24 asks for the base address in an array's descriptor: a pointer that is not mapped stays what it is.
void* __tgt_get_mapped_ptr(int64_t number, const void* pointer) {
  void* mapped = omp_get_mapped_ptr(pointer, static_cast<int>(number));
  return mapped != nullptr ? mapped : const_cast<void*>(pointer);
}

int omp_target_associate_ptr(const void* host, const void* device, size_t bytes, size_t offset, int number) {
  CopyEnd end;
  bool valid = host != nullptr && device != nullptr && bytes != 0 && end_of(number, device, offset, end);
  if (!valid || end.device == nullptr) return EINVAL;
  if (const Delegate* delegate = end.device->kind->delegate) {
    return delegate->associate(end.device, host, device, bytes, offset);
  }
  if (!end.device->mapping->associate(host, bytes, end.word())) return EINVAL;
  report_memory(Memory::kAssociate, end.device, host, end.word(), bytes, nullptr, __builtin_return_address(0));
  return 0;
}

int omp_target_disassociate_ptr(const void* host, int number) {
  CopyEnd end;
  if (host == nullptr || !end_of(number, nullptr, 0, end) || end.device == nullptr) return EINVAL;
  if (const Delegate* delegate = end.device->kind->delegate) return delegate->disassociate(end.device, host);
  uint64_t address = end.device->mapping->translate(host);
  marline_target_data_begins();
  if (!end.device->mapping->disassociate(host)) return EINVAL;
  report_memory(Memory::kDisassociate, end.device, host, address, 0, nullptr, __builtin_return_address(0));
  return 0;
}

// The most memory that a dyn_groupprivate clause may ask for (OpenMP 6.1). Regions on processors have no such memory,
// as with LLVM 23.
size_t omp_get_gprivate_limit(int number, int access) {
  CopyEnd end;
  if (!end_of(number, nullptr, 0, end) || end.device == nullptr) return 0;
  const Delegate* delegate = end.device->kind->delegate;
  return delegate != nullptr ? delegate->group_private_limit(end.device, access) : 0;
}

const char* omp_get_uid_from_device(int number) {
  const DeviceFacts* facts = device_facts(number);
  return facts != nullptr ? facts->uid : nullptr;
}

int omp_get_device_from_uid(const char* uid) {
  for (int i = 0; i < device_count(); ++i) {
    if (std::strcmp(uid, omp_get_uid_from_device(i)) == 0) return i;
  }
  return kInvalidDevice;
}

#pragma GCC visibility pop
}  // extern "C"

}  // namespace marline::offload::abi
