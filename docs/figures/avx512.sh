#!/bin/bash
# SPDX-License-Identifier: Apache-2.0 OR MIT
# Measures what docs/results/avx512.md says: avx512.json, the entry points of transforms for AVX-512 and AVX2 side by side,
# each ring in one process. On a quiet machine whose processor has both, from the source tree, with `ringforge` in the PATH.
set -eu
figures=$(cd "$(dirname "$0")" && pwd)
separator="["
for ring in mlkem kyber1 newhope512 newhope1024 mldsa ntruplus768 nttru saber; do
    echo "$separator"
    ringforge --json bench "$ring" --target avx512,avx2 --entries --cc gcc,clang-19
    separator=","
done > "$figures/avx512.new"
echo "]" >> "$figures/avx512.new"
mv "$figures/avx512.new" "$figures/avx512.json"
