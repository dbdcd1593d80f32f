#!/usr/bin/env bash
# Writes README's figures and docs/replay.png from one replay of the conversations that LOUVER_CORPUS names (docs/corpus.md):
# LOUVER_CORPUS=folder docs/make-figures.sh
# Needs cargo, python3 and chromium. Prices, window and counter are given, so that a change of the catalogue changes no figure.
set -euo pipefail
cd "$(dirname "$0")/.."
: "${LOUVER_CORPUS:?names the folder with the conversations (docs/corpus.md)}"

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cargo build --quiet --release -p louver-cli
louver=$(cd "${CARGO_TARGET_DIR:-target}" && pwd)/release/louver

ln -s "$(cd "$LOUVER_CORPUS" && pwd)" "$scratch/corpus"
conditions=(--prices 1.25/0.1 --context-window 200000 --counter chars4)
(cd "$scratch" && "$louver" replay corpus/ "${conditions[@]}" --json report.json --html page.html --top 0 >table.txt)
cat "$scratch/table.txt"
python3 docs/figures.py "$scratch/report.json" README.md
# What does not need the network, a profile or a second process.
chromium --headless --no-sandbox --disable-gpu --no-first-run --disable-background-networking --disable-component-update \
    --disable-sync --user-data-dir="$scratch/profile" --hide-scrollbars --window-size=1140,1430 \
    --screenshot="$PWD/docs/replay.png" "file://$scratch/page.html" >/dev/null 2>&1
ls -l docs/replay.png | awk '{ print "docs/replay.png: " $5 " bytes" }'
