/* SPDX-License-Identifier: Apache-2.0
 *
 * See market_matrix.h. Entries of this process' rows are collected in the order of the file. Of a general file, the
 * entries of this process' columns are collected, too. Rows and columns are sorted, and must then be equal.
 */
#include "market_matrix.h"

#include <stdlib.h>

typedef struct {
  int row; /* of the whole matrix */
  int column;
  double value;
  long long line;
} Entry;

typedef struct {
  Entry* entries;
  size_t count;
  size_t room;
} List;

typedef struct {
  long long first; /* the process' rows */
  long long end;
  List rows;
  List columns; /* transposed */
} Collector;

int market_rows(const MarketFile* file, int ranks, int rank) { return file->n / ranks + (rank < file->n % ranks); }

static void append(List* list, const MarketFile* file, int row, int column, double value, Failure* failure) {
  if (list->count == list->room) {
    size_t room = list->room > 0 ? 2 * list->room : 1024;
    Entry* entries = realloc(list->entries, room * sizeof *entries);
    if (!entries) {
      failure_note(failure, kExitInput, "not enough memory for the entries of '%s'", file->path);
      return;
    }
    list->entries = entries;
    list->room = room;
  }
  list->entries[list->count++] = (Entry){row, column, value, file->line};
}

static void take(const MarketFile* file, int i, int j, double value, void* arg, Failure* failure) {
  Collector* to = arg;
  bool my_row = i >= to->first && i < to->end;
  bool my_column = j >= to->first && j < to->end;
  if (my_row) {
    append(&to->rows, file, i, j, value, failure);
  }
  if (my_column && file->general) {
    append(&to->columns, file, j, i, value, failure);
  } else if (my_column && i != j) {
    append(&to->rows, file, j, i, value, failure);
  }
}

static int compare_entries(const void* a, const void* b) {
  const Entry* left = a;
  const Entry* right = b;
  if (left->row != right->row) {
    return left->row < right->row ? -1 : 1;
  }
  if (left->column != right->column) {
    return left->column < right->column ? -1 : 1;
  }
  return (left->line > right->line) - (left->line < right->line);
}

static void sort(List* list) {
  if (list->count > 0) {
    qsort(list->entries, list->count, sizeof *list->entries, compare_entries);
  }
}

static bool same_place(const Entry* a, const Entry* b) { return a->row == b->row && a->column == b->column; }

static void check_twice(const MarketFile* file, const List* list, Failure* failure) {
  for (size_t k = 1; k < list->count; ++k) {
    const Entry* entry = &list->entries[k];
    if (same_place(entry - 1, entry)) {
      /* In a symmetric file the process may have met it transposed. */
      int row = file->general || entry->row > entry->column ? entry->row : entry->column;
      int column = row == entry->row ? entry->column : entry->row;
      failure_note(failure, kExitInput, "%s:%lld: entry (%d, %d) is there twice", file->path, entry->line, row + 1,
                   column + 1);
      return;
    }
  }
}

/* Entries that are absent from one half may be zeros in the other. */
static void check_symmetry(const MarketFile* file, const List* rows, const List* columns, Failure* failure) {
  size_t r = 0;
  size_t c = 0;
  while ((r < rows->count || c < columns->count) && failure->code == 0) {
    Entry one = r < rows->count ? rows->entries[r] : columns->entries[c];
    Entry other = c < columns->count ? columns->entries[c] : one;
    int order = r == rows->count ? 1 : c == columns->count ? -1 : 0;
    if (order == 0 && !same_place(&one, &other)) {
      order = compare_entries(&one, &other);
    }
    double below = order <= 0 ? one.value : 0;
    double above = order >= 0 ? other.value : 0;
    const Entry* at = order <= 0 ? &one : &other;
    if (!market_same(below, above)) {
      failure_note(failure, kExitInput, "%s: not symmetric: entry (%d, %d) is %.17g, entry (%d, %d) is %.17g",
                   file->path, at->row + 1, at->column + 1, below, at->column + 1, at->row + 1, above);
    }
    r += order <= 0;
    c += order >= 0;
  }
}

static void build(const MarketFile* file, Matrix* matrix, const Collector* from, Failure* failure) {
  const List* list = &from->rows;
  int rows = (int)(from->end - from->first);
  if (!matrix_create(matrix, rows, list->count)) {
    failure_note(failure, kExitInput, "not enough memory for the rows of '%s'", file->path);
    return;
  }
  size_t k = 0;
  for (int row = 0; row < rows; ++row) {
    matrix->start[row] = k;
    for (; k < list->count && list->entries[k].row == from->first + row; ++k) {
      matrix->column[k] = list->entries[k].column;
      matrix->value[k] = list->entries[k].value;
    }
  }
  matrix->start[rows] = k;
}

void market_fill(MarketFile* file, Matrix* matrix, const Rows* rows, Failure* failure) {
  Collector collector = {.first = rows->first[rows->rank], .end = rows->first[rows->rank + 1]};
  market_read(file, take, &collector, failure);
  sort(&collector.rows);
  sort(&collector.columns);
  if (failure->code == 0) {
    check_twice(file, &collector.rows, failure);
  }
  if (failure->code == 0 && file->general) {
    check_symmetry(file, &collector.rows, &collector.columns, failure);
  }
  if (failure->code == 0) {
    build(file, matrix, &collector, failure);
  }
  free(collector.rows.entries);
  free(collector.columns.entries);
}
