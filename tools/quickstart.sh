#!/bin/sh
# From a fresh Debian machine to a running odcomm, as root or with sudo.
#
#   tools/quickstart.sh demo    install packages, build, train a small language model on 2 ranks
#   tools/quickstart.sh check   install packages, build with Open MPI and MPICH, run all tests
#
# Builds under build/ in the source tree; make runs JOBS jobs at a time (default: one a core).
set -eu

cd "$(dirname "$0")/.."
top=$PWD
jobs=${JOBS:-$(nproc)}

build_packages="gcc g++ libc6-dev make autoconf automake libtool pkg-config"
demo_packages="$build_packages openmpi-bin libopenmpi-dev libopenblas-dev libjansson-dev
    fortunes fortunes-min"
check_packages="$demo_packages mpich libmpich-dev libcmocka-dev cppcheck mandoc"

say() {
    printf '\n== %s\n' "$*"
}

missing() {
    for package in "$@"; do
        dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q ' installed$' || echo "$package"
    done
}

install() {
    # shellcheck disable=SC2046 disable=SC2086 # words on purpose
    set -- $(missing $1)
    [ $# -eq 0 ] && return
    say "installing $*"
    sudo=
    [ "$(id -u)" -eq 0 ] || sudo=sudo
    $sudo apt-get -qq update
    $sudo env DEBIAN_FRONTEND=noninteractive apt-get -qq install --no-install-recommends -y "$@" \
        >/dev/null
}

# What a configured tree depends on: its arguments, and the packages that are there.
circumstances() {
    echo "$@"
    # shellcheck disable=SC2086
    dpkg-query -W $check_packages 2>/dev/null || true
}

# build NAME [configure arguments]: configures once, and again when something has been installed
# since that it missed; then brings the tree up to date
build() {
    name=$1
    shift
    say "building build/$name"
    [ -x configure ] || autoreconf -fi >build-autoreconf.log 2>&1 || {
        cat build-autoreconf.log >&2
        exit 1
    }
    rm -f build-autoreconf.log
    mkdir -p "build/$name"
    (
        cd "build/$name"
        circumstances "$@" >circumstances.new
        if ! cmp -s circumstances.new circumstances; then
            "$top/configure" -q "$@"
            mv circumstances.new circumstances
        fi
        make -s -j "$jobs"
    )
}

# Open MPI refuses root and more ranks than cores unless told otherwise.
open_mpi_here() {
    export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_mpi_yield_when_idle=1
}

demo() {
    install "$demo_packages"
    build openmpi CC=mpicc.openmpi
    open_mpi_here
    say "training on the fortunes of this machine: mpiexec.openmpi --oversubscribe -n 2" \
        "build/openmpi/tools/odcomm-train"
    mpiexec.openmpi --oversubscribe -n 2 build/openmpi/tools/odcomm-train
    say "done. Next: README.md; tools: build/openmpi/tools/odcomm-train --help, build/openmpi/perf/odcomm-perf --help"
}

passed=0
failed=0
skipped=0

count() {
    sed -n "s/^# $2: *//p" "$1" | awk '{ n += $1 } END { print n + 0 }'
}

# test_tree NAME [VARIABLE=VALUE]: make check in build/NAME, and its counts
test_tree() {
    say "testing build/$1"
    log=build/$1/check.log
    make -C "build/$1" check ${2+"$2"} >"$log" 2>&1 || true
    grep -E '^(FAIL|ERROR|SKIP|XPASS)' "$log" || true
    [ "$(count "$log" TOTAL)" -gt 0 ] || {
        tail -n 40 "$log"
        echo "FAIL: no test ran in build/$1"
        failed=$((failed + 1))
    }
    passed=$((passed + $(count "$log" PASS)))
    skipped=$((skipped + $(count "$log" SKIP)))
    failed=$((failed + $(count "$log" FAIL) + $(count "$log" ERROR)))
    [ "$(($(count "$log" FAIL) + $(count "$log" ERROR)))" -eq 0 ] || cat "build/$1/test-suite.log"
}

# step NAME COMMAND...: one more test
step() {
    name=$1
    shift
    say "$name"
    if "$@" >build/step.log 2>&1; then
        passed=$((passed + 1))
    else
        cat build/step.log
        echo "FAIL: $name"
        failed=$((failed + 1))
    fi
}

check() {
    install "$check_packages"
    build openmpi CC=mpicc.openmpi
    build mpich CC=mpicc.mpich
    build sanitized CC=mpicc.openmpi CFLAGS="-g -O1 -fsanitize=address,undefined -fno-sanitize-recover=undefined" --disable-shared
    test_tree openmpi
    test_tree mpich
    # What is installed is the same there as in the other trees.
    TEST_RANKS="1 3" test_tree sanitized script_tests=
    step "cppcheck" cppcheck -q --error-exitcode=1 --std=c11 -I include -I tools/train -I perf --enable=warning,portability \
        --suppress=missingIncludeSystem src tools perf
    step "man pages" mandoc -Tlint -Werror man/*.[17]
    printf '\n%d passed, %d failed, %d skipped\n' "$passed" "$failed" "$skipped"
    [ "$failed" -eq 0 ]
}

case ${1:-} in
demo) demo ;;
check) check ;;
*)
    sed -n 's/^# \{0,1\}//p' "$0" | sed -n '2,8p'
    exit 2
    ;;
esac
