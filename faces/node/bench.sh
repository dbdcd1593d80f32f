#!/usr/bin/env bash
# What a turn costs beside each framework's own trimming: faces/node/bench.sh [MESSAGES...]
# Measures the package that test.sh has packed and installed.
set -euo pipefail
cd "$(dirname "$0")"
[ -d target/app/out ] || { echo "faces/node/test.sh comes first" >&2; exit 1; }
cp bench.mjs target/app/
LOUVER_BIN=none exec node target/app/bench.mjs "$@"
