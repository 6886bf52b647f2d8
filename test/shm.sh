#!/bin/sh
# Groups about as large as a small /dev/shm: they fit or are refused, but no process dies of a page
# that cannot be had.
#
#   MPIEXEC    as configured
. "$srcdir/test/tap.sh"

export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_mpi_yield_when_idle=1
export ASAN_OPTIONS=detect_leaks=0
case $($MPIEXEC --version 2>&1) in
*"Open MPI"* | *OpenRTE*) MPIEXEC="$MPIEXEC --oversubscribe" ;;
esac

room=16777216

# fits_or_is_refused BYTES EXPECTED: in a /dev/shm of 16 MiB
fits_or_is_refused()
{
    timeout -k 5 60 unshare -m sh -c "mount -t tmpfs -o size=$room tmpfs /dev/shm &&
        $MPIEXEC -n 2 perf/odcomm-perf gather --json --repeat 1 --min $1 --max $1" </dev/null
    status=$?
    echo "status $status"
    case $2 in
    fits) [ $status -eq 0 ] ;;
    refused) [ $status -ne 0 ] && [ $status -lt 128 ] ;;
    either) [ $status -lt 128 ] ;;
    esac
}

if ! unshare -m sh -c "mount -t tmpfs -o size=$room tmpfs /dev/shm" 2>/dev/null; then
    skip "a small /dev/shm" "mounting one needs root"
    finish
    exit 0
fi
check "1 MiB fits" fits_or_is_refused 1048576 fits
check "64 MiB are refused" fits_or_is_refused 67108864 refused
# Values and gradients take twice as much; MPI takes a little of its own.
for bytes in 7340032 8000000 8300000 8380000 8400000; do
    check "$bytes bytes fit or are refused" fits_or_is_refused $bytes either
done
finish
