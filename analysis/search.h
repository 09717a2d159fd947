/* SPDX-License-Identifier: Apache-2.0
 *
 * Look-ups of many keys in one sorted array. The keys of a trace mostly come in runs: the same task again, the next
 * one, or two tasks by turns. So a key is looked for first where the last two were found, and only then by bisection.
 * python/marline/trace/native_base.py calls these functions by ctypes. All arrays are the caller's. No state;
 * thread-safe.
 */
#ifndef MARLINE_ANALYSIS_SEARCH_H
#define MARLINE_ANALYSIS_SEARCH_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What is looked for. */
enum {
  kMarlineLess = 0,      /* how many elements are less than the key */
  kMarlineLessEqual = 1, /* how many are not greater */
  kMarlineSame = 2,      /* the first element that equals it, or -1 */
};

/* places[k] becomes what `wanted` says of keys[k], among `count` elements in ascending order. Returns 0; -1 if `wanted`
 * is none of the above. */
__attribute__((visibility("default"))) int64_t marline_search_signed(const int64_t* sorted, int64_t count,
                                                                     const int64_t* keys, int64_t keys_count,
                                                                     int64_t wanted, int64_t* places);
__attribute__((visibility("default"))) int64_t marline_search_unsigned(const uint64_t* sorted, int64_t count,
                                                                       const uint64_t* keys, int64_t keys_count,
                                                                       int64_t wanted, int64_t* places);

#ifdef __cplusplus
}
#endif

#endif
