#!/usr/bin/env bash
# Trims the same generated conversations with LangChain, LiteLLM and Louver in one run and prints the ratios.
# Needs Python 3 with venv, and PyPI; everything is installed into a folder that is gone afterwards.
#   bench/peers.sh [TURNS...]      (default: 25 100 400)
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

cargo build --release --locked --manifest-path "$here/Cargo.toml"
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check langchain-core==1.7.2 litellm==1.106.2
"$folder/venv/bin/python" "$here/peers.py" --bin "$here/target/release" --work "$folder" "$@"
