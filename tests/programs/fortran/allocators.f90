! SPDX-License-Identifier: Apache-2.0
!
! Allocators through gfortran's omp_lib: made with traits, as the default of a task, of the allocate clause, and for C's
! pointers.
!
! Covers: omp_init_allocator, omp_destroy_allocator, omp_set_default_allocator, omp_get_default_allocator, omp_alloc,
!  omp_aligned_calloc, omp_realloc, omp_free, parallel(allocate)
program allocators
  use, intrinsic :: iso_c_binding
  use omp_lib
  implicit none
  call routines
  call defaults
  call clause
contains
  subroutine require(holds, what)
    logical, intent(in) :: holds
    character(*), intent(in) :: what
    if (.not. holds) then
      print *, 'check failed: ', what
      stop 1
    end if
  end subroutine

  integer(omp_allocator_handle_kind) function pool(bytes, alignment)
    integer, intent(in) :: bytes, alignment
    type(omp_alloctrait) :: traits(3)
    traits = [omp_alloctrait(omp_atk_pool_size, bytes), omp_alloctrait(omp_atk_fallback, omp_atv_null_fb), &
              omp_alloctrait(omp_atk_alignment, alignment)]
    pool = omp_init_allocator(omp_default_mem_space, 3, traits)
    call require(pool /= omp_null_allocator, 'an allocator')
  end function

  subroutine routines
    integer(omp_allocator_handle_kind) :: handle
    type(c_ptr) :: block, none
    integer, pointer :: values(:)
    handle = pool(8192, 256)
    block = omp_alloc(4000_c_size_t, handle)
    call require(c_associated(block), 'a block')
    call require(modulo(transfer(block, 0_c_intptr_t), 256_c_intptr_t) == 0, 'aligned by the trait')
    call c_f_pointer(block, values, [1000])
    values = 3
    none = omp_alloc(6000_c_size_t, handle)
    call require(.not. c_associated(none), 'a pool with an end')
    block = omp_realloc(block, 40000_c_size_t, omp_default_mem_alloc, handle)
    call c_f_pointer(block, values, [1000])
    call require(all(values == 3), 'kept by realloc')
    call omp_free(block, omp_default_mem_alloc)
    block = omp_aligned_calloc(512_c_size_t, 100_c_size_t, 4_c_size_t, handle)
    call require(modulo(transfer(block, 0_c_intptr_t), 512_c_intptr_t) == 0, 'aligned by the argument')
    call c_f_pointer(block, values, [100])
    call require(all(values == 0), 'zero')
    call omp_free(block, omp_null_allocator)
    call omp_destroy_allocator(handle)
  end subroutine

  subroutine defaults
    call require(omp_get_default_allocator() == omp_default_mem_alloc, 'the default')
    !$omp parallel num_threads(2)
    if (omp_get_thread_num() == 0) call omp_set_default_allocator(omp_large_cap_mem_alloc)
    !$omp barrier
    if (omp_get_thread_num() == 0) then
      call require(omp_get_default_allocator() == omp_large_cap_mem_alloc, 'what this task has set')
    else
      call require(omp_get_default_allocator() == omp_default_mem_alloc, 'what another task has set')
    end if
    !$omp end parallel
    call require(omp_get_default_allocator() == omp_default_mem_alloc, 'the default again')
  end subroutine

  subroutine clause
    integer(omp_allocator_handle_kind) :: handle
    integer :: values(10), total
    handle = pool(1048576, 128)
    values = 5
    total = 0
    !$omp parallel num_threads(2) firstprivate(values) allocate(handle: values) reduction(+: total)
    call require(modulo(transfer(c_loc_of(values), 0_c_intptr_t), 128_c_intptr_t) == 0, 'aligned by the clause')
    values(1) = omp_get_thread_num()
    total = sum(values(2:))
    !$omp end parallel
    call require(total == 90 .or. total == 45, 'firstprivate')
    call omp_destroy_allocator(handle)
  end subroutine

  type(c_ptr) function c_loc_of(values)
    integer, target, intent(in) :: values(10)
    c_loc_of = c_loc(values)
  end function
end program
