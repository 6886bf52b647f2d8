#!/bin/sh
# Programs of users, built outside of the tree against what `make install' has put under DESTDIR,
# with the flags that pkg-config gives: C and C++, the MPI's compiler and a plain one, shared and
# static, and the one in README.md. Each runs on 2 ranks; the consumers check their results.
#
#   MAKE, CC, CFLAGS, PKG_CONFIG, MPIEXEC            as configured
#   PREFIX, LIBDIR, INCLUDEDIR                       where things would be installed
. "${srcdir:=.}/test/tap.sh"

installed=$scratch/installed
sources=$(cd "$srcdir/test/consumer" && pwd)
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_mpi_yield_when_idle=1
export ASAN_OPTIONS=detect_leaks=0
case $($MPIEXEC --version 2>&1) in
*"Open MPI"* | *OpenRTE*) MPIEXEC="$MPIEXEC --oversubscribe" ;;
esac

install_it()
{
    # not a part of the make that runs this
    env -u MAKEFLAGS -u MAKELEVEL -u MFLAGS "$MAKE" install DESTDIR="$installed"
}

# The libraries alone that a static program may use, with the same odcomm.pc.
separate_static()
{
    mkdir "$scratch/lib" && cp "$installed$LIBDIR/libodcomm.a" "$scratch/lib"
}

# flags LIBDIR OPTION...
flags()
{
    where=$1
    shift
    PKG_CONFIG_PATH="$installed$LIBDIR/pkgconfig" $PKG_CONFIG \
        --define-variable=prefix="$installed$PREFIX" --define-variable=libdir="$where" \
        --define-variable=includedir="$installed$INCLUDEDIR" "$@" odcomm
}

# build PROGRAM SOURCE COMPILER LIBDIR OPTION...
build()
{
    program=$1 source=$2 compiler=$3 where=$4
    shift 4
    link=$(flags "$where" "$@" --libs) && compile=$(flags "$where" --cflags) || return 1
    # shellcheck disable=SC2086 # words on purpose
    (cd "$scratch" && $compiler $CFLAGS $compile "$source" -o "$program" $link "-Wl,-rpath,$where")
}

# Whether the program looks for libodcomm.so.
uses_shared()
{
    ldd "$scratch/$1" | grep 'libodcomm\.so'
}

needs_no_shared()
{
    test -f "$scratch/$1" && ! uses_shared "$1"
}

on_two_ranks()
{
    # shellcheck disable=SC2086
    (cd "$scratch" && timeout -k 5 60 $MPIEXEC -n 2 "./$1" </dev/null)
}

build_and_run()
{
    build "$@" && on_two_ranks "$1"
}

# both NAME SOURCE COMPILER: shared and static
both()
{
    if ! command -v "${3%% *}" >/dev/null; then
        skip "$1" "there is no $3"
        return
    fi
    if [ -e "$installed$LIBDIR/libodcomm.so" ]; then
        check "$1, shared" build_and_run shared "$2" "$3" "$installed$LIBDIR"
        check "$1, shared, is what it says" uses_shared shared
    else
        skip "$1, shared" "no shared library was built"
    fi
    if [ -e "$scratch/lib/libodcomm.a" ]; then
        check "$1, static" build_and_run static "$2" "$3" "$scratch/lib" --static
        check "$1, static, is what it says" needs_no_shared static
    else
        skip "$1, static" "no static library was built"
    fi
}

check "make install DESTDIR=..." install_it
[ -e "$installed$LIBDIR/libodcomm.a" ] && separate_static
awk '/^```c$/ { inside = 1; next } /^```$/ { inside = 0 } inside' "$srcdir/README.md" \
    >"$scratch/readme.c"
both "C by the MPI's compiler" "$sources/consumer.c" "$CC"
both "C by cc" "$sources/consumer.c" cc
both "C++ by c++" "$sources/consumer.cpp" c++
both "the first program of README.md" "$scratch/readme.c" "$CC"
finish
