// SPDX-License-Identifier: Apache-2.0
//
// How this build was made: MARLINE_TSAN and MARLINE_ASAN are 1 under ThreadSanitizer and AddressSanitizer, otherwise 0.
// GCC defines a macro for each, Clang answers __has_feature.
#pragma once

#if defined(__SANITIZE_THREAD__)
#define MARLINE_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define MARLINE_TSAN 1
#endif
#endif
#ifndef MARLINE_TSAN
#define MARLINE_TSAN 0
#endif

#if defined(__SANITIZE_ADDRESS__)
#define MARLINE_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define MARLINE_ASAN 1
#endif
#endif
#ifndef MARLINE_ASAN
#define MARLINE_ASAN 0
#endif
