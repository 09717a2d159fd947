// SPDX-License-Identifier: Apache-2.0
//
// Caliper's annotations: the functions of its C interface that begin and end regions (caliper/cali.h), and the three
// C++ classes of its macros CALI_CXX_MARK_FUNCTION, CALI_CXX_MARK_SCOPE and CALI_CXX_MARK_LOOP_BEGIN, by their mangled
// names. The recorder is loaded before Caliper's library, so a program calls these functions; each calls Caliper's own.
// A program that is linked with Caliper statically calls Caliper directly and is not seen here.
//
// The group of a region is Caliper's attribute: Caliper's ends name it, too. A value that is a number is not part of a
// region's name, else each iteration of a loop would have a name of its own.
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "annotations/annotations.hpp"

namespace marline::trace {
namespace {

using AttributeId = uint64_t;  // cali_id_t

constexpr char kRegion[] = "region";
constexpr char kPhase[] = "phase";
constexpr char kCommunication[] = "comm.region";
constexpr char kLoop[] = "loop";

// Attributes whose values are names of regions. Of all others the attribute is part of the name.
constexpr const char* kRegionAttributes[] = {kRegion,      kPhase,     kCommunication, kLoop,
                                             "annotation", "function", "statement"};

bool has_names_of_regions(const char* attribute) {
  for (const char* one : kRegionAttributes) {
    if (strcmp(one, attribute) == 0) return true;
  }
  return false;
}

void begin_attribute(const char* attribute) { begin_annotation(group_of(attribute), attribute); }

void begin_value(const char* attribute, const char* value) {
  if (has_names_of_regions(attribute)) {
    begin_annotation(group_of(attribute), value);
    return;
  }
  char name[kNameBytes];
  snprintf(name, sizeof name, "%s=%s", attribute, value);
  begin_annotation(group_of(attribute), name);
}

void end_attribute(const char* attribute) { end_annotation(group_of(attribute)); }

// By Caliper's own table of attributes.
const char* name_of(AttributeId attribute) {
  static void* found;
  const auto name = reinterpret_cast<const char* (*)(AttributeId)>(next_function("cali_attribute_name", found));
  const char* text = name == nullptr ? nullptr : name(attribute);
  return text == nullptr ? "Caliper" : text;
}

// The loops of a thread that have begun and not ended. Caliper's destructor calls end() in any case, and there it
// counts only the first time. Loops that are nested deeper are not recorded.
class OpenLoops {
 public:
  bool add(const void* loop) {
    if (count_ == kMost) return false;
    loops_[count_++] = loop;
    return true;
  }
  bool remove(const void* loop) {
    for (int i = count_; i-- > 0;) {
      if (loops_[i] != loop) continue;
      for (--count_; i < count_; ++i) loops_[i] = loops_[i + 1];
      return true;
    }
    return false;
  }

 private:
  static constexpr int kMost = 32;
  const void* loops_[kMost];
  int count_;
};

constinit thread_local OpenLoops open_loops __attribute__((tls_model("initial-exec"))) = {};

}  // namespace
}  // namespace marline::trace

using namespace marline::trace;

// Regions by their names ----------------------------------------------------------------------------------------------

MARLINE_ENTRY int cali_begin_region(const char* name) {
  static void* found;
  const int error = call_next("cali_begin_region", found, name);
  begin_value(kRegion, name);
  return error;
}

MARLINE_ENTRY int cali_end_region(const char* name) {
  static void* found;
  end_attribute(kRegion);
  return call_next("cali_end_region", found, name);
}

MARLINE_ENTRY int cali_begin_phase(const char* name) {
  static void* found;
  const int error = call_next("cali_begin_phase", found, name);
  begin_value(kPhase, name);
  return error;
}

MARLINE_ENTRY int cali_end_phase(const char* name) {
  static void* found;
  end_attribute(kPhase);
  return call_next("cali_end_phase", found, name);
}

MARLINE_ENTRY int cali_begin_comm_region(const char* name) {
  static void* found;
  const int error = call_next("cali_begin_comm_region", found, name);
  begin_value(kCommunication, name);
  return error;
}

MARLINE_ENTRY int cali_end_comm_region(const char* name) {
  static void* found;
  end_attribute(kCommunication);
  return call_next("cali_end_comm_region", found, name);
}

// Values of an attribute that is named --------------------------------------------------------------------------------

MARLINE_ENTRY int cali_begin_byname(const char* attribute) {
  static void* found;
  const int error = call_next("cali_begin_byname", found, attribute);
  begin_attribute(attribute);
  return error;
}

MARLINE_ENTRY int cali_begin_string_byname(const char* attribute, const char* value) {
  static void* found;
  const int error = call_next("cali_begin_string_byname", found, attribute, value);
  begin_value(attribute, value);
  return error;
}

MARLINE_ENTRY int cali_begin_int_byname(const char* attribute, int value) {
  static void* found;
  const int error = call_next("cali_begin_int_byname", found, attribute, value);
  begin_attribute(attribute);
  return error;
}

MARLINE_ENTRY int cali_begin_double_byname(const char* attribute, double value) {
  static void* found;
  const int error = call_next("cali_begin_double_byname", found, attribute, value);
  begin_attribute(attribute);
  return error;
}

MARLINE_ENTRY int cali_end_byname(const char* attribute) {
  static void* found;
  end_attribute(attribute);
  return call_next("cali_end_byname", found, attribute);
}

// Values of an attribute by its number --------------------------------------------------------------------------------

MARLINE_ENTRY int cali_begin(AttributeId attribute) {
  static void* found;
  const int error = call_next("cali_begin", found, attribute);
  begin_attribute(name_of(attribute));
  return error;
}

MARLINE_ENTRY int cali_begin_string(AttributeId attribute, const char* value) {
  static void* found;
  const int error = call_next("cali_begin_string", found, attribute, value);
  begin_value(name_of(attribute), value);
  return error;
}

MARLINE_ENTRY int cali_begin_int(AttributeId attribute, int value) {
  static void* found;
  const int error = call_next("cali_begin_int", found, attribute, value);
  begin_attribute(name_of(attribute));
  return error;
}

MARLINE_ENTRY int cali_begin_double(AttributeId attribute, double value) {
  static void* found;
  const int error = call_next("cali_begin_double", found, attribute, value);
  begin_attribute(name_of(attribute));
  return error;
}

MARLINE_ENTRY int cali_end(AttributeId attribute) {
  static void* found;
  end_attribute(name_of(attribute));
  return call_next("cali_end", found, attribute);
}

MARLINE_ENTRY int cali_safe_end_string(AttributeId attribute, const char* value) {
  static void* found;
  end_attribute(name_of(attribute));
  return call_next("cali_safe_end_string", found, attribute, value);
}

// Classes of C++ (Itanium C++ ABI, 5.1): constructors, destructors, and the member that ends a loop -------------------

// cali::Function::Function(const char*)
MARLINE_ENTRY void _ZN4cali8FunctionC1EPKc(void* self, const char* name) {
  static void* found;
  call_next("_ZN4cali8FunctionC1EPKc", found, self, name);
  begin_value(kRegion, name);
}

// cali::Function::~Function()
MARLINE_ENTRY void _ZN4cali8FunctionD1Ev(void* self) {
  static void* found;
  end_attribute(kRegion);
  call_next("_ZN4cali8FunctionD1Ev", found, self);
}

// cali::ScopeAnnotation::ScopeAnnotation(const char*)
MARLINE_ENTRY void _ZN4cali15ScopeAnnotationC1EPKc(void* self, const char* name) {
  static void* found;
  call_next("_ZN4cali15ScopeAnnotationC1EPKc", found, self, name);
  begin_value(kRegion, name);
}

// cali::ScopeAnnotation::~ScopeAnnotation()
MARLINE_ENTRY void _ZN4cali15ScopeAnnotationD1Ev(void* self) {
  static void* found;
  end_attribute(kRegion);
  call_next("_ZN4cali15ScopeAnnotationD1Ev", found, self);
}

// cali::Loop::Loop(const char*)
MARLINE_ENTRY void _ZN4cali4LoopC1EPKc(void* self, const char* name) {
  static void* found;
  call_next("_ZN4cali4LoopC1EPKc", found, self, name);
  if (open_loops.add(self)) begin_value(kLoop, name);
}

// cali::Loop::end()
MARLINE_ENTRY void _ZN4cali4Loop3endEv(void* self) {
  static void* found;
  if (open_loops.remove(self)) end_attribute(kLoop);
  call_next("_ZN4cali4Loop3endEv", found, self);
}

// cali::Loop::~Loop(), which ends the loop if end() has not been called
MARLINE_ENTRY void _ZN4cali4LoopD1Ev(void* self) {
  static void* found;
  if (open_loops.remove(self)) end_attribute(kLoop);
  call_next("_ZN4cali4LoopD1Ev", found, self);
}
