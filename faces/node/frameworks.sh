#!/usr/bin/env bash
# What each framework's own way against a full window costs beside Louver's: the table of docs/frameworks.md.
# Runs in the folder that test.sh has made.
#   faces/node/frameworks.sh [FRAMEWORK...]
set -euo pipefail
cd "$(dirname "$0")"
[ -d target/app/out ] || { echo "faces/node/test.sh comes first" >&2; exit 1; }
root=$(cd ../.. && pwd)
export LOUVER_BIN=${LOUVER_BIN:-${CARGO_TARGET_DIR:-$root/target}/debug/louver}
cp frameworks.mjs target/app/

echo '| | requests answered | refused | input tokens | from the cache | dollars |'
echo '|---|--:|--:|--:|--:|--:|'
node target/app/frameworks.mjs "$@"
