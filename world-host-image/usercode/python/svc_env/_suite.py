"""Runs the tests of a world by pytest, and reports the beginning and end of each test to the host.

The host is informed of a file before it is imported, and of a test before it runs. It therefore knows which
of them ended or hung this process, and runs the remaining tests in another process.
"""

from __future__ import annotations

import io
import os
import sys
import time
from typing import Any

from .run import Row, current_run

#: Maximum number of characters of a test's output, and of the text of its failure.
OUTPUT_CHARS = 16_000
TEXT_CHARS = 8_000

ARGUMENTS = (
    "-q --capture=sys --tb=short -p no:cacheprovider -p no:faulthandler -p no:doctest -p no:pastebin "
    "-p no:junitxml -p no:stepwise -p no:debugging -p no:tmpdir"
).split()


def run_suite(root: str, given: Row) -> Row:
    """Runs the tests of `given["files"]`, without those in `skip`, which earlier processes have run."""
    try:
        import pytest
    except ImportError:
        return {"missing": "pytest"}
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    plugin = _Reporter(root, set(given["skip"]))
    files = [os.path.join(root, file) for file in given["files"]]
    shown, sys.stdout = sys.stdout, io.StringIO()
    try:
        status = pytest.main([*ARGUMENTS, f"--rootdir={root}", "-o", "addopts=", *files], [plugin])
        said = sys.stdout.getvalue()
    finally:
        sys.stdout = shown
    return {"status": int(status), "said": said[-TEXT_CHARS:]}


def _failure(root: str, report: Any) -> Row:
    text = report.longreprtext
    crash = getattr(report.longrepr, "reprcrash", None)
    if crash is None:
        return {"message": _last_line(text), "file": None, "line": None, "text": text[-TEXT_CHARS:]}
    file, line = _place_in(root, report)
    return {
        "message": crash.message[:TEXT_CHARS],
        "file": file,
        "line": line,
        "text": text[-TEXT_CHARS:],
    }


def _place_in(root: str, report: Any) -> tuple[str | None, int | None]:
    """Returns the innermost place in the author's own files."""
    entries = getattr(getattr(report.longrepr, "reprtraceback", None), "reprentries", [])
    for entry in reversed(entries):
        place = getattr(entry, "reprfileloc", None)
        if place is None:
            continue
        path = os.path.normpath(os.path.join(root, place.path))
        if path.startswith(root + os.sep):
            return os.path.relpath(path, root), place.lineno
    return None, None


def _last_line(text: str) -> str:
    lines = [line for line in text.strip().splitlines() if line.strip()]
    return (lines[-1] if lines else "").removeprefix("E").strip()


class _Reporter:
    def __init__(self, root: str, skip: set[str]) -> None:
        self._root = root
        self._skip = skip
        self._tell = current_run().ask
        self._result: Row = {}
        self._began = 0.0

    def pytest_pycollect_makemodule(self, module_path: Any, parent: Any) -> None:
        self._tell("file", file=os.path.relpath(module_path, self._root))

    def pytest_collectreport(self, report: Any) -> None:
        if report.failed:
            file = report.nodeid.split("::")[0]
            self._tell("broken", file=file, failure=_failure(self._root, report))

    def pytest_collection_modifyitems(self, items: list[Any]) -> None:
        items[:] = [item for item in items if item.nodeid not in self._skip]
        self._tell("collected", tests=[self._place(item) for item in items])

    def pytest_runtest_logstart(self, nodeid: str, location: Any) -> None:
        self._result = {"id": nodeid, "outcome": "passed", "failure": None, "output": ""}
        self._began = time.perf_counter()
        self._tell("begin", id=nodeid)

    def pytest_runtest_logreport(self, report: Any) -> None:
        result = self._result
        if report.failed:
            result["outcome"] = "failed"
            result["failure"] = result["failure"] or _failure(self._root, report)
        elif report.skipped and result["outcome"] == "passed":
            result["outcome"] = "skipped"
        printed = "".join(text for title, text in report.sections if report.when in title)
        result["output"] = (result["output"] + printed)[-OUTPUT_CHARS:]

    def pytest_runtest_logfinish(self, nodeid: str, location: Any) -> None:
        took = (time.perf_counter() - self._began) * 1000
        self._tell("end", **self._result, durationMs=took)

    def _place(self, item: Any) -> Row:
        file, line, _ = item.location
        return {"id": item.nodeid, "file": file, "line": None if line is None else line + 1}
