! SPDX-FileCopyrightText: memtrace contributors
! SPDX-License-Identifier: EPL-2.0
!
! planted.f90 - what the planted programs in Fortran have in common, as planted.h
!
! usage: PROGRAM [--repaired] [-t THREADS] [-c SECONDS]
module planted
  implicit none
  integer, parameter :: page = 4096, real_size = 8, per_page = page / real_size
  integer :: threads = 4
  logical :: repaired = .false.
  real(8) :: seconds = 1
  real(8), private :: begin = 0
contains
  subroutine planted_start()
    integer :: i
    character(len=32) :: word

    i = 1
    do while (i <= command_argument_count())
      call get_command_argument(i, word)
      select case (word)
      case ('--repaired')
        repaired = .true.
      case ('-t')
        i = i + 1
        call get_command_argument(i, word)
        read (word, *) threads
      case ('-c')
        i = i + 1
        call get_command_argument(i, word)
        read (word, *) seconds
      case default
        write (0, '(a)') 'usage: PROGRAM [--repaired] [-t THREADS] [-c SECONDS]'
        stop 2
      end select
      i = i + 1
    end do
    if (threads < 1 .or. threads > 256) then
      write (0, '(a)') '1 to 256 threads'
      stop 2
    end if
    call cpu_time(begin)
  end subroutine

  ! Whether there is a further round. One thread asks.
  logical function planted_more()
    real(8) :: now

    call cpu_time(now)
    planted_more = now - begin < seconds
  end function
end module
