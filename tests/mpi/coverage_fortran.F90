! SPDX-License-Identifier: Apache-2.0
!
! The calls of MPI from Fortran, in tasks that must not hold their thread: by mpif.h, by the module mpi (USE_MPI) or by
! mpi_f08 (USE_F08). As in coverage.h: two ranks of one thread each; a call ends only by a task that the same thread
! must run in the meantime. With the argument `outside`, rank 1 makes its collective calls outside of any parallel
! region.
#ifdef USE_F08
#define COMM type(MPI_Comm)
#define REQUEST type(MPI_Request)
#define MESSAGE type(MPI_Message)
#define DATATYPE type(MPI_Datatype)
#define OP type(MPI_Op)
#define WIN type(MPI_Win)
#define FILE type(MPI_File)
#define STATUS(name) type(MPI_Status) :: name
#define STATUSES(name) type(MPI_Status) :: name(2)
#define SOURCE_OF(name) name%MPI_SOURCE
#define TAG_OF(name) name%MPI_TAG
#else
#define COMM integer
#define REQUEST integer
#define MESSAGE integer
#define DATATYPE integer
#define OP integer
#define WIN integer
#define FILE integer
#define STATUS(name) integer :: name(MPI_STATUS_SIZE)
#define STATUSES(name) integer :: name(MPI_STATUS_SIZE, 2)
#define SOURCE_OF(name) name(MPI_SOURCE)
#define TAG_OF(name) name(MPI_TAG)
#endif

module coverage_calls
#if defined(USE_F08)
  use mpi_f08
#elif defined(USE_MPI)
  use mpi
#endif
  implicit none
#if !defined(USE_F08) && !defined(USE_MPI)
  include 'mpif.h'
#endif
  integer, parameter :: large = 65536, release = 99
#if defined(MPICH) && defined(USE_F08)
  integer, parameter :: first_index = 0   ! a defect of MPICH 4.0: see docs/guide/mpi.md
#else
  integer, parameter :: first_index = 1
#endif
  integer :: rank, peer, here, deleted
  integer :: sent(large), received(large)
  character(1000) :: path

contains

  subroutine expect(holds, what)
    logical, intent(in) :: holds
    character(*), intent(in) :: what
    integer :: error
    if (holds) return
    print '("rank ", i0, ": FAILED: ", a)', rank, what
    call MPI_Abort(MPI_COMM_WORLD, 1, error)
  end subroutine expect

  subroutine announce(name)
    character(*), intent(in) :: name
    integer :: error
    print '("rank ", i0, ": ", a)', rank, name
    call MPI_Barrier(MPI_COMM_WORLD, error)
  end subroutine announce

  subroutine release_peer()
    integer :: error
    call MPI_Send(rank, 1, MPI_INTEGER, peer, release, MPI_COMM_WORLD, error)
  end subroutine release_peer

  subroutine await_release()
    integer :: error, from
    call MPI_Recv(from, 1, MPI_INTEGER, peer, release, MPI_COMM_WORLD, MPI_STATUS_IGNORE, error)
    call expect(from == peer, 'the peer''s release')
  end subroutine await_release

  ! Each rank's call ends by the other rank's answer, and both answers come second on their thread.
  subroutine cross(name, tested, answer)
    character(*), intent(in) :: name
    external :: tested, answer
    call announce(name)
    !$omp parallel num_threads(1)
    !$omp single
    !$omp task
    !$omp task
    call answer()
    !$omp end task
    call tested()
    !$omp end task
    !$omp end single
    !$omp end parallel
  end subroutine cross

  ! Both ranks make the call: `first` is in it when it sends the message without which the other does not get to it.
  subroutine in_turn(name, tested, first)
    character(*), intent(in) :: name
    external :: tested
    integer, intent(in) :: first
    call announce(name)
    !$omp parallel num_threads(1)
    !$omp single
    !$omp task
    if (rank == first) then
      !$omp task
      call release_peer()
      !$omp end task
    else
      call await_release()
    end if
    call tested()
    !$omp end task
    !$omp end single
    !$omp end parallel
  end subroutine in_turn

  subroutine both_in_turn(name, tested)
    character(*), intent(in) :: name
    external :: tested
    call in_turn(name, tested, 0)
    call in_turn(name, tested, 1)
  end subroutine both_in_turn

  ! Rank 0 is in the call, in a task, when rank 1 gets to it outside of any region.
  subroutine half_outside(name, tested)
    character(*), intent(in) :: name
    external :: tested
    if (rank == 0) then
      call in_turn(name, tested, 0)
    else
      call announce(name)
      call await_release()
      call tested()
    end if
  end subroutine half_outside

  ! Point-to-point ---------------------------------------------------------------------------------------------------

  subroutine fill()
    integer :: i
    do i = 1, large
      sent(i) = rank * large + i
    end do
    received = -1
  end subroutine fill

  subroutine expect_content()
    integer :: i
    do i = 1, large
      call expect(received(i) == peer * large + i, 'content of the message')
    end do
  end subroutine expect_content

  subroutine receive_large()
    integer :: error, count
    STATUS(state)
    call MPI_Recv(received, large, MPI_INTEGER, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, state, error)
    call MPI_Get_count(state, MPI_INTEGER, count, error)
    call expect(SOURCE_OF(state) == peer .and. TAG_OF(state) == 1 .and. count == large, 'source, tag and count')
    call expect_content()
  end subroutine receive_large

  subroutine send_large()
    integer :: error
    call MPI_Send(sent, large, MPI_INTEGER, peer, 1, MPI_COMM_WORLD, error)
  end subroutine send_large

  subroutine ssend_large()
    integer :: error
    call MPI_Ssend(sent, large, MPI_INTEGER, peer, 1, MPI_COMM_WORLD, error)
  end subroutine ssend_large

  subroutine isend_large()
    integer :: error
    REQUEST :: pending
    call MPI_Isend(sent, large, MPI_INTEGER, peer, 1, MPI_COMM_WORLD, pending, error)
    call MPI_Wait(pending, MPI_STATUS_IGNORE, error)
    call expect(pending == MPI_REQUEST_NULL, 'Wait gives the request back')
  end subroutine isend_large

  ! The address and the size of what is detached are those of what was attached, also through Fortran.
  subroutine bsend_large()
    integer :: error, bytes
    integer, allocatable, save :: buffer(:)
    bytes = 4 * large + MPI_BSEND_OVERHEAD
    allocate (buffer(bytes / 4 + 1))
    call MPI_Buffer_attach(buffer, bytes, error)
    call MPI_Bsend(sent, large, MPI_INTEGER, peer, 1, MPI_COMM_WORLD, error)
    call detach_buffer(bytes)
    deallocate (buffer)
  end subroutine bsend_large

  subroutine detach_buffer(bytes)
#ifdef USE_F08
    use, intrinsic :: iso_c_binding, only: c_ptr
    type(c_ptr) :: address
#else
    integer(MPI_ADDRESS_KIND) :: address
#endif
    integer, intent(in) :: bytes
    integer :: error, detached
    call MPI_Buffer_detach(address, detached, error)
    call expect(detached == bytes, 'size of the detached buffer')
  end subroutine detach_buffer

  subroutine probe_large()
    integer :: error
    STATUS(state)
    call MPI_Probe(peer, 1, MPI_COMM_WORLD, state, error)
    call expect(SOURCE_OF(state) == peer, 'source of the probe')
    call MPI_Probe(peer, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE, error)
    call receive_large()
  end subroutine probe_large

  subroutine mprobe_large()
    integer :: error
    MESSAGE :: message
    STATUS(state)
    call MPI_Mprobe(peer, 1, MPI_COMM_WORLD, message, state, error)
    call expect(TAG_OF(state) == 1, 'tag of the matched probe')
    call MPI_Mrecv(received, large, MPI_INTEGER, message, state, error)
    call expect(TAG_OF(state) == 1, 'tag of the matched receive')
    call expect_content()
  end subroutine mprobe_large

  subroutine sendrecv_large()
    integer :: error
    STATUS(state)
    call MPI_Sendrecv(sent, large, MPI_INTEGER, peer, 2, received, large, MPI_INTEGER, peer, 3, MPI_COMM_WORLD, &
                      state, error)
    call expect(TAG_OF(state) == 3, 'tag of what Sendrecv receives')
    call expect_content()
  end subroutine sendrecv_large

  subroutine sendrecv_replace_large()
    integer :: error
    received = sent
    call MPI_Sendrecv_replace(received, large, MPI_INTEGER, peer, 2, peer, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE, error)
    call expect_content()
  end subroutine sendrecv_replace_large

  subroutine answer_sendrecv()
    integer :: error
    integer, allocatable :: got(:)
    allocate (got(large))
    call MPI_Recv(got, large, MPI_INTEGER, peer, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE, error)
    call expect(got(1) == peer * large + 1, 'what Sendrecv sends')
    call MPI_Send(sent, large, MPI_INTEGER, peer, 3, MPI_COMM_WORLD, error)
  end subroutine answer_sendrecv

  ! By absolute addresses.
  subroutine receive_bottom()
    integer :: error
    integer(MPI_ADDRESS_KIND) :: address(1)
    integer :: lengths(1)
    DATATYPE :: all_of_it
    lengths = large
    call MPI_Get_address(received, address(1), error)
    call MPI_Type_create_hindexed(1, lengths, address, MPI_INTEGER, all_of_it, error)
    call MPI_Type_commit(all_of_it, error)
    call MPI_Recv(MPI_BOTTOM, 1, all_of_it, peer, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE, error)
    call MPI_Type_free(all_of_it, error)
    call expect_content()
  end subroutine receive_bottom

  ! Volatile, as MPI writes when it likes; MPI_F_sync_reg of MPICH 4.0 overwrites memory at random.
  subroutine start_two(got, pending)
    integer, intent(inout), volatile :: got(2)
    REQUEST, intent(out) :: pending(2)
    integer :: error
    got = -1
    call MPI_Irecv(got(1), 1, MPI_INTEGER, peer, 10, MPI_COMM_WORLD, pending(1), error)
    call MPI_Irecv(got(2), 1, MPI_INTEGER, peer, 11, MPI_COMM_WORLD, pending(2), error)
  end subroutine start_two

  subroutine answer_two()
    integer :: error
    call MPI_Send(rank, 1, MPI_INTEGER, peer, 11, MPI_COMM_WORLD, error)
    call await_release()
    call MPI_Send(rank, 1, MPI_INTEGER, peer, 10, MPI_COMM_WORLD, error)
  end subroutine answer_two

  subroutine waitall_two()
    integer, volatile :: got(2)
    integer :: error
    REQUEST :: pending(2)
    STATUSES(states)
    call start_two(got, pending)
    !$omp task
    call release_peer()
    !$omp end task
    call MPI_Waitall(2, pending, states, error)
    call expect(all(got == peer), 'Waitall completes all')
    call expect(pending(1) == MPI_REQUEST_NULL, 'Waitall gives the requests back')
    call MPI_Waitall(2, pending, MPI_STATUSES_IGNORE, error)
  end subroutine waitall_two

  subroutine waitany_two()
    integer, volatile :: got(2)
    integer :: error, index
    REQUEST :: pending(2)
    STATUS(state)
    call start_two(got, pending)
    call MPI_Waitany(2, pending, index, state, error)
    call expect(index == first_index + 1 .and. TAG_OF(state) == 11, 'Waitany completes one')
    call release_peer()
    call MPI_Waitany(2, pending, index, MPI_STATUS_IGNORE, error)
    call expect(index == first_index .and. all(got == peer), 'Waitany completes the other')
    call MPI_Waitany(2, pending, index, MPI_STATUS_IGNORE, error)
    ! One more in MPICH 4.0, which also converts this value as if it were an index that counts from one.
    call expect(index == MPI_UNDEFINED .or. index == MPI_UNDEFINED + 1, 'Waitany has nothing left')
  end subroutine waitany_two

  subroutine waitsome_two()
    integer, volatile :: got(2)
    integer :: error, number, indices(2)
    REQUEST :: pending(2)
    STATUSES(states)
    call start_two(got, pending)
    call MPI_Waitsome(2, pending, number, indices, states, error)
    call expect(number == 1 .and. indices(1) == first_index + 1, 'Waitsome completes one')
    call release_peer()
    call MPI_Waitsome(2, pending, number, indices, MPI_STATUSES_IGNORE, error)
    call expect(number == 1 .and. indices(1) == first_index .and. all(got == peer), 'Waitsome completes the other')
  end subroutine waitsome_two

#include "coverage_fortran_collectives.inc"

end module coverage_calls

program coverage_fortran
  use coverage_calls
  implicit none
  integer :: error, provided
  character(1000) :: argument

  call MPI_Init_thread(MPI_THREAD_MULTIPLE, provided, error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  peer = 1 - rank
  call fill()
  call get_command_argument(1, argument)
  if (argument == 'outside') then
    call run_collectives(half_outside)
  else
    path = argument
    call cross('Recv', receive_large, send_large)
    call cross('Send', send_large, receive_large)
    call cross('Ssend', ssend_large, receive_large)
    call cross('Isend, Wait', isend_large, receive_large)
    call cross('Bsend, Buffer_detach', bsend_large, receive_large)
    call cross('Probe', probe_large, send_large)
    call cross('Mprobe, Mrecv', mprobe_large, send_large)
    call cross('Sendrecv', sendrecv_large, answer_sendrecv)
    call cross('Sendrecv_replace', sendrecv_replace_large, answer_sendrecv)
    call cross('MPI_BOTTOM', receive_bottom, send_large)
    call cross('Waitall', waitall_two, answer_two)
    call cross('Waitany', waitany_two, answer_two)
    call cross('Waitsome', waitsome_two, answer_two)
    call run_collectives(both_in_turn)
    call run_helpers()
  end if
  call MPI_Finalize(error)
  print '("rank ", i0, ": done")', rank
end program coverage_fortran
