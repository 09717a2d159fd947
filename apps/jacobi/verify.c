/* SPDX-License-Identifier: Apache-2.0
 *
 * See verify.h.
 */
#include "verify.h"

#include <float.h>

#include "exchange.h"

Check verify_result(const Solver* solver, int iterate) {
  const Grid* grid = solver->grid;
  Message messages[kMostMessages];
  const int count = exchange_messages(solver->job->ranks, solver->job->rank, grid->planes, iterate, messages);
  for (int i = 0; i < count; ++i) {
    const Message* message = &messages[i];
    if (message->sends) {
      MPI_Send(grid_edge(grid, iterate, message->upper), grid->columns, MPI_DOUBLE, message->neighbour, message->tag,
               solver->halos);
    } else {
      MPI_Recv(grid_halo(grid, iterate, message->upper), grid->columns, MPI_DOUBLE, message->neighbour, message->tag,
               solver->halos, MPI_STATUS_IGNORE);
    }
  }
  Check check = {grid_residual(grid, iterate), grid_hash(grid, iterate)};
  MPI_Allreduce(MPI_IN_PLACE, &check.residual, 1, MPI_DOUBLE, MPI_MAX, solver->judges);
  MPI_Allreduce(MPI_IN_PLACE, &check.hash, 1, MPI_UINT64_T, MPI_SUM, solver->judges);
  return check;
}

/* An iteration does not increase the largest element of the residual: the rows of its matrix, 1 / (4 + shift) for each
 * neighbour, sum to less than 1. Rounding adds a few units in the last place of numbers that are at most first. */
void verify_judge(const Check* check, const Outcome* outcome, double enough, double first, Failure* failure) {
  const marline_mpi_speculation_counts_t* counts = &outcome->counts;
  if (!(check->residual <= enough + 64 * DBL_EPSILON * first)) {
    failure_note(failure, kExitWrong, "the residual of iterate %d is %.3e, but %.3e was to be reached",
                 outcome->iterations, check->residual, enough);
  }
  if (counts->sent != counts->received + counts->drained || outcome->left > 0) {
    failure_note(failure, kExitWrong,
                 "iterations that ran ahead left something: %llu messages sent, %llu received, %llu drained; %llu "
                 "processes have some left",
                 (unsigned long long)counts->sent, (unsigned long long)counts->received,
                 (unsigned long long)counts->drained, outcome->left);
  }
}
