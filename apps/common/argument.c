/* SPDX-License-Identifier: Apache-2.0
 *
 * Finds the options by getopt_long and stores their values; see argument.h. No state.
 */
#include "argument.h"

#include <assert.h>
#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kMostRows = 40, kLongestName = 24, kWordOption = 256 /* getopt: + position in the table; below: a letter */ };

typedef struct {
  char of[kMostRows][kLongestName]; /* by row; "" of a heading */
  char letters[2 * kMostRows + 2];
  struct option words[kMostRows + 1];
} Names;

const char* argument_parse(const char* text, long long low, long long high, long long* value) {
  char* end;
  errno = 0;
  *value = strtoll(text, &end, 10);
  return end != text && errno == 0 && *value >= low && *value <= high ? end : NULL;
}

long long argument_whole(const char* option, const char* text, long long low, long long high, Failure* failure) {
  long long value = 0;
  const char* end = argument_parse(text, low, high, &value);
  if (!end || *end != '\0') {
    failure_note(failure, kExitInput, "%s takes a whole number from %lld to %lld, not '%s'", option, low, high, text);
    return low;
  }
  return value;
}

static double read_real(const char* option, const char* text, double low, double high, Failure* failure) {
  char* end;
  double value = strtod(text, &end);
  /* Written so that NaN fails both comparisons. */
  if (end == text || *end != '\0' || !(value >= low && value <= high)) {
    failure_note(failure, kExitInput, "%s takes a number from %g to %g, not '%s'", option, low, high, text);
    return low;
  }
  return value;
}

static int read_word(const char* option, const char* text, const Argument* row, Failure* failure) {
  const bool choice = row->kind == kChoice;
  char all[128] = "";
  for (int k = 0; row->words[k]; ++k) {
    if (strcmp(row->words[k], text) == 0) {
      return k;
    }
    const char* comma = k == 0 ? "" : choice && !row->words[k + 1] ? " or " : ", ";
    snprintf(all + strlen(all), sizeof all - strlen(all), "%s%s", comma, row->words[k]);
  }
  failure_note(failure, kExitInput, "%s takes %s%s, not '%s'", option, choice ? "" : "one of ", all, text);
  return 0;
}

static void store(const Argument* row, const char* option, const char* text, char* options, Failure* failure) {
  void* member = options + row->member;
  switch (row->kind) {
    case kHeading: break;
    case kFlag: *(bool*)member = true; break;
    case kInt:
      *(int*)member = (int)argument_whole(option, text, (long long)row->low, (long long)row->high, failure);
      break;
    case kLong:
      *(long long*)member = argument_whole(option, text, (long long)row->low, (long long)row->high, failure);
      break;
    case kSeed: *(long long*)member = argument_whole(option, text, 0, LLONG_MAX, failure); break;
    case kReal: *(double*)member = read_real(option, text, row->low, row->high, failure); break;
    case kWord:
    case kChoice: *(int*)member = read_word(option, text, row, failure); break;
    case kText: *(const char**)member = text; break;
    case kParsed: row->parse(option, text, member, failure); break;
  }
}

static void list_names(const Argument* table, Names* names) {
  char* letters = names->letters;
  struct option* words = names->words;
  *letters++ = ':'; /* a missing value is not an unknown option */
  for (int k = 0; table[k].help; ++k) {
    assert(k < kMostRows);
    if (table[k].kind == kHeading) {
      continue;
    }
    char* name = names->of[k];
    sscanf(table[k].help, "%23s", name);
    const bool has_value = table[k].kind != kFlag;
    if (strlen(name) == strlen("-n")) {
      *letters++ = name[1];
      if (has_value) {
        *letters++ = ':';
      }
    } else {
      *words++ =
          (struct option){name + strspn(name, "-"), has_value ? required_argument : no_argument, NULL, kWordOption + k};
    }
  }
}

/* The row of what getopt has found. */
static int find_row(const Argument* table, const Names* names, int option) {
  if (option >= kWordOption) {
    return option - kWordOption;
  }
  int row = 0;
  while (table[row].help && !(names->of[row][1] == option && names->of[row][2] == '\0')) {
    ++row;
  }
  return row;
}

void arguments_parse(const Argument* table, ArgumentStyle style, void* options, int argc, char** argv,
                     Failure* failure) {
  Names names = {0};
  list_names(table, &names);
  for (int k = 0; table[k].help; ++k) {
    if (table[k].initial) {
      store(&table[k], names.of[k], table[k].initial, options, failure);
    }
  }
  int (*const get)(int, char* const*, const char*, const struct option*, int*) =
      style == kOneDash ? getopt_long_only : getopt_long;
  int option;
  while ((option = get(argc, argv, names.letters, names.words, NULL)) != -1) {
    if (option == ':' || option == '?') {
      const char* problem = option == ':' ? "option '%s' needs a value; see --help" : "unknown option '%s'; see --help";
      failure_note(failure, kExitInput, problem, argv[optind - 1]);
      continue;
    }
    const int k = find_row(table, &names, option);
    store(&table[k], names.of[k], optarg, options, failure);
    if (table[k].given) {
      *(const char**)((char*)options + table[k].given) = table[k].help;
    }
  }
  if (optind < argc) {
    failure_note(failure, kExitInput, "unexpected argument '%s'; see --help", argv[optind]);
  }
}

void argument_print(const Argument* row) {
  if (!strchr(row->help, ' ')) {
    return;
  }
  const char* text = row->help;
  printf("%s", row->kind == kHeading ? "" : "  ");
  for (const char* open; (open = strchr(text, '{')); text = strchr(open, '}') + 1) {
    printf("%.*s", (int)(open - text), text);
    if (open[1] == 'd') {
      printf("%s", row->initial);
    } else {
      printf("%.15g", open[1] == 'l' ? row->low : row->high);
    }
  }
  printf("%s\n", text);
}

void arguments_print(const Argument* table) {
  for (const Argument* row = table; row->help; ++row) {
    argument_print(row);
  }
}
