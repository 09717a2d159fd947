// SPDX-License-Identifier: Apache-2.0
//
// The library of the stand-in for Caliper. It counts what begins and ends, and says at its end that all of it came: the
// recorder must pass each call on. As in Caliper, some of the functions call others of the interface.
#include "caliper.hpp"

#include <stdio.h>
#include <string.h>

namespace {

int begun, ended;

__attribute__((destructor)) void say() { printf("Caliper: %d begun, %d ended\n", begun, ended); }

constexpr const char* kAttributes[] = {"loop", "iteration#main", "solver", "region"};

}  // namespace

extern "C" {
const char* cali_attribute_name(cali_id_t attribute) { return kAttributes[attribute]; }
void cali_begin_region(const char* name) { cali_begin_string(3, name); }
void cali_end_region(const char* name) { cali_safe_end_string(3, name); }
void cali_begin_phase(const char*) { ++begun; }
void cali_end_phase(const char*) { ++ended; }
void cali_begin_comm_region(const char*) { ++begun; }
void cali_end_comm_region(const char*) { ++ended; }
void cali_begin_byname(const char*) { ++begun; }
void cali_begin_string_byname(const char*, const char* value) { begun += strcmp(value, "gmres") == 0; }
void cali_begin_int_byname(const char*, int value) { begun += value == 7; }
void cali_begin_double_byname(const char*, double value) { begun += value == 0.5; }
void cali_end_byname(const char*) { ++ended; }
void cali_begin(cali_id_t) { ++begun; }
void cali_begin_string(cali_id_t, const char*) { ++begun; }
void cali_begin_int(cali_id_t, int value) { begun += value == 3; }
void cali_begin_double(cali_id_t, double value) { begun += value == 0.25; }
void cali_end(cali_id_t) { ++ended; }
void cali_safe_end_string(cali_id_t, const char*) { ++ended; }
}

namespace cali {
Function::Function(const char*) { ++begun; }
Function::~Function() { ++ended; }
ScopeAnnotation::ScopeAnnotation(const char*) { ++begun; }
ScopeAnnotation::~ScopeAnnotation() { ++ended; }
Loop::Loop(const char*) : is_open_(true) { ++begun; }
Loop::~Loop() { end(); }
void Loop::end() {
  ended += is_open_;
  is_open_ = false;
}
}  // namespace cali
