"""Fetches the sessions that compactions.tsv names from their public repositories: `bash benches/public/run collect`.

Each repository is fetched by git at one commit, without its blobs; then the blobs of the named files alone. The files
go to the folder that `UTTERD_SESSIONS` names, below their repository's name. Nothing of them is in this repository.
`UTTERD_GIT` is where the repositories are (default https://github.com).
"""

from __future__ import annotations

import csv
import itertools
import os
import subprocess
import tempfile
from operator import itemgetter
from pathlib import Path


def main() -> None:
    into = Path(os.environ["UTTERD_SESSIONS"])
    place = os.environ.get("UTTERD_GIT", "https://github.com")
    with (Path(__file__).parent / "compactions.tsv").open() as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    for (repository, commit), named in itertools.groupby(rows, itemgetter("repository", "commit")):
        paths = [row["path"] for row in named]
        with tempfile.TemporaryDirectory() as clone:
            git(clone, "init", "--quiet")
            git(clone, "remote", "add", "origin", f"{place}/{repository}")
            git(clone, "config", "remote.origin.promisor", "true")
            git(clone, "fetch", "--quiet", "--depth=1", "--filter=blob:none", "origin", commit)
            for path in paths:
                file = into / repository / path
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_bytes(git(clone, "show", f"{commit}:{path}"))
        print(f"{repository}: {len(paths)} sessions")


def git(directory: str, *arguments: str) -> bytes:
    return subprocess.run(["git", "-C", directory, *arguments], check=True, stdout=subprocess.PIPE).stdout


if __name__ == "__main__":
    main()
