/* SPDX-License-Identifier: Apache-2.0
 *
 * What devices do for target tasks: a copy to a device reads the host's memory, a copy from a device writes it.
 */
#ifndef MARLINE_CHECK_ACCESSES_DEVICES_H
#define MARLINE_CHECK_ACCESSES_DEVICES_H

#include "../../common/ompt.h"

/* Registers the callbacks. */
void devices_begin(ompt_set_callback_t set, ompt_get_task_info_t task_info);

#endif
