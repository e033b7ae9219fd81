"""Puts the tables and charts of the last runs into docs: `bash benches/public/run publish`.

A table stands in docs/figures.md between `<!-- NAME -->` and `<!-- end -->`; charts go to docs/pictures.
"""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

DOCS = Path(__file__).parents[2] / "docs"
PLACE = re.compile(r"<!-- (\w+) -->\n.*?<!-- end -->", re.DOTALL)


def main() -> None:
    printed = Path(os.environ["UTTERD_PUBLIC"])

    def filled(place: re.Match[str]) -> str:
        table = printed / f"{place[1]}.md"
        if not table.exists():
            print(f"left as it was: {place[1]}, which has not run")
            return place[0]
        return f"<!-- {place[1]} -->\n{table.read_text().strip()}\n<!-- end -->"

    figures = DOCS / "figures.md"
    figures.write_text(PLACE.sub(filled, figures.read_text()))
    for chart in printed.glob("*.svg"):
        shutil.copy(chart, DOCS / "pictures" / chart.name)


if __name__ == "__main__":
    main()
