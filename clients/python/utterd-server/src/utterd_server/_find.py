"""Finds the installed binary."""

from __future__ import annotations

import os
import sys
import sysconfig
from collections.abc import Iterator


def find_utterd_bin() -> str:
    """The path of the `utterd` binary that this package installed.

    Raises FileNotFoundError, with the directories that were searched, if it is not there.
    """
    name = "utterd" + (sysconfig.get_config_var("EXE") or "")
    directories = list(dict.fromkeys(_directories()))
    for directory in directories:
        path = os.path.join(directory, name)
        if os.path.isfile(path):
            return path
    raise FileNotFoundError(f"there is no {name} in {', '.join(directories)}: install utterd-server again")


def _directories() -> Iterator[str]:
    """Where installers put scripts, the likeliest first."""
    yield sysconfig.get_path("scripts")
    # The base interpreter's, for a virtual environment that sees its packages.
    yield sysconfig.get_path("scripts", vars={"base": sys.base_prefix})
    # pip install --user
    yield sysconfig.get_path("scripts", scheme=sysconfig.get_preferred_scheme("user"))
    # pip install --target DIR and --prefix DIR
    packages = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    yield os.path.join(packages, "bin")
    yield os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(packages))), "bin")
