! SPDX-License-Identifier: Apache-2.0
!
! The kmp_* routines and omp_get_interop_* by their Fortran names: arguments by reference, text with its length.
!
! Covers: LLVM kmp_ routines, omp_get_num_interop_properties, omp_get_interop_int, omp_get_interop_name
program llvm_routines
  use, intrinsic :: iso_c_binding
  implicit none
  interface
    function kmp_malloc(bytes) result(memory)
      import
      integer(c_size_t) :: bytes
      integer(c_intptr_t) :: memory
    end function
    function kmp_calloc(count, bytes) result(memory)
      import
      integer(c_size_t) :: count, bytes
      integer(c_intptr_t) :: memory
    end function
    function kmp_realloc(old, bytes) result(memory)
      import
      integer(c_intptr_t) :: old, memory
      integer(c_size_t) :: bytes
    end function
    function kmp_aligned_malloc(bytes, alignment) result(memory)
      import
      integer(c_size_t) :: bytes, alignment
      integer(c_intptr_t) :: memory
    end function
    function kmp_get_stacksize_s() result(bytes)
      import
      integer(c_size_t) :: bytes
    end function
    function omp_get_interop_int(interop, property, code) result(value)
      import
      integer(c_intptr_t) :: interop, value
      integer(c_int) :: property, code
    end function
    function omp_get_interop_name(interop, property) result(name)
      import
      integer(c_intptr_t) :: interop
      integer(c_int) :: property
      type(c_ptr) :: name
    end function
  end interface
  integer, external :: kmp_get_stacksize, kmp_get_blocktime, kmp_get_library, kmp_get_num_known_threads
  integer, external :: kmp_get_affinity, kmp_set_affinity, kmp_get_affinity_max_proc, kmp_get_affinity_mask_proc
  integer, external :: kmp_set_affinity_mask_proc, kmp_unset_affinity_mask_proc
  integer, external :: omp_get_max_threads, omp_get_num_interop_properties

  call settings()
  call memory()
  call masks()
  call interop()

contains

  subroutine require(condition, what)
    logical, intent(in) :: condition
    character(*), intent(in) :: what
    if (.not. condition) then
      print *, "failed: ", what
      error stop 1
    end if
  end subroutine

  subroutine settings()
    integer :: threads
    ! The null character is for libomp, which overlooks the length.
    call kmp_set_defaults("OMP_NUM_THREADS=3|OMP_STACKSIZE=6M"//c_null_char)
    call require(omp_get_max_threads() == 3, "kmp_set_defaults")
    call require(kmp_get_stacksize_s() == 6 * 1024 * 1024, "OMP_STACKSIZE by kmp_set_defaults")
    call kmp_set_stacksize_s(5_c_size_t * 1024 * 1024)
    call require(kmp_get_stacksize() == 5 * 1024 * 1024, "kmp_set_stacksize_s")
    call kmp_set_stacksize(2 * 1024 * 1024)
    call require(kmp_get_stacksize() == 2 * 1024 * 1024, "kmp_set_stacksize")
    call kmp_set_blocktime(13)
    call require(kmp_get_blocktime() == 13, "kmp_set_blocktime")
    call kmp_set_library_serial()
    call require(kmp_get_library() == 1 .and. omp_get_max_threads() == 1, "kmp_set_library_serial")
    call kmp_set_library(2)
    call require(kmp_get_library() == 2, "kmp_set_library")
    call kmp_set_library_throughput()
    call require(kmp_get_library() == 3 .and. omp_get_max_threads() == 3, "kmp_set_library_throughput")
    call kmp_set_disp_num_buffers(9)
    call kmp_set_warnings_off()
    call kmp_set_warnings_on()
    threads = 0
    !$omp parallel reduction(+: threads)
    threads = threads + 1
    !$omp end parallel
    call require(threads == 3, "the team has the threads that kmp_set_defaults said")
    call require(kmp_get_num_known_threads() >= 3, "kmp_get_num_known_threads")
  end subroutine

  subroutine memory()
    integer(c_intptr_t) :: block
    integer(c_int), pointer :: numbers(:)
    type(c_ptr) :: place
    block = kmp_malloc(400_c_size_t)
    block = kmp_realloc(block, 4000_c_size_t)
    call require(block /= 0, "kmp_realloc")
    call kmp_free(block)
    block = kmp_calloc(100_c_size_t, 4_c_size_t)
    place = transfer(block, place)
    call c_f_pointer(place, numbers, [100])
    call require(all(numbers == 0), "kmp_calloc")
    call kmp_free(block)
    block = kmp_aligned_malloc(100_c_size_t, 1024_c_size_t)
    call require(block /= 0 .and. mod(block, 1024_c_intptr_t) == 0, "kmp_aligned_malloc")
    call kmp_free(block)
  end subroutine

  subroutine masks()
    integer(c_intptr_t) :: mask
    integer :: cpu, found
    call kmp_create_affinity_mask(mask)
    call require(kmp_get_affinity(mask) == 0, "kmp_get_affinity")
    found = 0
    do cpu = 0, kmp_get_affinity_max_proc() - 1
      if (kmp_get_affinity_mask_proc(cpu, mask) == 1) found = found + 1
    end do
    call require(found >= 1, "kmp_get_affinity_mask_proc")
    call require(kmp_set_affinity(mask) == 0, "kmp_set_affinity")
    call require(kmp_unset_affinity_mask_proc(0, mask) == 0, "kmp_unset_affinity_mask_proc")
    call require(kmp_get_affinity_mask_proc(0, mask) == 0, "the CPU is gone")
    call require(kmp_set_affinity_mask_proc(0, mask) == 0, "kmp_set_affinity_mask_proc")
    call require(kmp_get_affinity_mask_proc(0, mask) == 1, "the CPU is there")
    call kmp_destroy_affinity_mask(mask)
    call require(mask == 0, "kmp_destroy_affinity_mask")
  end subroutine

  subroutine interop()
    integer(c_intptr_t) :: none
    integer(c_int) :: code
    character(c_char), pointer :: name(:)
    none = 0
    code = 99
    call require(omp_get_num_interop_properties(none) == 0, "omp_get_num_interop_properties")
    call require(omp_get_interop_int(none, -5, code) == 0, "omp_get_interop_int")
    call require(code == -1, "omp_irc_empty")
    call c_f_pointer(omp_get_interop_name(none, -3), name, [7])
    call require(all(name(1:6) == ["v", "e", "n", "d", "o", "r"]) .and. name(7) == c_null_char, "omp_get_interop_name")
  end subroutine
end program
