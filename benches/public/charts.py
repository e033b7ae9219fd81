"""Charts of the tables, as SVG: they follow the reader's light or dark scheme."""

from __future__ import annotations

import math
import os
from pathlib import Path
from typing import NamedTuple

STYLE = """
    .ink { fill: #1f2328 } .dim { fill: #59636e } .line { stroke: #d1d9e0 }
    .ours { fill: #0969da; stroke: #0969da } .theirs { fill: #8c959f; stroke: #8c959f }
    path, circle { stroke-width: 2 } path { fill: none !important } text { stroke: none !important }
    @media (prefers-color-scheme: dark) {
      .ink { fill: #f0f6fc } .dim { fill: #9198a1 } .line { stroke: #3d444d }
      .ours { fill: #4493f8; stroke: #4493f8 } .theirs { fill: #656c76; stroke: #656c76 }
    }
  """
FONT = "system-ui, -apple-system, 'Segoe UI', Helvetica, Arial, sans-serif"
WIDTH, TOP, HEIGHT, BETWEEN = 820, 44, 250, 60
LEFT, RIGHT = 60, 430
LABEL_HEIGHT = 15


class Panel(NamedTuple):
    """Lines over sizes, both on logarithmic axes."""

    title: str
    sizes: list[int]
    lines: dict[str, list[float]]


def lines(panels: list[Panel]) -> str:
    """One panel below the other. The lines of utterd are blue."""
    drawn = "".join(_panel(panel, TOP + at * (HEIGHT + BETWEEN)) for at, panel in enumerate(panels))
    return _svg(" and ".join(panel.title for panel in panels), len(panels) * (HEIGHT + BETWEEN), drawn)


def _panel(panel: Panel, top: int) -> str:
    values = [value for line in panel.lines.values() for value in line]
    low, high = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))

    def x(size: float) -> float:
        first, last = math.log10(panel.sizes[0]), math.log10(panel.sizes[-1])
        return LEFT + (RIGHT - LEFT) * (math.log10(size) - first) / max(last - first, 1)

    def y(value: float) -> float:
        return top + HEIGHT * (high - math.log10(value)) / (high - low)

    drawn = f'  <text class="ink" x="{LEFT}" y="{top - 16}" font-weight="600">{panel.title}</text>\n'
    for power in range(low, high + 1):
        at = y(10.0**power)
        drawn += f'  <path class="line" d="M{LEFT} {at:.1f}H{RIGHT}"/>'
        drawn += f'<text class="dim" x="{LEFT - 8}" y="{at + 4:.1f}" text-anchor="end">{10.0**power:,g}</text>\n'
    for size in panel.sizes:
        anchor = "end" if size == panel.sizes[-1] else "middle"
        drawn += (
            f'  <text class="dim" x="{x(size):.1f}" y="{top + HEIGHT + 20}" text-anchor="{anchor}">{size:,}</text>\n'
        )
    ends = _apart({name: y(line[-1]) for name, line in panel.lines.items()})
    for name, line in sorted(panel.lines.items(), key=lambda it: _kind(it[0]), reverse=True):
        points = " ".join(f"{x(size):.1f},{y(value):.1f}" for size, value in zip(panel.sizes, line, strict=True))
        drawn += f'  <path class="{_kind(name)}" d="M{points.replace(" ", "L")}"/>'
        drawn += f'<text class="{_kind(name)}" x="{RIGHT + 12}" y="{ends[name] + 4:.1f}">{name}</text>\n'
    return drawn


def _kind(name: str) -> str:
    return "ours" if name.startswith("utterd") else "theirs"


def _apart(ends: dict[str, float]) -> dict[str, float]:
    """The heights of labels, moved so that none covers another."""
    placed: dict[str, float] = {}
    last = -math.inf
    for name, height in sorted(ends.items(), key=lambda it: it[1]):
        last = placed[name] = max(height, last + LABEL_HEIGHT)
    return placed


def bars(title: str, columns: list[str], rows: dict[str, list[float]]) -> str:
    """Bars of shares in %, a group for each column."""
    base, high, bar = 220, 130, 34
    group = (WIDTH - 2 * 40) // len(columns)
    drawn = f'  <text class="ink" x="40" y="24" font-size="15" font-weight="600">{title}</text>\n'
    for at, name in enumerate(rows):
        x = 40 + 190 * at
        drawn += f'  <rect class="{_kind(name)}" x="{x}" y="38" width="12" height="12" rx="2"/>'
        drawn += f'<text class="ink" x="{x + 18}" y="49">{name}</text>\n'
    drawn += f'  <path class="line" d="M30 {base}.5H{WIDTH - 30}"/>\n'
    for place, column in enumerate(columns):
        left = 40 + place * group
        for at, (name, values) in enumerate(rows.items()):
            height, x = high * values[place] / 100, left + at * (bar + 4)
            drawn += (
                f'  <rect class="{_kind(name)}" x="{x}" y="{base - height:.0f}" width="{bar}" height="{height:.0f}"'
            )
            drawn += f' rx="3"/><text class="ink" x="{x + bar // 2}" y="{base - height - 6:.0f}" text-anchor="middle">'
            drawn += f"{values[place]:.0f}</text>\n"
        drawn += f'  <text class="dim" x="{left}" y="{base + 20}">{column}</text>\n'
    return _svg(title, 260, drawn)


def _svg(title: str, height: int, drawn: str) -> str:
    box = f'viewBox="0 0 {WIDTH} {height}" font-family="{FONT}" font-size="13" role="img" aria-labelledby="title"'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" {box}>\n  <title id="title">{title}</title>\n'
        f"  <style>{STYLE}</style>\n{drawn}</svg>\n"
    )


def write(name: str, chart: str) -> None:
    """Writes a chart beside the tables."""
    (Path(os.environ["UTTERD_PUBLIC"]) / f"{name}.svg").write_text(chart)
