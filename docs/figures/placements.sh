#!/bin/bash
# SPDX-License-Identifier: Apache-2.0 OR MIT
# Measures what docs/results/reductions.md says of placements as code: placements.json, for n = 512 and 1024 the paper's
# placement, the four optima that `ringforge search` finds in words without sign, and `forge`'s own plan in words with sign.
# Each is forged by gcc, which is timed, and by clang, and must be proved by both. Run it from the source tree with
# `ringforge` in the PATH, on a quiet machine.
set -eu
figures=$(cd "$(dirname "$0")" && pwd)
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
export RINGFORGE_WISDOM=
row() { # n, placement, inverse, what search says (or nothing), more arguments of forge
    local n=$1 name=$2 inverse=$3 search=$4
    shift 4
    for cc in gcc clang-19; do
        ringforge --json forge "newhope$n" --target avx2 --cc $cc --name p --out "$dir/p" "$@" > "$dir/$cc"
        rm -rf "$dir/p"
    done
    python3 - "$n" "$name" "$inverse" "$search" "$dir/gcc" "$dir/clang-19" >> "$dir/rows" << 'END'
import json, sys
n, name, inverse, search, *packages = sys.argv[1:]
packages = [json.load(open(file)) for file in packages]
timed = packages[0]["targets"][-1]
words = None # a number, or what is found for the forward transform of each operand and the inverse
if search.isdigit():
    words = int(search)
elif search:
    forward, back = (part["certificate"]["found"] for part in json.load(open(search))["parts"])
    words = 2 * forward + back
row = {"n": int(n), "placement": name, "inverse": inverse, "words": words,
       "registers": timed["counts"]["total"]["reductions"], "cycles": timed["timing"]["min"],
       "median": timed["timing"]["median"], "dropped": timed["timing"]["dropped"],
       "verdicts": [package["verdict"] for package in packages],
       "compiled": [package["targets"][-1]["compiler"]["version"] for package in packages]}
print(json.dumps(row))
if any(verdict != "proved" for verdict in row["verdicts"]):
    sys.exit(f"{name}, n = {n}: {row['verdicts']}")
END
}
for n in 512 1024; do
    # Whole layers: 13 and 14 times n/2 words.
    seed=$(((n == 512 ? 13 : 14) * n / 2))
    row $n "the paper's" Gentleman–Sande $seed --schedule "$figures/../examples/newhope$n-paper.toml"
    for inverse in gentleman-sande cooley-tukey; do
        for granularity in coefficient register; do
            ringforge --json search "newhope$n" --arithmetic unsigned --granularity $granularity --inverse $inverse \
                --out "$dir/found.json" > "$dir/search"
            case $granularity in
            coefficient) name="optimum, single coefficients" ;;
            register) name="optimum, registers of 16" ;;
            esac
            case $inverse in
            gentleman-sande) by=Gentleman–Sande ;;
            cooley-tukey) by=Cooley–Tukey ;;
            esac
            row $n "$name" $by "$dir/search" --schedule "$dir/found.json"
        done
    done
    row $n "signed words, \`forge\`'s own plan" Cooley–Tukey ""
done
python3 - "$dir/rows" > "$figures/placements.json" << 'END'
import json, sys
print(json.dumps([json.loads(line) for line in open(sys.argv[1])], indent=1, ensure_ascii=False))
END
