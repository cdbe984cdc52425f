! SPDX-FileCopyrightText: memtrace contributors
! SPDX-License-Identifier: EPL-2.0
! finds: false-sharing totals::sums
!
! Sums of the threads lie beside each other in one cache line. The repair gives each a line.
module totals
  implicit none
  real(8), volatile :: sums(256) = 0
  real(8), volatile :: padded(8, 256) = 0
end module

program false_sharing_fortran
  use omp_lib
  use planted
  use totals
  implicit none
  integer :: i, me

  call planted_start()
  do while (planted_more())
    !$omp parallel num_threads(threads) private(i, me)
    me = omp_get_thread_num() + 1
    if (repaired) then
      do i = 1, 2000000
        padded(1, me) = padded(1, me) + 1
      end do
    else
      do i = 1, 2000000
        sums(me) = sums(me) + 1
      end do
    end if
    !$omp end parallel
  end do
  print '(g0)', sum(sums) + sum(padded)
end program
