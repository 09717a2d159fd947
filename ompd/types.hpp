// SPDX-License-Identifier: Apache-2.0
//
// The types that a debugger and its OMPD library pass to each other (OpenMP 5.2, section 20.3; the values are also in
// LLVM's omp-tools.h). The library's own structures stand for the handles, which are opaque to the debugger. No state.
#pragma once

#include <cstdint>

namespace marline::ompd {

using Word = int64_t;    // ompd_word_t
using Size = uint64_t;   // ompd_size_t
using IcvId = uint64_t;  // ompd_icv_id_t

// ompd_rc_t.
enum class Rc : int {
  kOk = 0,
  kUnavailable = 1,
  kStaleHandle = 2,
  kBadInput = 3,
  kError = 4,
  kUnsupported = 5,
  kNeedsStateTracking = 6,
  kIncompatible = 7,
  kDeviceReadError = 8,
  kNoMemory = 10,
  kIncomplete = 11,
  kCallbackError = 12,
};

// ompd_scope_t.
enum class Scope : int {
  kGlobal = 1,
  kAddressSpace = 2,
  kThread = 3,
  kParallel = 4,
  kImplicitTask = 5,
  kTask = 6,
};

// ompd_thread_id_t: the kinds of thread numbers that the host has.
enum class ThreadKind : uint64_t { kPthread = 0, kLwp = 1 };

// ompd_address_t.
struct Address {
  uint64_t segment;
  uint64_t address;
};

// ompd_frame_info_t.
struct FrameInfo {
  Address frame_address;
  Word frame_flag;
};

// ompd_device_type_sizes_t: bytes of C's types in the process.
struct TypeSizes {
  uint8_t of_char, of_short, of_int, of_long, of_long_long, of_pointer;
};

struct SpaceContext;   // ompd_address_space_context_t: the debugger's
struct ThreadContext;  // ompd_thread_context_t: the debugger's

// ompd_callbacks_t.
struct Callbacks {
  Rc (*alloc_memory)(Size bytes, void** block);
  Rc (*free_memory)(void* block);
  Rc (*print_string)(const char* text, int category);
  Rc (*sizeof_type)(SpaceContext*, TypeSizes* sizes);
  Rc (*symbol_addr_lookup)(SpaceContext*, ThreadContext*, const char* name, Address* address, const char* file);
  Rc (*read_memory)(SpaceContext*, ThreadContext*, const Address*, Size bytes, void* buffer);
  Rc (*write_memory)(SpaceContext*, ThreadContext*, const Address*, Size bytes, const void* buffer);
  Rc (*read_string)(SpaceContext*, ThreadContext*, const Address*, Size bytes, void* buffer);
  Rc (*device_to_host)(SpaceContext*, const void* input, Size unit, Size count, void* output);
  Rc (*host_to_device)(SpaceContext*, const void* input, Size unit, Size count, void* output);
  Rc (*get_thread_context_for_thread_id)(SpaceContext*, uint64_t kind, Size bytes, const void* id, ThreadContext**);
};

}  // namespace marline::ompd
