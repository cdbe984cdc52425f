! SPDX-FileCopyrightText: memtrace contributors
! SPDX-License-Identifier: EPL-2.0
!
! memtrace.f90 - names parts of a run, for memtrace record:
!
!   use memtrace
!   call memtrace_begin("solve")
!   ...
!   call memtrace_end("solve")
!
! Compile it with the program; there is nothing to link (glibc before 2.34: -ldl). When the program is not recorded, a call
! looks at a pointer and returns. Blanks at the end of a name are left out. What memtrace.h says holds here, too.
module memtrace
  use, intrinsic :: iso_c_binding, only: c_char, c_ptr, c_funptr, c_null_ptr, c_null_char, &
    c_null_funptr, c_associated, c_f_procpointer
  implicit none
  private
  public :: memtrace_begin, memtrace_end, memtrace_window_open, memtrace_window_close

  abstract interface
    subroutine marker(name) bind(C)
      import :: c_char
      character(kind=c_char), intent(in) :: name(*)
    end subroutine marker
  end interface

  interface
    function dlsym(handle, symbol) bind(C, name="dlsym") result(address)
      import :: c_ptr, c_funptr, c_char
      type(c_ptr), value :: handle
      character(kind=c_char), intent(in) :: symbol(*)
      type(c_funptr) :: address
    end function dlsym
  end interface

  logical, save :: looked = .false.
  type(c_funptr), save :: begins = c_null_funptr, ends = c_null_funptr
  type(c_funptr), save :: opens = c_null_funptr, closes = c_null_funptr

contains

  ! Several threads may do it at a time: all find the same.
  subroutine look()
    begins = dlsym(c_null_ptr, "memtrace_region_begin" // c_null_char)
    ends = dlsym(c_null_ptr, "memtrace_region_end" // c_null_char)
    opens = dlsym(c_null_ptr, "memtrace_gate_open" // c_null_char)
    closes = dlsym(c_null_ptr, "memtrace_gate_close" // c_null_char)
    looked = .true.
  end subroutine look

  subroutine mark(function, name)
    type(c_funptr), intent(in) :: function
    character(len=*), intent(in) :: name
    procedure(marker), pointer :: called

    if (c_associated(function)) then
      call c_f_procpointer(function, called)
      call called(trim(name) // c_null_char)
    end if
  end subroutine mark

  subroutine memtrace_begin(name)
    character(len=*), intent(in) :: name

    if (.not. looked) call look()
    call mark(begins, name)
  end subroutine memtrace_begin

  subroutine memtrace_end(name)
    character(len=*), intent(in) :: name

    if (.not. looked) call look()
    call mark(ends, name)
  end subroutine memtrace_end

  subroutine memtrace_window_open()
    if (.not. looked) call look()
    call mark(opens, "")
  end subroutine memtrace_window_open

  subroutine memtrace_window_close()
    if (.not. looked) call look()
    call mark(closes, "")
  end subroutine memtrace_window_close

end module memtrace
