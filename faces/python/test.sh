#!/usr/bin/env bash
# Builds the wheels, installs them into empty environments with the frameworks, and runs every test of the face.
# Needs Python 3.10 or later with venv, PyPI, npm's registry (pyright), Java 17 (Spark) and the Rust toolchain; whoever
# installs the wheels needs no compiler.
#   faces/python/test.sh            everything
#   faces/python/test.sh ahead      no more than the wheel, and what the environments will need in the cache
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
work=${LOUVER_PYTHON_DIR:-$here/target/test}
uv=$work/tools/bin/uv

step() { printf -- '-- %s (%ss)\n' "$1" "$SECONDS"; }

# An environment with the wheels and what a file names.
environment() {
    rm -rf "${work:?}/$1"
    "$uv" venv --quiet --python python3 "$work/$1"
    "$uv" pip install --quiet --python "$work/$1/bin/python" "$work"/wheels/*.whl
    "$work/$1/bin/python" -c 'import louver; assert louver.check([{"role": "user", "content": "Hi"}]) == []'
    "$uv" pip install --quiet --python "$work/$1/bin/python" -r "$here/$2"
}

# Types of some modules as mypy and pyright see the installed package.
typed() {
    local name=$1 modules=$2 package
    shift 2
    # shellcheck disable=SC2086
    "$work/$name/bin/python" -m mypy --strict $modules
    package=$("$work/$name/bin/python" -c 'import louver; print(louver.__path__[0])')
    npx --yes pyright@1.1.414 --pythonpath "$work/$name/bin/python" "${@/#/$package/}"
}

tests() {
    local name=$1
    shift
    "$work/$name/bin/python" -m pytest -ra --durations=5 "$@"
}

step "the wheels"
mkdir -p "$work"
[ -x "$uv" ] || {
    python3 -m venv "$work/tools"
    "$work/tools/bin/pip" install --quiet --disable-pip-version-check maturin==1.16.0 uv==0.13.7
}
rm -rf "$work/wheels"
# napi names the target, too: what both need is built once.
host=$(rustc -vV | sed -n 's/^host: //p')
(cd "$here" && "$work/tools/bin/maturin" build --quiet --locked --release --target "$host" --out "$work/wheels")
if [ "${1:-}" = ahead ]; then
    for requirements in "$here"/requirements*.txt; do
        "$uv" pip install --quiet --python python3 --target "$work/ahead" -r "$requirements"
        rm -rf "$work/ahead"
    done
    exit
fi
step "the command that comes along"
(cd "$here/../command" && "$work/tools/bin/maturin" build --quiet --locked --profile "${LOUVER_COMMAND_PROFILE:-dev}" --out "$work/wheels")

cd "$here"
step "the wheels in an empty environment, then with the frameworks"
environment venv requirements.txt
export LOUVER_BIN=${LOUVER_BIN:-$work/venv/bin/louver}
"$LOUVER_BIN" --version
"$work/venv/bin/python" -m mypy.stubtest louver._louver --ignore-disjoint-bases
own=(__init__.py _condense.py _errors.py _types.py adapters/{sdk,langchain,openai_agents,pydantic_ai}.py)
typed venv "-p louver" "${own[@]}"
tests venv tests/test_{functions,langchain,laws,limits,openai_agents,pydantic_ai,readme,replay,sdk,window}.py
step "the same with LiteLLM and its proxy"
environment litellm requirements-litellm.txt
typed litellm "-p louver" adapters/litellm.py
tests litellm tests/test_litellm.py
step "the same with LlamaIndex, Strands, Google's ADK and smolagents"
environment agents requirements-agents.txt
of() { printf -- '-m louver.adapters.%s ' "$@"; }
typed agents "$(of google_adk llama_index smolagents strands)" adapters/{google_adk,llama_index,smolagents,strands}.py
tests agents tests/test_{agents,llama_index}.py
step "the same with what reads tables: Spark, pandas, Polars, DuckDB"
environment fleets requirements-fleets.txt
tests fleets tests/test_replay.py
step "done"
