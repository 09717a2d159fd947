/* SPDX-License-Identifier: Apache-2.0
 *
 * Parses and checks the arguments of options. No state.
 */
#include "argument.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

double argument_real(const char* option, const char* text, double low, double high, Failure* failure) {
  char* end;
  double value = strtod(text, &end);
  /* Written so that NaN fails both comparisons. */
  if (end == text || *end != '\0' || !(value >= low && value <= high)) {
    failure_note(failure, kExitInput, "%s takes a number from %g to %g, not '%s'", option, low, high, text);
    return low;
  }
  return value;
}

int argument_word(const char* option, const char* text, const char* const* words, Failure* failure) {
  char all[128] = "";
  for (int k = 0; words[k]; ++k) {
    if (strcmp(words[k], text) == 0) {
      return k;
    }
    snprintf(all + strlen(all), sizeof all - strlen(all), "%s%s", k > 0 ? ", " : "", words[k]);
  }
  failure_note(failure, kExitInput, "%s takes one of %s, not '%s'", option, all, text);
  return 0;
}

void argument_refuse_option(int option, const char* word, Failure* failure) {
  if (option == ':') {
    failure_note(failure, kExitInput, "option '%s' needs a value; see --help", word);
  } else {
    failure_note(failure, kExitInput, "unknown option '%s'; see --help", word);
  }
}

void argument_refuse_more(int count, char* const* words, Failure* failure) {
  if (count > 0) {
    failure_note(failure, kExitInput, "unexpected argument '%s'; see --help", words[0]);
  }
}
