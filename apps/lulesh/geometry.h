/* SPDX-License-Identifier: Apache-2.0
 *
 * The geometry of a hexahedron from the positions of its corners: x, y and z of each corner, in three arrays. Pure
 * functions, for loops over elements and for code on devices.
 */
#ifndef LULESH_GEOMETRY_H
#define LULESH_GEOMETRY_H

#include <math.h>

#include "mesh.h"

typedef struct {
  double x, y, z;
} Vector;

/* The corners of one element: values by direction. */
typedef double Corners[3][kCorners];

static inline Vector vector_between(const Corners at, int from, int to) {
  return (Vector){at[0][to] - at[0][from], at[1][to] - at[1][from], at[2][to] - at[2][from]};
}

static inline Vector vector_sum(Vector a, Vector b) { return (Vector){a.x + b.x, a.y + b.y, a.z + b.z}; }

static inline Vector vector_difference(Vector a, Vector b) { return (Vector){a.x - b.x, a.y - b.y, a.z - b.z}; }

static inline Vector vector_scaled(double factor, Vector a) {
  return (Vector){factor * a.x, factor * a.y, factor * a.z};
}

static inline Vector vector_cross(Vector a, Vector b) {
  return (Vector){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

static inline double vector_dot(Vector a, Vector b) { return a.x * b.x + a.y * b.y + a.z * b.z; }

/* a . (b x c) */
static inline double triple(Vector a, Vector b, Vector c) { return vector_dot(a, vector_cross(b, c)); }

static inline double hexahedron_volume(const Corners at) {
  Vector d31 = vector_between(at, 1, 3), d72 = vector_between(at, 2, 7), d63 = vector_between(at, 3, 6);
  Vector d20 = vector_between(at, 0, 2), d43 = vector_between(at, 3, 4), d57 = vector_between(at, 7, 5);
  Vector d64 = vector_between(at, 4, 6), d70 = vector_between(at, 0, 7), d14 = vector_between(at, 4, 1);
  Vector d25 = vector_between(at, 5, 2), d61 = vector_between(at, 1, 6), d50 = vector_between(at, 0, 5);
  return (triple(vector_sum(d31, d72), d63, d20) + triple(vector_sum(d43, d57), d64, d70) +
          triple(vector_sum(d14, d25), d61, d50)) /
         12.0;
}

/* How a coordinate changes along xi, eta, zeta in the middle: from the four diagonals. */
static inline Vector jacobian_row(const double* at) {
  double d60 = at[6] - at[0], d53 = at[5] - at[3], d71 = at[7] - at[1], d42 = at[4] - at[2];
  return (Vector){0.125 * (d60 + d53 - d71 - d42), 0.125 * (d60 - d53 + d71 - d42), 0.125 * (d60 + d53 + d71 + d42)};
}

/* The derivatives of the shape functions of corners 0 to 3, by direction; the derivatives of 6, 7, 4, 5 are their
 * negatives. Returns the determinant of the Jacobian, a volume. */
static inline double shape_derivatives(const Corners at, double derivative[3][4]) {
  Vector row[3] = {jacobian_row(at[0]), jacobian_row(at[1]), jacobian_row(at[2])};
  double determinant = 0;
  for (int a = 0; a < 3; ++a) {
    Vector cofactor = vector_cross(row[(a + 1) % 3], row[(a + 2) % 3]);
    derivative[a][0] = -cofactor.x - cofactor.y - cofactor.z;
    derivative[a][1] = cofactor.x - cofactor.y - cofactor.z;
    derivative[a][2] = cofactor.x + cofactor.y - cofactor.z;
    derivative[a][3] = -cofactor.x + cofactor.y - cofactor.z;
    determinant += row[a].y * cofactor.y;
  }
  return 8.0 * determinant;
}

/* Adds a quarter of the area vector of a face, outwards, to its corners. */
static inline void add_face_normal(const Corners at, Corners normal, int p0, int p1, int p2, int p3) {
  Vector along = vector_scaled(0.5, vector_sum(vector_between(at, p1, p3), vector_between(at, p0, p2)));
  Vector across = vector_scaled(0.5, vector_sum(vector_between(at, p3, p1), vector_between(at, p0, p2)));
  Vector area = vector_scaled(0.25, vector_cross(along, across));
  const int face[4] = {p0, p1, p2, p3};
  for (int i = 0; i < 4; ++i) {
    normal[0][face[i]] += area.x;
    normal[1][face[i]] += area.y;
    normal[2][face[i]] += area.z;
  }
}

static inline void corner_normals(const Corners at, Corners normal) {
  for (int a = 0; a < 3; ++a) {
    for (int k = 0; k < kCorners; ++k) {
      normal[a][k] = 0;
    }
  }
  add_face_normal(at, normal, 0, 1, 2, 3);
  add_face_normal(at, normal, 0, 4, 5, 1);
  add_face_normal(at, normal, 1, 5, 6, 2);
  add_face_normal(at, normal, 2, 6, 7, 3);
  add_face_normal(at, normal, 3, 7, 4, 0);
  add_face_normal(at, normal, 4, 7, 6, 5);
}

static inline double volume_derivative(const double* u, const double* w, const int* n) {
  return ((u[n[1]] + u[n[2]]) * (w[n[0]] + w[n[1]]) - (u[n[0]] + u[n[1]]) * (w[n[1]] + w[n[2]]) +
          (u[n[0]] + u[n[4]]) * (w[n[3]] + w[n[4]]) - (u[n[3]] + u[n[4]]) * (w[n[0]] + w[n[4]]) -
          (u[n[2]] + u[n[5]]) * (w[n[3]] + w[n[5]]) + (u[n[3]] + u[n[5]]) * (w[n[2]] + w[n[5]])) /
         12.0;
}

/* How the volume changes with each coordinate of each corner. */
static inline void volume_derivatives(const Corners at, Corners derivative) {
  static const int kOthers[kCorners][6] = {{1, 2, 3, 4, 5, 7}, {2, 3, 0, 5, 6, 4}, {3, 0, 1, 6, 7, 5},
                                           {0, 1, 2, 7, 4, 6}, {7, 6, 5, 0, 3, 1}, {4, 7, 6, 1, 0, 2},
                                           {5, 4, 7, 2, 1, 3}, {6, 5, 4, 3, 2, 0}};
  for (int k = 0; k < kCorners; ++k) {
    for (int a = 0; a < 3; ++a) {
      derivative[a][k] = volume_derivative(at[(a + 1) % 3], at[(a + 2) % 3], kOthers[k]);
    }
  }
}

/* Sixteen times the square of a face's area, were it flat and rectangular. */
static inline double face_measure(const Corners at, int p0, int p1, int p2, int p3) {
  Vector first = vector_between(at, p0, p2), second = vector_between(at, p1, p3);
  Vector f = vector_difference(first, second), g = vector_sum(first, second);
  double product = vector_dot(f, g);
  return vector_dot(f, f) * vector_dot(g, g) - product * product;
}

/* The element's extent across its largest face. */
static inline double characteristic_length(const Corners at, double volume) {
  double largest = face_measure(at, 0, 1, 2, 3);
  largest = fmax(largest, face_measure(at, 4, 5, 6, 7));
  largest = fmax(largest, face_measure(at, 0, 1, 5, 4));
  largest = fmax(largest, face_measure(at, 1, 2, 6, 5));
  largest = fmax(largest, face_measure(at, 2, 3, 7, 6));
  largest = fmax(largest, face_measure(at, 3, 0, 4, 7));
  return 4.0 * volume / sqrt(largest);
}

/* The values of an element's nodes. */
static inline void gather(const int32_t* node, double* const* of_nodes, Corners values) {
  for (int a = 0; a < 3; ++a) {
    for (int k = 0; k < kCorners; ++k) {
      values[a][k] = of_nodes[a][node[k]];
    }
  }
}

#endif
