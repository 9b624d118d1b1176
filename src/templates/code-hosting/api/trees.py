"""The files of a repository as they are at a commit, and the ids that git gives to them.

`file_versions` has what a file holds from a commit on. What it holds at a later one is the newest
version among the commits that this one is made of.
"""

import base64
import hashlib
from collections import defaultdict

from svc_env import HandlerContext, Row

from .finding import place_of
from .pulling import history_of

#: A file's content is sent in lines of so many characters of base 64.
LINE = 60


def files_at(ctx: HandlerContext, row: Row, sha: str) -> dict[str, Row]:
    """The version of each file at a commit of a row's repository, by path and in their order."""
    versions = defaultdict(list)
    for version in ctx.query("file_versions", place_of(row)):
        versions[version["commit"]].append(version)
    found: dict[str, Row] = {}
    for commit in history_of(ctx, row, sha):
        for version in versions[commit["sha"]]:
            found.setdefault(version["path"], version)
    return {path: found[path] for path in sorted(found) if found[path]["content"] is not None}


def keep_versions(ctx: HandlerContext, row: Row, source: str, target: str, paths: list[str]) -> None:
    """Makes files of a commit what another commit, which is about to be used, has of them."""
    files = files_at(ctx, row, source)
    recorded = {version["path"] for version in ctx.query("file_versions", place_of(row))}
    for path in paths:
        if path in recorded:
            write_version(ctx, row, target, path, files.get(path))


def write_version(ctx: HandlerContext, row: Row, sha: str, path: str, version: Row | None) -> None:
    """What a file holds from a commit on; None: it is gone."""
    kept = {name: version[name] for name in ("content", "encoding") if name in (version or {})}
    ctx.insert(
        "file_versions",
        {**place_of(row), "commit": sha, "path": path, "content": None, **kept},
    )


def version_of(data: bytes) -> Row:
    """Bytes as a version holds them."""
    try:
        return {"content": data.decode(), "encoding": "utf-8"}
    except UnicodeDecodeError:
        return {"content": base64.b64encode(data).decode(), "encoding": "base64"}


def bytes_of(version: Row) -> bytes:
    if version.get("encoding") == "base64":
        return base64.b64decode(version["content"])
    return version["content"].encode()


def wrapped(data: bytes) -> str:
    """Bytes in base 64, in lines."""
    text = base64.b64encode(data).decode()
    return "".join(f"{text[at : at + LINE]}\n" for at in range(0, len(text), LINE))


def blob_id(version: Row) -> str:
    data = bytes_of(version)
    return hashlib.sha1(b"blob %d\0" % len(data) + data).hexdigest()


def tree_id(files: dict[str, Row], folder: str = "") -> str:
    """The id of a folder. Equal folders have the same one."""
    inner = [f"{path}:{blob_id(files[path])}" for path in files if path.startswith(folder)]
    return hashlib.sha1("\n".join(["tree", folder, *inner]).encode()).hexdigest()


def names_in(files: dict[str, Row], folder: str) -> list[tuple[str, bool]]:
    """The names in a folder (`docs/`, or the empty text), and whether each is a folder."""
    found: dict[str, bool] = {}
    for path in files:
        if path.startswith(folder):
            name, slash, _ = path[len(folder) :].partition("/")
            found[name] = bool(slash)
    return sorted(found.items())


def folders_of(files: dict[str, Row]) -> list[str]:
    """All folders, each with a slash at its end."""
    found = set()
    for path in files:
        parts = path.split("/")[:-1]
        found.update("/".join(parts[: index + 1]) + "/" for index in range(len(parts)))
    return sorted(found)
