/* SPDX-License-Identifier: Apache-2.0
 *
 * Misuse of device memory and of associations. Routines with a result report it by that; here the program then tells it
 * and ends with an error.
 *
 * Covers: omp_target_alloc, omp_target_free, omp_target_associate_ptr, omp_target_disassociate_ptr
 */
#include "bad.h"

static int array[N];

static void expect_error(const char* what, int result) {
  if (result != 0) {
    fprintf(stderr, "%s failed\n", what);
    exit(1);
  }
}

/* Frees memory of the device that an association still uses. */
static void free_associated(void) {
  int* memory = omp_target_alloc(sizeof array, 0);
  expect_error("omp_target_associate_ptr", omp_target_associate_ptr(array, memory, sizeof array, 0, 0));
  omp_target_free(memory, 0);
#pragma omp target update to(array)
}

/* The same with an association that begins inside the block. */
static void free_associated_inside(void) {
  char* memory = omp_target_alloc(2 * sizeof array, 0);
  expect_error("omp_target_associate_ptr", omp_target_associate_ptr(array, memory, sizeof array, sizeof array / 2, 0));
  omp_target_free(memory, 0);
#pragma omp target update to(array)
}

/* Frees the device's copy of what a construct has mapped. */
static void free_mapped(void) {
  int* copy = array;
#pragma omp target enter data map(to : array)
#pragma omp target data use_device_ptr(copy)
  omp_target_free(copy, 0);
#pragma omp target update from(array)
}

static void free_twice(void) {
  void* memory = omp_target_alloc(100, 0);
  omp_target_free(memory, 0);
  omp_target_free(memory, 0);
}

static void free_host(void) { omp_target_free(array, 0); }

static void free_inside(void) {
  char* memory = omp_target_alloc(100, 0);
  omp_target_free(memory + 8, 0);
}

/* Ends by `disassociate` what a construct has mapped. */
static void disassociate_mapped(void) {
#pragma omp target enter data map(to : array)
  expect_error("omp_target_disassociate_ptr", omp_target_disassociate_ptr(array, 0));
}

/* Ends an association while a construct still counts on it. */
static void disassociate_used(void) {
  int *memory = omp_target_alloc(sizeof array, 0), result = 0;
  expect_error("omp_target_associate_ptr", omp_target_associate_ptr(array, memory, sizeof array, 0, 0));
#pragma omp target data map(tofrom : array)
  {
    result = omp_target_disassociate_ptr(array, 0);
#pragma omp target map(tofrom : array)
    array[0]++;
  }
  expect_error("omp_target_disassociate_ptr", result);
}

static void disassociate_absent(void) {
  expect_error("omp_target_disassociate_ptr", omp_target_disassociate_ptr(array, 0));
}

static void associate_twice(void) {
  int *one = omp_target_alloc(sizeof array, 0), *two = omp_target_alloc(sizeof array, 0);
  expect_error("the first omp_target_associate_ptr", omp_target_associate_ptr(array, one, sizeof array, 0, 0));
  expect_error("the second omp_target_associate_ptr", omp_target_associate_ptr(array, two, sizeof array, 0, 0));
}

static void associate_mapped(void) {
  int* memory = omp_target_alloc(sizeof array, 0);
#pragma omp target enter data map(to : array)
  expect_error("omp_target_associate_ptr", omp_target_associate_ptr(array, memory, sizeof array, 0, 0));
}

static void too_much(void) {
  if (!omp_target_alloc((size_t)1 << 60, 0)) {
    fputs("omp_target_alloc failed\n", stderr);
    exit(1);
  }
}

static void map_too_much(void) {
  char* nothing = (char*)array;
#pragma omp target enter data map(alloc : nothing[0 : (size_t)1 << 60])
}

int main(int argc, char** argv) {
  static const Mistake mistakes[] = {{"free_associated", free_associated},
                                     {"free_associated_inside", free_associated_inside},
                                     {"free_mapped", free_mapped},
                                     {"free_twice", free_twice},
                                     {"free_host", free_host},
                                     {"free_inside", free_inside},
                                     {"disassociate_mapped", disassociate_mapped},
                                     {"disassociate_used", disassociate_used},
                                     {"disassociate_absent", disassociate_absent},
                                     {"associate_twice", associate_twice},
                                     {"associate_mapped", associate_mapped},
                                     {"too_much", too_much},
                                     {"map_too_much", map_too_much}};
  return MAKE_MISTAKE(argc, argv, mistakes);
}
