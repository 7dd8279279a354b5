#!/bin/bash
# SPDX-License-Identifier: Apache-2.0 OR MIT OR ISC OR CC0-1.0
# cortex_m4.sh DIR "COMPILER FLAGS" KEM...: the library for Cortex-M4, in DIR. For each KEM it compares the first known answer in
# qemu-arm, and prints its name, the bytes of flash that a program with its three operations takes (code and constants, the
# compiler's memcpy too), and the bytes of stack that keypair, enc and dec touch. A KEM that has no known answer is a failure.
set -eu
lib=$(cd "$(dirname "$0")/.." && pwd)
dir=$1 how=$2
shift 2
mkdir -p "$dir"
dir=$(realpath "$dir")
cd "$lib"
cc=${how%% *}
case $cc in
    *gcc) target="-mcpu=cortex-m4 -mthumb" ;;
    *) target="--target=thumbv7em-none-eabi -mcpu=cortex-m4 -mthumb -fshort-enums -isystem /usr/include/newlib" ;;
esac
common="-std=c99 -Wall -Wextra -Wpedantic -Wconversion -Werror -Iinclude -ffunction-sections -fdata-sections -DRINGFORGE_RANDOM=2"
link="arm-none-eabi-gcc -mcpu=cortex-m4 -mthumb -nostartfiles -Wl,--gc-sections -Wl,--no-warn-mismatch -Wl,-z,noexecstack"
for kem in "$@"; do
    sources=$(echo src/common/*.c)
    case $kem in
        sntrup* | ntrulpr*) sources+=" $(echo src/prime/*.c)" multiplier=sntrup${kem//[a-z]/} ;;
        mlkem*) sources+=" $(echo src/mlkem/*.c)" multiplier=mlkem ;;
        *) sources+=" $(echo src/ntru/*.c)" multiplier=$kem ;;
    esac
    case "$how $kem" in *RINGFORGE_SMALL=1*\ sntrup* | *RINGFORGE_SMALL=1*\ ntrulpr*) multiplier=none ;; esac # their own
    for target_of in c m4; do
        [ ! -f "generated/${multiplier}_$target_of.c" ] || sources+=" generated/${multiplier}_$target_of.c"
    done
    rm -rf "${dir:?}/$kem"
    mkdir "$dir/$kem"
    define="-DRINGFORGE_ENABLE_ALL=0 -DRINGFORGE_ENABLE_${kem^^}=1"
    compile() { $how $target $common $define "$@"; }
    for source in $sources; do
        compile -c "$source" -o "$dir/$kem/$(basename "$source" .c).o"
    done
    objects=$(echo "$dir/$kem"/*.o)
    compile -DFIRMWARE_KEM="$kem" -c tests/firmware.c -o "$dir/$kem/firmware.x"
    $link "$dir/$kem/firmware.x" $objects -o "$dir/$kem/firmware"
    mkdir "$dir/$kem/tests"
    arm-none-eabi-gcc -mcpu=cortex-m4 -mthumb -O2 $common -c tests/bare.c -o "$dir/$kem/tests/bare.x"
    for test in kat stack kems random nist_rng sha256; do
        compile -c "tests/$test.c" -o "$dir/$kem/tests/$test.x"
    done
    for program in kat stack; do
        tests=""
        for test in $program kems random nist_rng sha256 bare; do
            tests+=" $dir/$kem/tests/$test.x"
        done
        $link $tests $objects -o "$dir/$kem/$program"
        # The emulator takes no program that says that it is for this processor.
        arm-none-eabi-objcopy -R .ARM.attributes "$dir/$kem/$program"
    done
    wanted=$(grep "^$kem 1 " tests/kats.txt | cut -d' ' -f3)
    found=$(qemu-arm "$dir/$kem/kat" "$kem" 1)
    if [ "$found" != "$wanted" ]; then
        echo "$kem by $how: $found and not $wanted" >&2
        exit 1
    fi
    flash=$(arm-none-eabi-size "$dir/$kem/firmware" | awk 'NR == 2 { print $1 + $2 }')
    echo "$kem $flash $(qemu-arm "$dir/$kem/stack" | cut -d' ' -f3 | paste -sd' ')"
done
