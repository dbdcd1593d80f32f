#!/usr/bin/env python3
"""Writes the figures of a replay (`louver replay --json`) into README, between its two marks. Run by make-figures.sh."""

import json
import pathlib
import sys

BEGIN = "<!-- figures: written by docs/make-figures.sh -->\n"
END = "<!-- end of figures -->"
LONG = "100+"
SHOWN = ["ladder-lean", "ladder", "ladder-careful"]


def percent(share):
    return "–" if share is None else f"{share * 100 + 0:.0f} %"


def median(group, name):
    return group["median"].get(name)


def line(totals):
    group = totals["by_length"][LONG]
    recall = f"{percent(median(group, 'recall_line'))} ({percent(group['p10'].get('recall_line'))})"
    name = f"**`{totals['policy']}`**" if totals["policy"] == "ladder" else f"`{totals['policy']}`"
    cells = [
        name,
        f"${group['sums']['cost_usd']:.2f}",
        percent(median(group, "saving")),
        percent(group["saving_of_bill"]),
        percent(group["saving_of_paid"]),
        percent(median(group, "saving_after_recall")),
        percent(median(group, "saving_after_recall_passage")),
        f"{median(group, 'recalls_per_request') or 0:.2f}",
        recall,
        percent(median(group, "recall_line_intact")),
        percent(median(group, "recall_line_old")),
        percent(group["dearest_saving"]),
    ]
    return f"| {' | '.join(cells)} |"


def dearer(report, policy, than):
    rows = [row for row in report["runs"] if row["policy"] == policy]
    return sum(1 for row in rows if row["saving"] is not None and row["saving"] < -than), len(rows)


def figures(report):
    by_name = {totals["policy"]: totals for totals in report["totals"]}
    ladder = by_name["ladder"]
    everybody, long = ladder["conversations"], ladder["by_length"][LONG]
    usual, cost = ladder["sums"]["baseline_usd"], ladder["sums"]["cost_usd"]
    worse, of = dearer(report, "ladder", 0.01)
    over = sum(by_name[name]["sums"]["overflows"] for name in SHOWN)
    illegal = sum(totals["sums"]["illegal"] for totals in report["totals"])
    order = sorted(report["totals"], key=lambda totals: -(totals["by_length"][LONG]["saving_of_paid"] or 0))
    text = [
        "",
        f"**${usual:.2f} is what {everybody} public conversations cost as they are usually sent; under `ladder` they would have "
        f"cost ${cost:.2f}, {percent(1 - cost / usual)} less of all that is paid.** Usually means: everything, with the provider's "
        "cache, and cut in half when the window is full.",
        "",
        f"One run: `{report['command']}`, where `corpus/` is [these conversations](docs/corpus.md). {report['assumed'][0].upper()}"
        f"{report['assumed'][1:]}. The table is of the {long['conversations']} conversations with 100 and more requests "
        f"({long['sums']['requests']:,.0f} in all; the group `100+` in the JSON); other counters, prices and windows give other figures.",
        "",
        "| policy | cost | saving | of input | of paid | after recall | by passages | recalls | line (p10) | intact | old | worst |",
        "|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|",
        *map(line, order),
        "",
        f"Of all {of} conversations, most of them short, `ladder` made {worse or 'none'} more than 1 % dearer. "
        f"{illegal:.0f} requests were illegal under any policy; {over:.0f} were over the window under the three ladders.",
        "",
    ]
    return "\n".join(text)


def main():
    report = json.loads(pathlib.Path(sys.argv[1]).read_text())
    page = pathlib.Path(sys.argv[2])
    before, _, rest = page.read_text().partition(BEGIN)
    _, _, after = rest.partition(END)
    assert after, f"{page} has no place for figures"
    page.write_text(before + BEGIN + figures(report) + END + after)
    print(f"{page}: {len(report['runs'])} rows, {report['command']}; {report['assumed']}")


main()
