/* SPDX-License-Identifier: Apache-2.0
 *
 * Large numbers: ten thousand objects mapped at once, given back in another order than they came, and a region with
 * seventy arguments of each kind.
 *
 * Covers: target(map, firstprivate), target enter data(map:to), target exit data(map:from)
 */
#include "../device.h"

#define OBJECTS 10000

typedef struct {
  int number, padding[7];
} Object;

static Object* objects[OBJECTS];

static void objects_at_once(void) {
  for (int i = 0; i < OBJECTS; i++) {
    Object* o = objects[i] = malloc(sizeof *o);
    o->number = i;
#pragma omp target enter data map(to : o[0 : 1])
  }
  for (int i = 0; i < OBJECTS; i += 97) {
    Object* o = objects[i];
#pragma omp target map(tofrom : o[0 : 1])
    o->number += 5;
  }
  for (int i = 0; i < OBJECTS; i++) {
    int k = (int)((i * 7919L) % OBJECTS); /* 7919 is prime: all of them, far from their order */
    Object* o = objects[k];
    CHECK_PRESENT(o, 1);
#pragma omp target exit data map(from : o[0 : 1])
    CHECK_PRESENT(o, 0);
    CHECK_EQ(o->number, k + (k % 97 == 0 ? 5 : 0));
  }
  for (int i = 0; i < OBJECTS; i++) free(objects[i]);
}

/* Pieces of one block, with gaps between them. */
static void pieces_of_a_block(void) {
  static int block[20000];
  for (int i = 0; i < 2000; i++) {
    int* piece = block + 10 * i;
    piece[3] = i;
#pragma omp target enter data map(to : piece[1 : 5])
  }
  int sum = 0, *first = block, *last = block + 19990;
#pragma omp target map(tofrom : sum) map(to : first[1 : 5], last[1 : 5])
  sum = first[3] + last[3];
  CHECK_EQ(sum, 1999);
  for (int i = 1999; i >= 0; i--) {
    int* piece = block + 10 * i;
#pragma omp target exit data map(delete : piece[1 : 5])
    CHECK_PRESENT(piece + 1, 0);
  }
}

static void many_arguments(void) {
  long a0 = 0, a1 = 1, a2 = 2, a3 = 3, a4 = 4, a5 = 5, a6 = 6, a7 = 7, a8 = 8, a9 = 9, a10 = 10, a11 = 11, a12 = 12,
       a13 = 13, a14 = 14, a15 = 15, a16 = 16, a17 = 17, a18 = 18, a19 = 19, a20 = 20, a21 = 21, a22 = 22, a23 = 23,
       a24 = 24, a25 = 25, a26 = 26, a27 = 27, a28 = 28, a29 = 29, a30 = 30, a31 = 31, a32 = 32, a33 = 33, a34 = 34,
       a35 = 35, a36 = 36, a37 = 37, a38 = 38, a39 = 39, a40 = 40, a41 = 41, a42 = 42, a43 = 43, a44 = 44, a45 = 45,
       a46 = 46, a47 = 47, a48 = 48, a49 = 49, a50 = 50, a51 = 51, a52 = 52, a53 = 53, a54 = 54, a55 = 55, a56 = 56,
       a57 = 57, a58 = 58, a59 = 59, a60 = 60, a61 = 61, a62 = 62, a63 = 63, a64 = 64, a65 = 65, a66 = 66, a67 = 67,
       a68 = 68, a69 = 69;
  double d0 = 0, d1 = 1, d2 = 2, d3 = 3, d4 = 4, d5 = 5, d6 = 6, d7 = 7, d8 = 8, d9 = 9, d10 = 10, d11 = 11, d12 = 12,
         d13 = 13, d14 = 14, d15 = 15, d16 = 16, d17 = 17, d18 = 18, d19 = 19, d20 = 20, d21 = 21, d22 = 22, d23 = 23,
         d24 = 24, d25 = 25, d26 = 26, d27 = 27, d28 = 28, d29 = 29, d30 = 30, d31 = 31, d32 = 32, d33 = 33, d34 = 34,
         d35 = 35, d36 = 36, d37 = 37, d38 = 38, d39 = 39, d40 = 40, d41 = 41, d42 = 42, d43 = 43, d44 = 44, d45 = 45,
         d46 = 46, d47 = 47, d48 = 48, d49 = 49, d50 = 50, d51 = 51, d52 = 52, d53 = 53, d54 = 54, d55 = 55, d56 = 56,
         d57 = 57, d58 = 58, d59 = 59, d60 = 60, d61 = 61, d62 = 62, d63 = 63, d64 = 64, d65 = 65, d66 = 66, d67 = 67,
         d68 = 68, d69 = 69;
  long sum = 0;
  double total = 0;
#pragma omp target map(tofrom : sum, total)                                                                          \
    map(tofrom : a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, a15, a16, a17, a18, a19, a20, a21, \
            a22, a23, a24, a25, a26, a27, a28, a29, a30, a31, a32, a33, a34, a35, a36, a37, a38, a39, a40, a41, a42, \
            a43, a44, a45, a46, a47, a48, a49, a50, a51, a52, a53, a54, a55, a56, a57, a58, a59, a60, a61, a62, a63, \
            a64, a65, a66, a67, a68, a69)                                                                            \
    firstprivate(d0, d1, d2, d3, d4, d5, d6, d7, d8, d9, d10, d11, d12, d13, d14, d15, d16, d17, d18, d19, d20, d21, \
                     d22, d23, d24, d25, d26, d27, d28, d29, d30, d31, d32, d33, d34, d35, d36, d37, d38, d39, d40,  \
                     d41, d42, d43, d44, d45, d46, d47, d48, d49, d50, d51, d52, d53, d54, d55, d56, d57, d58, d59,  \
                     d60, d61, d62, d63, d64, d65, d66, d67, d68, d69)
  {
    sum += a0 + a1 + a2 + a3 + a4 + a5 + a6 + a7 + a8 + a9 + a10 + a11 + a12 + a13;
    sum += a14 + a15 + a16 + a17 + a18 + a19 + a20 + a21 + a22 + a23 + a24 + a25 + a26 + a27;
    sum += a28 + a29 + a30 + a31 + a32 + a33 + a34 + a35 + a36 + a37 + a38 + a39 + a40 + a41;
    sum += a42 + a43 + a44 + a45 + a46 + a47 + a48 + a49 + a50 + a51 + a52 + a53 + a54 + a55;
    sum += a56 + a57 + a58 + a59 + a60 + a61 + a62 + a63 + a64 + a65 + a66 + a67 + a68 + a69;
    total += d0 + d1 + d2 + d3 + d4 + d5 + d6 + d7 + d8 + d9 + d10 + d11 + d12 + d13;
    total += d14 + d15 + d16 + d17 + d18 + d19 + d20 + d21 + d22 + d23 + d24 + d25 + d26 + d27;
    total += d28 + d29 + d30 + d31 + d32 + d33 + d34 + d35 + d36 + d37 + d38 + d39 + d40 + d41;
    total += d42 + d43 + d44 + d45 + d46 + d47 + d48 + d49 + d50 + d51 + d52 + d53 + d54 + d55;
    total += d56 + d57 + d58 + d59 + d60 + d61 + d62 + d63 + d64 + d65 + d66 + d67 + d68 + d69;
    a0++, a1++, a2++, a3++, a4++, a5++, a6++, a7++, a8++, a9++, a10++, a11++, a12++, a13++;
    a14++, a15++, a16++, a17++, a18++, a19++, a20++, a21++, a22++, a23++, a24++, a25++, a26++, a27++;
    a28++, a29++, a30++, a31++, a32++, a33++, a34++, a35++, a36++, a37++, a38++, a39++, a40++, a41++;
    a42++, a43++, a44++, a45++, a46++, a47++, a48++, a49++, a50++, a51++, a52++, a53++, a54++, a55++;
    a56++, a57++, a58++, a59++, a60++, a61++, a62++, a63++, a64++, a65++, a66++, a67++, a68++, a69++;
  }
  CHECK_EQ(sum, 70 * 69 / 2);
  CHECK_NEAR(total, 70 * 69 / 2, 0);
  long again = 0;
  again += a0 + a1 + a2 + a3 + a4 + a5 + a6 + a7 + a8 + a9 + a10 + a11 + a12 + a13;
  again += a14 + a15 + a16 + a17 + a18 + a19 + a20 + a21 + a22 + a23 + a24 + a25 + a26 + a27;
  again += a28 + a29 + a30 + a31 + a32 + a33 + a34 + a35 + a36 + a37 + a38 + a39 + a40 + a41;
  again += a42 + a43 + a44 + a45 + a46 + a47 + a48 + a49 + a50 + a51 + a52 + a53 + a54 + a55;
  again += a56 + a57 + a58 + a59 + a60 + a61 + a62 + a63 + a64 + a65 + a66 + a67 + a68 + a69;
  CHECK_EQ(again, 70 * 69 / 2 + 70);
}

int main(void) {
  objects_at_once();
  pieces_of_a_block();
  many_arguments();
  return 0;
}
