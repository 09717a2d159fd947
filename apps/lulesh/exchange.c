/* SPDX-License-Identifier: Apache-2.0
 *
 * See exchange.h. Everything is packed before anything is added, as neighbours want this process's own part of a sum.
 */
#include "exchange.h"

#include <mpi.h>
#include <stdlib.h>

enum { kTagSum, kTagMotion, kTagGradient };

/* Columns, rows, planes: six faces, twelve edges, eight corners. */
static const int kDirections[kMostNeighbours][3] = {
    {0, 0, -1},   {0, 0, 1},   {0, -1, 0},  {0, 1, 0},  {-1, 0, 0},  {1, 0, 0},  {-1, -1, 0}, {0, -1, -1}, {-1, 0, -1},
    {1, 1, 0},    {0, 1, 1},   {1, 0, 1},   {-1, 1, 0}, {0, -1, 1},  {-1, 0, 1}, {1, -1, 0},  {0, 1, -1},  {1, 0, -1},
    {-1, -1, -1}, {-1, -1, 1}, {1, -1, -1}, {1, -1, 1}, {-1, 1, -1}, {-1, 1, 1}, {1, 1, -1},  {1, 1, 1}};

static bool exists(const Place *place, const int *direction) {
  const int at[3] = {place->column, place->row, place->plane};
  for (int a = 0; a < 3; ++a) {
    if (at[a] + direction[a] < 0 || at[a] + direction[a] >= place->per_edge) {
      return false;
    }
  }
  return true;
}

static bool list_nodes(Border *border, const Mesh *mesh) {
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
static int face_of(const int *direction) {
  int face = -1, axes = 0;
  for (int a = 0; a < 3; ++a) {
    if (direction[a] != 0) {
      face = 2 * a + (direction[a] > 0);
      ++axes;
    }
  }
  return axes == 1 ? face : -1;
}

/* Ghosts lie behind the elements in the order of the faces here. */
static bool list_elements(Border *border, const Mesh *mesh, int32_t *ghosts) {
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

static bool border_create(Border *border, const Mesh *mesh, const int *direction, int32_t *ghosts) {
  const Place *place = &mesh->place;
  int rank = place->rank + direction[0] + place->per_edge * (direction[1] + place->per_edge * direction[2]);
  *border = (Border){.rank = rank, .direction = {direction[0], direction[1], direction[2]}};
  if (!list_nodes(border, mesh) || !list_elements(border, mesh, ghosts)) {
    return false;
  }
  size_t bytes = (size_t)kNodeFields * (size_t)border->nodes * sizeof(double); /* more than the elements need */
  border->out = malloc(bytes);
  border->in = malloc(bytes);
  return border->out && border->in;
}

bool exchange_create(Exchange *exchange, const Mesh *mesh) {
  *exchange = (Exchange){.mesh = mesh};
  int32_t ghosts = 0;
  for (int i = 0; i < kMostNeighbours; ++i) {
    if (exists(&mesh->place, kDirections[i]) &&
        !border_create(&exchange->border[exchange->count++], mesh, kDirections[i], &ghosts)) {
      return false;
    }
  }
  return true;
}

void exchange_destroy(Exchange *exchange) {
  for (int i = 0; i < exchange->count; ++i) {
    Border *border = &exchange->border[i];
    free(border->node);
    free(border->element);
    free(border->out);
    free(border->in);
  }
}

/* Field after field. */
static void pack(Border *border, double *const *field, int fields, int32_t count, const int32_t *at) {
  double *next = border->out;
  for (int f = 0; f < fields; ++f) {
    for (int32_t i = 0; i < count; ++i) {
      *next++ = field[f][at[i]];
    }
  }
}

static void add_to_nodes(const Border *border, double *const *field, int fields) {
  const double *next = border->in;
  for (int f = 0; f < fields; ++f) {
    for (int32_t i = 0; i < border->nodes; ++i) {
      field[f][border->node[i]] += *next++;
    }
  }
}

static void set_nodes(const Border *border, double *const *field, int fields) {
  const double *next = border->in;
  for (int f = 0; f < fields; ++f) {
    for (int32_t i = 0; i < border->nodes; ++i) {
      field[f][border->node[i]] = *next++;
    }
  }
}

static void sum_nodes(Exchange *exchange, double *const *field, int fields) {
  MPI_Request request[2 * kMostNeighbours];
  int requests = 0;
  for (int i = 0; i < exchange->count; ++i) {
    Border *border = &exchange->border[i];
    MPI_Irecv(border->in, fields * border->nodes, MPI_DOUBLE, border->rank, kTagSum, MPI_COMM_WORLD, &request[requests++]);
  }
  for (int i = 0; i < exchange->count; ++i) {
    Border *border = &exchange->border[i];
    pack(border, field, fields, border->nodes, border->node);
    MPI_Isend(border->out, fields * border->nodes, MPI_DOUBLE, border->rank, kTagSum, MPI_COMM_WORLD,
              &request[requests++]);
  }
  MPI_Waitall(requests, request, MPI_STATUSES_IGNORE);
  for (int i = 0; i < exchange->count; ++i) {
    add_to_nodes(&exchange->border[i], field, fields);
  }
}

void exchange_node_mass(Exchange *exchange, Fields *fields) { sum_nodes(exchange, &fields->node_mass, 1); }

void exchange_forces(Exchange *exchange, Fields *fields) { sum_nodes(exchange, fields->force, 3); }

/* A neighbour in such a direction owns what is shared with it, unless another one further on does. */
static bool is_onward(const int *direction) { return direction[0] >= 0 && direction[1] >= 0 && direction[2] >= 0; }

static bool is_back(const int *direction) { return direction[0] <= 0 && direction[1] <= 0 && direction[2] <= 0; }

void exchange_motion(Exchange *exchange, Fields *fields) {
  double *const field[kNodeFields] = {fields->position[0], fields->position[1], fields->position[2],
                                      fields->velocity[0], fields->velocity[1], fields->velocity[2]};
  MPI_Request request[2 * kMostNeighbours];
  int requests = 0;
  for (int i = 0; i < exchange->count; ++i) {
    Border *border = &exchange->border[i];
    if (is_onward(border->direction)) {
      MPI_Irecv(border->in, kNodeFields * border->nodes, MPI_DOUBLE, border->rank, kTagMotion, MPI_COMM_WORLD,
                &request[requests++]);
    }
  }
  for (int i = 0; i < exchange->count; ++i) {
    Border *border = &exchange->border[i];
    if (is_back(border->direction)) {
      pack(border, field, kNodeFields, border->nodes, border->node);
      MPI_Isend(border->out, kNodeFields * border->nodes, MPI_DOUBLE, border->rank, kTagMotion, MPI_COMM_WORLD,
                &request[requests++]);
    }
  }
  MPI_Waitall(requests, request, MPI_STATUSES_IGNORE);
  for (int i = 0; i < exchange->count; ++i) { /* faces, edges, the corner: the last is right */
    if (is_onward(exchange->border[i].direction)) {
      set_nodes(&exchange->border[i], field, kNodeFields);
    }
  }
}

static void take_ghosts(const Border *border, double *const *gradient) {
  const double *next = border->in;
  for (int axis = 0; axis < kGhostFields; ++axis) {
    for (int32_t i = 0; i < border->elements; ++i) {
      gradient[axis][border->ghosts + i] = *next++;
    }
  }
}

void exchange_gradients(Exchange *exchange, Fields *fields) {
  MPI_Request request[2 * kFaces];
  int requests = 0, faces = 0;
  while (faces < exchange->count && exchange->border[faces].elements > 0) {
    Border *border = &exchange->border[faces++];
    MPI_Irecv(border->in, kGhostFields * border->elements, MPI_DOUBLE, border->rank, kTagGradient, MPI_COMM_WORLD,
              &request[requests++]);
  }
  for (int i = 0; i < faces; ++i) {
    Border *border = &exchange->border[i];
    pack(border, fields->gradient, kGhostFields, border->elements, border->element);
    MPI_Isend(border->out, kGhostFields * border->elements, MPI_DOUBLE, border->rank, kTagGradient, MPI_COMM_WORLD,
              &request[requests++]);
  }
  MPI_Waitall(requests, request, MPI_STATUSES_IGNORE);
  for (int i = 0; i < faces; ++i) {
    take_ghosts(&exchange->border[i], fields->gradient);
  }
}
