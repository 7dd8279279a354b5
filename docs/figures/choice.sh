#!/bin/bash
# SPDX-License-Identifier: Apache-2.0 OR MIT
# Whether the choice of a plan is the same in fresh runs: `docs/figures/choice.sh`, from the source tree, on a quiet machine,
# with `ringforge` in the PATH. Forges five rings five times each, without wisdom, and writes choice.json: what each run took, and how
# it has what other runs took. Ends with status 1 where two runs took different plans and one of them does not call the other's
# a tie or nearly one. RUNS is another number of runs, TARGET another target, CC another compiler; FLAGS are more options of `forge`, as
# --no-prove, with which the fastest is taken and not the fastest that is proved.
set -eu
figures=$(cd "$(dirname "$0")" && pwd)
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
export RINGFORGE_WISDOM=
number=0
while IFS='|' read -r ring rhs; do
    for ((run = 0; run < ${RUNS:-5}; run++)); do
        # shellcheck disable=SC2086 # FLAGS are several words.
        ringforge --json forge "$ring" --rhs "$rhs" --target "${TARGET:-avx2}" --cc "${CC:-clang-19}" --fresh --name choice \
            --out "$dir/p" ${FLAGS:-} > "$dir/$number-$run.json"
        rm -rf "$dir/p"
    done
    number=$((number + 1))
done << 'END'
sntrup761|small
ntruhps2048509|big
saber|within 5
Z3329[x]/(x^64 - x - 1)|big
Z1000[x]/(x^100 + 1)|big
END
python3 - "$dir" "$figures/choice.json" << 'END'
import json, pathlib, sys
runs = {}
for path in sorted(pathlib.Path(sys.argv[1]).glob("*.json")):
    run = json.load(open(path))
    trials = run["choices"][0]["trials"]
    taken = next(trial for trial in trials if trial["taken"])
    rivals = {t["plan"]: t["outcome"] for t in trials if t["cycles"] and not t["taken"]}
    one = {"taken": taken["plan"], "cycles": taken["cycles"], "others": rivals}
    runs.setdefault(f'{run["ring"]}, {" × ".join(map(str, run["operands"]))}', []).append(one)
steady = True
for ring, all_runs in runs.items():
    plans = {run["taken"] for run in all_runs}
    tie = all(
        "tie" in run["others"].get(plan, "") for run in all_runs for plan in plans - {run["taken"]}
    )
    told = "the same plan" if len(plans) == 1 else "a tie" if tie else "DIFFERENT PLANS"
    steady &= len(plans) == 1 or tie
    print(f"{ring}: {told} in {len(all_runs)} runs: " + ", ".join(run["taken"] for run in all_runs))
with open(sys.argv[2], "w") as file:
    json.dump(runs, file, indent=1, ensure_ascii=False)
sys.exit(0 if steady else 1)
END
