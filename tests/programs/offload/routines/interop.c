/* SPDX-License-Identifier: Apache-2.0
 *
 * Interoperability objects: made, asked, used as a point of order, and given back. Which properties there are is the
 * device's matter; an object that is given back is none. LLVM 19 and 22 crash on devices that have no such objects.
 *
 * Covers: interop, omp_get_num_interop_properties, omp_get_interop_int, omp_get_interop_ptr, omp_get_interop_str,
 *  omp_get_interop_name
 */
#include "../device.h"

int main(void) {
  int code = 7, x = 0;
  omp_interop_t object = omp_interop_none;
#pragma omp interop init(targetsync : object) device(0)
  CHECK(omp_get_num_interop_properties(object) >= 0);
  long device = omp_get_interop_int(object, omp_ipr_device_num, &code);
  CHECK(code != 0 || device == 0); /* an error, or the device */
  (void)omp_get_interop_ptr(object, omp_ipr_targetsync, &code);
  (void)omp_get_interop_str(object, omp_ipr_vendor_name, &code);
  (void)omp_get_interop_name(object, omp_ipr_vendor);
#pragma omp target map(tofrom : x)
  x++;
#pragma omp interop use(object) device(0)
#pragma omp interop destroy(object) device(0)
  CHECK(object == omp_interop_none);
#pragma omp parallel
#pragma omp single
  {
#pragma omp target nowait map(tofrom : x) depend(inout : x)
    x++;
#pragma omp interop init(targetsync : object) device(0) depend(inout : x)
    CHECK_EQ(x, 2);
#pragma omp interop destroy(object) device(0) nowait depend(inout : x)
#pragma omp taskwait
  }
  CHECK(object == omp_interop_none);
  return 0;
}
