/* SPDX-License-Identifier: Apache-2.0
 *
 * What a pointer points to is not mapped, which a section without elements allows: the device's pointer keeps its value
 * (OpenMP 5.2, section 5.8.6). A pointer that is not mapped itself is not attached.
 *
 * Covers: target(map), target enter data(map:to), target exit data(map:release/delete), omp_target_is_present
 */
#include "../device.h"

typedef struct {
  int n;
  int* data;
} Object;

static int data[8] = {1, 2, 3, 4, 5, 6, 7, 8};

/* n is 0, which compilers do not know. */
static void without_elements(int n, int* pointee) {
  int same = 0;
  Object object = {n, pointee}, *p = &object;
#pragma omp target map(to : object) map(tofrom : object.data[0 : n]) map(from : same)
  same = object.data == pointee;
  CHECK_EQ(same, 1);
#pragma omp target enter data map(to : p[0 : 1], p->data[0 : n])
#pragma omp target enter data map(to : p->data[0 : n])
  same = 0;
#pragma omp target map(p->data[ : 0]) map(from : same)
  same = p->data == pointee;
  CHECK_EQ(same, 1);
#pragma omp target exit data map(release : p->data[0 : n])
#pragma omp target exit data map(delete : p[0 : 1])
  CHECK_EQ(object.data == pointee, 1);
  CHECK_PRESENT(&object, 0);
}

static void without_pointer(void) {
  Object object = {8, data}, *p = &object;
#pragma omp target enter data map(to : p->data[0 : 8])
  CHECK_PRESENT(data, 1);
  CHECK_EQ(object.data == data, 1);
#pragma omp target exit data map(delete : p->data[0 : 8])
  CHECK_PRESENT(data, 0);
}

int main(int argc, char** argv) {
  (void)argv;
  without_elements(argc - 1, NULL);
  without_elements(argc - 1, data);
  without_pointer();
  return 0;
}
