"""Runs agent frameworks' own tests with the adapters instead of their stores.

    UTTERD_BIN=target/debug/utterd python run.py --into DIRECTORY [openai-agents | langchain | strands | …]

The frameworks and their tests come from PyPI in their newest versions, into environments in DIRECTORY that are kept for
the next run. ADK's and LlamaIndex' packages come without tests: `--tests DIRECTORY` names one that contains, from
checkouts, ADK's `test_session_service.py` and LlamaIndex' `test_simple_chat_store.py` and `test_sql.py`. What is left
out is listed in left_out.txt, with the reasons.
"""

import argparse
import os
import subprocess
import sys
import tarfile
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
PACKAGE = HERE.parents[1] / "utterd"
PYTEST = ["pytest", "pytest-asyncio", "pytest-mock", "pytest-timeout"]


@dataclass(frozen=True)
class Suite:
    """Tests of a framework, and how to run them."""

    package: str
    plugin: str
    tests: tuple[str, ...]
    needs: tuple[str, ...] = ()
    from_sdist: bool = True
    options: tuple[str, ...] = ()


SUITES = {
    "openai-agents": [
        Suite(
            "openai-agents",
            "plugin_openai_agents",
            (
                "tests/memory/test_session.py",
                "tests/memory/test_session_limit.py",
                "tests/memory/test_compaction_suffix.py",
                "tests/memory/test_compaction_model_visibility.py",
                "tests/memory/test_openai_responses_compaction_session.py",
                "tests/test_agent_runner.py",
                "tests/test_max_turns.py",
            ),
            ("aiosqlite", "sqlalchemy[asyncio]", "cryptography", "websockets", "inline-snapshot", "hatchling", "httpx"),
        )
    ],
    "langchain": [
        Suite(
            "langchain-core",
            "plugin_langchain",
            ("tests/unit_tests/runnables/test_history.py", "tests/unit_tests/chat_history"),
            ("langchain-tests", "blockbuster", "hatchling", "pytest-socket", "syrupy", "numpy"),
        )
    ],
    "strands": [
        Suite(
            "strands-agents",
            plugin,
            (f"tests/strands/session/{tests}",),
            ("boto3", "moto", "hatchling", "hatch-vcs"),
        )
        for plugin, tests in (
            ("plugin_strands", "test_repository_session_manager.py"),
            ("plugin_strands_file", "test_file_session_manager.py"),
        )
    ],
    "google-adk": [
        Suite(
            "google-adk",
            "plugin_google_adk",
            ("test_session_service.py",),
            ("aiosqlite", "sqlalchemy[asyncio]"),
            from_sdist=False,
            options=("-k", "IN_MEMORY", "-o", "asyncio_mode=auto"),
        )
    ],
    "llama-index": [
        Suite(
            "llama-index-core",
            "plugin_llama_index",
            ("test_simple_chat_store.py", "test_sql.py"),
            ("aiosqlite", "sqlalchemy[asyncio]"),
            from_sdist=False,
        )
    ],
}


def main() -> int | str:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--into", type=Path, required=True, help="where environments and sources are kept")
    parser.add_argument("--tests", type=Path, help="where tests are that come with no package")
    parser.add_argument("frameworks", nargs="*", default=[*SUITES], metavar="FRAMEWORK", help=", ".join(SUITES))
    arguments = parser.parse_args()
    failed = []
    for framework in arguments.frameworks:
        for suite in SUITES[framework]:
            if not suite.from_sdist and arguments.tests is None:
                print(f"== {framework}: skipped, as {suite.package} comes without its tests", flush=True)
                continue
            if not passes(suite, arguments.into.resolve() / framework, arguments.tests):
                failed.append(framework)
    return f"failed: {', '.join(failed)}" if failed else 0


def passes(suite: Suite, into: Path, tests: Path | None) -> bool:
    python = environment(suite, into)
    source = sources(suite, python, into) if suite.from_sdist else tests.resolve()
    command = [python, "-m", "pytest", "-q", "--timeout", "60", "-p", suite.plugin, "-p", "oversight"]
    command += [*suite.options, *suite.tests]
    print(f"== {suite.package}: {suite.plugin} {' '.join(suite.tests)}", flush=True)
    path = os.pathsep.join([str(HERE), *filter(None, [os.environ.get("PYTHONPATH")])])
    return subprocess.run(command, cwd=source, env={**os.environ, "PYTHONPATH": path}).returncode == 0


def environment(suite: Suite, into: Path) -> str:
    """A Python that has the framework, what its tests need, and this package."""
    python = into / "bin" / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", into], check=True)
    install = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*install, "--upgrade", *PYTEST, *suite.needs, suite.package, "-e", PACKAGE], check=True)
    return str(python)


def sources(suite: Suite, python: str, into: Path) -> Path:
    """The source of the framework that is installed, with its tests."""
    name = suite.package.partition("==")[0]
    script = f"from importlib.metadata import version; print(version({name!r}))"
    version = subprocess.run([python, "-c", script], check=True, capture_output=True, text=True).stdout.strip()
    print(f"== {name} {version}", flush=True)
    directory = into / f"{name.replace('-', '_')}-{version}"
    if not directory.exists():
        download = [python, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps"]
        download += ["--no-binary", ":all:", "--no-build-isolation", "--dest", into, f"{name}=={version}"]
        subprocess.run(download, check=True)
        with tarfile.open(f"{directory}.tar.gz") as archive:
            archive.extractall(into, filter="data")
    return directory


if __name__ == "__main__":
    sys.exit(main())
