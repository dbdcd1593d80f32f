#!/bin/sh
# Lets the real Claude Code, Codex and Gemini CLI record sessions against `louver sandbox` and compares what they recorded with
# the sandbox's books and with what `louver replay` makes of it: e2e/bills.sh [NAME]
set -eu
. "$(dirname "$0")/install.sh"
install_node clients.json clients

cargo build --quiet --locked --manifest-path "$root/Cargo.toml" -p louver-cli
exec python3 "$root/e2e/bills.py" --louver "$target/debug/louver" --work "$work" ${1:+--only "$1"}
