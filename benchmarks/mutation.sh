#!/bin/bash
# How much of the core its tests hold: mutation score, file by file.
#
#   benchmarks/mutation.sh                                      core/turn, core/engine/pipeline.py and core/settings.py
#   benchmarks/mutation.sh core/turn/plan.py core/settings.py   these files
#   SCRATCH=/tmp/m KEEP=1 benchmarks/mutation.sh                work there, and leave it for `mutmut show`
#   TESTS="tests/core/turn/test_plan.py" benchmarks/mutation.sh core/turn/plan.py   with these tests
#
# mutmut wants real folders where this repository has symlinks, so it works in a scratch copy, with the pure tests.
set -euo pipefail

root=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd -P)
python=${PYTHON:-$root/.venv/bin/python}
scratch=${SCRATCH:-$(mktemp -d "${TMPDIR:-/tmp}/upbeat-mutation.XXXXXX")}
read -r -a tests <<<"${TESTS:-tests/core}"

say() { printf '%s\n' "mutation.sh: $*" >&2; }

if ! "$python" -c 'import mutmut' 2>/dev/null; then
  say "mutmut is not installed; $python -m pip install -e '${root}[test,mutation]'"
  exit 1
fi
[ -n "${KEEP-}" ] || trap 'rm -rf -- "$scratch"' EXIT

if [ $# -eq 0 ]; then
  set -- "$root"/core/turn/*.py core/engine/pipeline.py core/settings.py
fi
chosen=""
for file in "$@"; do
  chosen+="\"src/upbeat/${file#"$root"/}\", "
done
selected=""
for test in "${tests[@]}"; do
  selected+="\"$test\", "
done

say "scratch copy in $scratch"
mkdir -p "$scratch/src"
rm -rf -- "${scratch:?}/src/upbeat" "${scratch:?}/tests" "${scratch:?}/mutants"
cp -RL "$root/src/upbeat" "$scratch/src/upbeat"
mkdir "$scratch/tests"
cp -R "$root/tests/core" "$root/tests/fakes" "$root/tests/recorded" "$root"/tests/*.py "$scratch/tests/"
cp -RL "$root/config" "$root/docs" "$scratch/"
find "$scratch" -name __pycache__ -prune -exec rm -rf {} +

cat >"$scratch/pyproject.toml" <<EOF
[tool.pytest.ini_options]
addopts = ["--strict-markers", "--import-mode=importlib"]
markers = ["e2e: not here"]

[tool.mutmut]
source_paths = ["src"]
only_mutate = [$chosen]
also_copy = ["tests", "config", "docs"]
pytest_add_cli_args = ["-q", "-p", "no:cacheprovider", "-p", "no:xdist"]
pytest_add_cli_args_test_selection = [$selected]
track_dependencies = false
use_git_change_detection = false
timeout_multiplier = 5.0
EOF

cd "$scratch"
PYTHONPATH="$scratch/src" "$python" -m mutmut run --max-children "${JOBS:-2}" >"$scratch/log" 2>&1 ||
  { tail -n 40 "$scratch/log" >&2 && say "mutmut failed; its last words are above" && exit 1; }

"$python" - "$scratch/mutants" <<'EOF'
"""The score of each file: mutants that a test noticed, of all that were tried. A timeout counts as noticed."""

import json
import sys
from pathlib import Path

SURVIVED, UNTESTED = {0}, {5, 33, 34, None}
folder = Path(sys.argv[1])
total = [0, 0, 0]
print(f"{'file':<34}{'noticed':>9}{'survived':>9}{'untested':>9}{'score':>8}")
for meta in sorted(folder.rglob("*.meta")):
    codes = list(json.loads(meta.read_text())["exit_code_by_key"].values())
    survived, untested = (sum(code in group for code in codes) for group in (SURVIVED, UNTESTED))
    counts = [len(codes) - survived - untested, survived, untested]
    if any(counts):
        total = [a + b for a, b in zip(total, counts)]
        name = str(meta.relative_to(folder)).removeprefix("src/upbeat/").removesuffix(".meta")
        print(f"{name:<34}{counts[0]:>9}{counts[1]:>9}{counts[2]:>9}{counts[0] / sum(counts):>8.1%}")
print(f"{'all':<34}{total[0]:>9}{total[1]:>9}{total[2]:>9}{total[0] / max(1, sum(total)):>8.1%}")
EOF
[ -z "${KEEP-}" ] || say "the survivors: cd $scratch && PYTHONPATH=src $python -m mutmut results"
