/* SPDX-License-Identifier: Apache-2.0
 *
 * What MARLINE_LINK says of a link (offload/wire/model/link_speed.hpp), for C. No state.
 */
#ifndef MARLINE_DELAY_LINK_SPEED_H
#define MARLINE_DELAY_LINK_SPEED_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct Link {
  uint64_t latency; /* nanoseconds */
  double bandwidth; /* bytes per nanosecond; 0: any number at once */
} Link;

/* Null; or, for a text that is no list, where it stops to be one. */
const char* link_read(const char* text, const char* node, const char* other, Link* link);

/* When a message that is sent at `sent` has arrived. Moves `*busy`, a lock-free atomic of 64 bits. */
uint64_t link_pass(const Link* link, void* busy, uint64_t sent, uint64_t bytes);

#ifdef __cplusplus
}
#endif

#endif
