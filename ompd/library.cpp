// SPDX-License-Identifier: Apache-2.0
//
// The library and the processes that it reads (OpenMP 5.2, sections 20.5.1 to 20.5.4).
#include "space.hpp"

namespace marline::ompd {

namespace {

constexpr Word kApiVersion = 201811;  // OpenMP 5.0; the functions are the same in 5.1 and 5.2

bool is_known(Word api_version) { return api_version == kApiVersion || api_version == 202011 || api_version == 202111; }

// The debugger knows the process, which has pointers of 64 bits.
Rc check_sizes(SpaceContext* context) {
  TypeSizes sizes{};
  if (callbacks.sizeof_type == nullptr) return Rc::kCallbackError;
  const Rc rc = callbacks.sizeof_type(context, &sizes);
  return rc == Rc::kOk && sizes.of_pointer != sizeof(uint64_t) ? Rc::kIncompatible : rc;
}

// Reads the table of places, first its version.
Rc read_layout(Space& space) {
  Address table{};
  if (callbacks.symbol_addr_lookup == nullptr) return Rc::kCallbackError;
  if (callbacks.symbol_addr_lookup(space.context, nullptr, "marline_ompd_layout", &table, nullptr) != Rc::kOk) {
    return Rc::kIncompatible;  // no runtime of Marline's, or one without OMPD
  }
  Reader in(space);
  in.bytes(table.address, offsetof(OmpdLayout, newest_worker), &space.layout);
  if (in.rc() != Rc::kOk) return in.rc();
  if (space.layout.version != OmpdLayout::kVersion || space.layout.bytes != sizeof(OmpdLayout)) {
    return Rc::kIncompatible;
  }
  in.bytes(table.address, sizeof(OmpdLayout), &space.layout);
  if (in.rc() != Rc::kOk) return in.rc();
  return space.layout.newest_worker != 0 ? Rc::kOk : Rc::kNeedsStateTracking;
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

Rc ompd_initialize(Word api_version, const Callbacks* table) {
  if (table == nullptr) return Rc::kBadInput;
  if (!is_known(api_version)) return Rc::kUnsupported;
  callbacks = *table;
  return Rc::kOk;
}

Rc ompd_finalize() {
  if (callbacks.alloc_memory == nullptr) return Rc::kUnsupported;
  callbacks = {};
  return Rc::kOk;
}

Rc ompd_get_api_version(Word* version) {
  if (version == nullptr) return Rc::kBadInput;
  *version = kApiVersion;
  return Rc::kOk;
}

Rc ompd_get_version_string(const char** text) {
  if (text == nullptr) return Rc::kBadInput;
  *text = "Marline " MARLINE_VERSION;
  return Rc::kOk;
}

Rc ompd_process_initialize(SpaceContext* context, Space** handle) {
  if (context == nullptr || handle == nullptr) return Rc::kBadInput;
  Space space{context, {}};
  Rc rc = check_sizes(context);
  if (rc == Rc::kOk) rc = read_layout(space);
  return rc == Rc::kOk ? hand_out(space, handle) : rc;
}

// Device code has no threads or tasks of its own in Marline's data.
Rc ompd_device_initialize(Space* process, SpaceContext*, uint64_t, Size, void*, Space**) {
  return process == nullptr ? Rc::kStaleHandle : Rc::kUnsupported;
}

Rc ompd_rel_address_space_handle(Space* space) { return release(space); }

Rc ompd_get_omp_version(const Space* space, Word* version) {
  if (space == nullptr) return Rc::kStaleHandle;
  if (version == nullptr) return Rc::kBadInput;
  *version = space->layout.openmp_version;
  return Rc::kOk;
}

Rc ompd_get_omp_version_string(const Space* space, const char** text) {
  if (space == nullptr) return Rc::kStaleHandle;
  if (text == nullptr) return Rc::kBadInput;
  *text = space->layout.runtime;
  return Rc::kOk;
}

}  // extern "C"
#pragma GCC visibility pop

}  // namespace marline::ompd
