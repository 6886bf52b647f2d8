# Sourced by tests that are shell scripts: their cases, in TAP, and a folder of their own.
# shellcheck shell=sh
set -u

cases=0
scratch=$(mktemp -d) || exit 99
trap 'rm -rf "$scratch"' EXIT

# check NAME COMMAND...: passes where the command succeeds, else shows what it printed
check()
{
    case_name=$1
    shift
    cases=$((cases + 1))
    if "$@" >"$scratch/out" 2>&1; then
        echo "ok $cases - $case_name"
    else
        echo "not ok $cases - $case_name"
        sed 's/^/# /' "$scratch/out"
    fi
}

# skip NAME REASON
skip()
{
    cases=$((cases + 1))
    echo "ok $cases - $1 # SKIP $2"
}

# Says how many cases there were; without it the run counts as broken.
finish()
{
    echo "1..$cases"
}
