! SPDX-License-Identifier: Apache-2.0
!
! Fortran: leagues of several teams: who is in which, distribute alone and combined, reductions across teams.
!
! Covers: teams(num_teams, thread_limit, private, firstprivate, shared, reduction, default), omp_get_num_teams,
!  omp_get_team_num, distribute(dist_schedule, lastprivate, collapse), teams distribute, distribute parallel for,
!  teams distribute parallel for, omp_set_num_teams, omp_get_max_teams, omp_set_teams_thread_limit,
!  omp_get_teams_thread_limit
program leagues
  use omp_lib
  implicit none
  integer, parameter :: teams = 4, n = 50
  integer :: seen(0:teams - 1), hits(n, 3), team_of(n), i, k, last, base, scratch
  integer(8) :: total

  seen = 0
  base = 7
  scratch = 1
  total = 0
  !$omp teams num_teams(teams) thread_limit(2) default(none) shared(seen) firstprivate(base) private(scratch) &
  !$omp& reduction(+: total)
  scratch = omp_get_team_num()
  if (omp_get_num_teams() /= teams) error stop "number of teams"
  if (scratch < 0 .or. scratch >= teams) error stop "team number"
  seen(scratch) = seen(scratch) + 1
  base = base + scratch
  total = total + base
  !$omp parallel num_threads(2) reduction(+: total)
  if (omp_get_num_threads() > 2) error stop "thread limit"
  if (omp_get_thread_num() == 0) total = total + 100
  !$omp end parallel
  !$omp end teams
  if (any(seen /= 1)) error stop "each team once"
  if (total /= teams * 7 + 6 + 100 * teams) error stop "reduction"
  if (base /= 7 .or. scratch /= 1) error stop "privates"
  if (omp_get_num_teams() /= 1 .or. omp_get_team_num() /= 0) error stop "outside"

  last = 0
  !$omp teams distribute num_teams(3) dist_schedule(static, 1) lastprivate(last)
  do i = 1, n
    team_of(i) = omp_get_team_num()
    last = i
  end do
  !$omp end teams distribute
  do i = 1, n
    if (team_of(i) /= mod(i - 1, 3)) error stop "dist_schedule"
  end do
  if (last /= n) error stop "lastprivate"

  hits = 0
  total = 0
  !$omp teams distribute parallel do num_teams(3) collapse(2) reduction(+: total)
  do k = 1, 3
    do i = 1, n
      hits(i, k) = hits(i, k) + 1
      total = total + i
    end do
  end do
  !$omp end teams distribute parallel do
  if (any(hits /= 1)) error stop "iterations"
  if (total /= 3 * n * (n + 1) / 2) error stop "sum"

  !$omp teams num_teams(2)
  !$omp distribute parallel do schedule(dynamic, 3)
  do i = 1, n
    hits(i, 1) = hits(i, 1) + 1
  end do
  !$omp end distribute parallel do
  !$omp end teams
  if (any(hits(:, 1) /= 2)) error stop "distribute parallel do"

  call omp_set_num_teams(3)
  call omp_set_teams_thread_limit(2)
  if (omp_get_max_teams() /= 3 .or. omp_get_teams_thread_limit() /= 2) error stop "settings"
  seen(0) = 0
  !$omp teams shared(seen)
  if (omp_get_team_num() == 0) seen(0) = omp_get_num_teams()
  !$omp end teams
  if (seen(0) < 1 .or. seen(0) > 3) error stop "omp_set_num_teams"
end program leagues
