! SPDX-License-Identifier: Apache-2.0
!
! Uses the installed module `marline`: waits for an event that has been fulfilled.
program consumer
  use marline
  implicit none
  type(marline_event) :: event
  call marline_event_init(event)
  call marline_event_fulfill(event)
  call marline_event_wait(event)
  print '(i0)', marline_event_test(event)
end program
