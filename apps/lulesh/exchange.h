/* SPDX-License-Identifier: Apache-2.0
 *
 * The messages between the cubes of neighbouring processes. Nodes at the border of a cube exist in all cubes that touch
 * there; elements exist once. With each of up to 26 neighbours there are one or more messages for each kind of
 * exchange. Every message has buffers of its own for each kind, so that forms of the program may exchange whatever is
 * ready; two steps of one message do not run at the same time.
 */
#ifndef LULESH_EXCHANGE_H
#define LULESH_EXCHANGE_H

#include <mpi.h>
#include <stdbool.h>

#include "fields.h"

enum { kMostNeighbours = 26, kMostFields = 6 };

typedef enum {
  kMass,   /* each process adds the other processes' values at shared nodes; once, before the other kinds */
  kForces, /* added in the same way, in each cycle */
  /* All take positions and velocities of a node from the process of the highest number that has it, so that rounding
   * cannot make copies differ. */
  kMotion,
  kGradients, /* of elements on both sides of a face */
  kExchanges
} ExchangeKind;

/* Consecutive nodes or elements of the border with one neighbour. */
typedef struct {
  ExchangeKind kind;
  int rank, tag;
  bool goes, comes;   /* motion goes one way */
  int32_t count, *at; /* nodes or elements that are sent; received values go there, too, except ghosts */
  int32_t ghosts;     /* gradients only: the first of the slots after the elements that received values go to */
  double *out, *in;
} Message;

/* The border with one neighbour. */
typedef struct {
  int rank;
  int direction[3];     /* -1, 0 or 1 in columns, rows, planes */
  int32_t nodes, *node; /* nodes that both processes have, in ascending order */
  /* This process's elements at a shared face, if there is one; and where the neighbour's ghosts are. */
  int32_t elements, *element, ghosts;
} Border;

typedef struct {
  const Mesh* mesh;
  MPI_Comm comm;
  int count;
  Border border[kMostNeighbours]; /* in the order in which sums are made: faces, edges, corners */
  Message* message[kExchanges];   /* in the same order */
  int messages[kExchanges];
  double* memory;       /* of the buffers */
  MPI_Request* request; /* for exchange_all, which one thread calls */
} Exchange;

/* `per_face`, `per_edge`: messages per exchange with a neighbour. False: not enough memory; exchange_destroy frees what
 * there is. */
bool exchange_create(Exchange* exchange, const Mesh* mesh, int per_face, int per_edge);
void exchange_destroy(Exchange* exchange);

/* Bytes that exchange_create takes, at most; from the mesh's sizes alone. */
double exchange_bytes(const Mesh* mesh);

/* The steps of a message. All messages of a kind are packed before any of that kind is applied, because neighbours
 * need this process's own part of a sum. Messages for the same node are applied in their order. Any thread. */
void message_send(const Exchange* exchange, const Message* message, Fields* fields);
void message_receive(const Exchange* exchange, const Message* message);
void message_apply(const Message* message, Fields* fields);

/* All messages of a kind. Collective. */
void exchange_all(Exchange* exchange, ExchangeKind kind, Fields* fields);

#endif
