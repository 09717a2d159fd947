/* SPDX-License-Identifier: Apache-2.0
 *
 * See stencil.h. A row has a neighbour per direction in which the whole domain goes on, so the number of its entries is
 * a product, and rows can be filled in any order.
 */
#include "stencil.h"

/* Of the places at - 1, at, at + 1: the first that is in the domain 0 .. size - 1, and how many are. */
typedef struct {
  int first;
  int count;
} Span;

static Span neighbours(int at, int size) {
  int first = at > 0 ? at - 1 : 0;
  int last = at + 1 < size ? at + 1 : size - 1;
  return (Span){first, last - first + 1};
}

static void fill_row(Matrix* matrix, const Box* box, int row, Span z, Span y, Span x, int diagonal) {
  size_t at = matrix->start[row];
  for (int k = z.first; k < z.first + z.count; ++k) {
    for (int j = y.first; j < y.first + y.count; ++j) {
      for (int i = x.first; i < x.first + x.count; ++i, ++at) {
        int column = (k * box->ny + j) * box->nx + i;
        matrix->column[at] = column;
        matrix->value[at] = column == diagonal ? 27 : -1;
      }
    }
  }
}

/* In z the domain goes on through the boxes of all processes. */
static Span span_z(const Rows* rows, const Box* box, int row) {
  int plane = rows->rank * box->nz + row / (box->nx * box->ny);
  return neighbours(plane, rows->ranks * box->nz);
}

bool stencil_fill(Matrix* matrix, const Rows* rows, const Box* box) {
  int count = box->nx * box->ny * box->nz;
  if (!matrix_create(matrix, count, (size_t)count * 27)) {
    return false;
  }
  matrix->start[0] = 0;
  for (int row = 0; row < count; ++row) {
    int entries = span_z(rows, box, row).count * neighbours(row / box->nx % box->ny, box->ny).count *
                  neighbours(row % box->nx, box->nx).count;
    matrix->start[row + 1] = matrix->start[row] + (size_t)entries;
  }
  int first = (int)rows->first[rows->rank];
#pragma omp parallel for default(none) shared(matrix, rows, box, count, first) schedule(static)
  for (int row = 0; row < count; ++row) {
    fill_row(matrix, box, row, span_z(rows, box, row), neighbours(row / box->nx % box->ny, box->ny),
             neighbours(row % box->nx, box->nx), first + row);
  }
  return true;
}
