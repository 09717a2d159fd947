/* SPDX-License-Identifier: Apache-2.0
 *
 * Reads a command line strictly, by a table that has a row for each option of the program. Every process reads the same
 * command line and notes the same mistakes. Main thread only.
 */
#ifndef APPS_COMMON_ARGUMENT_H
#define APPS_COMMON_ARGUMENT_H

#include <stddef.h>

#include "failure.h"

/* What an option's value may be, and the type of the member that it is stored in. */
typedef enum {
  kHeading, /* not an option: a line of --help */
  kFlag,    /* no value; bool */
  kInt,     /* whole number from low to high; int */
  kLong,    /* the same; long long */
  kSeed,    /* whole number, not negative; long long */
  kReal,    /* number from low to high; double */
  kWord,    /* one of words; int or enum, its position */
  kChoice,  /* the same, where an error message lists them as "a, b or c" */
  kText,    /* anything; const char* */
  kParsed,  /* what parse reads */
} ArgumentKind;

typedef struct {
  /* The line of --help, whose first word is the option ("--steps", "-n"). An option without further words has no line.
   * {default}, {low} and {high} stand for these values. */
  const char* help;
  ArgumentKind kind;
  size_t member;       /* offset in the program's Options */
  const char* initial; /* the default, as on a command line; NULL: Options keeps what it has */
  double low, high;
  const char* const* words; /* a null pointer ends them */
  void (*parse)(const char* option, const char* text, void* member, Failure* failure);
  size_t given; /* offset of a const char* that becomes `help` if the option is given; 0: none */
} Argument;

/* How getopt reads the command line: "-n" and "--steps"; or "-steps", too. */
typedef enum { kTwoDashes, kOneDash } ArgumentStyle;

/* Sets the members of *options to the defaults, then to the command line's values. Notes a mistake. A row {0} ends
 * `table`. */
void arguments_parse(const Argument* table, ArgumentStyle style, void* options, int argc, char** argv,
                     Failure* failure);

/* Prints the line of --help, or all lines. */
void argument_print(const Argument* row);
void arguments_print(const Argument* table);

/* A whole decimal number between low and high. Returns the place after it, or NULL. */
const char* argument_parse(const char* text, long long low, long long high, long long* value);

/* The value `text` of an option (`-n`, `--steps`): exactly such a number. If it is not, notes what is allowed and
 * returns low. */
long long argument_whole(const char* option, const char* text, long long low, long long high, Failure* failure);

#endif
