#!/usr/bin/env bash
# Fuzzes every target for some seconds each (default 60): fuzz/run.sh [SECONDS] [TARGET...]
# With a nightly toolchain the sanitizers are on, with stable they are off. Where cargo-fuzz cannot be had, the targets
# are built and the same checks run as a property test instead.
set -euo pipefail
cd "$(dirname "$0")/.."

seconds=${1:-60}
shift || true
targets=("$@")
if [ ${#targets[@]} -eq 0 ]; then
    targets=(json anthropic openai_chat openai_responses gemini records)
fi

if ! cargo fuzz --version >/dev/null 2>&1; then
    echo "cargo-fuzz is not installed: installing it"
    cargo install cargo-fuzz --version '^0.13' --locked || true
fi
if ! cargo fuzz --version >/dev/null 2>&1; then
    echo "cargo-fuzz cannot be installed here: building the targets and running the same checks as a property test"
    cargo build --manifest-path fuzz/Cargo.toml --locked --lib
    exec cargo test -p louver --test fuzz_harness
fi

# The engine has no unsafe code, so what a sanitizer would find is a bug of a dependency; what stable cannot do is
# instrument with one.
if cargo +nightly --version >/dev/null 2>&1; then
    fuzz=(cargo +nightly fuzz)
    options=()
    echo "fuzzing with nightly and the address sanitizer"
else
    fuzz=(cargo fuzz)
    options=(-s none)
    echo "fuzzing with stable, without a sanitizer"
fi

"${fuzz[@]}" build "${options[@]}"
for target in "${targets[@]}"; do
    mkdir -p "fuzz/corpus/$target"
    echo "== $target for $seconds seconds"
    "${fuzz[@]}" run "${options[@]}" "$target" "fuzz/corpus/$target" "fuzz/seeds/$target" -- \
        -max_total_time="$seconds" -max_len=4096 -timeout=10 -rss_limit_mb=4096 \
        -dict=fuzz/words.dict -verbosity=0 -print_final_stats=1 -print_funcs=0
done
