#!/bin/sh
# Each installed header compiles alone, twice in a row, as C and as C++, without a warning.
#
#   CC            as configured
#   MPI_CFLAGS    what another compiler needs to find mpi.h
#   HEADERS       the installed headers, seen from $srcdir
. "${srcdir:=.}/test/tap.sh"

warnings='-Wall -Wextra -pedantic -Werror -fsyntax-only'
system=$(echo "$MPI_CFLAGS" | sed 's/-I */-isystem /g') # its warnings are not ours

compiles()
{
    compiler=$1 standard=$2 source=$3
    # shellcheck disable=SC2086 # words on purpose
    $compiler -std=$standard $warnings -I"$srcdir/include" $system "$source"
}

for header in $HEADERS; do
    name=${header#include/}
    for suffix in c cpp; do
        printf '#include <%s>\n#include <%s>\n' "$name" "$name" >"$scratch/alone.$suffix"
    done
    check "$name as C11" compiles "$CC" c11 "$scratch/alone.c"
    check "$name as C17" compiles "$CC" c17 "$scratch/alone.c"
    if command -v c++ >/dev/null; then
        check "$name as C++11" compiles c++ c++11 "$scratch/alone.cpp"
        check "$name as C++17" compiles c++ c++17 "$scratch/alone.cpp"
    else
        skip "$name as C++" "no C++ compiler"
    fi
done
finish
