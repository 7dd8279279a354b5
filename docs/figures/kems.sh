#!/bin/bash
# SPDX-License-Identifier: Apache-2.0 OR MIT
# Measures what docs/results/kems.md says of the KEMs: kems.json. Run it on a quiet machine; it takes some eight minutes. The
# peers are built by cargo in bench/ (without them: NO_PEERS=1). Each argument is a compiler with its options; of -O2 only
# portable code is measured, as distributions build it. MAKE_DIR keeps the objects, REPEATS and ONLY (names) make less of
# it, BUILD_ONLY=1 measures nothing.
set -eu
figures=$(cd "$(dirname "$0")" && pwd)
cd "$figures/../../lib"
dir=$(realpath "${MAKE_DIR:-$(mktemp -d)}")
[ -n "${MAKE_DIR:-}" ] || trap 'rm -rf "$dir"' EXIT
[ $# -gt 0 ] || set -- "clang-19 -O3" "gcc -O3" "gcc -O2"
repeats=${REPEATS:-2}
rm -f "$dir/lines"
for how in "$@"; do
    cc=${how%% *} flags=${how#* } build="$dir/$(tr -c 'a-zA-Z0-9\n' - <<< "$how")"
    first=${first:-$build}
    testing="-DRINGFORGE_TESTING -DRINGFORGE_RANDOM=2"
    make -s -j"$(nproc)" "$build/libringforge.a" BUILD="$build" CC="$cc" CFLAGS="$flags" CPPFLAGS="$testing"
    compile() { $cc $flags -std=c99 $testing -Iinclude "$@"; }
    compile tests/bench.c tests/kems.c "$build/libringforge.a" -o "$build/bench"
    objects=$(find "$build" -name '*.o' ! -name prime761.o ! -path '*check*') # the phases bring their own
    compile tests/phases.c $objects -o "$build/phases"
    [ -z "${BUILD_ONLY:-}" ] || continue
    targets="avx2 portable"
    ! grep -q avx512_vbmi2 /proc/cpuinfo || targets="all $targets"
    case $flags in *-O2*) targets=portable ;; esac
    for _ in $(seq $repeats); do
        for target in $targets; do
            "$build/bench" $target ${ONLY:-} | sed "s/^/$how|$target|/" >> "$dir/lines"
            "$build/phases" $target | sed "s/^/$how|$target|/" >> "$dir/lines"
        done
    done
done
if [ -z "${NO_PEERS:-}" ]; then
    (cd ../bench && RINGFORGE_LIBRARY="$first" cargo build --quiet --release -p peer-kem)
    peer=$(cargo metadata --format-version 1 --no-deps --manifest-path ../bench/Cargo.toml | python3 -c 'import json, sys
print(json.load(sys.stdin)["target_directory"])')/release/peer-kem
    [ -z "${BUILD_ONLY:-}" ] || exit 0
    for _ in $(seq $repeats); do
        "$peer" time ${ONLY:-} | sed 's/^/peer||/' >> "$dir/lines"
    done
fi
[ -z "${BUILD_ONLY:-}" ] || exit 0
python3 - "$dir/lines" << 'END' > "$dir/kems.json"
import json, re, sys

cpu = dict(re.findall(r"^(\S[^\t:]*)\s*: (.*)$", open("/proc/cpuinfo").read().split("\n\n")[0], re.M))
merged = {}
for line in open(sys.argv[1]):
    how, target, rest = line.rstrip("\n").split("|", 2)
    row = json.loads(rest)
    key = (how, target, row.get("kem"), row.get("name"), row.get("phase"))
    old = merged.setdefault(key, row)
    for name, value in row.items():
        if isinstance(value, list) and name != "uses":
            # of several runs the least minimum and the least median: the others were disturbed
            old[name] = [min(pair) for pair in zip(old[name], value)]
        elif name in ("min", "median"):
            old[name] = min(old[name], value)
rows, phases = [], []
for (how, target, kem, name, phase), row in merged.items():
    if phase:
        phases.append({"compiled": how, "target": target, **row})
    elif name:
        rows.append(row)
    else:
        ours = "ringforge, " + {"all": "AVX-512", "avx2": "AVX2", "portable": "portable"}[target]
        if "-O2" in how:
            ours += " at -O2"
        rows.append({"kem": kem, "name": ours, "compiled": how, **row})
host = {"processor": cpu["model name"], "model": f"{cpu['vendor_id']} family {cpu['cpu family']} model {cpu['model']}"}
print(json.dumps({"host": host, "rows": rows, "phases": phases}, indent=None).replace('}, {', '},\n{'))
END
mv "$dir/kems.json" "$figures/kems.json"
