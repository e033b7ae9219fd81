"""Fetches what is in public repositories: `bash benches/public/run collect`.

- The sessions that compactions.tsv names go to the folder that `UTTERD_SESSIONS` names, below their repository's name.
- The cases of ForgetEval-Adv, which forgeteval.py describes, go to the folder that `UTTERD_FORGETEVAL` names.

Each repository is fetched by git at one commit, without its blobs; then the blobs of the named files alone. Nothing of
them is in this repository. `UTTERD_GIT` is where the repositories are (default https://github.com).
"""

from __future__ import annotations

import csv
import itertools
import os
import subprocess
import tempfile
from operator import itemgetter
from pathlib import Path

FORGETEVAL = ("deeplethe/lethe", "b6053b7bdacc78a91b9ea4bb25f32edad278c495", "bench/forgeteval")


def main() -> None:
    into = Path(os.environ["UTTERD_SESSIONS"])
    with (Path(__file__).parent / "compactions.tsv").open() as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    for (repository, commit), named in itertools.groupby(rows, itemgetter("repository", "commit")):
        paths = [row["path"] for row in named]
        fetch(repository, commit, paths, into / repository)
        print(f"{repository}: {len(paths)} sessions")
    repository, commit, folder = FORGETEVAL
    fetch(repository, commit, [folder], Path(os.environ["UTTERD_FORGETEVAL"]))
    print(f"{repository}: {folder}")


def fetch(repository: str, commit: str, paths: list[str], into: Path) -> None:
    """Puts files and folders of a commit into a folder."""
    place = os.environ.get("UTTERD_GIT", "https://github.com")
    into.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as clone:
        git(clone, "init", "--quiet")
        git(clone, "remote", "add", "origin", f"{place}/{repository}")
        git(clone, "config", "remote.origin.promisor", "true")
        git(clone, "fetch", "--quiet", "--depth=1", "--filter=blob:none", "origin", commit)
        git(clone, f"--work-tree={into.absolute()}", "checkout", "--quiet", commit, "--", *paths)


def git(directory: str, *arguments: str) -> None:
    subprocess.run(["git", "-C", directory, *arguments], check=True)


if __name__ == "__main__":
    main()
