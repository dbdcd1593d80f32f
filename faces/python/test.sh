#!/usr/bin/env bash
# Builds the wheel, installs it into an empty environment with the frameworks, and runs every test of the face.
# Needs Python 3.10 or later with venv, PyPI, and the Rust toolchain; whoever installs the wheel needs no compiler.
#   faces/python/test.sh
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
work=${LOUVER_PYTHON_DIR:-$here/target/test}

step() { printf -- '-- %s (%ss)\n' "$1" "$SECONDS"; }

# An environment with the wheel and what a file names.
environment() {
    rm -rf "${work:?}/$1"
    python3 -m venv "$work/$1"
    "$work/tools/bin/uv" pip install --quiet --python "$work/$1/bin/python" "$work"/wheels/*.whl
    "$work/$1/bin/python" -c 'import louver; assert louver.check([{"role": "user", "content": "Hi"}]) == []'
    "$work/tools/bin/uv" pip install --quiet --python "$work/$1/bin/python" -r "$here/$2"
}

# Types and tests of some modules.
try() {
    local python=$work/$1/bin/python modules=$2
    shift 2
    # shellcheck disable=SC2086
    "$python" -m mypy --strict $modules
    "$python" -m pytest -ra --durations=5 "$@"
}

step "the wheel"
mkdir -p "$work"
[ -x "$work/tools/bin/uv" ] || {
    python3 -m venv "$work/tools"
    "$work/tools/bin/pip" install --quiet --disable-pip-version-check maturin==1.16.0 uv==0.13.7
}
rm -rf "$work/wheels"
(cd "$here" && "$work/tools/bin/maturin" build --quiet --locked --release --out "$work/wheels")

if [ -z "${LOUVER_BIN:-}" ]; then
    step "the command line and its sandbox"
    cargo build --quiet --locked --manifest-path "$root/Cargo.toml" -p louver-cli
    LOUVER_BIN=${CARGO_TARGET_DIR:-$root/target}/debug/louver
fi
export LOUVER_BIN

cd "$here"
step "the wheel in an empty environment, then with the frameworks"
environment venv requirements.txt
"$work/venv/bin/python" -m mypy.stubtest louver._louver --ignore-disjoint-bases
try venv "-p louver" --ignore tests/test_litellm.py
step "the same with LiteLLM"
environment litellm requirements-litellm.txt
try litellm "-p louver" tests/test_litellm.py
step "done"
