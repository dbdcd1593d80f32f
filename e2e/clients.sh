#!/bin/sh
# Runs the real Claude Code, Codex and Gemini CLI, and the official SDKs, through `louver proxy` to `louver sandbox`, the first
# two with `louver mcp`: e2e/clients.sh [TURNS], 20 if nothing is said.
set -eu
. "$(dirname "$0")/install.sh"
install_node clients.json clients
install_sdks

cargo build --quiet --locked --manifest-path "$root/Cargo.toml" -p louver-cli
python3 "$root/e2e/clients.py" --louver "$target/debug/louver" --work "$work" --turns "${1:-20}"
exec python3 "$root/e2e/mcp.py" --louver "$target/debug/louver" --work "$work"
