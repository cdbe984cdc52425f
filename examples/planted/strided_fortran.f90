! SPDX-FileCopyrightText: memtrace contributors
! SPDX-License-Identifier: EPL-2.0
! finds: strided image
!
! The inner loop runs over the last index: each access is on another page. The repair exchanges the loops.
program strided_fortran
  use omp_lib
  use planted
  implicit none
  integer :: columns, c, r, k, from, to
  logical :: more
  real(8), allocatable :: image(:, :)

  call planted_start()
  columns = 128 * threads
  allocate (image(per_page, columns))
  !$omp parallel num_threads(threads) private(c, r, k, from, to)
  from = columns * omp_get_thread_num() / threads + 1
  to = columns * (omp_get_thread_num() + 1) / threads
  image(:, from:to) = 1
  do
    do k = 1, 100
      if (repaired) then
        do c = from, to
          do r = 1, per_page
            image(r, c) = 0.5d0 * image(r, c) + 0.25d0
          end do
        end do
      else
        do r = 1, per_page
          do c = from, to
            image(r, c) = 0.5d0 * image(r, c) + 0.25d0
          end do
        end do
      end if
    end do
    !$omp barrier
    !$omp single
    more = planted_more()
    !$omp end single
    if (.not. more) exit
    !$omp barrier
  end do
  !$omp end parallel
  print '(g0)', sum(image)
  deallocate (image)
end program
