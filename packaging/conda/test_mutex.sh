#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Run by conda-build: a program of GCC that is linked with the environment's libgomp.so.1 runs on Marline.
set -eux
cat > hello.c <<'END'
int main(void)
{
  int sum = 0;
#pragma omp parallel for reduction(+ : sum)
  for (int i = 0; i < 100; ++i)
    sum += i;
  return sum != 4950;
}
END
"${CC:-cc}" -fopenmp hello.c -o hello "$PREFIX/lib/libgomp.so.1" -Wl,-rpath,"$PREFIX/lib"
OMP_DISPLAY_ENV=verbose ./hello 2> shown
grep MARLINE_VERSION shown
