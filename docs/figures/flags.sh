#!/bin/bash
# SPDX-License-Identifier: Apache-2.0 OR MIT
# Proves the KEM library as distributions and projects compile it, by `make -C lib prove`, and writes flags.json and
# docs/results/flags.md. Run it with `ringforge` in the PATH. A cell is compiler/flags/processor/KEM, as in
# gcc/debian/x86-64/mlkem512; each argument is a pattern of cells (default: all of mlkem512 and sntrup761). Cells that are
# not run keep what flags.json has of them. JOBS is the number of functions proved at the same time (default 1), SECONDS_EACH
# the limit of each (default 300).
set -eu
figures=$(cd "$(dirname "$0")" && pwd)
lib=$(realpath "$figures/../../lib")
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
export LC_ALL=C
unset CC CFLAGS CPPFLAGS MAKEFLAGS
[ $# -gt 0 ] || set -- "*"

# What the packages' builds give to every compiler; what a compiler or a processor lacks is left out below.
flags() {
    case $1 in
        # dpkg-buildflags of Debian 12
        debian) echo "-g -O2 -fstack-protector-strong -Wformat -Werror=format-security -D_FORTIFY_SOURCE=2" ;;
        # rpm --eval '%optflags' of Fedora 40, with the -fPIE of its spec files
        fedora) echo "-O2 -flto=auto -ffat-lto-objects -fexceptions -g -grecord-gcc-switches -Wall -U_FORTIFY_SOURCE" \
            "-D_FORTIFY_SOURCE=3 -fPIE -fstack-protector-strong -fasynchronous-unwind-tables -fstack-clash-protection" \
            "-fno-omit-frame-pointer -mno-omit-leaf-frame-pointer -fcf-protection -mbranch-protection=standard" ;;
        # the global flags of Android's build system, soong, with arm64's
        android) echo "-O2 -g -fstack-protector-strong -D_FORTIFY_SOURCE=3 -ftrivial-auto-var-init=zero" \
            "-ffunction-sections -fdata-sections -fno-short-enums -funwind-tables -fno-strict-aliasing" \
            "-fno-exceptions -mbranch-protection=standard" ;;
        # what configure of OpenSSH 9.9 finds that gcc takes
        openssh) echo "-g -O2 -pipe -fno-strict-aliasing -D_FORTIFY_SOURCE=2 -ftrapv -fzero-call-used-regs=used" \
            "-ftrivial-auto-var-init=zero -fno-builtin-memset -fstack-protector-strong -fPIE" ;;
    esac
}
compiler() {
    case $1/$2 in
        gcc/x86-64) echo gcc ;;
        gcc/aarch64) echo aarch64-linux-gnu-gcc ;;
        gcc/cortex-m4) echo arm-none-eabi-gcc -mcpu=cortex-m4 -mthumb ;;
        clang/x86-64) echo clang-19 ;;
        clang/aarch64) echo clang-19 --target=aarch64-linux-gnu ;;
        clang/cortex-m4) echo clang-19 --target=arm-none-eabi -mcpu=cortex-m4 -mthumb -ffreestanding \
            -isystem /usr/lib/arm-none-eabi/include -fuse-ld=/usr/bin/arm-none-eabi-ld -Wno-unused-command-line-argument ;;
    esac
}
# Those of the flags that this compiler takes for this processor.
accepted() {
    local cc=$1 processor=$2 flag kept=
    shift 2
    echo 'int f(int a) { return a; }' > "$dir/try.c"
    for flag in "$@"; do
        # No project has them for firmware.
        case $processor$flag in cortex-m4-mbranch-protection*|cortex-m4-fstack-clash-protection|cortex-m4-fPI*) continue ;; esac
        if $cc -Werror $kept "$flag" -O2 -c "$dir/try.c" -o "$dir/try.o" 2> "$dir/error"; then kept+=" $flag"; fi
    done
    echo "${kept# }"
}
for compiler in gcc clang; do for name in debian fedora android openssh; do
    for processor in x86-64 aarch64 cortex-m4; do for kem in mlkem512 sntrup761; do
        cell=$compiler/$name/$processor/$kem
        wanted=
        for pattern in "$@"; do case $cell in $pattern) wanted=1 ;; esac; done
        [ -n "$wanted" ] || continue
        cc=$(compiler $compiler $processor)
        command -v "${cc%% *}" > /dev/null || { echo "$cell: no ${cc%% *}" >&2; continue; }
        given=$(accepted "$cc" $processor $(flags $name)) build="$dir/build" out="$dir/out.json"
        rm -rf "$build"
        more=(KEMS="$kem")
        [ $processor != cortex-m4 ] || more+=(SMALL=1 RANDOM=2 EXTRA=-fno-pic) # as firmware is compiled
        started=$(date +%s)
        # 1 and 2 are make's own statuses: what was proved is in the output.
        make -s -C "$lib" prove BUILD="$build" CC="$cc" CFLAGS="$given" "${more[@]}" \
            PROVEFLAGS="--json --jobs ${JOBS:-1} --time-limit ${SECONDS_EACH:-300}" > "$out" 2> "$dir/error" || true
        python3 - "$figures/flags.json" "$cell" "$given" "$($cc --version | head -n 1)" "$out" "$dir/error" \
            $(($(date +%s) - started)) << 'END'
import datetime, json, os, sys

record, cell, flags, version, out, error, seconds = sys.argv[1:]
cells = json.load(open(record)) if os.path.exists(record) else {}
row = {"flags": flags, "compiler": version, "date": datetime.date.today().isoformat(), "seconds": int(seconds)}
try:
    found = json.load(open(out))
    functions = found["functions"]
    row["tool"] = "%(name)s %(version)s" % found["tool"]
    row["functions"] = len(functions)
    row["proved"] = sum(f["verdict"] == "proved" for f in functions)
    row["others"] = {
        f"{f['function']} ({os.path.basename(f['contract'])})": [f["verdict"], (f["reasons"] or ["no reason"])[0]]
        for f in functions
        if f["verdict"] != "proved"
    }
except (ValueError, KeyError):
    row["failed"] = open(error).read().strip()[-600:]
cells[cell] = row
json.dump(dict(sorted(cells.items())), open(record, "w"), indent=1, ensure_ascii=False)
print(cell, row.get("proved"), "of", row.get("functions"), row.get("failed", ""))
END
    done; done
done; done
python3 - "$figures/flags.json" "$figures/../results/flags.md" << 'END'
import json, re, sys

cells = json.load(open(sys.argv[1]))
names = {"debian": "Debian", "fedora": "Fedora", "android": "Android", "openssh": "OpenSSH"}
processors = ["x86-64", "aarch64", "cortex-m4"]
lines = [
    "# The library with the flags of distributions",
    "",
    "`make -C lib prove` proves the KEM library as it was compiled. This page shows it with the flags of four projects, for three",
    "processors. [docs/figures/flags.sh](../figures/flags.sh) runs it and writes this page.",
    "[flags.json](../figures/flags.json) has the flags, compilers, dates and reasons.",
    "",
    "A cell says how many contracts were proved. A dash is a cell that nobody has run yet.",
]
for kem in sorted({cell.split("/")[3] for cell in cells}):
    lines += ["", f"## {kem}", "", "| flags | compiler | x86-64 | AArch64 | Cortex-M4 |", "|---|---|---|---|---|"]
    for name in names:
        for compiler in ["gcc", "clang"]:
            row = []
            for processor in processors:
                cell = cells.get(f"{compiler}/{name}/{processor}/{kem}")
                if cell is None:
                    row.append("–")
                elif "failed" in cell:
                    row.append("not built")
                elif cell["proved"] == cell["functions"]:
                    row.append(f"proved ({cell['proved']})")
                else:
                    row.append(f"{cell['proved']} of {cell['functions']}")
            lines.append(f"| {names[name]} | {compiler} | " + " | ".join(row) + " |")
    reasons = {}
    for cell, row in cells.items():
        if not cell.endswith("/" + kem):
            continue
        place = cell.rsplit("/", 1)[0]
        if "failed" in row:
            last = (row["failed"].splitlines() or ["no message"])[-1]
            reasons.setdefault(("not built", last), {})[place] = 1
        for verdict, reason in row.get("others", {}).values():
            # The first reason of a function, without its place in the object.
            reason = re.split(r" at (?:0x|\.text)| \(called with|; link it in", reason)[0]
            reasons.setdefault((verdict, reason), {})[place] = 1
    if reasons:
        lines += ["", "| verdict | reason | cells |", "|---|---|---|"]
        for (verdict, reason), places in sorted(reasons.items()):
            text = reason.replace("|", "\\|").replace("<", "&lt;").replace("\n", " ")
            lines.append(f"| {verdict} | {text} | {', '.join(places)} |")
lines += [
    "",
    "## What the reasons come from",
    "",
    "OpenSSH's `-ftrapv`: overflow stops the program. Contracts of constant time assume that it does not happen. Contracts of what a",
    "function computes assume nothing, and gcc's calls of its own library (`__mulvsi3`) are then undefined symbols.",
]
compilers = sorted({row["compiler"] for row in cells.values()})
dates = sorted({row["date"] for row in cells.values()})
lines += ["", f"Compilers: {'; '.join(compilers)}. Run from {dates[0]} to {dates[-1]}.", ""]
open(sys.argv[2], "w").write("\n".join(lines))
END
