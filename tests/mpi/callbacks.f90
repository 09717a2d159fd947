! SPDX-License-Identifier: Apache-2.0
!
! Fortran code that MPI calls back and that waits for OpenMP tasks: an operation, an error handler, functions of
! attributes and of generalized requests. Each task has a communicator of its own.
module callbacks
  use mpi
  implicit none
  integer :: handled = 0, copied = 0, deleted = 0, queried = 0, released = 0
contains

  subroutine fail(what)
    character(*), intent(in) :: what
    integer :: error
    write (0, '(2a)') 'FAILED: ', what
    call MPI_Abort(MPI_COMM_WORLD, 1, error)
  end subroutine

  ! Waits for tasks; `count` grows by one.
  subroutine count_in_tasks(count)
    integer, intent(inout) :: count
    integer :: i, sum
    sum = 0
    !$omp taskgroup
    do i = 1, 4
      !$omp task shared(sum) firstprivate(i) depend(inout: sum)
      sum = sum + i
      !$omp end task
    end do
    !$omp end taskgroup
    if (sum /= 10) call fail('tasks in a callback')
    !$omp atomic
    count = count + 1
  end subroutine

  subroutine add(in, inout, length, datatype)
    integer :: length, datatype
    double precision :: in(length), inout(length)
    integer :: i
    !$omp taskloop grainsize(16) shared(in, inout)
    do i = 1, length
      inout(i) = inout(i) + in(i)
    end do
  end subroutine

  subroutine handle(comm, code)
    integer :: comm, code
    call count_in_tasks(handled)
  end subroutine

  subroutine copy_attribute(comm, key, extra, value_in, value_out, flag, error)
    integer :: comm, key, error
    integer(MPI_ADDRESS_KIND) :: extra, value_in, value_out
    logical :: flag
    call count_in_tasks(copied)
    value_out = value_in
    flag = .true.
    error = MPI_SUCCESS
  end subroutine

  subroutine delete_attribute(comm, key, value, extra, error)
    integer :: comm, key, error
    integer(MPI_ADDRESS_KIND) :: value, extra
    call count_in_tasks(deleted)
    error = MPI_SUCCESS
  end subroutine

  subroutine query(extra, status, error)
    integer(MPI_ADDRESS_KIND) :: extra
    integer :: status(MPI_STATUS_SIZE), error
    call count_in_tasks(queried)
    call MPI_Status_set_elements(status, MPI_INTEGER, 3, error)
    call MPI_Status_set_cancelled(status, .false., error)
    error = MPI_SUCCESS
  end subroutine

  subroutine release(extra, error)
    integer(MPI_ADDRESS_KIND) :: extra
    integer :: error
    call count_in_tasks(released)
    error = MPI_SUCCESS
  end subroutine

  subroutine cancel(extra, complete, error)
    integer(MPI_ADDRESS_KIND) :: extra
    logical :: complete
    integer :: error
    error = MPI_SUCCESS
  end subroutine
end module

program main
  use callbacks
  implicit none
  integer, parameter :: tasks = 6, length = 300, rounds = 5
  integer :: comms(tasks), provided, error, rank, ranks, operation, handler, key, i, round
  double precision :: in(length), out(length, tasks)

  call MPI_Init_thread(MPI_THREAD_MULTIPLE, provided, error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, error)
  call MPI_Op_create(add, .true., operation, error)
  call MPI_Comm_create_errhandler(handle, handler, error)
  call MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler, error)
  call MPI_Comm_create_keyval(copy_attribute, delete_attribute, key, 0_MPI_ADDRESS_KIND, error)
  do i = 1, tasks
    call MPI_Comm_dup(MPI_COMM_WORLD, comms(i), error)
  end do
  in = rank + 1
  do round = 1, rounds
    !$omp parallel
    !$omp single
    do i = 1, tasks
      !$omp task untied firstprivate(i) default(shared)
      call work(i)
      !$omp end task
    end do
    !$omp end single
    !$omp end parallel
  end do
  if (handled < rounds * tasks) call fail('error handlers are called')
  if (copied /= rounds * tasks .or. deleted /= 2 * rounds * tasks) call fail('functions of attributes are called')
  if (queried /= rounds * tasks .or. released /= rounds * tasks) call fail('functions of requests are called')
  call MPI_Finalize(error)
  write (*, '(a, i0, a)') 'rank ', rank, ': done'

contains

  subroutine work(i)
    integer, intent(in) :: i
    integer :: made, request, code, buffer(1)
    call MPI_Allreduce(in, out(:, i), length, MPI_DOUBLE_PRECISION, operation, comms(i), code)
    if (any(out(:, i) /= ranks * (ranks + 1) / 2)) call fail('a reduction')
    call MPI_Send(buffer, 1, MPI_INTEGER, ranks + 3, 0, comms(i), code)
    if (code == MPI_SUCCESS) call fail('there is no such rank')
    call MPI_Comm_set_attr(comms(i), key, 7_MPI_ADDRESS_KIND, code)
    call MPI_Comm_dup(comms(i), made, code)
    call MPI_Comm_free(made, code)
    call MPI_Comm_delete_attr(comms(i), key, code)
    call MPI_Grequest_start(query, release, cancel, 0_MPI_ADDRESS_KIND, request, code)
    call MPI_Grequest_complete(request, code)
    call MPI_Wait(request, MPI_STATUS_IGNORE, code)
  end subroutine
end program
