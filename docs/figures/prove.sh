#!/bin/bash
# SPDX-License-Identifier: Apache-2.0 OR MIT
# Proves sntrup761's objects of every compiler and level here; prints one JSON array, without the lists
# of ranges. Run it from the source tree with `ringforge` in the PATH.
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
ringforge --quiet forge sntrup761 --no-bench --pairs 0 --out "$dir/p" || true
cd "$dir"
for target in avx2 c; do
    for cc in gcc clang-19; do
        command -v $cc > /dev/null || continue
        for level in -O1 -O2 -O3 -Os; do
            $cc $level -std=c99 -c p/sntrup761_$target.c -o "$target, $cc $level"
        done
    done
done
more="-O3 -funroll-loops -fno-tree-vectorize" # the portable source with the vectors taken away
command -v gcc > /dev/null && gcc $more -std=c99 -c p/sntrup761_c.c -o "c, gcc $more"
{
separator="["
for target in avx2 c; do
    echo "$separator"
    ringforge --json prove "$target, "* --contract p/sntrup761.contract.toml \
        --symbol sntrup761_mul_$target || true
    separator=","
done
echo "]"
} | python3 -c '
import json, sys
keep = ["object", "verdict", "symbol", "object_sha256", "times", "counts"]
runs = json.load(sys.stdin)
for run in runs:
    run["objects"] = [{k: o[k] for k in keep if k in o} for o in run["objects"]]
json.dump(runs, sys.stdout, indent=1)
print()'
