"""Reactions: signs that people put under issues, comments and releases."""

from collections import Counter, defaultdict

from svc_env import HandlerContext, Row

from .finding import place_of

CONTENTS = ("+1", "-1", "laugh", "hooray", "confused", "heart", "rocket", "eyes")


def counts_of(ctx: HandlerContext, subject: str, rows: list[Row]) -> dict[int, Counter[str]]:
    """Returns the number of each reaction to each row of a kind, by the row's id."""
    where = {"subject": subject, "subject_id": [row["id"] for row in rows]}
    found: dict[int, Counter[str]] = defaultdict(Counter)
    for reaction in ctx.query("reactions", where) if rows else []:
        found[reaction["subject_id"]][reaction["content"]] += 1
    return found


def rollup(url: str, counts: Counter[str]) -> Row:
    """Returns the reactions of a body; `url` is the body's own."""
    numbers = {content: counts.get(content, 0) for content in CONTENTS}
    return {"url": f"{url}/reactions", "total_count": counts.total(), **numbers}


def forget_reactions(ctx: HandlerContext, subject: str, row: Row) -> None:
    """Deletes the signs under a row that is about to be deleted."""
    where = {**place_of(row), "subject": subject, "subject_id": row["id"]}
    for reaction in ctx.query("reactions", where):
        ctx.delete("reactions", {"id": reaction["id"]})
