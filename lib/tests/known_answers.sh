#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 OR MIT OR ISC OR CC0-1.0
# known_answers.sh KAT: compares what the program `kat` prints with kats.txt, for each KEM that it has.
# Every line is tried on the fastest code of this machine, without AVX-512 or parts of it, and on portable code; none is a failure.
set -eu
kat=$1 tried=0
while read -r name count hash; do
    case $name in '#'*) continue ;; esac
    "$kat" has "$name" || continue
    for target in all avx512vl avx2 portable; do
        found=$("$kat" "$name" "$count" "$target")
        if [ "$found" != "$hash" ]; then
            echo "$name, $count cases, code: $target: $found and not $hash" >&2
            exit 1
        fi
    done
    echo "$name: $count known answers"
    tried=$((tried + 1))
done < "$(dirname "$0")/kats.txt"
[ "$tried" -gt 0 ] || echo "no known answer is published for any KEM that was compiled"
