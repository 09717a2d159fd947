// SPDX-License-Identifier: Apache-2.0
//
// Properties of interoperability objects (OpenMP 5.2, section 18.12). Objects come from foreign runtimes, which
// libomptarget knows: if it is in the process, it answers. Without it every object is omp_interop_none, which has no
// properties; the routines return that. Stateless; any thread.
#include "abi/omp/next_definition.hpp"

#include <cstddef>
#include <cstdint>

namespace marline::omp {

namespace {

// Values as in omp.h of both compilers: omp_interop_property_t counts down from -1, omp_interop_rc_t is 1 to -6.
constexpr int kFirstProperty = -9;
constexpr int kEmpty = -1, kOutOfRange = -2, kOther = -6;

struct Property {
  const char* name;
  const char* type;
};
constexpr Property kProperties[] = {
    {"fr_id", "int: number of the foreign runtime"},
    {"fr_name", "const char*: name of the foreign runtime"},
    {"vendor", "int: number of the vendor"},
    {"vendor_name", "const char*: name of the vendor"},
    {"device_num", "int: OpenMP device number"},
    {"platform", "pointer: the foreign runtime's platform"},
    {"device", "pointer: the foreign runtime's device"},
    {"device_context", "pointer: the foreign runtime's device context"},
    {"targetsync", "pointer: the foreign runtime's synchronization object"},
};

constexpr const char* kDescriptions[] = {
    "the property is meaningful but has no value",           // omp_irc_no_value
    "success",                                               // omp_irc_success
    "the interoperability object is omp_interop_none",       // omp_irc_empty
    "the property is out of range",                          // omp_irc_out_of_range
    "the property is an integer: use omp_get_interop_int",   // omp_irc_type_int
    "the property is a pointer: use omp_get_interop_ptr",    // omp_irc_type_ptr
    "the property is a string: use omp_get_interop_str",     // omp_irc_type_str
    "an error that the other return codes do not describe",  // omp_irc_other
};
constexpr int kDescribed = sizeof kDescriptions / sizeof kDescriptions[0];

// omp_interop_t: null is omp_interop_none.
using Interop = const void*;

const Property* property_of(int id) { return id < 0 && id >= kFirstProperty ? &kProperties[-1 - id] : nullptr; }

// The answer if there is no libomptarget, so that no foreign runtime is known.
void refuse(Interop interop, int id, int* code) {
  if (code == nullptr) return;
  *code = interop == nullptr ? kEmpty : property_of(id) == nullptr ? kOutOfRange : kOther;
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

int omp_get_num_interop_properties(Interop interop) {
  auto other = next(omp_get_num_interop_properties, "omp_get_num_interop_properties");
  return other != nullptr ? other(interop) : 0;
}
int omp_get_num_interop_properties_(const Interop* interop) { return omp_get_num_interop_properties(*interop); }

intptr_t omp_get_interop_int(Interop interop, int id, int* code) {
  if (auto other = next(omp_get_interop_int, "omp_get_interop_int")) return other(interop, id, code);
  refuse(interop, id, code);
  return 0;
}
intptr_t omp_get_interop_int_(const Interop* interop, const int32_t* id, int* code) {
  return omp_get_interop_int(*interop, *id, code);
}

void* omp_get_interop_ptr(Interop interop, int id, int* code) {
  if (auto other = next(omp_get_interop_ptr, "omp_get_interop_ptr")) return other(interop, id, code);
  refuse(interop, id, code);
  return nullptr;
}
void* omp_get_interop_ptr_(const Interop* interop, const int32_t* id, int* code) {
  return omp_get_interop_ptr(*interop, *id, code);
}

const char* omp_get_interop_str(Interop interop, int id, int* code) {
  if (auto other = next(omp_get_interop_str, "omp_get_interop_str")) return other(interop, id, code);
  refuse(interop, id, code);
  return nullptr;
}
const char* omp_get_interop_str_(const Interop* interop, const int32_t* id, int* code) {
  return omp_get_interop_str(*interop, *id, code);
}

// The names of the properties are the standard's for every object.
const char* omp_get_interop_name(Interop interop, int id) {
  if (auto other = next(omp_get_interop_name, "omp_get_interop_name")) return other(interop, id);
  const Property* property = property_of(id);
  return property != nullptr ? property->name : nullptr;
}
const char* omp_get_interop_name_(const Interop* interop, const int32_t* id) {
  return omp_get_interop_name(*interop, *id);
}

const char* omp_get_interop_type_desc(Interop interop, int id) {
  if (auto other = next(omp_get_interop_type_desc, "omp_get_interop_type_desc")) return other(interop, id);
  const Property* property = interop != nullptr ? property_of(id) : nullptr;
  return property != nullptr ? property->type : nullptr;
}
const char* omp_get_interop_type_desc_(const Interop* interop, const int32_t* id) {
  return omp_get_interop_type_desc(*interop, *id);
}

const char* omp_get_interop_rc_desc(Interop interop, int code) {
  if (auto other = next(omp_get_interop_rc_desc, "omp_get_interop_rc_desc")) return other(interop, code);
  int position = 1 - code;
  return position >= 0 && position < kDescribed ? kDescriptions[position] : "not an interoperability return code";
}
const char* omp_get_interop_rc_desc_(const Interop* interop, const int32_t* code) {
  return omp_get_interop_rc_desc(*interop, *code);
}

}  // extern "C"
#pragma GCC visibility pop

}  // namespace marline::omp
