/* SPDX-License-Identifier: Apache-2.0
 *
 * omp_get_interop_* on a host without foreign runtimes: omp_interop_none has no properties, and the return codes and
 * texts say so.
 *
 * Covers: omp_get_num_interop_properties, omp_get_interop_int, omp_get_interop_ptr, omp_get_interop_str,
 *  omp_get_interop_name, omp_get_interop_type_desc, omp_get_interop_rc_desc
 */
#include "../check.h"
#include <omp.h>

static void no_properties(void) {
  CHECK_EQ(omp_get_num_interop_properties(omp_interop_none), 0);
  for (int id = omp_ipr_first - 3; id <= 3; id++) {
    int code = 99;
    CHECK_EQ(omp_get_interop_int(omp_interop_none, (omp_interop_property_t)id, &code), 0);
    CHECK_EQ(code, omp_irc_empty);
    code = 99;
    CHECK(omp_get_interop_ptr(omp_interop_none, (omp_interop_property_t)id, &code) == NULL);
    CHECK_EQ(code, omp_irc_empty);
    code = 99;
    CHECK(omp_get_interop_str(omp_interop_none, (omp_interop_property_t)id, &code) == NULL);
    CHECK_EQ(code, omp_irc_empty);
    CHECK(omp_get_interop_type_desc(omp_interop_none, (omp_interop_property_t)id) == NULL);
  }
  CHECK_EQ(omp_get_interop_int(omp_interop_none, omp_ipr_device_num, NULL), 0); /* the code is optional */
}

static void names(void) {
  static const char* const expected[] = {"fr_id",    "fr_name", "vendor",         "vendor_name", "device_num",
                                         "platform", "device",  "device_context", "targetsync"};
  for (int id = omp_ipr_first - 3; id <= 3; id++) {
    const char* name = omp_get_interop_name(omp_interop_none, (omp_interop_property_t)id);
    if (id >= omp_ipr_first && id < 0)
      CHECK(name != NULL && strcmp(name, expected[-1 - id]) == 0);
    else
      CHECK(name == NULL);
  }
}

static void descriptions(void) {
  for (int code = omp_irc_other; code <= omp_irc_no_value; code++) {
    const char* text = omp_get_interop_rc_desc(omp_interop_none, (omp_interop_rc_t)code);
    CHECK(text != NULL && text[0] != '\0');
    for (int other = omp_irc_other; other < code; other++)
      CHECK(strcmp(text, omp_get_interop_rc_desc(omp_interop_none, (omp_interop_rc_t)other)) != 0);
  }
}

int main(void) {
  no_properties();
  names();
  descriptions();
  return 0;
}
