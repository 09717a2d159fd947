! SPDX-License-Identifier: Apache-2.0
!
! marline.h for Fortran: compile this file with the program, and link it with libmarline. Names, arguments and meaning
! are those of marline.h; what is written here is only what differs. Thread-safe as there: no state.
!
! A locator is `marline_dependence(c_loc(x(i)), MARLINE_IN)`, with x a target. Procedures that are passed (c_funloc)
! have the interfaces marline_poll_fn, marline_suspend_fn and marline_chunk_depend_fn.
module marline
  use, intrinsic :: iso_c_binding, only: c_char, c_funptr, c_int, c_int32_t, c_int64_t, c_intptr_t, c_null_ptr, &
      c_ptr, c_size_t
  implicit none
  private

  enum, bind(C)
    enumerator :: MARLINE_IN = 1
    enumerator :: MARLINE_OUT = 2
    enumerator :: MARLINE_INOUT = 3
    enumerator :: MARLINE_MUTEXINOUTSET = 4
    enumerator :: MARLINE_INOUTSET = 5
  end enum
  public :: MARLINE_IN, MARLINE_OUT, MARLINE_INOUT, MARLINE_MUTEXINOUTSET, MARLINE_INOUTSET

  enum, bind(C)
    enumerator :: MARLINE_GRAPH_BARRIER = 0
    enumerator :: MARLINE_GRAPH_NOWAIT = 1
    enumerator :: MARLINE_GRAPH_REPLAY = 2
  end enum
  public :: MARLINE_GRAPH_BARRIER, MARLINE_GRAPH_NOWAIT, MARLINE_GRAPH_REPLAY

  ! A variable of this type that other threads use meanwhile is a target and volatile, or lives in the heap.
  type, bind(C), public :: marline_event
    integer(c_intptr_t) :: state = 0
  end type

  type, bind(C), public :: marline_dependence
    type(c_ptr) :: address
    integer(c_int) :: access  ! one of MARLINE_IN, ...
  end type

  ! With MARLINE_WAIT_VALUES values. `operation` is a C string, `names` an array of C strings that ends with c_null_ptr.
  type, bind(C), public :: marline_wait
    type(c_ptr) :: operation
    type(c_ptr) :: names
    integer(c_int64_t) :: values(6)
    type(c_ptr) :: ids = c_null_ptr
    integer(c_int) :: id_count = 0, id_bytes = 0
  end type

  ! A call of a library: the record is in the caller's frame, and belongs to the runtime.
  type, bind(C), public :: marline_library_call
    type(c_ptr) :: state(2)
  end type

  ! The fields of marline_counters_t.
  type, bind(C), public :: marline_counters
    integer(c_int64_t) :: tasks, dependences, edges, pruned, duplicate, transitive, nodes, lookups, probes, rebuilds
  end type

  public :: marline_version, marline_event_init, marline_event_wait, marline_event_fulfill, marline_event_test
  public :: marline_can_suspend
  public :: marline_event_wait_for, marline_block_begin, marline_block_end, marline_describe_register
  public :: marline_describe_fn, marline_describe_relay
  public :: marline_progress_register, marline_progress_unregister, marline_progress_add, marline_poll_fn
  public :: marline_library_enter, marline_library_leave, marline_is_called_back
  public :: marline_suspend_observe, marline_suspend_fn
  public :: marline_task_label, marline_task_color, marline_task_sends
  public :: marline_task_affinity, marline_task_node, marline_task_hold, marline_task_release
  public :: marline_task_depend, marline_depend_create, marline_depend_destroy, marline_task_depend_object
  public :: marline_taskloop_depend, marline_chunk_depend_fn, marline_depend_share
  public :: marline_counters_read, marline_tied_waits
  public :: marline_taskgroup_cancel_later, marline_taskgroup_cancelled, marline_task_cancelled

  public :: marline_graph_begin, marline_graph_iterate, marline_graph_end, marline_graph_invalidate
  public :: marline_graph_drop_task

  abstract interface
    subroutine marline_suspend_fn() bind(C)
    end subroutine
    integer(c_int) function marline_poll_fn(arg) bind(C)
      import :: c_int, c_ptr
      type(c_ptr), value :: arg
    end function
    subroutine marline_describe_fn(arg, write, sink) bind(C)  ! write: of marline.h's marline_describe_write_fn
      import :: c_funptr, c_ptr
      type(c_ptr), value :: arg, sink
      type(c_funptr), value :: write
    end subroutine
    subroutine marline_chunk_depend_fn(first, count, arg) bind(C)
      import :: c_int64_t, c_ptr
      integer(c_int64_t), value :: first, count
      type(c_ptr), value :: arg
    end subroutine
  end interface

  interface
    ! A C string: see c_f_pointer.
    type(c_ptr) function marline_version() bind(C)
      import :: c_ptr
    end function

    ! Holds: the result is a null c_ptr if there is no task to hold.
    type(c_ptr) function marline_task_hold() bind(C)
      import :: c_ptr
    end function
    subroutine marline_task_release(task) bind(C)
      import :: c_ptr
      type(c_ptr), value :: task
    end subroutine

    ! Events
    subroutine marline_event_init(event) bind(C)
      import :: marline_event
      type(marline_event), intent(inout) :: event
    end subroutine
    subroutine marline_event_wait(event) bind(C)
      import :: marline_event
      type(marline_event), intent(inout) :: event
    end subroutine
    subroutine marline_event_wait_for(event, wait) bind(C)
      import :: marline_event, marline_wait
      type(marline_event), intent(inout) :: event
      type(marline_wait), intent(in) :: wait
    end subroutine
    subroutine marline_block_begin(wait) bind(C)
      import :: marline_wait
      type(marline_wait), intent(in), target :: wait  ! a target, as it is kept until marline_block_end
    end subroutine
    subroutine marline_block_end() bind(C)
    end subroutine
    integer(c_int) function marline_describe_register(name, describe, arg) bind(C)
      import :: c_char, c_funptr, c_int, c_ptr
      character(kind=c_char), intent(in) :: name(*)  ! not copied: a saved target that ends with c_null_char
      type(c_funptr), value :: describe  ! a marline_describe_fn
      type(c_ptr), value :: arg
    end function
    integer(c_int) function marline_describe_relay(secret) bind(C)
      import :: c_char, c_int
      character(kind=c_char), intent(in) :: secret(*)  ! ends with c_null_char
    end function
    subroutine marline_event_fulfill(event) bind(C)
      import :: marline_event
      type(marline_event), intent(inout) :: event
    end subroutine
    integer(c_int) function marline_event_test(event) bind(C)
      import :: c_int, marline_event
      type(marline_event), intent(in) :: event
    end function
    integer(c_int) function marline_can_suspend() bind(C)
      import :: c_int
    end function
    subroutine marline_suspend_observe(observer) bind(C)
      import :: c_funptr
      type(c_funptr), value :: observer  ! a subroutine marline_suspend_fn, or c_null_funptr
    end subroutine

    ! Calls of libraries
    subroutine marline_library_enter(call) bind(C)
      import :: marline_library_call
      type(marline_library_call), intent(inout), target :: call  ! a target, as it is kept until marline_library_leave
    end subroutine
    subroutine marline_library_leave(call) bind(C)
      import :: marline_library_call
      type(marline_library_call), intent(inout), target :: call
    end subroutine
    integer(c_int) function marline_is_called_back() bind(C)
      import :: c_int
    end function

    ! Progress hooks
    type(c_ptr) function marline_progress_register(name, poll, arg) bind(C)
      import :: c_char, c_funptr, c_ptr
      character(kind=c_char), intent(in) :: name(*)  ! not copied: a saved target that ends with c_null_char
      type(c_funptr), value :: poll
      type(c_ptr), value :: arg
    end function
    subroutine marline_progress_unregister(hook) bind(C)
      import :: c_ptr
      type(c_ptr), value :: hook
    end subroutine
    subroutine marline_progress_add(hook, n) bind(C)
      import :: c_int, c_ptr
      type(c_ptr), value :: hook
      integer(c_int), value :: n
    end subroutine

    ! Names. The label is not copied: a saved target that ends with c_null_char.
    subroutine marline_task_label(label) bind(C)
      import :: c_char
      character(kind=c_char), intent(in) :: label(*)
    end subroutine
    subroutine marline_task_color(rgb) bind(C)
      import :: c_int32_t
      integer(c_int32_t), value :: rgb
    end subroutine

    ! Priorities
    subroutine marline_task_sends() bind(C)
    end subroutine

    ! Affinity. `address`: c_loc of the data
    subroutine marline_task_affinity(address, length) bind(C)
      import :: c_ptr, c_size_t
      type(c_ptr), value :: address
      integer(c_size_t), value :: length
    end subroutine

    ! Nodes
    subroutine marline_task_node(node) bind(C)
      import :: c_int
      integer(c_int), value :: node
    end subroutine

    ! Dependences
    subroutine marline_task_depend(list, n) bind(C)
      import :: c_size_t, marline_dependence
      type(marline_dependence), intent(in) :: list(*)
      integer(c_size_t), value :: n
    end subroutine
    type(c_ptr) function marline_depend_create(list, n) bind(C)
      import :: c_ptr, c_size_t, marline_dependence
      type(marline_dependence), intent(in) :: list(*)
      integer(c_size_t), value :: n
    end function
    subroutine marline_depend_destroy(object) bind(C)
      import :: c_ptr
      type(c_ptr), value :: object
    end subroutine
    subroutine marline_task_depend_object(object) bind(C)
      import :: c_ptr
      type(c_ptr), value :: object
    end subroutine
    subroutine marline_taskloop_depend(depend, arg) bind(C)
      import :: c_funptr, c_ptr
      type(c_funptr), value :: depend
      type(c_ptr), value :: arg
    end subroutine
    subroutine marline_depend_share() bind(C)
    end subroutine

    ! Counters. `bytes`: c_sizeof(out)
    subroutine marline_counters_read(out, bytes) bind(C)
      import :: c_size_t, marline_counters
      type(marline_counters), intent(out) :: out
      integer(c_size_t), value :: bytes
    end subroutine

    subroutine marline_tied_waits(resumptions, nanoseconds) bind(C)
      import :: c_int64_t
      integer(c_int64_t), intent(out) :: resumptions, nanoseconds
    end subroutine

    ! Cancelling the future. The functions return 0 or 1.
    subroutine marline_taskgroup_cancel_later() bind(C)
    end subroutine
    integer(c_int) function marline_taskgroup_cancelled() bind(C)
      import :: c_int
    end function
    integer(c_int) function marline_task_cancelled() bind(C)
      import :: c_int
    end function

    ! Persistent graphs. In the loop: if (marline_graph_iterate(graph) == 0) cycle
    type(c_ptr) function marline_graph_begin(mode) bind(C)
      import :: c_int, c_ptr
      integer(c_int), value :: mode  ! one of MARLINE_GRAPH_BARRIER, ...
    end function
    integer(c_int) function marline_graph_iterate(graph) bind(C)
      import :: c_int, c_ptr
      type(c_ptr), value :: graph
    end function
    subroutine marline_graph_end(graph) bind(C)
      import :: c_ptr
      type(c_ptr), value :: graph
    end subroutine
    subroutine marline_graph_invalidate(graph) bind(C)
      import :: c_ptr
      type(c_ptr), value :: graph
    end subroutine
    subroutine marline_graph_drop_task(graph) bind(C)
      import :: c_ptr
      type(c_ptr), value :: graph
    end subroutine
  end interface
end module
