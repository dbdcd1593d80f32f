#!/usr/bin/env bash
# Builds the addon for this machine and the package around it. Needs Node, npm's registry and the Rust toolchain; whoever
# installs the package needs none of the latter.
#   faces/node/build.sh [PROFILE]      (default: release)
set -euo pipefail
cd "$(dirname "$0")"
profile=${1:-release}

if ! cmp -s package.json node_modules/.installed; then
    npm install --silent --ignore-scripts --legacy-peer-deps --no-package-lock --no-audit --no-fund
    cp package.json node_modules/.installed
fi
rm -rf cjs esm native
npx napi build --platform --profile "$profile" --output-dir native --js index.js --dts index.d.ts --no-const-enum

npx tsc --outDir esm
npx tsc --outDir cjs --module commonjs
# One copy of every class, whichever way the package is loaded: what is not an adapter is the same for both.
find esm -maxdepth 1 -type f -delete
rm -f esm/adapters/sdk.*
echo 'export * from "../cjs/index.js";' | tee esm/index.js >esm/index.d.ts
echo '{ "type": "module" }' >esm/package.json

# The addon goes into the package of its platform, the only thing of ours that is not for all.
for addon in native/*.node; do
    platform=$(basename "$addon" .node)
    mv "$addon" "npm/${platform#louver.}/"
done
