"""The files of a repository as they are at a commit, and the ids that git gives to them.

`file_versions` has what a file holds from a commit on. What it holds at a later one is the newest
version among the commits that this one is made of.
"""

import base64
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable

from svc_env import HandlerContext, Row

from .digests import sha1
from .finding import place_of
from .pulling import history_of

#: A file's content is sent in lines of so many characters of base 64.
LINE = 60


def files_at(ctx: HandlerContext, row: Row, sha: str) -> dict[str, Row]:
    """The version of each file at a commit of a row's repository, by path and in their order."""
    versions = _versions_by_commit(ctx, row)
    found: dict[str, Row] = {}
    for commit in history_of(ctx, row, sha):
        for version in versions[commit["sha"]]:
            found.setdefault(version["path"], version)
    return {path: found[path] for path in sorted(found) if found[path]["content"] is not None}


def _versions_by_commit(ctx: HandlerContext, row: Row) -> dict[str, list[Row]]:
    versions = defaultdict(list)
    for version in ctx.query("file_versions", place_of(row)):
        versions[version["commit"]].append(version)
    return versions


def folder_with_id(ctx: HandlerContext, row: Row, sha: str) -> tuple[dict[str, Row], str] | None:
    """The files of a commit of a row's repository that has a folder with this id, and the folder. A
    commit with one parent is looked at only where it differs from that one: there may be thousands."""
    commits, versions = ctx.query("commits", place_of(row)), _versions_by_commit(ctx, row)
    waiting = Counter(parent for commit in commits for parent in commit["parents"])
    known: dict[str, dict[str, Row]] = {}
    ids: dict[tuple[str, str], str] = {}

    def id_of(version: Row) -> str:
        key = (version["commit"], version["path"])
        return ids.get(key) or ids.setdefault(key, blob_id(version))

    for commit in commits:
        parents, changed = commit["parents"], versions.get(commit["sha"], [])
        before = known.get(parents[0]) if len(parents) == 1 else None
        if before is None:
            files = files_at(ctx, row, commit["sha"])
            folders = folders_of(files)
        else:
            files = _with_versions(before, changed) if changed else before
            folders = folders_of(version["path"] for version in changed)
        for folder in folders:
            if tree_id(files, folder, id_of) == sha:
                return files, folder
        known[commit["sha"]] = files
        waiting.subtract(parents)
        for done in (one for one in (commit["sha"], *parents) if waiting[one] <= 0):
            known.pop(done, None)
    return None


def _with_versions(files: dict[str, Row], changed: list[Row]) -> dict[str, Row]:
    after = {**files, **{version["path"]: version for version in changed}}
    return {path: after[path] for path in sorted(after) if after[path]["content"] is not None}


def keep_versions(ctx: HandlerContext, row: Row, source: str, target: str, paths: list[str]) -> None:
    """Makes files of a commit what another commit, which is about to be used, has of them."""
    files = files_at(ctx, row, source)
    recorded = {version["path"] for version in ctx.query("file_versions", place_of(row))}
    for path in paths:
        if path in recorded:
            write_version(ctx, row, target, path, files.get(path))


def write_version(ctx: HandlerContext, row: Row, sha: str, path: str, version: Row | None) -> None:
    """Stores the content of a file from a commit on; None: the commit removed it."""
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
    return sha1(b"blob %d\0" % len(data) + data)


def tree_id(
    files: dict[str, Row], folder: str = "", id_of: Callable[[Row], str] = blob_id
) -> str:
    """The id of a folder. Equal folders have the same one. `id_of`: the id of a file's content."""
    inner = [f"{path}:{id_of(files[path])}" for path in files if path.startswith(folder)]
    return sha1("\n".join(["tree", folder, *inner]).encode())


def names_in(files: dict[str, Row], folder: str) -> list[tuple[str, bool]]:
    """The names in a folder (`docs/`, or the empty text), and whether each is a folder."""
    found: dict[str, bool] = {}
    for path in files:
        if path.startswith(folder):
            name, slash, _ = path[len(folder) :].partition("/")
            found[name] = bool(slash)
    return sorted(found.items())


def folders_of(paths: Iterable[str]) -> list[str]:
    """All folders that paths lead through, each with a slash at its end."""
    found = set()
    for path in paths:
        parts = path.split("/")[:-1]
        found.update("/".join(parts[: index + 1]) + "/" for index in range(len(parts)))
    return sorted(found)
