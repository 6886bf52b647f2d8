#!/bin/sh
# The shared library exports what its headers declare, and nothing else.
#
#   CC, NM     as configured
#   HEADERS    the installed headers, seen from $srcdir
. "${srcdir:=.}/test/tap.sh"

library=.libs/libodcomm.so

same()
{
    diff -u "$1" "$2"
}

named_odcomm()
{
    test -s "$1" && ! grep -v '^odcomm_' "$1"
}

if [ ! -e $library ]; then
    skip "exported symbols" "no shared library was built"
    finish
    exit 0
fi

# shellcheck disable=SC2086 # words on purpose
$NM -D --defined-only $library | awk '{ sub("@.*", "", $NF); print $NF }' | sort -u >"$scratch/exported"
for header in $HEADERS; do
    # shellcheck disable=SC2086
    $CC -I"$srcdir/include" -E -P "$srcdir/$header"
done | grep -o '\bodcomm_[a-z0-9_]* *(' | tr -d ' (' | sort -u >"$scratch/declared"

check "every exported symbol begins with odcomm_" named_odcomm "$scratch/exported"
check "every declared function begins with odcomm_" named_odcomm "$scratch/declared"
check "what is declared is exported, and the reverse" same "$scratch/declared" "$scratch/exported"
finish
