/* SPDX-License-Identifier: Apache-2.0
 *
 * What factorise.h says of matrices that are not positive definite; the same for all that factorise.
 */
#include <limits.h>
#include <mpi.h>

#include "factorise.h"

int factorise_bad_minor(const Matrix* l) {
  const Layout* layout = &l->layout;
  int smallest = INT_MAX;
  for (int k = layout_next(0, layout->grid_cols, layout->my_col); k < layout->tiles; k += layout->grid_cols) {
    for (int m = layout_next(k, layout->grid_rows, layout->my_row); m < layout->tiles; m += layout->grid_rows) {
      double status = *tile_status(matrix_tile(l, m, k));
      if (status != 0 && status < smallest) {
        smallest = (int)status;
      }
    }
  }
  MPI_Allreduce(MPI_IN_PLACE, &smallest, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  return smallest == INT_MAX ? 0 : smallest;
}
