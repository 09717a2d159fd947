! SPDX-License-Identifier: Apache-2.0
!
! Point-to-point synchronisation as in NAS LU: each thread spins on its neighbour's flag, with `flush` and no call of
! the runtime, so the threads must advance also where there are more of them than cores. One sweep goes up the rows, one
! down.
!
! Covers: flush, parallel(num_threads, private), for(schedule:static, nowait), atomic(read, write), threadprivate,
!  barrier
module pipe
  implicit none
  integer, parameter :: nx = 20, ny = 40, nz = 3, most = 64
  integer :: flag(0:15, 0:most) = 0   ! a cache line for each thread
  integer :: me = 0, last = 0
  !$omp threadprivate(me, last)
contains
  subroutine await(whose, wanted)
    integer, intent(in) :: whose, wanted
    integer :: seen
    seen = 1 - wanted
    do while (seen /= wanted)
      !$omp flush
      !$omp atomic read
      seen = flag(0, whose)
    end do
  end subroutine await

  subroutine set_flag(whose, to)
    integer, intent(in) :: whose, to
    !$omp flush
    !$omp atomic write
    flag(0, whose) = to
    !$omp flush
  end subroutine set_flag

  ! The rows before this thread's are complete.
  subroutine begin_plane()
    if (me == 0) return
    call await(me - 1, 1)
    call set_flag(me - 1, 0)
  end subroutine begin_plane

  ! This thread's rows are complete, and the next thread has seen that the ones of the plane before were.
  subroutine end_plane()
    if (me == last) return
    call await(me, 0)
    call set_flag(me, 1)
  end subroutine end_plane

  subroutine up(v, k)
    real(8), intent(inout) :: v(0:nx + 1, 0:ny + 1, 0:nz + 1)
    integer, intent(in) :: k
    integer :: i, j
    !$omp do schedule(static)
    do j = 1, ny
      do i = 1, nx
        v(i, j, k) = mod(v(i, j, k) + v(i - 1, j, k) + v(i, j - 1, k) + v(i, j, k - 1), 1009d0)
      end do
    end do
    !$omp end do nowait
  end subroutine up

  subroutine down(v, k)
    real(8), intent(inout) :: v(0:nx + 1, 0:ny + 1, 0:nz + 1)
    integer, intent(in) :: k
    integer :: i, j
    !$omp do schedule(static)
    do j = ny, 1, -1
      do i = nx, 1, -1
        v(i, j, k) = mod(v(i, j, k) + v(i + 1, j, k) + v(i, j + 1, k) + v(i, j, k + 1), 1009d0)
      end do
    end do
    !$omp end do nowait
  end subroutine down
end module pipe

program pipeline
  use omp_lib
  use pipe
  implicit none
  real(8) :: v(0:nx + 1, 0:ny + 1, 0:nz + 1), reference(0:nx + 1, 0:ny + 1, 0:nz + 1)
  integer :: k, step

  v = 1
  reference = 1
  do step = 1, 2  ! alone, outside of regions
    do k = 1, nz
      call up(reference, k)
    end do
    do k = nz, 1, -1
      call down(reference, k)
    end do
  end do

  call omp_set_dynamic(.false.)
  !$omp parallel private(k, step) num_threads(omp_get_max_threads())
  me = omp_get_thread_num()
  last = omp_get_num_threads() - 1
  do step = 1, 2
    do k = 1, nz
      call begin_plane()
      call up(v, k)
      call end_plane()
    end do
    !$omp barrier
    do k = nz, 1, -1
      call begin_plane()
      call down(v, k)
      call end_plane()
    end do
    !$omp barrier
  end do
  !$omp end parallel
  if (any(v /= reference)) error stop "pipeline"
end program pipeline
