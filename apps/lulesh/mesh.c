/* SPDX-License-Identifier: Apache-2.0
 *
 * Makes the tables of the mesh. Element (column, row, plane) has the number column + n row + n^2 plane, node likewise
 * with n + 1.
 */
#include "mesh.h"

#include <stdlib.h>

#include "constants.h"

/* Of the corners of an element, by column, row and plane. */
static const int kOffset[kCorners][3] = {{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0},
                                         {0, 0, 1}, {1, 0, 1}, {1, 1, 1}, {0, 1, 1}};

/* The order of the ghosts, which come after the elements. */
static const int kGhostOrder[kFaces] = {kLowZeta, kHighZeta, kLowEta, kHighEta, kLowXi, kHighXi};

int mesh_per_edge(int ranks) {
  int edge = 1;
  while (edge * edge * edge < ranks) {
    ++edge;
  }
  return edge * edge * edge == ranks ? edge : 0;
}

Place mesh_place(int rank, int ranks) {
  int edge = mesh_per_edge(ranks);
  return (Place){rank, edge, rank % edge, rank / edge % edge, rank / (edge * edge)};
}

double mesh_coordinate(const Mesh* mesh, int at, int of_process) {
  return EDGE_LENGTH * (of_process * mesh->edge + at) / (mesh->edge * mesh->place.per_edge);
}

static void number_nodes(Mesh* mesh) {
  int n = mesh->edge, m = n + 1;
#pragma omp parallel for schedule(static)
  for (int32_t element = 0; element < mesh->elements; ++element) {
    for (int k = 0; k < kCorners; ++k) {
      const int* at = kOffset[k];
      mesh->node[element][k] =
          (element % n + at[0]) + m * (element / n % n + at[1]) + m * m * (element / (n * n) + at[2]);
    }
  }
}

/* Which corners meet at a node: counted, then entered in ascending order. */
static void list_corners(Mesh* mesh) {
  for (int64_t at = 0; at < (int64_t)kCorners * mesh->elements; ++at) {
    ++mesh->first_corner[mesh->node[at / kCorners][at % kCorners] + 1];
  }
  for (int32_t node = 0; node < mesh->nodes; ++node) {
    mesh->first_corner[node + 1] += mesh->first_corner[node];
  }
  for (int64_t at = 0; at < (int64_t)kCorners * mesh->elements; ++at) {
    int32_t node = mesh->node[at / kCorners][at % kCorners];
    mesh->corner[mesh->first_corner[node]++] = at;
  }
  for (int32_t node = mesh->nodes; node > 0; --node) { /* each begin has moved to its end */
    mesh->first_corner[node] = mesh->first_corner[node - 1];
  }
  mesh->first_corner[0] = 0;
}

static Beyond beyond_face(const Mesh* mesh, int face) {
  const int at[3] = {mesh->place.column, mesh->place.row, mesh->place.plane};
  if (face % 2 == 0) {
    return at[face / 2] == 0 ? kSymmetry : kCommunicated;
  }
  return at[face / 2] == mesh->place.per_edge - 1 ? kFree : kCommunicated;
}

int32_t mesh_element_at_face(const Mesh* mesh, int face, int slow, int fast) {
  int n = mesh->edge, end = face % 2 == 0 ? 0 : n - 1;
  switch (face / 2) {
    case 0: return end + n * fast + n * n * slow;
    case 1: return fast + n * end + n * n * slow;
    default: return fast + n * slow + n * n * end;
  }
}

static void find_neighbours(Mesh* mesh) {
  int n = mesh->edge;
  const int32_t step[kFaces] = {-1, 1, -n, n, -n * n, n * n};
#pragma omp parallel for schedule(static)
  for (int32_t element = 0; element < mesh->elements; ++element) {
    for (int face = 0; face < kFaces; ++face) {
      mesh->beyond[element][face] = kInterior;
      mesh->neighbour[element][face] = element + step[face];
    }
  }
  int32_t ghosts = 0;
  for (int i = 0; i < kFaces; ++i) {
    int face = kGhostOrder[i];
    Beyond beyond = beyond_face(mesh, face);
    for (int slow = 0; slow < n; ++slow) {
      for (int fast = 0; fast < n; ++fast) {
        int32_t element = mesh_element_at_face(mesh, face, slow, fast);
        mesh->beyond[element][face] = (uint8_t)beyond;
        mesh->neighbour[element][face] = beyond == kCommunicated ? mesh->elements + ghosts++ : element;
      }
    }
  }
}

static void find_symmetry(Mesh* mesh) {
  int m = mesh->edge + 1;
  const int at[3] = {mesh->place.column, mesh->place.row, mesh->place.plane};
  const int32_t fast[3] = {m, 1, 1}, slow[3] = {m * m, m * m, m};
  for (int axis = 0; axis < 3; ++axis) {
    mesh->symmetric[axis] = at[axis] == 0 ? m * m : 0;
    for (int32_t i = 0; i < mesh->symmetric[axis]; ++i) {
      mesh->symmetry[axis][i] = i / m * slow[axis] + i % m * fast[axis];
    }
  }
}

Mesh mesh_of(Place place, int edge) {
  int n = edge, m = edge + 1;
  Mesh mesh = {.place = place, .edge = edge, .elements = n * n * n, .nodes = m * m * m};
  for (int face = 0; face < kFaces; ++face) {
    mesh.ghosts += beyond_face(&mesh, face) == kCommunicated ? n * n : 0;
  }
  return mesh;
}

double mesh_bytes(const Mesh* mesh) {
  double by_element =
      sizeof *mesh->node + kCorners * sizeof *mesh->corner + sizeof *mesh->beyond + sizeof *mesh->neighbour;
  double plane = (mesh->edge + 1.0) * (mesh->edge + 1.0);
  return mesh->elements * by_element + mesh->nodes * (double)sizeof *mesh->first_corner + 3 * plane * sizeof(int32_t);
}

bool mesh_create(Mesh* mesh) {
  int m = mesh->edge + 1;
  size_t elements = (size_t)mesh->elements, nodes = (size_t)mesh->nodes;
  mesh->node = malloc(elements * sizeof *mesh->node);
  mesh->first_corner = calloc(nodes + 1, sizeof *mesh->first_corner);
  mesh->corner = malloc(kCorners * elements * sizeof *mesh->corner);
  mesh->beyond = malloc(elements * sizeof *mesh->beyond);
  mesh->neighbour = malloc(elements * sizeof *mesh->neighbour);
  bool complete = mesh->node && mesh->first_corner && mesh->corner && mesh->beyond && mesh->neighbour;
  for (int axis = 0; axis < 3; ++axis) {
    mesh->symmetry[axis] = malloc((size_t)m * (size_t)m * sizeof *mesh->symmetry[axis]);
    complete = complete && mesh->symmetry[axis];
  }
  if (!complete) {
    return false;
  }
  number_nodes(mesh);
  list_corners(mesh);
  find_neighbours(mesh);
  find_symmetry(mesh);
  return true;
}

void mesh_destroy(Mesh* mesh) {
  free(mesh->node);
  free(mesh->first_corner);
  free(mesh->corner);
  free(mesh->beyond);
  free(mesh->neighbour);
  for (int axis = 0; axis < 3; ++axis) {
    free(mesh->symmetry[axis]);
  }
}
