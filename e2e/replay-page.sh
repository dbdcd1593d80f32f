#!/usr/bin/env bash
# Loads replay's page in a real browser: are the charts there, does the table sort, does nothing leave the machine?
# Runs only with LOUVER_E2E=1. Installs Debian's chromium and playwright-core where they are missing.
set -euo pipefail
cd "$(dirname "$0")/.."

if [ "${LOUVER_E2E:-}" != 1 ]; then
    echo "skipped: LOUVER_E2E is not 1"
    exit 0
fi

install() {
    apt-get update -qq
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@" >/dev/null
}
command -v chromium >/dev/null || install chromium
command -v npm >/dev/null || install nodejs npm

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp e2e/replay-page.mjs e2e/conversations.mjs "$work"
(cd "$work" && PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD=1 npm install --silent --no-save playwright-core@1.64.1)

mkdir "$work/conversations"
node "$work/conversations.mjs" "$work/conversations"
cargo run --quiet --locked -p louver-cli -- replay --quiet \
    "$work/conversations" --counter chars4 --context-window 30000 --max-output 1000 --html "$work/page.html" >/dev/null
node "$work/replay-page.mjs" "$work/page.html" "${LOUVER_E2E_SHOTS:-}"
