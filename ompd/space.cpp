// SPDX-License-Identifier: Apache-2.0
//
// Reads a process's memory by the debugger's callbacks.
#include "space.hpp"

namespace marline::ompd {

Callbacks callbacks;

void* allocate(size_t bytes) {
  void* block = nullptr;
  if (callbacks.alloc_memory == nullptr || callbacks.alloc_memory(bytes, &block) != Rc::kOk) return nullptr;
  return block;
}

void Reader::bytes(uint64_t at, size_t count, void* result) {
  if (at == 0) fail(Rc::kUnavailable);
  if (rc_ != Rc::kOk) return;
  if (callbacks.read_memory == nullptr) return fail(Rc::kCallbackError);
  const Address address{0, at};
  fail(callbacks.read_memory(space_.context, nullptr, &address, count, result));
}

uint64_t Reader::word(uint64_t at, OmpdField field) {
  if (at == 0) fail(Rc::kUnavailable);
  if (field.bytes > sizeof(uint64_t)) fail(Rc::kIncompatible);
  unsigned char raw[sizeof(uint64_t)] = {};
  bytes(at + field.at, field.bytes, raw);
  if (rc_ != Rc::kOk) return 0;
  // Of the numbers' sizes: the debugger turns the order of bytes into its own, and Marline's processes are
  // little-endian, so that is the order here, too.
  uint64_t value = 0;
  if (callbacks.device_to_host == nullptr) {
    fail(Rc::kCallbackError);
  } else {
    fail(callbacks.device_to_host(space_.context, raw, field.bytes, 1, &value));
  }
  return rc_ == Rc::kOk ? value : 0;
}

int64_t Reader::number(uint64_t at, OmpdField field) {
  const uint64_t value = word(at, field);
  const unsigned unused = 64 - 8 * (field.bytes < 8 ? field.bytes : 8);
  return static_cast<int64_t>(value << unused) >> unused;
}

void Reader::text(uint64_t at, char* buffer, size_t size) {
  buffer[0] = '\0';
  if (at == 0) fail(Rc::kUnavailable);
  if (rc_ != Rc::kOk) return;
  if (callbacks.read_string == nullptr) return fail(Rc::kCallbackError);
  const Address address{0, at};
  const Rc rc = callbacks.read_string(space_.context, nullptr, &address, size, buffer);
  buffer[size - 1] = '\0';
  if (rc != Rc::kIncomplete) fail(rc);  // a longer text is cut off
}

}  // namespace marline::ompd
