/* SPDX-License-Identifier: Apache-2.0
 *
 * The mesh of one process: a cube of hexahedral elements, reached through tables only, as if it were unstructured. The
 * processes form a cube of cubes. Constant once it is made.
 */
#ifndef LULESH_MESH_H
#define LULESH_MESH_H

#include <stdbool.h>
#include <stdint.h>

enum { kCorners = 8, kFaces = 6 };

/* Faces of an element, and of the cube: towards lower and higher columns (xi, x), rows (eta, y), planes (zeta, z). */
enum { kLowXi, kHighXi, kLowEta, kHighEta, kLowZeta, kHighZeta };

/* What is beyond an element's face. */
typedef enum { kInterior, kSymmetry, kFree, kCommunicated } Beyond;

/* Where a process is among the others. */
typedef struct {
  int rank, per_edge; /* per_edge^3 processes */
  int column, row, plane;
} Place;

typedef struct {
  Place place;
  int edge; /* elements along an edge of this process's cube */
  int32_t elements, nodes;
  int32_t ghosts; /* slots after the elements, for elements of neighbours that share a face */

  int32_t (*node)[kCorners]; /* of each element */
  int64_t* first_corner;     /* nodes + 1: where a node's corners begin in `corner` */
  int64_t* corner;           /* 8 * element + corner, ascending for each node */

  uint8_t (*beyond)[kFaces];    /* Beyond, of each element */
  int32_t (*neighbour)[kFaces]; /* the element or ghost beyond each face; unused at symmetry and free faces */

  int32_t symmetric[3]; /* nodes of the planes x = 0, y = 0, z = 0 that this process has */
  int32_t* symmetry[3];
} Mesh;

Place mesh_place(int rank, int ranks);

/* The cube root of `ranks`, if it is a whole number; else 0. */
int mesh_per_edge(int ranks);

/* A mesh with its sizes, but without tables; and the bytes that the tables take. */
Mesh mesh_of(Place place, int edge);
double mesh_bytes(const Mesh* mesh);

/* Makes the tables. False: not enough memory; mesh_destroy frees what there is. */
bool mesh_create(Mesh* mesh);
void mesh_destroy(Mesh* mesh);

/* The element at place (slow, fast) of this process's face, in the order of the ghosts beyond it. */
int32_t mesh_element_at_face(const Mesh* mesh, int face, int slow, int fast);

/* The coordinate of the nodes of a column, row or plane of this process. */
double mesh_coordinate(const Mesh* mesh, int at, int of_process);

#endif
