/* SPDX-License-Identifier: Apache-2.0
 *
 * A region attaches a pointer while its other data is still on the way. Another region that maps the same section
 * meanwhile finds it attached, and must not run before the device's pointer has its value.
 *
 * Covers: target(map), target enter data(map:to), target exit data(map:delete), omp_target_is_present
 */
#include "../device.h"

enum { kLong = 64 << 20, kRounds = 3 };

typedef struct {
  int n;
  int* data;
} Object;

/* The host's elements change once the device has its own: so a value tells a region whether it reads the host's
 * elements or the device's. */
static void meet(char* large, Object* object, int* data) {
  int device = omp_get_default_device(), first = 0, second = 0;
  data[0] = 7;
#pragma omp target enter data map(to : object[0 : 1])
#pragma omp target enter data map(to : data[0 : 10])
  data[0] = 50;
#pragma omp parallel num_threads(2)
  {
    if (omp_get_thread_num() == 0) {
#pragma omp target map(to : large[0 : kLong]) map(object -> data[0 : 10]) map(tofrom : first)
      first = object->data[0] + large[5];
    } else {
      while (own_copies() && omp_get_num_threads() == 2 && !omp_target_is_present(large, device)) {
      }
#pragma omp target map(object->data[0 : 10]) map(tofrom : second)
      second = object->data[0];
    }
  }
  CHECK_COPY(first, 8, 51);
  CHECK_COPY(second, 7, 50);
#pragma omp target exit data map(delete : data[0 : 10])
#pragma omp target exit data map(delete : object[0 : 1])
}

int main(void) {
  int data[10] = {0};
  Object object = {10, data};
  char* large = malloc(kLong);
  memset(large, 1, kLong);
  (void)own_copies();
  for (int i = 0; i < kRounds; i++) meet(large, &object, data);
  free(large);
  return 0;
}
