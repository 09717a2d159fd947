/* SPDX-License-Identifier: Apache-2.0
 *
 * Reads a command line strictly. Every process reads the same command line and notes the same mistakes.
 */
#ifndef APPS_COMMON_ARGUMENT_H
#define APPS_COMMON_ARGUMENT_H

#include "failure.h"

/* A whole decimal number between low and high. Returns the place after it, or NULL. */
const char* argument_parse(const char* text, long long low, long long high, long long* value);

/* The value `text` of an option (`-n`, `--steps`): exactly such a number. If it is not, notes what is allowed and
 * returns low. */
long long argument_whole(const char* option, const char* text, long long low, long long high, Failure* failure);

/* The same for a real number; NaN is refused. */
double argument_real(const char* option, const char* text, double low, double high, Failure* failure);

/* The position of the value in a list of words, which a null pointer ends. If it is not in the list, notes the list
 * and returns 0. */
int argument_word(const char* option, const char* text, const char* const* words, Failure* failure);

/* getopt_long returned ':' (no value, as asked for by a leading ':') or '?' for `word`, argv[optind - 1]. */
void argument_refuse_option(int option, const char* word, Failure* failure);

/* Refuses words after the options: notes the first of `count` words, if there is one. */
void argument_refuse_more(int count, char* const* words, Failure* failure);

#endif
