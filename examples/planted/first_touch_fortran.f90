! SPDX-FileCopyrightText: memtrace contributors
! SPDX-License-Identifier: EPL-2.0
! finds: first-touch field
!
! The main thread touches all pages of field first; each thread works on its own part of it.
program first_touch_fortran
  use planted
  implicit none
  integer, parameter :: n = 512 * per_page
  integer :: i, k
  real(8), allocatable :: field(:)

  call planted_start()
  allocate (field(n))
  if (repaired) then
    !$omp parallel do schedule(static) num_threads(threads)
    do i = 1, n
      field(i) = 1
    end do
  else
    do i = 1, n
      field(i) = 1
    end do
  end if
  do while (planted_more())
    !$omp parallel do schedule(static) num_threads(threads) private(k)
    do i = 1, n
      do k = 1, 20
        field(i) = 0.5d0 * field(i) + 0.25d0
      end do
    end do
  end do
  print '(g0)', field(1) + field(n)
  deallocate (field)
end program
