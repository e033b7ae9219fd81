"""Writes where the project is, and where its image is, into what a release gives away.

    python packaging/release/stamp.py https://HOST/OWNER/utterd registry/OWNER/utterd

The packages for Python get `[project.urls]`, those for npm their `repository`, and the manifests for Kubernetes and
the files for Docker Compose name the image of this version. The tree itself has none of these addresses: they are those
of whoever releases.
"""

import json
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
PYTHON = ("clients/python/utterd", "clients/python/utterd-server")
NPM = ("clients/typescript", "clients/typescript/hosts/pi", "clients/typescript/hosts/openclaw")
IMAGE = re.compile(r"(?<=image: )utterd:\S+")


def main(address: str, image: str) -> None:
    version = version_of((ROOT / "Cargo.toml").read_text())
    for package in PYTHON:
        with (ROOT / package / "pyproject.toml").open("a") as settings:
            settings.write(urls(address, version))
    for package in NPM:
        manifest = ROOT / package / "package.json"
        repository = with_repository(json.loads(manifest.read_text()), address, package)
        manifest.write_text(json.dumps(repository, indent=2) + "\n")
    for file in sorted((ROOT / "packaging").glob("*/**/*.yaml")):
        file.write_text(IMAGE.sub(f"{image}:{version}", file.read_text()))


def version_of(cargo: str) -> str:
    found = re.search(r'^version = "(.+)"$', cargo, re.MULTILINE)
    if found is None:
        sys.exit("Cargo.toml has no version")
    return found[1]


def urls(address: str, version: str) -> str:
    of_version = f"{address}/blob/v{version}"
    places = {
        "Homepage": address,
        "Documentation": f"{of_version}/docs",
        "Changelog": f"{of_version}/CHANGELOG.md",
        "Issues": f"{address}/issues",
    }
    return "\n[project.urls]\n" + "".join(f'{name} = "{place}"\n' for name, place in places.items())


def with_repository(package: dict, address: str, directory: str) -> dict:
    repository = {"type": "git", "url": f"git+{address}.git", "directory": directory}
    return {**package, "homepage": address, "bugs": f"{address}/issues", "repository": repository}


if __name__ == "__main__":
    main(*sys.argv[1:])
