#!/bin/bash
# SPDX-License-Identifier: Apache-2.0 OR MIT
# Measures what docs/results/plans.md says of plans: plans.json (what each does, its proof, its cycles, beside the
# peers; on a quiet machine) and plan-mutants.json. Run it from the source tree with `ringforge` in the
# PATH; with arguments, only those of `cycles`, `mutants`.
set -eu
figures=$(cd "$(dirname "$0")" && pwd)
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
list() { # files of JSON to one array
    separator="["
    for file in "$@"; do echo "$separator"; cat "$file"; separator=","; done
    echo "]"
}
bench() { # ring, operands (2), targets, plans [all]
    ringforge --quiet bench "$1" --plans "${5:-all}" --lhs "$2" --rhs "$3" --target "$4" --peers --cc clang-19 \
        --copies 5 --samples 100 --patience 100 --out "$dir/$1-$2-${3// /-}"
}
for what in ${*:-cycles mutants}; do
    case $what in
    cycles)
        bench sntrup761 big big all
        # Beside the best for any operands those that rely on a small one.
        only=sntrup761,sntrup761-truncated-rader,sntrup761-two-prime
        bench sntrup761 big small all $only,sntrup761-good-thomas,sntrup761-good-thomas-seed
        bench ntruhps2048677 big big all
        bench ntruhps2048677 big small all
        for ring in sntrup653 sntrup857 sntrup953 sntrup1013 sntrup1277; do
            bench $ring big small all
        done
        for ring in ntruhps2048509 ntruhps4096821 ntruhrss701; do
            bench $ring big big all
            bench $ring big small all $ring-two-prime,$ring-toom
        done
        bench saber big "within 5" all
        bench kyber1 big big all
        list "$dir"/{sntrup761,ntruhps2048677}-*/plans.json \
            "$dir"/{sntrup653,sntrup857,sntrup953,sntrup1013,sntrup1277}-*/plans.json \
            "$dir"/{ntruhps2048509,ntruhps4096821,ntruhrss701,saber,kyber1}-*/plans.json > "$figures/plans.json"
        ;;
    mutants)
        for plan in sntrup761-two-prime ntruhps2048677-toom; do
            operands=
            [ $plan = sntrup761-two-prime ] && operands=--rhs=small
            ringforge --json mutate ${plan%%-*} --plan $plan $operands --sample 60 > "$dir/whole" || true
            python3 - "$dir/whole" $plan > "$dir/mutants-$plan" << 'END'
import json, sys
run = json.load(open(sys.argv[1]))
run["symbol"] = sys.argv[2] + ", avx2"
del run["summary"]["trials"]
print(json.dumps(run))
END
        done
        list "$dir"/mutants-* > "$figures/plan-mutants.json"
        ;;
    *) echo "no figures called $what" >&2; exit 2 ;;
    esac
done
