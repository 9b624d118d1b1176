"""Questions about issues, as functions that answer yes or no. Lists and the search ask the same.

Rows that belong to an issue are read once for all issues; `where` says of which repository, and is
empty for all of them.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable

from svc_env import HandlerContext, Row
from svc_env.finding import same_name


Test = Callable[[Row], bool]


def place_and_number(row: Row) -> tuple[str, str, int]:
    """Returns the key of the issue that a row is, or belongs to."""
    return row["owner"], row["repo"], row.get("issue_number") or row["number"]


def belongs(rows: Iterable[Row]) -> Test:
    """Builds the test whether one of the rows belongs to an issue."""
    found = {place_and_number(row) for row in rows}
    return lambda issue: place_and_number(issue) in found


def comment_counts(ctx: HandlerContext, where: Row) -> Counter[tuple[str, str, int]]:
    """Returns the number of comments of each issue."""
    return Counter(map(place_and_number, ctx.query("comments", where)))


def written_by(login: str) -> Test:
    return lambda issue: same_name(issue["user"], login)


def updated_since(time: str) -> Test:
    return lambda issue: issue["updated_at"] >= time


def carries(ctx: HandlerContext, where: Row, label: str) -> Test:
    rows = ctx.query("issue_labels", where)
    return belongs(row for row in rows if same_name(row["label"], label))


def carries_all(ctx: HandlerContext, where: Row, labels: str) -> Test:
    """`labels` are names with commas between."""
    names = [name.strip() for name in labels.split(",") if name.strip()]
    tests = [carries(ctx, where, name) for name in names]
    return lambda issue: all(test(issue) for test in tests)


def assigned_to(ctx: HandlerContext, where: Row, login: str) -> Test:
    """`login` may be `*` for anybody, or `none`."""
    rows = ctx.query("issue_assignees", where)
    if login in ("*", "none"):
        anybody = belongs(rows)
        return anybody if login == "*" else lambda issue: not anybody(issue)
    return belongs(row for row in rows if same_name(row["login"], login))


def commented_by(ctx: HandlerContext, where: Row, login: str) -> Test:
    rows = ctx.query("comments", where)
    return belongs(row for row in rows if same_name(row["user"], login))


def mentions(ctx: HandlerContext, where: Row, login: str) -> Test:
    """Builds the test whether an issue or a comment on it says `@login`."""
    name = re.compile(rf"(?<![\w/])@{re.escape(login)}(?![\w-])", re.IGNORECASE)
    rows = ctx.query("comments", where)
    in_comment = belongs(row for row in rows if name.search(row["body"]))
    return lambda issue: bool(name.search(issue.get("body") or "")) or in_comment(issue)


def in_milestone(number: str) -> Test:
    """`number` may be `*` for any milestone, or `none`."""
    if number == "*":
        return lambda issue: issue.get("milestone") is not None
    if number == "none":
        return lambda issue: issue.get("milestone") is None
    return lambda issue: str(issue.get("milestone")) == number
