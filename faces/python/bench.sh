#!/usr/bin/env bash
# What a turn costs beside LangChain's and LiteLLM's own trimming: faces/python/bench.sh [MESSAGES...]
# Needs what test.sh needs; everything but the build is in a folder that is gone afterwards.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check maturin==1.16.0 langchain==1.4.7 langchain-core==1.7.2 litellm==1.83.0
(cd "$here" && "$folder/venv/bin/maturin" build --quiet --locked --release --out "$folder/wheels")
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check "$folder"/wheels/*.whl
"$folder/venv/bin/python" "$here/bench.py" "$@"
