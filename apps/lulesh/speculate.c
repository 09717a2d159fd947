/* SPDX-License-Identifier: Apache-2.0
 *
 * Runs the form `speculative`. marline_mpi_speculation_stop demands that its caller is ordered after all receives and
 * collectives of cycles that take place: the step waits for the state of all blocks, hence for ghosts, hence for
 * motion, hence for forces of the previous cycle. The reduction has a communicator of its own.
 */
#include "speculate.h"

#include <marline/trace.h>
#include <mpi.h>
#include <omp.h>
#include <stdio.h>

typedef struct {
  TaskRun* run;
  marline_mpi_speculation_t* scope;
  char turn[2]; /* dependences: the step of an even, and of an odd cycle */
} Speculation;

static void run_verdict(Speculation* of) {
  if (!simulation_advance(&of->run->simulation)) {
    of->run->entries->speculation_stop(of->scope);
  }
}

__attribute__((noinline)) static void task_verdict(Speculation* of, int cycle) {
  const PlannedTask* task = &of->run->plan->task[of->run->plan->first[kTaskStep]];
  const marline_dependence_t* list = task->list;
  const char* turn = &of->turn[cycle % 2];
  int reads = task->reads, writes = task->writes, priority = task->priority;
  (void)list, (void)turn, (void)reads, (void)writes, (void)priority;
#pragma omp task untied default(none) firstprivate(of) priority(priority) \
    depend(iterator(int i = 0 : reads), in : *(char*)list[i].address)     \
    depend(iterator(int i = 0 : writes), out : *(char*)list[reads + i].address) depend(out : *turn)
  run_verdict(of);
  ++of->run->created;
}

/* Creates one cycle more than is known to take place: further cycles could not run. */
static void create_all(Speculation* of) {
  TaskRun* run = of->run;
  for (int k = 0; k < run->simulation.most_cycles && !run->entries->taskgroup_cancelled(); ++k) {
    const char* before = &of->turn[(k + 1) % 2];
    (void)before;
    marline_region_begin("cycle");
    task_verdict(of, k);
    tasks_create(run, kTaskReceive, kTaskMaterial);
#pragma omp taskwait depend(in : *before)
    marline_region_end();
  }
}

/* Sums over all processes; a message that is still on the communicator now is an error of a library or of this
 * program. */
static void count(TaskRun* run, const marline_mpi_speculation_counts_t* mine) {
  MPI_Comm comm = run->plan->exchange->comm;
  int left = 0;
  MPI_Barrier(comm);
  MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &left, MPI_STATUS_IGNORE);
  unsigned long long here[6] = {mine->sent,    mine->received, mine->withdrawn,
                                mine->drained, mine->refused,  (unsigned long long)left};
  unsigned long long all[6];
  MPI_Allreduce(here, all, 6, MPI_UNSIGNED_LONG_LONG, MPI_SUM, comm);
  run->speculation = (marline_mpi_speculation_counts_t){
      .sent = all[0], .received = all[1], .withdrawn = all[2], .drained = all[3], .refused = all[4]};
  run->left = all[5];
}

void speculative_judge(const TaskRun* run, Failure* failure) {
  const marline_mpi_speculation_counts_t* all = &run->speculation;
  if (all->sent != all->received + all->drained || run->left > 0) {
    failure_note(failure, kExitWrong,
                 "cycles that ran ahead left something: %llu messages sent, %llu received, %llu "
                 "drained; %llu processes have some left",
                 (unsigned long long)all->sent, (unsigned long long)all->received, (unsigned long long)all->drained,
                 run->left);
  }
}

void speculative_run(TaskRun* run) {
  Speculation of = {.run = run};
  marline_counters_t before = tasks_counters(run->entries);
  of.scope = run->entries->speculation_begin(run->plan->exchange->comm);
  if (!of.scope) { /* tasks cannot suspend in MPI calls here, so nothing could be stopped */
    int rank = 0;
    MPI_Comm_rank(run->plan->exchange->comm, &rank);
    if (rank == 0)
      fprintf(stderr, "lulesh: --form speculative runs as --form tasks: tasks cannot suspend in MPI calls here\n");
    tasks_run(run);
    return;
  }
#pragma omp parallel default(none) shared(of)
#pragma omp single
#pragma omp taskgroup
  create_all(&of);
  marline_mpi_speculation_counts_t counts = {0};
  run->entries->speculation_end(of.scope, &counts);
  count(run, &counts);
  tasks_count_since(run, &before);
}
