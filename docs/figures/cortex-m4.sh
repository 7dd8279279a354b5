#!/bin/bash
# SPDX-License-Identifier: Apache-2.0 OR MIT
# Makes the table of whole KEMs in docs/results/cortex-m4.md: `docs/figures/cortex-m4.sh [DIR]` compiles the library for Cortex-M4,
# small and as usual, compares known answers in qemu-arm, and prints a row for each KEM and compiler: bytes of flash, bytes of
# stack and model cycles of keypair, enc and dec. Some two minutes.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
dir=$(realpath "${1:-$(mktemp -d)}")
cargo build --quiet --release --manifest-path "$root/Cargo.toml" -p ringforge-toolchain --example cycles
cycles=$(cargo metadata --format-version 1 --no-deps --manifest-path "$root/Cargo.toml" | python3 -c 'import json, sys
print(json.load(sys.stdin)["target_directory"])')/release/examples/cycles
for how in "arm-none-eabi-gcc -Os -DRINGFORGE_SMALL=1" "clang-19 -Os -DRINGFORGE_SMALL=1" "arm-none-eabi-gcc -O2 -DRINGFORGE_SMALL=1" \
    "arm-none-eabi-gcc -O2"; do
    for kem in sntrup761 ntrulpr761 ntruhps2048677 mlkem512 mlkem768; do
        read -r _ flash keypair enc dec <<< "$("$root/lib/tests/cortex_m4.sh" "$dir" "$how" "$kem")"
        row="| $kem | ${how/-DRINGFORGE_SMALL=1/small} | $flash | $keypair / $enc / $dec |"
        for operation in keypair enc dec; do
            read -r _ model <<< "$("$cycles" "$dir/$kem/stack" $operation)"
            row+=" $(printf "%'d" "$model") |"
        done
        echo "$row"
    done
done
