/* SPDX-License-Identifier: Apache-2.0
 *
 * Reads Matrix Market files. No state but the file's.
 */
#include "market.h"

#include <ctype.h>
#include <errno.h>
#include <float.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* How far the two halves of a general matrix may differ, relative to the larger value: a few roundings. */
static const double kSymmetryTolerance = 100 * DBL_EPSILON;

static const long long kLargestOrder = INT_MAX / 2;

static void note(const MarketFile* file, Failure* failure, const char* what) {
  failure_note(failure, kExitInput, "%s:%lld: %s", file->path, file->line, what);
}

/* Header ----------------------------------------------------------------------------------------------------------- */

static void parse_banner(MarketFile* file, const char* text, Failure* failure) {
  char object[16], format[16], field[16], symmetry[16];
  if (sscanf(text, "%%%%MatrixMarket %15s %15s %15s %15s", object, format, field, symmetry) != 4 ||
      strcasecmp(object, "matrix") != 0) {
    note(file, failure,
         "not a Matrix Market file: the first line must be "
         "'%%MatrixMarket matrix array|coordinate real|integer symmetric|general'");
    return;
  }
  file->coordinate = strcasecmp(format, "coordinate") == 0;
  file->integer = strcasecmp(field, "integer") == 0;
  file->general = strcasecmp(symmetry, "general") == 0;
  if (!file->coordinate && strcasecmp(format, "array") != 0) {
    note(file, failure, "the format must be 'array' or 'coordinate'");
  } else if (!file->integer && strcasecmp(field, "real") != 0) {
    note(file, failure, "the field must be 'real' or 'integer'");
  } else if (!file->general && strcasecmp(symmetry, "symmetric") != 0) {
    note(file, failure, "the symmetry must be 'symmetric' or 'general'");
  }
}

static void parse_size(MarketFile* file, const char* text, Failure* failure) {
  long long rows = 0, cols = 0;
  int end = 0;
  file->entries = -1;
  if (file->coordinate) {
    sscanf(text, "%lld %lld %lld %n", &rows, &cols, &file->entries, &end);
  } else if (sscanf(text, "%lld %lld %n", &rows, &cols, &end) == 2) {
    file->entries = 0;
  }
  if (end == 0 || text[end] != '\0' || rows < 1 || cols < 1 || file->entries < 0) {
    note(file, failure,
         file->coordinate ? "the size line must be 'rows columns entries'" : "the size line must be 'rows columns'");
    return;
  }
  if (rows != cols) {
    failure_note(failure, kExitInput, "%s:%lld: the matrix is %lld x %lld; it must be square", file->path, file->line,
                 rows, cols);
    return;
  }
  if (rows > kLargestOrder) {
    failure_note(failure, kExitInput, "%s:%lld: the order %lld exceeds %lld", file->path, file->line, rows,
                 kLargestOrder);
    return;
  }
  file->n = (int)rows;
  if (!file->coordinate) {
    file->entries = file->general ? rows * rows : rows * (rows + 1) / 2;
  }
}

static bool is_comment_or_blank(const char* text) { return text[0] == '%' || text[strspn(text, " \t\r\n")] == '\0'; }

void market_open(MarketFile* file, const char* path, Failure* failure) {
  *file = (MarketFile){.path = path, .stream = fopen(path, "r")};
  if (!file->stream) {
    failure_note(failure, kExitInput, "cannot open '%s': %s", path, strerror(errno));
    return;
  }
  char* text = NULL;
  size_t room = 0;
  bool banner = false, size = false;
  while (!size && failure->code == 0 && getline(&text, &room, file->stream) >= 0) {
    ++file->line;
    if (!banner) {
      parse_banner(file, text, failure);
      banner = true;
    } else if (!is_comment_or_blank(text)) {
      parse_size(file, text, failure);
      size = true;
    }
  }
  if (ferror(file->stream)) {
    failure_note(failure, kExitInput, "cannot read '%s': %s", path, strerror(errno));
  } else if (!size) {
    failure_note(failure, kExitInput, "%s: the file ends before the size of the matrix", path);
  }
  free(text);
  ++file->line;
}

void market_close(MarketFile* file) {
  if (file->stream) {
    fclose(file->stream);
    file->stream = NULL;
  }
}

/* Data ------------------------------------------------------------------------------------------------------------- */

enum { kTokenRoom = 128 };

/* The next word of the file; false at the end of the file. A word that does not fit is cut and ends in '~', so it is
 * no number. */
static bool next_token(MarketFile* file, char* token) {
  int length = 0;
  int c = getc_unlocked(file->stream);
  while (c != EOF && isspace(c)) {
    file->line += c == '\n';
    c = getc_unlocked(file->stream);
  }
  while (c != EOF && !isspace(c)) {
    if (length < kTokenRoom - 1) {
      token[length++] = (char)c;
    } else {
      token[length - 1] = '~';
    }
    c = getc_unlocked(file->stream);
  }
  if (c != EOF) {
    ungetc(c, file->stream);
  }
  token[length] = '\0';
  return length > 0;
}

static bool require_token(MarketFile* file, char* token, long long entry, Failure* failure) {
  if (next_token(file, token)) {
    return true;
  }
  failure_note(failure, kExitInput, "%s:%lld: the file ends after %lld of %lld entries", file->path, file->line, entry,
               file->entries);
  return false;
}

static bool read_value(MarketFile* file, long long entry, double* value, Failure* failure) {
  char token[kTokenRoom];
  if (!require_token(file, token, entry, failure)) {
    return false;
  }
  char* end;
  *value = strtod(token, &end);
  if (*end != '\0' || !isfinite(*value) || (file->integer && *value != trunc(*value))) {
    failure_note(failure, kExitInput, "%s:%lld: '%s' is not %s", file->path, file->line, token,
                 file->integer ? "an integer" : "a finite number");
    return false;
  }
  return true;
}

/* A row or column number, 1..n in the file; from 0 in *index. */
static bool read_index(MarketFile* file, long long entry, int* index, Failure* failure) {
  char token[kTokenRoom];
  if (!require_token(file, token, entry, failure)) {
    return false;
  }
  char* end;
  long long number = strtoll(token, &end, 10);
  if (*end != '\0' || number < 1 || number > file->n) {
    failure_note(failure, kExitInput, "%s:%lld: '%s' is not a row or column from 1 to %d", file->path, file->line,
                 token, file->n);
    return false;
  }
  *index = (int)number - 1;
  return true;
}

/* The place of the next entry of an array: column by column, of a symmetric array the lower triangle only. */
static bool next_place(MarketFile* file, long long entry, int* i, int* j, Failure* failure) {
  if (file->coordinate) {
    return read_index(file, entry, i, failure) && read_index(file, entry, j, failure);
  }
  if (entry > 0 && ++*i == file->n) {
    ++*j;
    *i = file->general ? 0 : *j;
  }
  return true;
}

void market_read(MarketFile* file, MarketEntryFn take, void* arg, Failure* failure) {
  int i = 0, j = 0;
  double value;
  for (long long entry = 0; entry < file->entries && failure->code == 0; ++entry) {
    if (!next_place(file, entry, &i, &j, failure) || !read_value(file, entry, &value, failure)) {
      return;
    }
    if (i < j && !file->general) {
      note(file, failure, "an entry above the diagonal, in a file that is declared symmetric");
      return;
    }
    take(file, i, j, value, arg, failure);
  }
  char token[kTokenRoom];
  if (failure->code == 0 && next_token(file, token)) {
    failure_note(failure, kExitInput, "%s:%lld: '%s' after the last of %lld entries", file->path, file->line, token,
                 file->entries);
  }
}

bool market_same(double a, double b) { return fabs(a - b) <= kSymmetryTolerance * fmax(fabs(a), fabs(b)); }
