! SPDX-License-Identifier: Apache-2.0
!
! Example: spmv.c in Fortran, with the module marline: lists that the program makes, and objects made once.
!
! Covers: marline dependence calls
program spmv
  use, intrinsic :: iso_c_binding
  use marline
  implicit none
  integer, parameter :: tiles = 24, rows = 8, steps = 10
  integer :: tile_of(5, tiles)                 ! which tiles of x a tile of rows needs
  real(c_double) :: factor(5, tiles)
  real(c_double), target :: x(rows, tiles, 0:1), expected(rows, tiles, 0:1)
  type(c_ptr) :: objects(tiles, 0:1)
  type(marline_dependence) :: list(6)
  integer :: t, step, parity

  do t = 1, tiles
    tile_of(:, t) = [t, mod(t * 5, tiles) + 1, mod(t * 7, tiles) + 1, mod(t + 3, tiles) + 1, t]
    factor(:, t) = [1d0, 2d0, 0.5d0, 1.5d0, 0.25d0] / 8
  end do
  x = 0
  do t = 1, tiles
    x(:, t, 0) = t
  end do
  expected = x

  do parity = 0, 1
    do t = 1, tiles
      call make_list(t, parity)
      objects(t, parity) = marline_depend_create(list, 6_c_size_t)
    end do
  end do

  !$omp parallel
  !$omp single
  do step = 0, steps - 1
    do t = 1, tiles
      if (step < 2) then
        call make_list(t, mod(step, 2))
        call marline_task_depend(list, 6_c_size_t)
      else
        call marline_task_depend_object(objects(t, mod(step, 2)))
      end if
      !$omp task firstprivate(t, step) shared(x)
      call multiply_tile(t, x(:, :, mod(step, 2)), x(:, t, 1 - mod(step, 2)))
      !$omp end task
    end do
  end do
  !$omp end single
  !$omp end parallel

  do step = 0, steps - 1
    do t = 1, tiles
      call multiply_tile(t, expected(:, :, mod(step, 2)), expected(:, t, 1 - mod(step, 2)))
    end do
  end do
  if (any(x /= expected)) error stop "not the serial result"
  do parity = 0, 1
    do t = 1, tiles
      call marline_depend_destroy(objects(t, parity))
    end do
  end do

contains

  subroutine make_list(t, parity)
    integer, intent(in) :: t, parity
    integer :: k
    do k = 1, 5
      list(k) = marline_dependence(c_loc(x(1, tile_of(k, t), parity)), MARLINE_IN)
    end do
    list(6) = marline_dependence(c_loc(x(1, t, 1 - parity)), MARLINE_OUT)
  end subroutine

  subroutine multiply_tile(t, from, to)
    integer, intent(in) :: t
    real(c_double), intent(in) :: from(rows, tiles)
    real(c_double), intent(out) :: to(rows)
    integer :: k
    to = 0
    do k = 1, 5
      to = to + factor(k, t) * from(:, tile_of(k, t))
    end do
  end subroutine
end program
