! SPDX-License-Identifier: Apache-2.0
!
! Fortran 77's ways with data, as old benchmarks have them: threadprivate COMMON blocks that are declared in each
! subroutine again, copied in, kept from region to region and broadcast by a single construct; COMMON blocks as private
! and shared; threadprivate allocatables and pointers of a module.
!
! Covers: threadprivate, parallel(copyin, private, default, shared, reduction), single(copyprivate),
!  for(schedule:static)
module workspace
  implicit none
  real(8), allocatable, save :: rows(:)
  integer, pointer, save :: cursor => null()
  integer, save :: calls = 7
  !$omp threadprivate(rows, cursor, calls)
end module workspace

! Each thread's buffer: its number, and a line of a field.
subroutine set_line(seed)
  implicit none
  integer :: seed, me, i
  real(8) :: line(64)
  common /buffer/ line, me
  !$omp threadprivate(/buffer/)
  do i = 1, 64
    line(i) = me * 1000 + seed + i
  end do
end subroutine set_line

subroutine check_line(seed)
  implicit none
  integer :: seed, me, i
  real(8) :: line(64)
  common /buffer/ line, me
  !$omp threadprivate(/buffer/)
  do i = 1, 64
    if (line(i) /= me * 1000 + seed + i) error stop "line"
  end do
end subroutine check_line

! Orphaned: the loop belongs to the region of whoever calls.
subroutine add_field(field, n)
  implicit none
  integer :: n, i, j, me
  real(8) :: field(64, n), line(64)
  common /buffer/ line, me
  !$omp threadprivate(/buffer/)
  !$omp do schedule(static)
  do j = 1, n
    do i = 1, 64
      line(i) = field(i, j) * 2
    end do
    do i = 1, 64
      field(i, j) = line(i) + 1
    end do
  end do
  !$omp end do
end subroutine add_field

subroutine use_scratch(k)
  implicit none
  integer :: k, i, scratch(32)
  common /shared_scratch/ scratch
  do i = 1, 32
    if (scratch(i) /= k) error stop "shared COMMON"
  end do
end subroutine use_scratch

program common_blocks
  use omp_lib
  use workspace
  implicit none
  integer :: me, step, i, threads, total
  integer :: scratch(32)
  integer, target :: places(0:63)
  real(8) :: line(64), field(64, 40)
  common /buffer/ line, me
  !$omp threadprivate(/buffer/)
  common /shared_scratch/ scratch

  call omp_set_dynamic(.false.)
  threads = omp_get_max_threads()

  ! copyin brings the master's block to all; what they write stays theirs from region to region.
  me = 42
  line = 42 * 1000 + 5 + [(i, i = 1, 64)]
  do step = 1, 20
    me = 42
    !$omp parallel copyin(/buffer/) num_threads(threads)
    if (step == 1) call check_line(5)
    if (me /= 42) error stop "copyin"
    me = omp_get_thread_num()
    call set_line(step)
    !$omp end parallel
    !$omp parallel num_threads(threads)
    if (me /= omp_get_thread_num()) error stop "persistence"
    call check_line(step)
    !$omp end parallel
  end do

  ! A part of the block, by name.
  line = 3
  !$omp parallel copyin(line) num_threads(threads)
  if (any(line /= 3)) error stop "copyin of a member"
  if (me /= omp_get_thread_num()) error stop "the other member"
  !$omp end parallel

  ! One thread's block to all.
  !$omp parallel num_threads(threads)
  do step = 1, 20
    !$omp single
    me = 100 + step
    call set_line(step)
    !$omp end single copyprivate(/buffer/)
    if (me /= 100 + step) error stop "copyprivate"
    call check_line(step)
    !$omp barrier
  end do
  !$omp end parallel

  field = 0
  !$omp parallel num_threads(threads)
  do step = 1, 5
    call add_field(field, 40)
  end do
  !$omp end parallel
  if (any(field /= 31)) error stop "field"

  ! A COMMON block as a private list item is the region's own, and the block itself elsewhere.
  scratch = 9
  !$omp parallel private(/shared_scratch/) num_threads(threads)
  scratch = omp_get_thread_num()
  !$omp barrier
  if (any(scratch /= omp_get_thread_num())) error stop "private COMMON"
  call use_scratch(9)
  !$omp end parallel
  call use_scratch(9)
  !$omp parallel default(none) shared(/shared_scratch/) num_threads(threads)
  call use_scratch(9)
  !$omp end parallel

  ! Allocatables and pointers: allocated by each thread, and copied in with their shape.
  places = 0
  !$omp parallel num_threads(threads)
  if (allocated(rows)) error stop "allocated"
  if (calls /= 7) error stop "initial value"
  allocate (rows(omp_get_thread_num() + 1))
  rows = omp_get_thread_num()
  cursor => places(omp_get_thread_num())
  calls = calls + omp_get_thread_num()
  !$omp end parallel
  total = 0
  !$omp parallel num_threads(threads) reduction(+: total)
  if (size(rows) /= omp_get_thread_num() + 1) error stop "size"
  if (any(rows /= omp_get_thread_num())) error stop "rows"
  cursor = cursor + 1
  total = total + calls
  !$omp end parallel
  if (sum(places) /= threads .or. any(places > 1)) error stop "pointers"
  if (total /= 7 * threads + threads * (threads - 1) / 2) error stop "sum of all"
  deallocate (rows)
  allocate (rows(17))
  rows = 2.5d0
  !$omp parallel copyin(rows) num_threads(threads)
  if (size(rows) /= 17) error stop "copied size"
  if (any(rows /= 2.5d0)) error stop "copied rows"
  deallocate (rows)
  !$omp end parallel
end program common_blocks
