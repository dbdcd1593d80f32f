#!/usr/bin/env bash
# Draws docs/inspect.svg: what `louver inspect` shows of examples/agent.json before and after `louver trim`.
# Needs cargo and python3; `rich`, which turns terminal output into SVG, goes into a throw-away environment.
set -euo pipefail
cd "$(dirname "$0")/.."

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
python3 -m venv "$scratch/venv"
"$scratch/venv/bin/pip" install --quiet 'rich==14.2.0'
cargo build --quiet -p louver-cli
louver=$(cd "${CARGO_TARGET_DIR:-target}" && pwd)/debug/louver

window="--context-window 24000"
shell() {
    printf '\033[1;32m$\033[0m \033[1m%s\033[0m\n' "$1"
}
{
    shell "louver inspect examples/agent.json $window --limit 16"
    # shellcheck disable=SC2086 # the flag and its value are two words
    "$louver" inspect examples/agent.json $window --limit 16 --color always
    echo
    shell "louver trim examples/agent.json $window -o smaller.json"
    # shellcheck disable=SC2086
    "$louver" trim examples/agent.json $window -o "$scratch/smaller.json" --color always 2>&1
    echo
    shell "louver inspect smaller.json $window --limit 16"
    # shellcheck disable=SC2086
    (cd "$scratch" && "$louver" inspect smaller.json $window --limit 16 --color always)
} >"$scratch/terminal.txt"

"$scratch/venv/bin/python" - "$scratch/terminal.txt" docs/inspect.svg <<'PY'
import io, re, sys
from rich.console import Console
from rich.terminal_theme import TerminalTheme
from rich.text import Text

theme = TerminalTheme(
    (22, 24, 29), (214, 217, 224),
    [(22, 24, 29), (240, 113, 120), (126, 200, 120), (229, 192, 96), (102, 153, 224), (198, 136, 222), (92, 190, 205), (214, 217, 224)],
    [(120, 126, 140), (240, 113, 120), (126, 200, 120), (229, 192, 96), (102, 153, 224), (198, 136, 222), (92, 190, 205), (255, 255, 255)],
)
console = Console(record=True, width=102, file=io.StringIO(), force_terminal=True, color_system="truecolor", legacy_windows=False)
for line in open(sys.argv[1], encoding="utf-8"):
    console.print(Text.from_ansi(line.rstrip("\n")), soft_wrap=True)
svg = console.export_svg(title="louver", theme=theme, unique_id="louver")
# No fonts from the network: what the reader's machine has for code is good enough.
svg = re.sub(r"@font-face \{.*?\}\s*", "", svg, flags=re.S)
svg = svg.replace("Fira Code", "DejaVu Sans Mono, Menlo, Consolas")
open(sys.argv[2], "w", encoding="utf-8").write(svg)
PY
ls -l docs/inspect.svg | awk '{ print $5 " bytes" }'
