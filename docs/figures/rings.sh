#!/bin/bash
# SPDX-License-Identifier: Apache-2.0 OR MIT
# Measures what docs/results/x-n-plus-1.md says: rings.json (x^n + 1, cycles, on a quiet machine), ring-proofs.json,
# ring-mutants.json, and trinomials.json (x^n - x^(n/2) + 1 beside plain C, on a quiet machine). Run it from the source
# tree with `ringforge` in the PATH; with arguments, only those of `cycles`, `proofs`, `mutants`, `trinomials`.
set -eu
figures=$(cd "$(dirname "$0")" && pwd)
rings="mlkem kyber1 newhope512 newhope1024 mldsa"
trinomials="nttru ntruplus576 ntruplus768 ntruplus864 ntruplus1152"
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
list() { # files of JSON to one array
    separator="["
    for file in "$@"; do echo "$separator"; cat "$file"; separator=","; done
    echo "]"
}
for what in ${*:-cycles proofs mutants trinomials}; do
    case $what in
    cycles)
        for ring in $rings; do
            peers=--peers
            [ "$ring" = kyber1 ] && peers= # no peer in the registry multiplies in this ring
            # Whole products beside the peers; then the parts, apart: each is timed among few.
            ringforge bench "$ring" $peers --json > "$dir/whole"
            ringforge bench "$ring" --entries --cc clang-19 --json > "$dir/parts"
            python3 - "$dir/whole" "$dir/parts" > "$dir/cycles-$ring" << 'END'
import json, sys
whole, parts = (json.load(open(file)) for file in sys.argv[1:])
part = lambda row: row["operands"] == "" and row["name"].startswith("ringforge avx2 ")
whole["rows"] += [r for r in parts["rows"] if part(r) and not r["name"].endswith("_standard")]
print(json.dumps(whole, indent=1))
END
        done
        list $(for ring in $rings; do echo "$dir/cycles-$ring"; done) > "$figures/rings.json"
        ;;
    proofs)
        for ring in $rings; do
            for cc in gcc clang-19; do
                for opt in -O2 -O3; do
                    ringforge --json forge "$ring" --cc $cc --opt=$opt --no-bench --pairs 0 \
                        --out "$dir/p-$ring-$cc$opt" > "$dir/whole" || true
                    python3 - "$dir/whole" "$cc $opt" > "$dir/proofs-$ring-$cc$opt" << 'END'
import json, sys
package = json.load(open(sys.argv[1]))
print(json.dumps({"name": package["name"], "ring": package["ring"], "compiled": sys.argv[2],
    "entries": [{"symbol": t["symbol"], "verdict": t["proof"]["verdict"],
        "seconds": round(t["proof"]["times"]["total"], 2),
        "instructions": t["proof"]["counts"]["instructions"]} for t in package["targets"]]}))
END
                done
            done
        done
        list $(for ring in $rings; do ls "$dir/proofs-$ring-"*; done) > "$figures/ring-proofs.json"
        ;;
    mutants)
        for ring in $rings; do
            ringforge --json mutate "$ring" --sample 100 > "$dir/whole" || true
            python3 - "$dir/whole" > "$dir/mutants-$ring" << 'END'
import json, sys
run = json.load(open(sys.argv[1]))
del run["summary"]["trials"]
print(json.dumps(run))
END
        done
        list $(for ring in $rings; do echo "$dir/mutants-$ring"; done) > "$figures/ring-mutants.json"
        ;;
    trinomials)
        for ring in $trinomials; do
            for cc in gcc clang-19; do
                ringforge --json forge "$ring" --plan "$ring" --cc $cc --pairs 200 --out "$dir/t-$ring-$cc" > "$dir/whole"
                python3 - "$dir/whole" "$cc -O3" > "$dir/trinomial-$ring-$cc" << 'END'
import json, sys
package = json.load(open(sys.argv[1]))
proofs = [(t["symbol"], t["proof"]) for t in package["targets"]]
print(json.dumps({"ring": package["ring"], "name": package["name"], "compiled": sys.argv[2], "products": [{**compared,
    "entries": sum(s.endswith("_" + compared["target"]) for s, _ in proofs),
    "proved": sum(s.endswith("_" + compared["target"]) and p["verdict"] == "proved" for s, p in proofs),
    "seconds": round(next(p["times"]["total"] for s, p in proofs if s.endswith("_mul_" + compared["target"])), 2)}
    for compared in package["schoolbook"]]}))
END
            done
        done
        list $(for ring in $trinomials; do ls "$dir/trinomial-$ring-"*; done) > "$figures/trinomials.json"
        ;;
    *) echo "no figures called $what" >&2; exit 2 ;;
    esac
done
