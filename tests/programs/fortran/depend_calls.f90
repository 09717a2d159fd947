! SPDX-License-Identifier: Apache-2.0
!
! The module `marline`: dependences by calls and by objects, events, hooks, names and counters from Fortran.
!
! Covers: marline dependence calls, marline events, marline progress hooks, marline labels
module depend_calls_hooks
  use, intrinsic :: iso_c_binding
  use marline
  implicit none
  type(marline_event), target, volatile :: polled
  integer(c_int), target :: polls = 0
contains
  integer(c_int) function poll(arg) bind(C)
    type(c_ptr), value :: arg
    integer(c_int), pointer :: count
    poll = 0
    call c_f_pointer(arg, count)
    count = count + 1
    if (count /= 3) return
    call fulfil(polled)
    poll = 1
  end function

  subroutine fulfil(event)
    type(marline_event), target, volatile, intent(inout) :: event
    call marline_event_fulfill(event)
  end subroutine
end module

program depend_calls
  use, intrinsic :: iso_c_binding
  use depend_calls_hooks
  implicit none
  integer, parameter :: n = 40
  character(kind=c_char, len=8), save, target :: label = "column " // c_null_char
  real(c_double), target :: x(n)
  type(marline_dependence) :: list(2)
  type(marline_counters) :: counters
  type(c_ptr) :: objects(2:n), hook
  integer :: i, step

  if (.not. c_associated(marline_version())) error stop "version"
  x = 0
  do i = 2, n
    list = [marline_dependence(c_loc(x(i - 1)), MARLINE_IN), marline_dependence(c_loc(x(i)), MARLINE_INOUT)]
    objects(i) = marline_depend_create(list, 2_c_size_t)
  end do
  !$omp parallel
  !$omp single
  do step = 1, 20
    do i = 2, n
      if (mod(i, 2) == 0) then
        call marline_task_depend_object(objects(i))
      else
        list = [marline_dependence(c_loc(x(i - 1)), MARLINE_IN), marline_dependence(c_loc(x(i)), MARLINE_INOUT)]
        call marline_task_depend(list, 2_c_size_t)
      end if
      call marline_task_label(label)
      call marline_task_color(int(z'2a9d8f', c_int32_t))
      !$omp task firstprivate(i, step) shared(x)
      if (x(i) /= step - 1) error stop "inout"
      if (i > 2 .and. x(i - 1) /= step) error stop "in"
      call marline_task_sends()
      x(i) = step
      !$omp end task
    end do
  end do
  !$omp end single
  !$omp end parallel
  if (any(x(2:) /= 20)) error stop "wavefront"
  call marline_counters_read(counters, c_sizeof(counters))
  if (counters%tasks /= 20 * (n - 1) .or. counters%dependences /= 40 * (n - 1)) error stop "counters"
  do i = 2, n
    call marline_depend_destroy(objects(i))
  end do

  hook = marline_progress_register(label, c_funloc(poll), c_loc(polls))
  if (.not. c_associated(hook)) error stop "register"
  !$omp parallel
  !$omp single
  call marline_event_init(polled)
  if (marline_event_test(polled) /= 0) error stop "fulfilled too early"
  if (marline_can_suspend() /= 1) error stop "can suspend"
  call marline_progress_add(hook, 1_c_int)
  call marline_event_wait(polled)
  call marline_progress_add(hook, -1_c_int)
  if (marline_event_test(polled) /= 1) error stop "not fulfilled"
  !$omp end single
  !$omp end parallel
  call marline_progress_unregister(hook)
  if (polls < 3) error stop "polls"
end program
