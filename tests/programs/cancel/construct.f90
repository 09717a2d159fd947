! SPDX-License-Identifier: Apache-2.0
!
! Fortran: cancel and cancellation point for parallel, do, sections and taskgroup.
!
! Covers: cancel(parallel, for, sections, taskgroup, if), cancellation point(for), omp_get_cancellation
program construct
  use omp_lib
  implicit none
  logical :: on
  integer :: round, threads

  on = omp_get_cancellation()
  threads = omp_get_max_threads()
  do round = 0, 199
    call cancel_parallel(mod(round, threads))
    call cancel_do(1 + mod(round, 100))
    call cancel_sections
    call cancel_taskgroup
  end do

contains

  subroutine cancel_parallel(chosen)
    integer, intent(in) :: chosen
    integer :: before, after
    before = 0
    after = 0
    !$omp parallel num_threads(threads) shared(before, after)
    !$omp atomic
    before = before + 1
    if (omp_get_thread_num() == chosen) then
      !$omp cancel parallel
    end if
    !$omp barrier
    !$omp atomic
    after = after + 1
    !$omp end parallel
    if (before /= threads) error stop "parallel: begin"
    if (after /= merge(0, threads, on)) error stop "parallel: end"
  end subroutine

  subroutine cancel_do(at)
    integer, intent(in) :: at
    integer :: i, after, done(100), again(100)
    done = 0
    again = 0
    after = 0
    !$omp parallel num_threads(threads) shared(done, again, after)
    !$omp do schedule(dynamic)
    do i = 1, 100
      !$omp cancel do if(i == at)
      !$omp cancellation point do
      done(i) = 1
    end do
    !$omp end do
    !$omp do schedule(dynamic)
    do i = 1, 100
      again(i) = 1
    end do
    !$omp end do
    !$omp atomic
    after = after + 1
    !$omp end parallel
    if (done(at) /= merge(0, 1, on)) error stop "do: the cancelled iteration"
    if (.not. on .and. any(done /= 1)) error stop "do: all iterations"
    if (any(again /= 1)) error stop "do: the next loop"
    if (after /= threads) error stop "do: end"
  end subroutine

  subroutine cancel_sections()
    integer :: done, after
    done = 0
    after = 0
    !$omp parallel num_threads(threads) shared(done, after)
    !$omp sections
    !$omp section
    !$omp cancel sections
    !$omp atomic
    done = done + 1
    !$omp section
    !$omp cancel sections
    !$omp atomic
    done = done + 1
    !$omp end sections
    !$omp atomic
    after = after + 1
    !$omp end parallel
    if (done /= merge(0, 2, on)) error stop "sections: done"
    if (after /= threads) error stop "sections: end"
  end subroutine

  subroutine cancel_taskgroup()
    integer :: i, chain, ran
    chain = 0
    ran = 0
    !$omp parallel num_threads(threads) shared(chain, ran)
    !$omp single
    !$omp taskgroup
    !$omp task depend(inout: chain) shared(chain)
    !$omp cancel taskgroup
    chain = 1
    !$omp end task
    do i = 1, 20
      !$omp task depend(inout: chain) shared(ran)
      ran = ran + 1
      !$omp end task
    end do
    !$omp end taskgroup
    !$omp end single
    !$omp end parallel
    if (chain /= merge(0, 1, on)) error stop "taskgroup: the task that cancels"
    if (ran /= merge(0, 20, on)) error stop "taskgroup: the tasks behind it"
  end subroutine

end program
