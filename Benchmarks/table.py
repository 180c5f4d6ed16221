"""The table, on a terminal while it grows and as the page `Docs/Benchmarks.md`."""

INTRODUCTION = """# Benchmarks

Written by `scripts/bench`, which measures stallwatch and its peers side by side in one run. Ratios hold on other
machines, single figures do not. A row that could not be run counts as not met.
"""

QUICK = """
**A quick run**: few and short measurements, on purpose. It shows that the bench works; its figures mean little.
"""


def print_row(row, result):
    verdict = "met    " if result.is_met else "NOT MET"
    print(f"{verdict}  {row.what}: {row.limit}")
    print(
        f"         measured {result.measured}" + (f"; peer {result.peer}" if result.peer != "–" else ""), flush=True
    )


def markdown(machine, rows, quick):
    lines = [INTRODUCTION + (QUICK if quick else ""), "| | |", "|---|---|"]
    lines += [f"| {word} | {cell(meaning)} |" for word, meaning in machine]
    met = sum(result.is_met for _, result in rows)
    lines += [
        "",
        f"{met} of {len(rows)} are met.",
        "",
        "| what | at least | measured | peer | met |",
        "|---|---|---|---|---|",
    ]
    for row, result in rows:
        cells = [row.what, row.limit, result.measured, result.peer, "yes" if result.is_met else "**no**"]
        lines.append(f"| {' | '.join(map(cell, cells))} |")
    return "\n".join(lines) + "\n"


def cell(text):
    return text.replace("|", "\\|").replace("\n", " ")
