/* SPDX-License-Identifier: Apache-2.0
 *
 * The order of collectives: the callers' entries in the log, and the poller's messages. The protocol is in
 * docs/design/collective-order.md.
 *
 * Only the poller uses the variables after the inbox, or MPI_Finalize's thread when the poller has ended.
 */
#include "comm/order.h"

#include <stdlib.h>

#include "base/report.h"
#include "comm/comm.h"
#include "comm/order_compare.h"

/* kMostOpen: how many questions wait here at a time. One more is not answered, and so its pair of calls is not
 * compared. kHandled: in `handled`, a newer question replaces an older one, which may then be handled once more. */
enum { kPollsPerLook = 64, kMostOpen = 512, kHandled = 1024 };

/* A question or an answer. */
typedef enum MailKind {
  kAsk,   /* to the judge, rank 0 of the communicator: send all members your call with this number */
  kAnswer /* from the judge: this is its call */
} MailKind;

typedef struct Letter {
  MailKind kind;
  OrderCall call; /* of a kAsk, only identity and number are set */
} Letter;

typedef struct Mail {
  struct Mail* next;
  MPI_Request request; /* of a mail that is sent */
  Letter letter;
} Mail;

/* Pushed by callers with overlapping calls (release), taken as a whole by the poller (acquire). */
static _Atomic(Mail*) inbox;

static MPI_Comm mail_comm; /* a duplicate of MPI_COMM_WORLD; 0: none */
static int world_rank;
static Mail* open_mail; /* mail that waits for a call of this process */
static int open_count;
static Mail* sent_mail;            /* mail that MPI has not delivered yet */
static uint64_t handled[kHandled]; /* identity ^ number of recent questions, so that each is handled once */
static unsigned polls;

/* Callers ---------------------------------------------------------------------------------------------------------- */

static Mail* new_mail(MailKind kind, uint64_t identity, uint64_t number) {
  Mail* mail = calloc(1, sizeof *mail);
  if (mail == NULL) report_fatal("no memory for %zu bytes about overlapping collectives", sizeof *mail);
  mail->letter.kind = kind;
  mail->letter.call.identity = identity;
  mail->letter.call.number = number;
  return mail;
}

static void push(Mail* mail) {
  Mail* head = atomic_load_explicit(&inbox, memory_order_relaxed);
  do {
    mail->next = head;
  } while (!atomic_compare_exchange_weak_explicit(&inbox, &head, mail, memory_order_release, memory_order_relaxed));
}

/* The order of the calls in progress from `oldest` to `number` depends on timing: asks to compare them. */
static void ask_about_overlap(MPI_Comm comm, const CollectiveLog* log, uint64_t oldest, uint64_t number) {
  const uint64_t identity = comm_identity(comm);
  LoggedCollective record;
  for (uint64_t i = oldest; i <= number; ++i)
    if (collective_log_read(log, i, &record) && record.in_progress) push(new_mail(kAsk, identity, i));
}

OrderTicket order_begin(const MpiCall* call, const void* site) {
  CollectiveLog* log = comm_log(call->comm);
  if (log == NULL) return (OrderTicket){NULL, 0};
  uint64_t oldest = 0;
  const uint64_t number = collective_log_begin(log, call, site, &oldest);
  if (oldest != number) ask_about_overlap(call->comm, log, oldest, number);
  return (OrderTicket){log, number};
}

void order_end(const OrderTicket* ticket) {
  if (ticket->log != NULL) collective_log_end(ticket->log, ticket->number);
}

void order_sized(const OrderTicket* ticket, const MpiCall* call) {
  int size = 0;
  if (ticket->log != NULL && next_mpi.type_size(call->datatype, &size) == MPI_SUCCESS)
    collective_log_sized(ticket->log, ticket->number, (int64_t)call->count * size);
}

/* The poller's mail ------------------------------------------------------------------------------------------------ */

static void send_to(int rank, MailKind kind, const OrderCall* call) {
  Mail* mail = new_mail(kind, call->identity, call->number);
  mail->letter.call = *call;
  /* Synchronous, so that order_stop() knows when all mail has arrived. */
  next_mpi.issend(&mail->letter, (int)sizeof mail->letter, MPI_PACKED, rank, 0, mail_comm, &mail->request);
  mail->next = sent_mail;
  sent_mail = mail;
}

static void forget_delivered(void) {
  for (Mail** link = &sent_mail; *link != NULL;) {
    Mail* mail = *link;
    int flag = 0;
    next_mpi.test(&mail->request, &flag, MPI_STATUS_IGNORE);
    if (!flag) {
      link = &mail->next;
      continue;
    }
    *link = mail->next;
    free(mail);
  }
}

/* Returns true for the first of equal questions. */
static bool is_new(const OrderCall* call) {
  const uint64_t word = call->identity ^ (call->number * UINT64_C(0x9e3779b97f4a7c15));
  uint64_t* slot = &handled[word % kHandled];
  const bool differs = *slot != word;
  *slot = word;
  return differs;
}

/* Returns true if the mail need not be kept any longer. */
static bool answer(const Mail* mail) {
  const OrderCall* asked = &mail->letter.call;
  LoggedCollective record;
  char name[kCommNameBytes];
  int size = 0;
  int* members = comm_members(asked->identity, &size, name);
  if (members == NULL) return false; /* not made here yet, or freed */
  const bool is_judge = members[0] == world_rank;
  bool done = true;
  if (mail->letter.kind == kAsk && !is_judge) {
    send_to(members[0], kAsk, asked);
  } else {
    const CommLogState state = comm_log_read(asked->identity, asked->number, &record);
    done = state != kLogNotYet;
    if (state == kLogRead) {
      const OrderCall ours = order_call(asked->identity, &record, world_rank);
      for (int i = 1; i < size && is_judge; ++i) send_to(members[i], kAnswer, &ours);
      if (!is_judge) order_compare(asked, &ours);
    }
  }
  free(members);
  return done;
}

static void keep(Mail* mail) {
  if ((mail->letter.kind == kAsk && !is_new(&mail->letter.call)) || open_count == kMostOpen) {
    free(mail);
    return;
  }
  Mail** link = &open_mail; /* by number, so that the first call that differs is reported */
  while (*link != NULL && (*link)->letter.call.number < mail->letter.call.number) link = &(*link)->next;
  mail->next = *link;
  *link = mail;
  ++open_count;
}

static void receive_mail(void) {
  int flag = 0;
  MPI_Status status;
  while (next_mpi.iprobe(MPI_ANY_SOURCE, 0, mail_comm, &flag, &status) == MPI_SUCCESS && flag) {
    Mail* mail = new_mail(kAsk, 0, 0);
    next_mpi.recv(&mail->letter, (int)sizeof mail->letter, MPI_PACKED, status.MPI_SOURCE, 0, mail_comm,
                  MPI_STATUS_IGNORE);
    keep(mail);
  }
}

static void empty_inbox(void) {
  /* Acquire: pairs with push(). */
  Mail* mail = atomic_exchange_explicit(&inbox, NULL, memory_order_acquire);
  while (mail != NULL) {
    Mail* next = mail->next;
    keep(mail);
    mail = next;
  }
}

static void look(void) {
  empty_inbox();
  receive_mail();
  for (Mail** link = &open_mail; *link != NULL;) {
    Mail* mail = *link;
    if (!answer(mail)) {
      link = &mail->next;
      continue;
    }
    *link = mail->next;
    --open_count;
    free(mail);
  }
  forget_delivered();
}

void order_poll(void) {
  if (mail_comm == (MPI_Comm)0) return;
  if (++polls % kPollsPerLook == 0 || atomic_load_explicit(&inbox, memory_order_relaxed) != NULL) look();
}

/* Start and stop --------------------------------------------------------------------------------------------------- */

void order_start(void) {
  const MPI_Comm world = MPI_COMM_WORLD;
  int size = 0;
  next_mpi.comm_size(world, &size);
  next_mpi.comm_rank(world, &world_rank);
  if (size > 1 && next_mpi.comm_dup(world, &mail_comm) != MPI_SUCCESS)
    report_fatal("MPI_Comm_dup of MPI_COMM_WORLD failed in MPI_Init");
}

/* Works until all mail of all processes has arrived: a process enters the barrier when its mail has been delivered,
 * and goes on receiving until all have entered (the nonblocking consensus of Hoefler, Siebert and Lumsdaine, 2010). */
static void deliver_all(void) {
  MPI_Request barrier;
  int done = 0;
  do {
    look();
  } while (sent_mail != NULL);
  next_mpi.ibarrier(mail_comm, &barrier);
  while (!done) {
    look();
    next_mpi.test(&barrier, &done, MPI_STATUS_IGNORE);
  }
}

void order_stop(void) {
  if (mail_comm == (MPI_Comm)0) return;
  deliver_all(); /* the questions */
  deliver_all(); /* the answers to them */
  next_mpi.comm_free(&mail_comm);
  mail_comm = (MPI_Comm)0;
  while (open_mail != NULL) {
    Mail* mail = open_mail;
    open_mail = mail->next;
    free(mail);
  }
}
