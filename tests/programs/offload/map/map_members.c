/* SPDX-License-Identifier: Apache-2.0
 *
 * Members of structures: only the members that are named move, also when other members lie between them; array members
 * by sections, members of members, and members that a pointer leads to, with what they point to.
 *
 * Covers: target(map:to/from/tofrom/alloc), target enter data(map:to), target exit data(map:from),
 *  target update(to, from)
 */
#include "../device.h"

typedef struct {
  int x, y;
} Point;

typedef struct {
  int a;
  int between[10];
  double b;
  int array[16];
  Point point;
  float* data;
  Point* points;
  char last;
} Object;

static void set(Object* o) {
  memset(o, 0, sizeof *o);
  o->a = 1;
  o->b = 2;
  for (int i = 0; i < 16; i++) o->array[i] = i;
  o->point = (Point){3, 4};
  o->last = 5;
}

/* Between two mapped members lies one that the host changes meanwhile: the device's copy may not come over it. */
static void far_apart(void) {
  Object o;
  set(&o);
#pragma omp target enter data map(to : o.a, o.point.y, o.last)
  o.between[3] = 99;
  o.b = 98;
  o.array[0] = 97;
  o.point.x = 96;
#pragma omp target map(tofrom : o.a, o.point.y, o.last)
  {
    o.a += 10;
    o.point.y += 20;
    o.last += 30;
  }
  CHECK_COPY(o.a, 1, 11);
#pragma omp target exit data map(from : o.a, o.point.y, o.last)
  CHECK_EQ(o.a, 11);
  CHECK_EQ(o.point.y, 24);
  CHECK_EQ(o.last, 35);
  CHECK_EQ(o.between[3], 99);
  CHECK_NEAR(o.b, 98, 0);
  CHECK_EQ(o.array[0], 97);
  CHECK_EQ(o.point.x, 96);
  CHECK_PRESENT(&o.a, 0);
}

/* Each member has its own map type. */
static void own_types(void) {
  Object o;
  double seen = 0;
  set(&o);
#pragma omp target map(to : o.b) map(from : o.a) map(tofrom : o.array[4 : 3], seen) map(alloc : o.point)
  {
    o.point.x = 7;
    seen = o.b + o.point.x;
    o.a = 70;
    o.b = -1;
    for (int i = 4; i < 7; i++) o.array[i] *= 10;
  }
  CHECK_NEAR(seen, 9, 0);
  CHECK_EQ(o.a, 70);
  CHECK_COPY(o.b, 2, -1);
  CHECK_COPY(o.point.x, 3, 7);
  for (int i = 0; i < 16; i++) CHECK_EQ(o.array[i], i >= 4 && i < 7 ? 10 * i : i);
}

static void behind_a_pointer(void) {
  Object object, *o = &object;
  float data[20];
  Point points[6];
  set(o);
  o->data = data;
  o->points = points;
  for (int i = 0; i < 20; i++) data[i] = i;
  for (int i = 0; i < 6; i++) points[i] = (Point){i, -i};
#pragma omp target enter data map(to : o->a, o->array[1 : 4], o->point.x, o->data, o->points) \
    map(to : o -> data[0 : 20], o->points[2 : 3])
  o->b = 55;
  data[0] = 44;
#pragma omp target map(tofrom : o->a, o->array[1 : 4], o->point.x) map(tofrom : o -> data[0 : 20], o->points[2 : 3])
  {
    o->a = 100;
    o->array[2] = 200;
    o->point.x = 300;
    for (int i = 0; i < 20; i++) o->data[i] += 0.5F;
    for (int i = 2; i < 5; i++) o->points[i].x += o->points[i].y + 1000;
  }
#pragma omp target update from(o->a, o->points[3 : 1])
  CHECK_EQ(o->a, 100);
  CHECK_COPY(points[2].x, 2, 1000);
  CHECK_EQ(points[3].x, 1000);
  o->point.x = 301;
#ifdef __clang__
#pragma omp target update to(o->point.x)
#pragma omp target map(tofrom : o->point.x)
  o->point.x++;
#else /* GCC 12 passes a wrong o */
  o->point.x++;
#pragma omp target update to(o->point.x)
#endif
#pragma omp target exit data map(from : o->a, o->array[1 : 4], o->point.x, o->data, o->points) \
    map(from : o -> data[0 : 20], o->points[2 : 3])
  CHECK_EQ(o->array[2], 200);
  CHECK_EQ(o->array[1], 1);
  CHECK_EQ(o->point.x, 302);
  CHECK_NEAR(o->b, 55, 0);
  CHECK(o->data == data && o->points == points);
  CHECK_NEAR(data[1], 1.5, 0);
  CHECK_COPY(data[0], 0, 44);
  CHECK_EQ(points[4].x, 1000);
  CHECK_EQ(points[5].x, 5);
}

/* Several objects in one construct, and elements of an array of objects. */
static void several_objects(void) {
  Object o, q, many[5];
  set(&o), set(&q);
  for (int i = 0; i < 5; i++) set(&many[i]);
#pragma omp target map(tofrom : o.a, q.b, o.last, q.point) map(to : q.array)
  {
    o.a += q.array[15];
    o.last += 1;
    q.b *= 2;
    q.point.x += q.point.y;
  }
  CHECK_EQ(o.a, 16);
  CHECK_EQ(o.last, 6);
  CHECK_NEAR(q.b, 4, 0);
  CHECK_EQ(q.point.x, 7);
#pragma omp target map(tofrom : many[1 : 3])
  for (int i = 1; i < 4; i++) many[i].array[i] = 50 + i;
  for (int i = 0; i < 5; i++) CHECK_EQ(many[i].array[i], i >= 1 && i < 4 ? 50 + i : i);
#pragma omp target map(tofrom : many[2].a, many[2].point.y)
  many[2].a = many[2].point.y++;
  CHECK_EQ(many[2].a, 4);
  CHECK_EQ(many[2].point.y, 5);
}

/* A member that is present already, as part of the whole object. */
static void part_of_the_whole(void) {
  Object o;
  float data[4] = {1, 2, 3, 4};
  set(&o);
  o.data = data;
#pragma omp target data map(tofrom : o)
  {
#pragma omp target map(tofrom : o.a, o.point.x)
    o.a = o.point.x = 8;
    CHECK_COPY(o.a, 1, 8);
#pragma omp target map(tofrom : o.data[0 : 4]) /* attached while the construct runs */
    o.data[1] = 20;
    CHECK_NEAR(data[1], 20, 0);
#pragma omp target update from(o.a)
    CHECK_EQ(o.a, 8);
    CHECK_COPY(o.point.x, 3, 8);
  }
  CHECK_EQ(o.point.x, 8);
  CHECK(o.data == data);
}

/* Members that are mapped by one construct are counted as one. */
static void entered_twice(void) {
  Object object;
  set(&object);
  int a = object.a;
#pragma omp target enter data map(to : object.a, object.array, object.b)
#pragma omp target enter data map(to : object.a, object.array, object.b)
#pragma omp target
  object.a = a + 1;
#pragma omp target exit data map(from : object.a, object.array, object.b)
  CHECK_COPY(object.a, a, a + 1);
  CHECK_PRESENT(&object.a, 1);
#pragma omp target exit data map(from : object.a, object.array, object.b)
  CHECK_EQ(object.a, a + 1);
  CHECK_PRESENT(&object.a, 0);
}

int main(void) {
  far_apart();
  own_types();
  behind_a_pointer();
  several_objects();
  part_of_the_whole();
  entered_twice();
  return 0;
}
