! SPDX-License-Identifier: Apache-2.0
!
! The functions of trace.h for Fortran: compile this file with the program. Each call looks up the recorder's entry
! point by name, so nothing is linked, and the functions do nothing in a run without the recorder. Thread-safe: no
! state.
module marline_trace
  use, intrinsic :: iso_c_binding, only: c_associated, c_char, c_f_procpointer, c_funptr, c_int, c_int32_t, &
                                         c_null_char, c_null_ptr, c_ptr
  implicit none
  private
  public :: marline_region_begin, marline_region_end, marline_trace_on, marline_trace_off

  abstract interface
    subroutine begin_entry(name, color) bind(C)
      import :: c_char, c_int32_t
      character(kind=c_char), intent(in) :: name(*)
      integer(c_int32_t), value :: color
    end subroutine
    subroutine end_entry() bind(C)
    end subroutine
    subroutine control_entry(level) bind(C)
      import :: c_int
      integer(c_int), value :: level
    end subroutine
  end interface

  interface
    function dlsym(handle, name) bind(C, name="dlsym") result(found)
      import :: c_char, c_funptr, c_ptr
      type(c_ptr), value :: handle
      character(kind=c_char), intent(in) :: name(*)
      type(c_funptr) :: found
    end function
  end interface

contains

  type(c_funptr) function entry_point(name)
    character(len=*), intent(in) :: name
    entry_point = dlsym(c_null_ptr, name // c_null_char)  ! RTLD_DEFAULT
  end function

  ! The current task enters a part of the program called `name` (without its trailing blanks).
  subroutine marline_region_begin(name)
    character(len=*), intent(in) :: name
    type(c_funptr) :: found
    procedure(begin_entry), pointer :: begin
    found = entry_point("marline_trace_region_begin")
    if (.not. c_associated(found)) return
    call c_f_procpointer(found, begin)
    call begin(trim(name) // c_null_char, 0_c_int32_t)
  end subroutine

  ! The current task leaves the part that it entered last.
  subroutine marline_region_end()
    type(c_funptr) :: found
    procedure(end_entry), pointer :: end_region
    found = entry_point("marline_trace_region_end")
    if (.not. c_associated(found)) return
    call c_f_procpointer(found, end_region)
    call end_region()
  end subroutine

  ! Switch recording on, or off, for the whole process from here on.
  subroutine marline_trace_on()
    call switch_to(1_c_int)
  end subroutine

  subroutine marline_trace_off()
    call switch_to(0_c_int)
  end subroutine

  subroutine switch_to(level)
    integer(c_int), intent(in) :: level
    type(c_funptr) :: found
    procedure(control_entry), pointer :: control
    found = entry_point("marline_trace_control")
    if (.not. c_associated(found)) return
    call c_f_procpointer(found, control)
    call control(level)
  end subroutine
end module
