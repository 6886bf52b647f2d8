# ODC_TRY_CFLAG(FLAG, IF-ACCEPTED)
AC_DEFUN([ODC_TRY_CFLAG], [
  AC_MSG_CHECKING([whether $CC accepts $1])
  odc_saved_CFLAGS=$CFLAGS
  CFLAGS="$CFLAGS -Werror $1"
  AC_COMPILE_IFELSE([AC_LANG_PROGRAM([], [])], [AC_MSG_RESULT([yes]); $2], [AC_MSG_RESULT([no])])
  CFLAGS=$odc_saved_CFLAGS
])

# ODC_MPI_MACRO(MACRO, IF-DEFINED): whether mpi.h defines it
AC_DEFUN([ODC_MPI_MACRO], [
  AC_COMPILE_IFELSE([AC_LANG_PROGRAM([[#include <mpi.h>
#ifndef $1
#error not this one
#endif]], [])], [$2], [])
])

# ODC_MPI: finds out which MPI the compiler $CC stands for. Sets
#   ODC_MPI_NAME                  its name and version, for the summary
#   ODC_MPI_CFLAGS, ODC_MPI_LIBS  what a plain C compiler needs, for odcomm.pc
#   ODC_MPIEXEC                   its launcher, unless --with-mpiexec says otherwise
AC_DEFUN([ODC_MPI], [
  AC_MSG_CHECKING([for MPI-3])
  AC_LINK_IFELSE([AC_LANG_PROGRAM([[#include <mpi.h>
#if MPI_VERSION < 3
#error too old
#endif]], [[MPI_Win win; void *base;
            return MPI_Win_allocate_shared(0, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);]])],
    [AC_MSG_RESULT([yes])],
    [AC_MSG_RESULT([no])
     AC_MSG_ERROR([no MPI-3: give an MPI compiler, as in ./configure CC=mpicc])])

  ODC_MPI_NAME="an MPI of unknown name"
  odc_launchers="mpiexec mpirun"
  odc_show=
  ODC_MPI_MACRO([OMPI_MAJOR_VERSION],
    [ODC_MPI_NAME="Open MPI"
     odc_launchers="mpiexec.openmpi mpiexec mpirun"
     ODC_MPI_CFLAGS=-DOMPI_SKIP_MPICXX # its C++ bindings need a library that only mpicxx links
     odc_show=`$CC --showme:compile 2>/dev/null` && odc_link=`$CC --showme:link 2>/dev/null` &&
       odc_show="$odc_show $odc_link"])
  ODC_MPI_MACRO([MPICH_VERSION],
    [ODC_MPI_NAME="MPICH"
     odc_launchers="mpiexec.mpich mpiexec.hydra mpiexec mpirun"
     odc_show=`$CC -show 2>/dev/null`])

  for odc_word in $odc_show; do
    AS_CASE([$odc_word],
      [-I*|-D*|-pthread], [ODC_MPI_CFLAGS="$ODC_MPI_CFLAGS $odc_word"],
      [-L*|-l*|-Wl,-rpath*], [ODC_MPI_LIBS="$ODC_MPI_LIBS $odc_word"])
  done
  AC_SUBST([ODC_MPI_CFLAGS])
  AC_SUBST([ODC_MPI_LIBS])
  AC_CHECK_PROGS([ODC_MPIEXEC], [$odc_launchers], [mpiexec])
])
