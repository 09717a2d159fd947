/* SPDX-License-Identifier: Apache-2.0
 *
 * Makes the messages between neighbours, sends and applies them. A message has field after field of its nodes or
 * elements.
 */
#include "exchange.h"

#include <stdlib.h>

/* Columns, rows, planes: six faces, twelve edges, eight corners. */
static const int kDirections[kMostNeighbours][3] = {
    {0, 0, -1},   {0, 0, 1},   {0, -1, 0},  {0, 1, 0},  {-1, 0, 0},  {1, 0, 0},  {-1, -1, 0}, {0, -1, -1}, {-1, 0, -1},
    {1, 1, 0},    {0, 1, 1},   {1, 0, 1},   {-1, 1, 0}, {0, -1, 1},  {-1, 0, 1}, {1, -1, 0},  {0, 1, -1},  {1, 0, -1},
    {-1, -1, -1}, {-1, -1, 1}, {1, -1, -1}, {1, -1, 1}, {-1, 1, -1}, {-1, 1, 1}, {1, 1, -1},  {1, 1, 1}};

static bool exists(const Place* place, const int* direction) {
  const int at[3] = {place->column, place->row, place->plane};
  for (int a = 0; a < 3; ++a) {
    if (at[a] + direction[a] < 0 || at[a] + direction[a] >= place->per_edge) {
      return false;
    }
  }
  return true;
}

static bool list_nodes(Border* border, const Mesh* mesh) {
  int m = mesh->edge + 1, begin[3], end[3];
  int32_t count = 1;
  for (int a = 0; a < 3; ++a) {
    begin[a] = border->direction[a] > 0 ? m - 1 : 0;
    end[a] = border->direction[a] < 0 ? 1 : m;
    count *= end[a] - begin[a];
  }
  border->node = malloc((size_t)count * sizeof *border->node);
  if (!border->node) {
    return false;
  }
  for (int plane = begin[2]; plane < end[2]; ++plane) {
    for (int row = begin[1]; row < end[1]; ++row) {
      for (int column = begin[0]; column < end[0]; ++column) {
        border->node[border->nodes++] = column + m * row + m * m * plane;
      }
    }
  }
  return true;
}

/* -1: the border is no face. */
static int face_of(const int* direction) {
  int face = -1, axes = 0;
  for (int a = 0; a < 3; ++a) {
    if (direction[a] != 0) {
      face = 2 * a + (direction[a] > 0);
      ++axes;
    }
  }
  return axes == 1 ? face : -1;
}

/* Ghosts come after the elements, in the order of the faces here. */
static bool list_elements(Border* border, const Mesh* mesh, int32_t* ghosts) {
  int face = face_of(border->direction), n = mesh->edge;
  if (face < 0) {
    return true;
  }
  border->element = malloc((size_t)n * (size_t)n * sizeof *border->element);
  if (!border->element) {
    return false;
  }
  for (int slow = 0; slow < n; ++slow) {
    for (int fast = 0; fast < n; ++fast) {
      border->element[border->elements++] = mesh_element_at_face(mesh, face, slow, fast);
    }
  }
  border->ghosts = mesh->elements + *ghosts;
  *ghosts += border->elements;
  return true;
}

static bool border_create(Border* border, const Mesh* mesh, const int* direction, int32_t* ghosts) {
  const Place* place = &mesh->place;
  int rank = place->rank + direction[0] + place->per_edge * (direction[1] + place->per_edge * direction[2]);
  *border = (Border){.rank = rank, .direction = {direction[0], direction[1], direction[2]}};
  return list_nodes(border, mesh) && list_elements(border, mesh, ghosts);
}

/* The messages ---------------------------------------------------------------------------------------------------- */

static const int kFields[kExchanges] = {[kMass] = 1, [kForces] = 3, [kMotion] = 6, [kGradients] = 3};

/* Whether a neighbour in this direction owns the nodes shared with it, unless a process further in such a direction
 * owns them. */
static bool is_onward(const int* direction) { return direction[0] >= 0 && direction[1] >= 0 && direction[2] >= 0; }

static bool is_back(const int* direction) { return direction[0] <= 0 && direction[1] <= 0 && direction[2] <= 0; }

static int axes_of(const int* direction) { return (direction[0] != 0) + (direction[1] != 0) + (direction[2] != 0); }

static Message part_of(const Border* border, ExchangeKind kind, int number, int parts) {
  bool faces = kind == kGradients;
  int64_t whole = faces ? border->elements : border->nodes;
  int32_t begin = (int32_t)(whole * number / parts), end = (int32_t)(whole * (number + 1) / parts);
  return (Message){.kind = kind,
                   .rank = border->rank,
                   .tag = number * kExchanges + (int)kind,
                   .goes = kind != kMotion || is_back(border->direction),
                   .comes = kind != kMotion || is_onward(border->direction),
                   .count = end - begin,
                   .at = (faces ? border->element : border->node) + begin,
                   .ghosts = border->ghosts + begin};
}

/* No more messages than nodes or elements; no message of motion with a neighbour if neither process owns nodes for
 * the other. */
static int parts_of(const Border* border, ExchangeKind kind, int per_face, int per_edge) {
  const int wanted[] = {0, per_face, per_edge, 1};
  int parts = wanted[axes_of(border->direction)];
  int32_t most = kind == kGradients ? border->elements : border->nodes;
  if (kind == kMotion && !is_onward(border->direction) && !is_back(border->direction)) {
    return 0;
  }
  return parts < most ? parts : most;
}

static bool list_messages(Exchange* exchange, ExchangeKind kind, int per_face, int per_edge) {
  int most = per_face > per_edge ? per_face : per_edge;
  exchange->message[kind] = malloc(((size_t)exchange->count * (size_t)most + 1) * sizeof(Message));
  if (!exchange->message[kind]) {
    return false;
  }
  for (int i = 0; i < exchange->count; ++i) {
    int parts = parts_of(&exchange->border[i], kind, per_face, per_edge);
    for (int number = 0; number < parts; ++number) {
      exchange->message[kind][exchange->messages[kind]++] = part_of(&exchange->border[i], kind, number, parts);
    }
  }
  return true;
}

/* With a null pointer, counts only. */
static int64_t give_buffers(Exchange* exchange, double* memory) {
  int64_t used = 0;
  for (ExchangeKind kind = 0; kind < kExchanges; ++kind) {
    for (int i = 0; i < exchange->messages[kind]; ++i) {
      Message* message = &exchange->message[kind][i];
      int64_t length = (int64_t)kFields[kind] * message->count;
      if (memory) {
        message->out = memory + used;
        message->in = memory + used + length;
      }
      used += 2 * length;
    }
  }
  return used;
}

/* Two requests for each message of a kind, null if nothing is sent or received: MPI_Waitall leaves all of them null. */
static MPI_Request* create_requests(const Exchange* exchange) {
  int most = 0;
  for (ExchangeKind kind = 0; kind < kExchanges; ++kind) {
    most = exchange->messages[kind] > most ? exchange->messages[kind] : most;
  }
  MPI_Request* request = malloc((2 * (size_t)most + 1) * sizeof *request);
  for (int i = 0; i < 2 * most && request; ++i) {
    request[i] = MPI_REQUEST_NULL;
  }
  return request;
}

bool exchange_create(Exchange* exchange, const Mesh* mesh, int per_face, int per_edge) {
  *exchange = (Exchange){.mesh = mesh, .comm = MPI_COMM_WORLD};
  int32_t ghosts = 0;
  for (int i = 0; i < kMostNeighbours; ++i) {
    if (exists(&mesh->place, kDirections[i]) &&
        !border_create(&exchange->border[exchange->count++], mesh, kDirections[i], &ghosts)) {
      return false;
    }
  }
  for (ExchangeKind kind = 0; kind < kExchanges; ++kind) {
    if (!list_messages(exchange, kind, per_face, per_edge)) {
      return false;
    }
  }
  exchange->request = create_requests(exchange);
  exchange->memory = malloc(((size_t)give_buffers(exchange, NULL) + 1) * sizeof(double));
  if (exchange->memory) {
    give_buffers(exchange, exchange->memory);
  }
  return exchange->memory && exchange->request;
}

void exchange_destroy(Exchange* exchange) {
  for (int i = 0; i < exchange->count; ++i) {
    free(exchange->border[i].node);
    free(exchange->border[i].element);
  }
  for (ExchangeKind kind = 0; kind < kExchanges; ++kind) {
    free(exchange->message[kind]);
  }
  free(exchange->memory);
  free(exchange->request);
}

double exchange_bytes(const Mesh* mesh) {
  double nodes = 6.0 * (mesh->edge + 2) * (mesh->edge + 2); /* of all borders, edges and corners more than once */
  return mesh->place.per_edge > 1 ? nodes * (2 * (1 + 3 + 6 + 3) * sizeof(double) + 2 * sizeof(int32_t)) : 0;
}

/* Their steps ----------------------------------------------------------------------------------------------------- */

static void fields_of(ExchangeKind kind, const Fields* fields, double* list[kMostFields]) {
  for (int a = 0; a < 3; ++a) {
    switch (kind) {
      case kForces: list[a] = fields->force[a]; break;
      case kGradients: list[a] = fields->gradient[a]; break;
      case kMotion:
        list[a] = fields->position[a];
        list[3 + a] = fields->velocity[a];
        break;
      default: list[0] = fields->node_mass;
    }
  }
}

static void pack(const Message* message, const Fields* fields) {
  double *list[kMostFields], *next = message->out;
  fields_of(message->kind, fields, list);
  for (int f = 0; f < kFields[message->kind]; ++f) {
    for (int32_t i = 0; i < message->count; ++i) {
      *next++ = list[f][message->at[i]];
    }
  }
}

void message_apply(const Message* message, Fields* fields) {
  double* list[kMostFields];
  const double* next = message->in;
  fields_of(message->kind, fields, list);
  for (int f = 0; f < kFields[message->kind]; ++f) {
    double* field = list[f];
    for (int32_t i = 0; i < message->count; ++i, ++next) {
      switch (message->kind) {
        case kGradients: field[message->ghosts + i] = *next; break;
        case kMotion: field[message->at[i]] = *next; break;
        default: field[message->at[i]] += *next;
      }
    }
  }
}

static int length_of(const Message* message) { return kFields[message->kind] * message->count; }

void message_send(const Exchange* exchange, const Message* message, Fields* fields) {
  pack(message, fields);
  MPI_Send(message->out, length_of(message), MPI_DOUBLE, message->rank, message->tag, exchange->comm);
}

void message_receive(const Exchange* exchange, const Message* message) {
  MPI_Recv(message->in, length_of(message), MPI_DOUBLE, message->rank, message->tag, exchange->comm, MPI_STATUS_IGNORE);
}

void exchange_all(Exchange* exchange, ExchangeKind kind, Fields* fields) {
  const Message* message = exchange->message[kind];
  int count = exchange->messages[kind];
  for (int i = 0; i < count; ++i) {
    if (message[i].comes) {
      MPI_Irecv(message[i].in, length_of(&message[i]), MPI_DOUBLE, message[i].rank, message[i].tag, exchange->comm,
                &exchange->request[i]);
    }
  }
  for (int i = 0; i < count; ++i) {
    if (message[i].goes) {
      pack(&message[i], fields);
      MPI_Isend(message[i].out, length_of(&message[i]), MPI_DOUBLE, message[i].rank, message[i].tag, exchange->comm,
                &exchange->request[count + i]);
    }
  }
  MPI_Waitall(2 * count, exchange->request, MPI_STATUSES_IGNORE);
  for (int i = 0; i < count; ++i) {
    if (message[i].comes) { /* motion arrives from faces, edges, the corner: the last value is the right one */
      message_apply(&message[i], fields);
    }
  }
}
