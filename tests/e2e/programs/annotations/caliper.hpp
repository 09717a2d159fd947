// SPDX-License-Identifier: Apache-2.0
//
// A small stand-in for Caliper: the prototypes of its C interface and of its classes for C++, with which a program and
// the library caliper.cpp are built.
#pragma once
#include <stdint.h>

extern "C" {
typedef uint64_t cali_id_t;
void cali_begin_region(const char* name);
void cali_end_region(const char* name);
void cali_begin_phase(const char* name);
void cali_end_phase(const char* name);
void cali_begin_comm_region(const char* name);
void cali_end_comm_region(const char* name);
void cali_begin_byname(const char* attribute);
void cali_begin_string_byname(const char* attribute, const char* value);
void cali_begin_int_byname(const char* attribute, int value);
void cali_begin_double_byname(const char* attribute, double value);
void cali_end_byname(const char* attribute);
void cali_begin(cali_id_t attribute);
void cali_begin_string(cali_id_t attribute, const char* value);
void cali_begin_int(cali_id_t attribute, int value);
void cali_begin_double(cali_id_t attribute, double value);
void cali_end(cali_id_t attribute);
void cali_safe_end_string(cali_id_t attribute, const char* value);
const char* cali_attribute_name(cali_id_t attribute);
}

namespace cali {

class Function {
 public:
  Function(const char* name);
  ~Function();
};

class ScopeAnnotation {
 public:
  ScopeAnnotation(const char* name);
  ~ScopeAnnotation();
};

class Loop {
 public:
  Loop(const char* name);
  ~Loop();
  void end();

 private:
  bool is_open_;
};

}  // namespace cali
