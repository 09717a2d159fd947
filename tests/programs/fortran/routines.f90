! SPDX-License-Identifier: Apache-2.0
!
! OpenMP's routines, called from Fortran: arguments by reference, of 4 and of 8 bytes, logicals, character strings with
! a hidden length, and the routines that omp_lib binds to C.
!
! Covers: omp_set_dynamic, omp_get_dynamic, omp_set_nested, omp_get_nested, omp_get_thread_limit, omp_get_num_procs,
!  omp_get_supported_active_levels, omp_set_max_active_levels, omp_set_schedule, omp_get_schedule, omp_get_proc_bind,
!  omp_get_num_places, omp_get_place_num_procs, omp_get_place_proc_ids, omp_get_place_num, omp_get_partition_num_places,
!  omp_get_partition_place_nums, omp_set_affinity_format, omp_get_affinity_format, omp_capture_affinity,
!  omp_get_num_teams, omp_get_team_num, omp_set_num_teams, omp_get_max_teams, omp_set_teams_thread_limit,
!  omp_get_teams_thread_limit, omp_get_max_task_priority, omp_init_lock, omp_set_lock,
!  omp_unset_lock, omp_test_lock, omp_destroy_lock, omp_init_nest_lock, omp_set_nest_lock,
!  omp_unset_nest_lock, omp_test_nest_lock, omp_destroy_nest_lock, omp_get_wtime, omp_get_wtick, omp_init_allocator,
!  omp_destroy_allocator, omp_set_default_allocator, omp_get_default_allocator, omp_alloc, omp_free, omp_calloc,
!  omp_realloc, omp_aligned_alloc, omp_set_default_device, omp_get_default_device, omp_get_num_devices,
!  omp_get_device_num, omp_is_initial_device, omp_get_initial_device, omp_pause_resource, omp_pause_resource_all
program routines
  use, intrinsic :: iso_c_binding
  use omp_lib
  implicit none

  call counts()
  call schedules()
  call places()
  call formats()
  call locks()
  call memory()
  call devices()

contains

  subroutine counts()
    real(8) :: begin
    integer(8) :: wide
    call omp_set_dynamic(.true._4)
    if (.not. omp_get_dynamic()) error stop "dynamic"
    call omp_set_dynamic(.false._8)
    if (omp_get_dynamic()) error stop "not dynamic"
    call omp_set_nested(.true._8)
    if (.not. omp_get_nested()) error stop "nested"
    call omp_set_nested(.false.)
    if (omp_get_nested()) error stop "not nested"
    if (omp_get_supported_active_levels() < 2) error stop "supported levels"
    wide = 2
    call omp_set_max_active_levels(wide)
    if (omp_get_max_active_levels() /= 2) error stop "levels, wide"
    call omp_set_max_active_levels(1)
    if (omp_get_max_active_levels() /= 1) error stop "levels"
    wide = 3
    call omp_set_num_threads(wide)
    if (omp_get_max_threads() /= 3) error stop "threads, wide"
    call omp_set_num_threads(2)
    if (omp_get_max_threads() /= 2) error stop "threads"
    if (omp_get_thread_limit() < 2) error stop "thread limit"
    if (omp_get_num_procs() < 1) error stop "processors"
    if (omp_get_max_task_priority() < 0) error stop "priority"
    if (omp_get_num_teams() /= 1 .or. omp_get_team_num() /= 0) error stop "league"
    call omp_set_num_teams(5)
    if (omp_get_max_teams() /= 5) error stop "teams"
    wide = 6
    call omp_set_num_teams(wide)
    if (omp_get_max_teams() /= 6) error stop "teams, wide"
    call omp_set_teams_thread_limit(7)
    if (omp_get_teams_thread_limit() /= 7) error stop "limit of teams"
    wide = 8
    call omp_set_teams_thread_limit(wide)
    if (omp_get_teams_thread_limit() /= 8) error stop "limit of teams, wide"
    begin = omp_get_wtime()
    if (omp_get_wtick() <= 0 .or. omp_get_wtick() > 1) error stop "tick"
    if (omp_get_wtime() < begin) error stop "time"
    if (omp_in_parallel() .or. omp_in_final() .or. omp_get_level() /= 0) error stop "outside"
  end subroutine counts

  subroutine schedules()
    integer(omp_sched_kind) :: kind
    integer :: chunk
    integer(8) :: wide
    call omp_set_schedule(omp_sched_dynamic, 7)
    call omp_get_schedule(kind, chunk)
    if (kind /= omp_sched_dynamic .or. chunk /= 7) error stop "schedule"
    wide = 9
    call omp_set_schedule(omp_sched_guided, wide)
    wide = -1
    call omp_get_schedule(kind, wide)
    if (kind /= omp_sched_guided .or. wide /= 9) error stop "schedule, wide"
  end subroutine schedules

  subroutine places()
    integer :: n, i, procs
    integer, allocatable :: ids(:)
    integer(8), allocatable :: wide_ids(:)
    integer(8) :: wide
    if (omp_get_proc_bind() < omp_proc_bind_false .or. omp_get_proc_bind() > omp_proc_bind_spread) error stop "binding"
    n = omp_get_num_places()
    do i = 0, n - 1
      wide = i
      procs = omp_get_place_num_procs(i)
      if (procs < 1 .or. procs /= omp_get_place_num_procs(wide)) error stop "processors of a place"
      allocate (ids(procs + 1), wide_ids(procs + 1))
      ids = -5
      wide_ids = -5
      call omp_get_place_proc_ids(i, ids)
      call omp_get_place_proc_ids(wide, wide_ids)
      if (any(ids /= wide_ids) .or. any(ids(:procs) < 0) .or. ids(procs + 1) /= -5) error stop "processor numbers"
      deallocate (ids, wide_ids)
    end do
    if (omp_get_place_num() < -1 .or. omp_get_place_num() >= max(n, 1)) error stop "place"
    procs = omp_get_partition_num_places()
    allocate (ids(procs + 1), wide_ids(procs + 1))
    ids = -5
    wide_ids = -5
    call omp_get_partition_place_nums(ids)
    call omp_get_partition_place_nums(wide_ids)
    if (any(ids /= wide_ids) .or. ids(procs + 1) /= -5) error stop "partition"
  end subroutine places

  subroutine formats()
    character(len=12) :: short
    character(len=80) :: long
    integer :: length
    call omp_set_affinity_format("thread %n of %N at %L")
    length = omp_get_affinity_format(long)
    if (length /= 21 .or. long /= "thread %n of %N at %L") error stop "format"
    length = omp_get_affinity_format(short)
    if (length /= 21 .or. short /= "thread %n of") error stop "format, cut"
    length = omp_capture_affinity(long, "level %L, thread %n of %N")
    if (length /= 22 .or. long /= "level 0, thread 0 of 1") error stop "capture"
    length = omp_capture_affinity(long, "")
    if (long /= "thread 0 of 1 at 0") error stop "capture by the set format"
  end subroutine formats

  subroutine locks()
    integer(omp_lock_kind) :: lock, hinted, beside
    integer(omp_nest_lock_kind) :: nest, nest_hinted
    integer :: total, i
    beside = 77
    call omp_init_lock(lock)
    call omp_init_lock(hinted)
    call omp_init_nest_lock(nest)
    call omp_init_nest_lock(nest_hinted)
    total = 0
    !$omp parallel num_threads(3) private(i)
    do i = 1, 100
      call omp_set_lock(lock)
      total = total + 1
      call omp_unset_lock(lock)
      do while (.not. omp_test_lock(hinted))
      end do
      call omp_set_lock(lock)
      total = total + 1
      call omp_unset_lock(lock)
      call omp_unset_lock(hinted)
      call omp_set_nest_lock(nest)
      if (omp_test_nest_lock(nest) /= 2) error stop "nested"
      call add(nest, total, lock)
      call omp_unset_nest_lock(nest)
      call omp_unset_nest_lock(nest)
    end do
    !$omp end parallel
    if (total /= 900) error stop "locks"
    call omp_set_lock(lock)
    if (omp_test_lock(lock)) error stop "a lock that is held"
    call omp_unset_lock(lock)
    if (omp_test_nest_lock(nest_hinted) /= 1) error stop "free nest lock"
    call omp_set_nest_lock(nest_hinted)
    if (omp_test_nest_lock(nest_hinted) /= 3) error stop "depth"
    do i = 1, 3
      call omp_unset_nest_lock(nest_hinted)
    end do
    call omp_destroy_lock(lock)
    call omp_destroy_lock(hinted)
    call omp_destroy_nest_lock(nest)
    call omp_destroy_nest_lock(nest_hinted)
    if (beside /= 77) error stop "beside a lock"
  end subroutine locks

  subroutine add(nest, total, lock)
    integer(omp_nest_lock_kind), intent(inout) :: nest
    integer(omp_lock_kind), intent(inout) :: lock
    integer, intent(inout) :: total
    call omp_set_nest_lock(nest)
    call omp_set_lock(lock)
    total = total + 1
    call omp_unset_lock(lock)
    call omp_unset_nest_lock(nest)
  end subroutine add

  subroutine memory()
    type(omp_alloctrait) :: traits(2)
    integer(omp_allocator_handle_kind) :: allocator
    integer(8) :: wide
    type(c_ptr) :: block
    real(8), pointer :: values(:)
    traits(1) = omp_alloctrait(omp_atk_alignment, 128)
    traits(2) = omp_alloctrait(omp_atk_fallback, omp_atv_null_fb)
    allocator = omp_init_allocator(omp_default_mem_space, 2, traits)
    if (allocator == omp_null_allocator) error stop "allocator"
    block = omp_alloc(800_c_size_t, allocator)
    if (.not. c_associated(block)) error stop "omp_alloc"
    if (mod(transfer(block, 0_c_intptr_t), 128_c_intptr_t) /= 0) error stop "alignment"
    call c_f_pointer(block, values, [100])
    values = 1.5d0
    block = omp_realloc(block, 1600_c_size_t, allocator, allocator)
    call c_f_pointer(block, values, [200])
    if (any(values(:100) /= 1.5d0)) error stop "omp_realloc"
    call omp_free(block, allocator)
    call omp_destroy_allocator(allocator)
    wide = 1
    allocator = omp_init_allocator(omp_default_mem_space, wide, traits)
    call omp_set_default_allocator(allocator)
    if (omp_get_default_allocator() /= allocator) error stop "default allocator"
    block = omp_calloc(10_c_size_t, 8_c_size_t, omp_null_allocator)
    call c_f_pointer(block, values, [10])
    if (any(values /= 0)) error stop "omp_calloc"
    call omp_free(block, omp_null_allocator)
    call omp_set_default_allocator(omp_default_mem_alloc)
    call omp_destroy_allocator(allocator)
    block = omp_aligned_alloc(256_c_size_t, 512_c_size_t, omp_default_mem_alloc)
    if (mod(transfer(block, 0_c_intptr_t), 256_c_intptr_t) /= 0) error stop "omp_aligned_alloc"
    call omp_free(block, omp_default_mem_alloc)
  end subroutine memory

  subroutine devices()
    integer(8) :: wide
    if (.not. omp_is_initial_device()) error stop "initial device"
    if (omp_get_initial_device() /= omp_get_num_devices()) error stop "number of the initial device"
    if (omp_get_device_num() /= omp_get_initial_device()) error stop "device number"
    call omp_set_default_device(3)
    if (omp_get_default_device() /= 3) error stop "default device"
    wide = 0
    call omp_set_default_device(wide)
    if (omp_get_default_device() /= 0) error stop "default device, wide"
    if (omp_pause_resource(omp_pause_soft, omp_get_initial_device()) /= 0) error stop "pause"
    if (omp_pause_resource_all(omp_pause_hard) /= 0) error stop "pause of all"
  end subroutine devices
end program routines
