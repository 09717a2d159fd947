! SPDX-License-Identifier: Apache-2.0
!
! Fortran's reductions: arrays, allocatables, every intrinsic operator, complex and derived types, `declare reduction`
! of a module's operator, `inscan`, and task reductions.
!
! Covers: parallel(reduction, reduction:task), for(reduction, reduction:task, reduction:inscan, schedule:dynamic),
!  scan(inclusive, exclusive), declare reduction(initializer), sections(reduction), scope(reduction),
!  taskloop(reduction, in_reduction), taskgroup(task_reduction), task(in_reduction), critical
module intervals
  implicit none
  type interval
    real(8) :: low = huge(1d0), high = -huge(1d0)
    integer :: members = 0
  end type interval
  interface operator(.hull.)
    module procedure hull
  end interface
  !$omp declare reduction(.hull.: interval: omp_out = omp_out .hull. omp_in) initializer(omp_priv = interval())
contains
  pure function hull(a, b) result(c)
    type(interval), intent(in) :: a, b
    type(interval) :: c
    c = interval(min(a%low, b%low), max(a%high, b%high), a%members + b%members)
  end function hull
end module intervals

module sums
  implicit none
contains
  ! A dummy array of assumed shape as list item.
  subroutine histogram(data, bins)
    integer, intent(in) :: data(:)
    integer, intent(inout) :: bins(0:)
    integer :: i
    !$omp parallel do reduction(+: bins)
    do i = 1, size(data)
      bins(mod(data(i), size(bins))) = bins(mod(data(i), size(bins))) + 1
    end do
  end subroutine histogram

  recursive function tree(depth) result(leaves)
    integer, intent(in) :: depth
    integer :: leaves
    if (depth == 0) then
      leaves = 1
      return
    end if
    leaves = 0
    !$omp taskgroup task_reduction(+: leaves)
    !$omp task in_reduction(+: leaves) firstprivate(depth)
    leaves = leaves + tree(depth - 1)
    !$omp end task
    !$omp task in_reduction(+: leaves) firstprivate(depth)
    leaves = leaves + tree(depth - 1)
    !$omp end task
    !$omp end taskgroup
  end function tree
end module sums

program reductions
  use omp_lib
  use intervals
  use sums
  implicit none
  integer, parameter :: n = 1000
  integer :: i, j, total, least, most, bits_and, bits_or, bits_xor, data(n), bins(0:9), prefix(n), before(n)
  integer(8) :: product
  logical :: all_true, any_true, even, odd
  complex(8) :: z
  real(8) :: matrix(5, 7), row(0:31), x
  real(8), allocatable :: column(:)
  type(interval) :: span
  character(len=2) :: word

  total = 10; least = 0; most = 0; bits_and = not(0); bits_or = 0; bits_xor = 0; product = 1
  all_true = .true.; any_true = .false.; even = .true.; odd = .false.; z = (1, 2); x = 5
  !$omp parallel do reduction(+: total, z) reduction(*: product) reduction(min: least) reduction(max: most) &
  !$omp&            reduction(iand: bits_and) reduction(ior: bits_or) reduction(ieor: bits_xor) reduction(-: x) &
  !$omp&            reduction(.and.: all_true) reduction(.or.: any_true) reduction(.eqv.: even) reduction(.neqv.: odd)
  do i = 1, n
    total = total + i
    z = z + cmplx(i, -i, 8)
    if (mod(i, 100) == 0) product = product * 2
    least = min(least, -i)
    most = max(most, i)
    bits_and = iand(bits_and, not(i))
    bits_or = ior(bits_or, i)
    bits_xor = ieor(bits_xor, i)
    x = x - 1
    all_true = all_true .and. i > 0
    any_true = any_true .or. i == n
    even = even .eqv. mod(i, 2) == 0
    odd = odd .neqv. mod(i, 4) == 1
  end do
  if (total /= 10 + n * (n + 1) / 2) error stop "+"
  if (z /= cmplx(1 + n * (n + 1) / 2, 2 - n * (n + 1) / 2, 8)) error stop "complex"
  if (product /= 1024 .or. x /= 5 - n) error stop "* and -"
  if (least /= -n .or. most /= n) error stop "min and max"
  if (bits_and /= not(1023) .or. bits_or /= 1023 .or. bits_xor /= 1000) error stop "bits"
  if (.not. all_true .or. .not. any_true .or. .not. even .or. odd) error stop "logical"

  data = [(i * 7, i = 1, n)]
  bins = 1
  call histogram(data, bins)
  if (any(bins /= 1 + n / 10)) error stop "assumed shape"

  matrix = 1
  allocate (column(0:31))
  column = 0
  !$omp parallel reduction(+: matrix, column)
  !$omp do schedule(dynamic)
  do i = 1, 320
    column(mod(i, 32)) = column(mod(i, 32)) + i
    matrix(1 + mod(i, 5), :) = matrix(1 + mod(i, 5), :) + 1
  end do
  !$omp end do nowait
  !$omp end parallel
  if (any(matrix /= 65)) error stop "matrix"
  if (sum(column) /= 320 * 321 / 2) error stop "allocatable"
  !$omp parallel do reduction(.hull.: span) private(x) schedule(dynamic, 7)
  do i = 1, n
    x = mod(i * 37, n) - 250.5d0
    span = span .hull. interval(x, x, 1)
  end do
  if (span%low /= -250.5d0 .or. span%high /= 748.5d0 .or. span%members /= n) error stop "declare reduction"

  total = 0
  !$omp parallel
  !$omp sections reduction(+: total)
  total = total + 1
  !$omp section
  total = total + 10
  !$omp section
  total = total + 100
  !$omp end sections
  !$omp scope reduction(+: total)
  total = total + 1000
  !$omp end scope
  !$omp end parallel
  if (total /= 111 + 1000 * omp_get_max_threads()) error stop "sections and scope"

  total = 0
  !$omp parallel do reduction(inscan, +: total)
  do i = 1, n
    total = total + i
    !$omp scan inclusive(total)
    prefix(i) = total
  end do
  total = 0
  !$omp parallel do reduction(inscan, +: total)
  do i = 1, n
    before(i) = total
    !$omp scan exclusive(total)
    total = total + i
  end do
  do i = 1, n
    if (prefix(i) /= i * (i + 1) / 2 .or. before(i) /= prefix(i) - i) error stop "scan"
  end do

  ! Of tasks: of a region, of a loop, of a taskgroup, of taskloops.
  total = 0
  matrix = 0
  !$omp parallel reduction(task, +: total, matrix)
  do i = 1, 10
    !$omp task in_reduction(+: total, matrix) firstprivate(i)
    total = total + i
    matrix(:, 1) = matrix(:, 1) + i
    !$omp end task
  end do
  total = total + 1
  !$omp end parallel
  if (total /= 56 * omp_get_max_threads()) error stop "tasks of a region"
  if (any(matrix(:, 1) /= 55 * omp_get_max_threads()) .or. any(matrix(:, 2:) /= 0)) error stop "array of a region"
  total = 0
  !$omp parallel
  !$omp do reduction(task, +: total)
  do i = 1, 50
    !$omp task in_reduction(+: total) firstprivate(i)
    total = total + i
    !$omp end task
  end do
  !$omp end do
  !$omp end parallel
  if (total /= 1275) error stop "tasks of a loop"
  row = 0
  !$omp parallel
  !$omp single
  if (tree(7) /= 128) error stop "tree"
  !$omp taskgroup task_reduction(+: row, total)
  do j = 1, 5
    !$omp taskloop in_reduction(+: row, total) firstprivate(j)
    do i = 0, 31
      row(i) = row(i) + j
      total = total + 1
    end do
  end do
  !$omp end taskgroup
  !$omp taskloop reduction(+: row)
  do i = 0, 31
    row(i) = row(i) + 1
  end do
  !$omp end single
  !$omp end parallel
  if (any(row /= 16) .or. total /= 1275 + 160) error stop "taskloop"

  ! By hand: partial results that meet in critical sections of two names and in an atomic update.
  total = 0; most = 0; word = "ab"
  !$omp parallel private(j)
  j = 0
  !$omp do
  do i = 1, n
    j = j + i
    !$omp critical (biggest)
    if (i > most) most = i
    !$omp end critical (biggest)
  end do
  !$omp end do
  !$omp critical (gather)
  total = total + j
  !$omp end critical (gather)
  !$omp critical
  if (word /= "ab") error stop "critical"
  word = "cd"
  word = "ab"
  !$omp end critical
  !$omp end parallel
  if (total /= n * (n + 1) / 2 .or. most /= n) error stop "critical"
end program reductions
