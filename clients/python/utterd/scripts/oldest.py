"""Prints the oldest versions that the package and some of its extras allow.

pip install -e clients/python/utterd $(python clients/python/utterd/scripts/oldest.py langchain langgraph)
"""

import re
import sys
from pathlib import Path

import tomllib

PROJECT = Path(__file__).resolve().parents[1] / "pyproject.toml"


def main(extras: list[str]) -> None:
    project = tomllib.loads(PROJECT.read_text())["project"]
    optional = project["optional-dependencies"]
    required = [*project["dependencies"], *(one for extra in extras for one in optional[extra])]
    for requirement in required:
        name, bound = re.match(r"([\w-]+)>=([\d.]+)", requirement).groups()
        print(f"{name}=={bound}")


main(sys.argv[1:])
