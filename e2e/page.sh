#!/usr/bin/env bash
# Opens the proxy's page in a real browser, before a running `louver proxy` and `louver sandbox`: page.sh [LOUVER].
# Runs only with LOUVER_E2E=1. Installs Debian's chromium and playwright-core where they are missing. LOUVER_E2E_SHOTS names a
# folder for pictures.
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

louver=${1:-}
if [ -z "$louver" ]; then
    cargo build --quiet --locked -p louver-cli
    louver=${CARGO_TARGET_DIR:-target}/debug/louver
fi
louver=$(realpath "$louver")

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp e2e/page.mjs e2e/page-world.mjs "$work"
(cd "$work" && PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD=1 npm install --silent --no-save playwright-core@1.64.1)
node "$work/page.mjs" "$louver" "${LOUVER_E2E_SHOTS:-}"
