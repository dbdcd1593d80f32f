#!/usr/bin/env bash
# What a turn costs beside each framework's own trimming: faces/python/bench.sh [MESSAGES...]
# Measures the wheel that test.sh has built and installed, in the environments that it has made.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
work=${LOUVER_PYTHON_DIR:-$here/target/test}
[ -x "$work/agents/bin/python" ] || { echo "faces/python/test.sh comes first" >&2; exit 1; }
for environment in venv litellm agents; do
    "$work/$environment/bin/python" "$here/bench.py" "$@"
done
[ $# -gt 0 ] || "$work/venv/bin/python" "$here/bench.py" threads
