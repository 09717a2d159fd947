/* SPDX-License-Identifier: Apache-2.0
 *
 * Scalable vectors (SVE) across suspensions on AArch64. Untied tasks suspend in the middle of vector code and are
 * resumed on other threads. Of the vector registers, the procedure call standard lets a function keep the low halves of
 * v8-v15 over a call. A function that takes or returns scalable vectors must keep all of z8-z23 and p4-p15 for its
 * caller: its compiler saves them around a call of an ordinary function, such as one that suspends (AAPCS64, sections
 * 6.1.2 to 6.1.4).
 *
 * Covers: marline suspension
 */
#include "rendezvous.h"
#include <arm_sve.h>
#include <omp.h>
#include <stddef.h>
#include <sys/auxv.h>

enum { kTasks = 24, kRounds = 3, kVectors = 16, kPredicates = 12, kIntegers = 10, kMostBytes = 256 };

/* What a caller may keep in registers: x19-x28, p4-p15, z8-z23. The assembly below knows the offsets. */
typedef struct {
  uint64_t x[kIntegers];
  unsigned char p[kPredicates * kMostBytes / 8];
  unsigned char z[kVectors * kMostBytes];
} Registers;
_Static_assert(offsetof(Registers, p) == 80 && offsetof(Registers, z) == 464, "as in the assembly");

typedef struct {
  int meeting, self;
} Meeting;

static Rendezvous meetings;
static int moved; /* how often a task was resumed on another thread */

/* Loads the registers from `before`, calls function(meeting), and stores the registers in `after`. The names FOR_EACH_*
 * stand for an instruction for each register. */
void call_with_registers(const Registers* before, Registers* after, void* function, Meeting* meeting);
#define FOR_EACH_INTEGER(op)                                                                                    \
  op " x19, x20, [x9]\n" op " x21, x22, [x9, #16]\n" op " x23, x24, [x9, #32]\n" op " x25, x26, [x9, #48]\n" op \
     " x27, x28, [x9, #64]\n"
#define FOR_EACH_LOW_HALF(op) \
  op " d8, d9, [sp, #96]\n" op " d10, d11, [sp, #112]\n" op " d12, d13, [sp, #128]\n" op " d14, d15, [sp, #144]\n"
#define ONE(op, name, number, place) op " " name #number ", [x10, #" #place ", mul vl]\n"
#define FOUR(op, name, a, b, c, d, i, j, k, l) \
  ONE(op, name, a, i) ONE(op, name, b, j) ONE(op, name, c, k) ONE(op, name, d, l)
#define FOR_EACH_PREDICATE(op)                                                                       \
  "add x10, x9, #80\n" FOUR(op, "p", 4, 5, 6, 7, 0, 1, 2, 3) FOUR(op, "p", 8, 9, 10, 11, 4, 5, 6, 7) \
      FOUR(op, "p", 12, 13, 14, 15, 8, 9, 10, 11)
#define FOR_EACH_VECTOR(op)                                                                               \
  "add x10, x9, #464\n" FOUR(op, "z", 8, 9, 10, 11, 0, 1, 2, 3) FOUR(op, "z", 12, 13, 14, 15, 4, 5, 6, 7) \
      FOUR(op, "z", 16, 17, 18, 19, 8, 9, 10, 11) FOUR(op, "z", 20, 21, 22, 23, 12, 13, 14, 15)
__asm__(".text\n"
        ".global call_with_registers\n"
        ".type call_with_registers, %function\n"
        "call_with_registers:\n"
        "stp x29, x30, [sp, #-176]!\n"
        "mov x29, sp\n"
        "str x1, [sp, #160]\n"
        "mov x11, x0\n"
        "add x9, sp, #16\n" FOR_EACH_INTEGER("stp") FOR_EACH_LOW_HALF("stp")
        "mov x9, x11\n" FOR_EACH_PREDICATE("ldr") FOR_EACH_VECTOR("ldr") FOR_EACH_INTEGER("ldp")
        "mov x0, x3\n"
        "mov z0.d, z8.d\n"
        "blr x2\n"
        "ldr x9, [sp, #160]\n" FOR_EACH_PREDICATE("str") FOR_EACH_VECTOR("str") FOR_EACH_INTEGER("stp")
        "add x9, sp, #16\n" FOR_EACH_INTEGER("ldp") FOR_EACH_LOW_HALF("ldp")
        "ldp x29, x30, [sp], #176\n"
        "ret\n"
        ".size call_with_registers, . - call_with_registers\n");

__attribute__((noinline)) static void suspend(Meeting* meeting) {
  int thread = omp_get_thread_num();
  rendezvous_meet(&meetings, meeting->meeting, meeting->self);
  if (omp_get_thread_num() != thread) __atomic_add_fetch(&moved, 1, __ATOMIC_RELAXED);
}

/* Takes and returns vectors: keeps z8-z23 and p4-p15. */
__attribute__((noinline)) static svfloat64_t suspend_with_vector(Meeting* meeting, svfloat64_t vector) {
  suspend(meeting);
  return svadd_x(svptrue_b64(), vector, 1);
}

static void fill(Registers* registers, int seed) {
  unsigned char* bytes = (unsigned char*)registers;
  for (size_t i = 0; i < sizeof *registers; i++) bytes[i] = (unsigned char)(seed * 31 + i * 7 + i / 251);
}

static void keeps_registers(int self, int meeting) {
  Registers before, after;
  Meeting here = {meeting, self};
  size_t bytes = svcntb();
  fill(&before, self);
  fill(&after, self + 1);
  call_with_registers(&before, &after, (void*)suspend, &here);
  CHECK(memcmp(before.x, after.x, sizeof before.x) == 0);
  for (int i = 0; i < 8; i++) CHECK(memcmp(before.z + i * bytes, after.z + i * bytes, 8) == 0);
  here.meeting++;
  fill(&after, self + 1);
  call_with_registers(&before, &after, (void*)suspend_with_vector, &here);
  CHECK(memcmp(before.x, after.x, sizeof before.x) == 0);
  CHECK(memcmp(before.p, after.p, kPredicates * bytes / 8) == 0);
  CHECK(memcmp(before.z, after.z, kVectors * bytes) == 0);
}

/* Vectors and a predicate that live across suspensions, some of them in registers, some in the task's stack. */
static void computes(int self, int meeting) {
  double sums[kMostBytes / sizeof(double)];
  int count = (int)svcntd();
  svbool_t odd = svcmpeq(svptrue_b64(), svand_x(svptrue_b64(), svindex_u64(0, 1), 1), 1);
  svfloat64_t numbers = svcvt_f64_x(svptrue_b64(), svindex_s64(self, 1)), sum = svdup_f64(0);
  Meeting here = {meeting, self};
  for (int round = 0; round < kRounds; round++) {
    sum = svmla_m(odd, sum, numbers, (double)round + 1);
    suspend(&here);
    here.meeting++;
    numbers = suspend_with_vector(&here, numbers);
    here.meeting++;
    CHECK_EQ(svcntd(), count);
  }
  svst1(svptrue_b64(), sums, sum);
  for (int i = 0; i < count; i++) CHECK(sums[i] == (i % 2 ? 6.0 * (self + i) + 2 + 6 : 0)); /* (n)+2(n+1)+3(n+2) */
}

int main(void) {
  if (!(getauxval(AT_HWCAP) & HWCAP_SVE)) {
    printf("skipped: this processor has no SVE\n");
    return 0;
  }
  int rounds = 0;
  do {
    rendezvous_init(&meetings, kTasks);
#pragma omp parallel
#pragma omp single
    for (int self = 0; self < kTasks; self++) {
#pragma omp task untied firstprivate(self)
      {
        keeps_registers(self, 0);
        computes(self, 2);
      }
    }
  } while (moved == 0 && ++rounds < 100);
  CHECK(moved > 0);
  printf("vectors of %d bytes, %d tasks resumed on another thread\n", (int)svcntb(), moved);
  return 0;
}
