#!/usr/bin/env python3
"""Draws recall.svg from the table "Contexts that recall" in docs/figures.md: python docs/pictures/recall.py

`cargo test --test cases docs::` fails while the picture shows other numbers than the table.
"""

import re
from pathlib import Path

HERE = Path(__file__).parent
WITH, WITHOUT = "LoCoMo", "LoCoMo, the newest utterances alone"
STYLE = """
    .ink { fill: #1f2328 } .dim { fill: #59636e } .line { stroke: #d1d9e0 }
    .with { fill: #0969da } .without { fill: #8c959f }
    @media (prefers-color-scheme: dark) {
      .ink { fill: #f0f6fc } .dim { fill: #9198a1 } .line { stroke: #3d444d }
      .with { fill: #4493f8 } .without { fill: #656c76 }
    }
  """
LEFT, BASE, HIGH, GROUP, BAR = 40, 236, 150, 195, 62


def rows() -> dict[str, list[str]]:
    """The rows of the table: a name, and the number before the brackets of each cell."""
    text = (HERE.parent / "figures.md").read_text()
    table = text.split("## Contexts that recall")[1].split("\n## ")[0]
    lines = [line.strip("| ").split(" | ") for line in table.splitlines() if line.startswith("|")]
    return {name: [re.match(r"[\d,]+", cell)[0] for cell in cells] for name, *cells in lines if cells and cells[0][:1].isdigit()}


def bar(x: int, number: str, kind: str) -> str:
    height = HIGH * int(number) // 100
    return (
        f'  <rect class="{kind}" x="{x}" y="{BASE - height}" width="{BAR}" height="{height}" rx="3"/>'
        f'<text class="ink" x="{x + BAR // 2}" y="{BASE - height - 7}" text-anchor="middle">{number} %</text>\n'
    )


def draw(table: dict[str, list[str]]) -> str:
    budgets = next(cells for name, cells in table.items() if name == "tokens")
    groups = ""
    for at, (budget, found, newest) in enumerate(zip(budgets, table[WITH], table[WITHOUT])):
        x = LEFT + at * GROUP
        groups += bar(x, found, "with") + bar(x + BAR + 6, newest, "without")
        groups += f'  <text class="dim" x="{x + BAR + 3}" y="{BASE + 20}" text-anchor="middle">{budget} tokens</text>\n'
    return f"""<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 800 276" font-family="system-ui, -apple-system, 'Segoe UI', Helvetica, Arial, sans-serif" font-size="13" role="img" aria-labelledby="title">
  <title id="title">How much of the evidence for an answer is in a context, with recall and with the newest messages alone, by the size of the context</title>
  <style>{STYLE}</style>
  <text class="ink" x="{LEFT}" y="24" font-size="15" font-weight="600">Is the evidence for the answer in the context?</text>
  <rect class="with" x="{LEFT}" y="38" width="12" height="12" rx="2"/><text class="ink" x="{LEFT + 18}" y="49">utterd, with recall</text>
  <rect class="without" x="{LEFT + 170}" y="38" width="12" height="12" rx="2"/><text class="ink" x="{LEFT + 188}" y="49">the newest messages alone</text>
  <path class="line" d="M{LEFT - 10} {BASE}.5H770"/>
{groups}</svg>
"""


if __name__ == "__main__":
    (HERE / "recall.svg").write_text(draw(rows()))
