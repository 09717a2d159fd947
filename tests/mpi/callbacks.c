/* SPDX-License-Identifier: Apache-2.0
 *
 * Random programs of tasks with MPI calls that call back code of the program: reductions' operations, error handlers,
 * functions of attributes and of generalized requests, callbacks of marline_mpi.h and a progress hook. That code uses
 * OpenMP in all forms of callbacks_work.h. Beside them tasks that communicate, yield and compute. Each result is right,
 * nothing hangs, and no other task runs on a thread that is inside of a callback.
 *
 * Usage: callbacks SEED PROGRAMS, for the programs with the seeds SEED, SEED + 1, ...
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* RTLD_DEFAULT */
#endif
#include <dlfcn.h>
#include <marline/marline.h>
#include <marline/marline_mpi.h>
#include <string.h>

#include "support.h"

#include "callbacks_work.h"
#include "random_programs.h"

enum { kMostJobs = 24, kMost = 300 };
typedef enum Kind {
  kReduction,
  kStartedReduction,
  kPersistentReduction,
  kLocalReduction,
  kTooLong,
  kWrongArgument,
  kCalledHandler,
  kAttributes,
  kTypeAttributes,
  kGeneralized,
  kCancelled,
  kHook,
  kOnCompletion,
  kRing,
  kYields,
  kNested,
  kKinds
} Kind;

/* One owner makes all MPI calls and waits in MPI_Comm_dup: in one order on all ranks, or for ever. */
static int one_owner;

typedef struct Job {
  Kind kind;
  int number;
  int form;
  int count;
  MPI_Comm comm;
  double in[kMost], out[kMost];
  int counts[4]; /* of calls, by function */
  marline_event_t event;
} Job;

static Job jobs[kMostJobs];
static int job_count;
static MPI_Comm comms[kMostJobs];

/* expect(), and how to run this program alone. */
static void expect_of(const Job* job, int holds, const char* what) {
  if (!holds)
    fprintf(stderr, "rank %d: seed %u, job %d of kind %d, form %d:\n", world_rank, seed, job->number, job->kind,
            job->form);
  expect(holds, what);
}

/* On a thread that is in no callback. */
__attribute__((noinline)) static void expect_alone(void) /* after a suspension the thread may be another one */
{
  expect(callbacks_here == 0, "no other task runs on a thread that is in a callback");
}

/* The work of all callbacks but operations: a sum over numbers, each added once, in the job's form. */
typedef struct Numbers {
  int hits[kMost];
} Numbers;

static void hit(int i, void* data) { ++((Numbers*)data)->hits[i]; }

static void count_up(Job* job, int function) {
  Numbers numbers = {{0}};
  do_work(job->form, &(Work){job->count, hit, &numbers});
  for (int i = 0; i < job->count; ++i) expect(numbers.hits[i] == 1, "a callback has done its work once");
#pragma omp atomic
  ++job->counts[function];
}

/* Operations ------------------------------------------------------------------------------------------------------- */

typedef struct Vectors {
  const double* in;
  double* inout;
} Vectors;

static void add(int i, void* data) {
  const Vectors* v = data;
  v->inout[i] += v->in[i];
}

static void reduce(int form, void* in, void* inout, const int* count) {
  do_work(form, &(Work){*count, add, &(Vectors){in, inout}});
}

#define OPERATION(form)                                                                 \
  static void operation_##form(void* in, void* inout, int* count, MPI_Datatype* type) { \
    (void)type;                                                                         \
    reduce(form, in, inout, count);                                                     \
  }
OPERATION(0)
OPERATION(1)
OPERATION(2)
OPERATION(3)
OPERATION(4)
OPERATION(5)
OPERATION(6)
OPERATION(7)
OPERATION(8)
OPERATION(9)
OPERATION(10)
OPERATION(11)
OPERATION(12)
OPERATION(13)
OPERATION(14)
OPERATION(15)
OPERATION(16)
OPERATION(17)

static MPI_User_function* const kOperations[kForms] = {
    operation_0,  operation_1,  operation_2,  operation_3,  operation_4,  operation_5,
    operation_6,  operation_7,  operation_8,  operation_9,  operation_10, operation_11,
    operation_12, operation_13, operation_14, operation_15, operation_16, operation_17};
static MPI_Op operations[kForms];

/* Rank r gives (r + 1) * (i + 1): the sum over the ranks below `ranks`. */
static void expect_sums(const Job* job, int ranks) {
  for (int i = 0; i < job->count; ++i)
    expect_of(job, job->out[i] == ranks * (ranks + 1) / 2.0 * (i + 1), "a reduction by the program's operation");
}

static void reduction(Job* job) {
  const MPI_Op op = operations[job->form];
  int ranks = world_size;
  switch (mix(1000u + (unsigned)job->number) % 4) {
    case 0: MPI_Allreduce(job->in, job->out, job->count, MPI_DOUBLE, op, job->comm); break;
    case 1:
      MPI_Scan(job->in, job->out, job->count, MPI_DOUBLE, op, job->comm);
      ranks = world_rank + 1;
      break;
    case 2:
      MPI_Exscan(job->in, job->out, job->count, MPI_DOUBLE, op, job->comm);
      ranks = world_rank;
      break;
    default:
      MPI_Reduce(job->in, job->out, job->count, MPI_DOUBLE, op, 0, job->comm);
      ranks = world_rank == 0 ? world_size : 0;
  }
  if (ranks > 0) expect_sums(job, ranks);
}

static void started_reduction(Job* job) {
  MPI_Request request;
  MPI_Iallreduce(job->in, job->out, job->count, MPI_DOUBLE, operations[job->form], job->comm, &request);
  int done = 0;
  for (unsigned tests = mix(2000u + (unsigned)job->number) % 5; tests > 0 && !done; --tests) {
    MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    expect_alone();
#pragma omp taskyield
  }
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  expect_sums(job, world_size);
}

static void persistent_reduction(Job* job) {
#if MPI_VERSION >= 4
  MPI_Request request;
  MPI_Allreduce_init(job->in, job->out, job->count, MPI_DOUBLE, operations[job->form], job->comm, MPI_INFO_NULL,
                     &request);
  for (int round = 0; round < 2; ++round) {
    memset(job->out, 0, sizeof job->out);
    MPI_Start(&request);
    MPI_Waitall(1, &request, MPI_STATUSES_IGNORE);
    expect_sums(job, world_size);
  }
  MPI_Request_free(&request);
#else
  reduction(job);
#endif
}

static void local_reduction(Job* job) {
  memcpy(job->out, job->in, sizeof job->out);
  MPI_Reduce_local(job->in, job->out, job->count, MPI_DOUBLE, operations[job->form]);
  for (int i = 0; i < job->count; ++i)
    expect(job->out[i] == 2.0 * (world_rank + 1) * (i + 1), "MPI_Reduce_local with an operation of the program's");
}

/* Error handlers --------------------------------------------------------------------------------------------------- */

static int handler_calls;

/* For any communicator: MPICH 4.0 calls the handler of MPI_COMM_WORLD for others. */
static void handle(MPI_Comm* comm, int* error, ...) {
  (void)comm;
  (void)error;
  const int calls = __atomic_add_fetch(&handler_calls, 1, __ATOMIC_RELAXED);
  Numbers numbers = {{0}};
  do_work((int)(mix(3000u + (unsigned)calls) % kForms), &(Work){kMost, hit, &numbers});
  for (int i = 0; i < kMost; ++i) expect(numbers.hits[i] == 1, "an error handler has done its work once");
}

static int handled(void) { return __atomic_load_n(&handler_calls, __ATOMIC_RELAXED); }

static void too_long(const Job* job) {
  const int to = (world_rank + 1) % world_size, from = (world_rank + world_size - 1) % world_size;
  int sent[20] = {0}, received[20] = {0};
  MPI_Request request;
  MPI_Irecv(received, 1, MPI_INT, from, job->number, job->comm, &request);
#pragma omp taskyield
  MPI_Send(sent, 20, MPI_INT, to, job->number, job->comm);
  const int before = handled();
  expect(MPI_Wait(&request, MPI_STATUS_IGNORE) != MPI_SUCCESS, "a message that is too long is an error");
  (void)before; /* a poll may have found the error before */
  expect(handled() > 0, "an error handler is called");
}

static void wrong_argument(const Job* job) {
  int value = 0;
  const int before = handled();
  expect(MPI_Send(&value, 1, MPI_INT, world_size + 5, 0, job->comm) != MPI_SUCCESS, "there is no such rank");
  expect(handled() > before, "an error handler is called for a wrong argument");
}

static void called_handler(const Job* job) {
  const int before = handled();
  MPI_Comm_call_errhandler(job->comm, MPI_ERR_OTHER);
  expect(handled() > before, "an error handler is called");
}

/* Attributes ------------------------------------------------------------------------------------------------------- */

static int comm_key, type_key;

static int copy_of_comm(MPI_Comm comm, int key, void* extra, void* in, void* out, int* flag) {
  (void)comm, (void)key, (void)extra;
  count_up(in, 0);
  *(void**)out = in;
  *flag = 1;
  return MPI_SUCCESS;
}

static int delete_of_comm(MPI_Comm comm, int key, void* value, void* extra) {
  (void)comm, (void)key, (void)extra;
  count_up(value, 1);
  return MPI_SUCCESS;
}

static int copy_of_type(MPI_Datatype type, int key, void* extra, void* in, void* out, int* flag) {
  (void)type, (void)key, (void)extra;
  count_up(in, 0);
  *(void**)out = in;
  *flag = 1;
  return MPI_SUCCESS;
}

static int delete_of_type(MPI_Datatype type, int key, void* value, void* extra) {
  (void)type, (void)key, (void)extra;
  count_up(value, 1);
  return MPI_SUCCESS;
}

static void attributes(Job* job) {
  MPI_Comm made;
  MPI_Comm_set_attr(job->comm, comm_key, job);
  MPI_Comm_dup(job->comm, &made);
  MPI_Comm_free(&made);
  MPI_Comm_set_attr(job->comm, comm_key, job); /* deletes the previous attribute */
  MPI_Comm_delete_attr(job->comm, comm_key);
  expect(job->counts[0] == 1 && job->counts[1] == 3, "functions of a communicator's attributes are called");
}

static void type_attributes(Job* job) {
  MPI_Datatype first, second;
  MPI_Type_contiguous(3, MPI_INT, &first);
  MPI_Type_set_attr(first, type_key, job);
  MPI_Type_dup(first, &second);
  MPI_Type_free(&first);
  MPI_Type_free(&second);
  expect(job->counts[0] == 1 && job->counts[1] == 2, "functions of a datatype's attributes are called");
}

/* Generalized requests --------------------------------------------------------------------------------------------- */

static int query(void* state, MPI_Status* status) {
  Job* job = state;
  count_up(job, 0);
  MPI_Status_set_elements(status, MPI_INT, job->count);
  MPI_Status_set_cancelled(status, job->kind == kCancelled);
  status->MPI_SOURCE = MPI_UNDEFINED;
  status->MPI_TAG = MPI_UNDEFINED;
  return MPI_SUCCESS;
}

static int release(void* state) {
  count_up(state, 1);
  return MPI_SUCCESS;
}

static int cancel(void* state, int complete) {
  expect(!complete, "the request is not complete when it is cancelled");
  count_up(state, 2);
  return MPI_SUCCESS;
}

static void generalized(Job* job) {
  MPI_Request request;
  MPI_Status status;
  MPI_Grequest_start(query, release, cancel, job, &request);
  MPI_Request handle = request; /* the task's, which completes it */
#pragma omp task untied firstprivate(handle, job)
  {
    expect_alone();
#pragma omp taskyield
    if (job->kind == kCancelled) MPI_Cancel(&handle);
    MPI_Grequest_complete(handle);
    expect_alone();
  }
  MPI_Wait(&request, &status);
  int count = 0, is_cancelled = 0;
  MPI_Get_elements(&status, MPI_INT, &count);
  MPI_Test_cancelled(&status, &is_cancelled);
  expect(count == job->count && is_cancelled == (job->kind == kCancelled), "a generalized request has its status");
#pragma omp taskwait
  expect(job->counts[0] == 1 && job->counts[1] == 1, "functions of a generalized request are called");
}

/* Marline's own ---------------------------------------------------------------------------------------------------- */

static marline_hook_t* hook;
static Job* hooked[kMostJobs]; /* taken by the hook */

static int poll_hooked(void* unused) {
  int found = 0;
  (void)unused;
  for (int i = 0; i < kMostJobs; ++i) {
    Job* job = __atomic_exchange_n(&hooked[i], NULL, __ATOMIC_ACQ_REL);
    if (job == NULL) continue;
    count_up(job, 0);
    marline_event_fulfill(&job->event);
    ++found;
  }
  marline_progress_add(hook, -found);
  return found;
}

static void wait_for_hook(Job* job) {
  marline_event_init(&job->event);
  marline_progress_add(hook, 1);
  __atomic_store_n(&hooked[job->number], job, __ATOMIC_RELEASE);
  marline_event_wait(&job->event);
  expect(job->counts[0] == 1, "a progress hook has called its function");
}

static void completed(int error, void* data) {
  Job* job = data;
  expect_of(job, error == MPI_SUCCESS, "requests of a callback have no error");
  count_up(job, 0);
  marline_event_fulfill(&job->event);
}

static void on_completion(Job* job) {
  const int to = (world_rank + 1) % world_size, from = (world_rank + world_size - 1) % world_size;
  MPI_Request requests[2];
  marline_event_init(&job->event);
  MPI_Irecv(job->out, job->count, MPI_DOUBLE, from, job->number, job->comm, &requests[0]);
  MPI_Isend(job->in, job->count, MPI_DOUBLE, to, job->number, job->comm, &requests[1]);
  marline_mpi_on_completion(2, requests, MPI_STATUSES_IGNORE, completed, job);
  marline_event_wait(&job->event);
  expect_of(job, job->counts[0] == 1 && job->out[0] == from + 1.0, "a callback of marline_mpi_on_completion");
}

/* Beside them ------------------------------------------------------------------------------------------------------ */

static void ring(Job* job) {
  const int to = (world_rank + 1) % world_size, from = (world_rank + world_size - 1) % world_size;
  for (int round = 0; round < 3; ++round) {
    MPI_Sendrecv(job->in, job->count, MPI_DOUBLE, to, job->number, job->out, job->count, MPI_DOUBLE, from, job->number,
                 job->comm, MPI_STATUS_IGNORE);
    expect_alone();
    expect_of(job, job->out[job->count - 1] == (from + 1.0) * job->count, "a message has come");
  }
}

static void yields(const Job* job) {
  for (int i = 0; i < job->count; ++i) {
#pragma omp taskyield
    expect_alone();
  }
}

static void nested(Job* job) {
  int sum = 0;
#pragma omp taskgroup
  for (int i = 0; i < 5; ++i) {
#pragma omp task untied shared(sum) firstprivate(i)
    {
      expect_alone();
      MPI_Sendrecv(&i, 1, MPI_INT, world_rank, 100 + i, &job->counts[3], 1, MPI_INT, world_rank, 100 + i, job->comm,
                   MPI_STATUS_IGNORE);
#pragma omp atomic
      sum += i;
    }
  }
  expect(sum == 10, "tasks of a task");
}

static void run(Job* job) {
  expect_alone();
  switch (job->kind) {
    case kReduction: reduction(job); break;
    case kStartedReduction: started_reduction(job); break;
    case kPersistentReduction: persistent_reduction(job); break;
    case kLocalReduction: local_reduction(job); break;
    case kTooLong: too_long(job); break;
    case kWrongArgument: wrong_argument(job); break;
    case kCalledHandler: called_handler(job); break;
    case kAttributes: attributes(job); break;
    case kTypeAttributes: type_attributes(job); break;
    case kGeneralized:
    case kCancelled: generalized(job); break;
    case kHook: wait_for_hook(job); break;
    case kOnCompletion: on_completion(job); break;
    case kRing: ring(job); break;
    case kYields: yields(job); break;
    default: nested(job);
  }
  expect_alone();
}

/* With Open MPI, in one job of a program only: where two receives of a rank fail at a time, it may free one of them
 * while it completes it, and then another receive ends before its message has come (docs/guide/mpi.md). */
static int may_be_too_long(const Job* job) {
#ifdef OPEN_MPI
  for (const Job* other = jobs; other < job; ++other) {
    if (other->kind == kTooLong) return 0;
  }
#endif
  (void)job;
  return 1;
}

/* All ranks have the same jobs, but create their tasks in different orders. */
static void make_jobs(void) {
  job_count = 4 + (int)(mix(0) % (kMostJobs - 4 + 1));
  for (int j = 0; j < job_count; ++j) {
    Job* job = &jobs[j];
    *job = (Job){.kind = (Kind)(mix(10u + (unsigned)j) % kKinds), .number = j, .comm = comms[j]};
    if (one_owner && job->kind == kAttributes) job->kind = kTypeAttributes;
    if (job->kind == kTooLong && !may_be_too_long(job)) job->kind = kCalledHandler;
    job->form = (int)(mix(50u + (unsigned)j) % kForms);
    job->count = 1 + (int)(mix(90u + (unsigned)j) % kMost);
    for (int i = 0; i < job->count; ++i) job->in[i] = (world_rank + 1.0) * (i + 1);
  }
}

static void run_program(void) {
  make_jobs();
  const int first = (int)(mix(200u + (unsigned)world_rank) % (unsigned)job_count);
  const int step = world_rank % 2 == 0 ? 1 : job_count - 1;
  const int outside = mix(300) % 8 == 0; /* calls of the main thread, in no region */
#pragma omp parallel if (!outside)
#pragma omp single
  for (int k = 0, j = first; k < job_count; ++k, j = (j + step) % job_count) {
    const int tied = mix(400u + (unsigned)j) % 3 == 0;
    Job* job = &jobs[j];
    if (tied) {
#pragma omp task firstprivate(job) if (job -> kind != kYields && job->kind != kNested)
      run(job);
    } else {
#pragma omp task untied firstprivate(job)
      run(job);
    }
  }
  expect_alone();
}

int main(int argc, char** argv) {
  start(&argc, &argv, 2);
  expect(argc == 3, "usage: callbacks SEED PROGRAMS");
  const char* threads = getenv("MARLINE_MPI_THREADS");
  one_owner = threads != NULL && strcmp(threads, "owner") == 0;
  omp_init_lock(&work_lock);
  MPI_Errhandler handler;
  MPI_Comm_create_errhandler(handle, &handler);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
  MPI_Comm_create_keyval(copy_of_comm, delete_of_comm, &comm_key, NULL);
  MPI_Type_create_keyval(copy_of_type, delete_of_type, &type_key, NULL);
  for (int form = 0; form < kForms; ++form) MPI_Op_create(kOperations[form], form % 2, &operations[form]);
  for (int i = 0; i < kMostJobs; ++i) MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
  hook = marline_progress_register("callbacks", poll_hooked, NULL);
  run_programs(argv, run_program);
  MPI_Barrier(MPI_COMM_WORLD);
  marline_progress_unregister(hook);
  for (int i = 0; i < kMostJobs; ++i) MPI_Comm_free(&comms[i]);
  for (int form = 0; form < kForms; ++form) MPI_Op_free(&operations[form]);
  MPI_Comm_free_keyval(&comm_key);
  MPI_Type_free_keyval(&type_key);
  MPI_Errhandler_free(&handler);
  return finish();
}
