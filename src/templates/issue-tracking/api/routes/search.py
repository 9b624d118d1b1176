"""The search for issues: on the route with numbered pages, and on the one whose pages are found by a token."""

import base64
import json

from svc_env import HandlerContext, Row

from ..answers.issues import chosen_fields, issue_answers
from ..answers.people import users_by_id
from ..answers.talk import change_answer
from ..finding import indexed
from ..jql.matching import find_issues, find_page, matches
from ..jql.parsing import QueryError, parse
from ..paging import window
from ..reading import body_of, check_kinds, list_of, names_asked, number_asked
from ..refusals import refuse

LARGEST_PAGE = 5_000


def _query(ctx: HandlerContext) -> str:
    given = body_of(ctx).get("jql") if ctx.method == "POST" else ctx.args.get("jql")
    if given is not None and not isinstance(given, str):
        refuse(ctx, 400, "Invalid request payload. Refer to the REST API documentation and try again.")
    return given or ""


def _check_body(ctx: HandlerContext) -> None:
    """Checks the search in a body; `fields` may be names, `expand` one or several."""
    check_kinds(
        ctx,
        startAt=int,
        maxResults=int,
        fieldsByKeys=bool,
        nextPageToken=str,
        validateQuery=str,
        fields=list,
        properties=list,
    )
    for name in ("fields", "properties"):
        list_of(ctx, name, str)


def _found(ctx: HandlerContext, text: str) -> list[Row]:
    try:
        return find_issues(ctx, text)
    except QueryError as error:
        refuse(ctx, 400, str(error))


def search_issues(ctx: HandlerContext) -> Row:
    """By numbered pages, with the count of all."""
    _check_body(ctx)
    start, size = window(ctx, largest=LARGEST_PAGE)
    try:
        shown, total = find_page(ctx, _query(ctx), start, size)
    except QueryError as error:
        refuse(ctx, 400, str(error))
    fields, expand = chosen_fields(ctx, names_asked(ctx, "fields"), "*navigable"), names_asked(ctx, "expand")
    return {
        "expand": "schema,names",
        "startAt": start,
        "maxResults": size,
        "total": total,
        "issues": _with_changelog(ctx, shown, issue_answers(ctx, shown, fields, expand), expand),
        **_about(ctx, fields, expand),
    }


def search_by_token(ctx: HandlerContext) -> Row:
    """Page by page, each with the token of the next. Without `fields` there are only ids."""
    _check_body(ctx)
    text = _query(ctx)
    _refuse_unbounded(ctx, text)
    found, size = _found(ctx, text), number_asked(ctx, "maxResults", 50, LARGEST_PAGE)
    start = _start(ctx, text, found)
    shown = found[start : start + size]
    asked, expand = names_asked(ctx, "fields"), names_asked(ctx, "expand")
    names = [name for name in asked if name != "id"]
    fields = chosen_fields(ctx, names, "*none") if names else []
    answers = _with_changelog(ctx, shown, issue_answers(ctx, shown, fields, expand), expand)
    if not names and not expand:
        answers = [{"id": answer["id"]} if not asked or asked == ["id"] else answer for answer in answers]
    is_last = start + size >= len(found) or not shown
    token = {} if is_last else {"nextPageToken": _token(text, start + size, shown[-1])}
    return {"issues": answers, **token, "isLast": is_last, **_about(ctx, fields, expand)}


def _refuse_unbounded(ctx: HandlerContext, text: str) -> None:
    try:
        if parse(text).where is None:
            refuse(ctx, 400, "Unbounded JQL queries are not allowed here. Please add a search restriction to your query.")
    except QueryError as error:
        refuse(ctx, 400, str(error))


def _token(text: str, start: int, last: Row) -> str:
    """Returns the token of the next page, which starts after the last issue of this one."""
    return base64.urlsafe_b64encode(json.dumps([start, last["id"], text]).encode()).decode()


def _start(ctx: HandlerContext, text: str, found: list[Row]) -> int:
    given = ctx.args.get("nextPageToken") or body_of(ctx).get("nextPageToken")
    if not given:
        return 0
    try:
        start, last, said = json.loads(base64.urlsafe_b64decode(str(given)))
        if said != text or not isinstance(start, int):
            raise ValueError("the token is of another query")
    except (TypeError, ValueError):
        refuse(ctx, 400, "The provided nextPageToken is invalid or expired.")
    behind = next((at + 1 for at, issue in enumerate(found) if issue["id"] == last), None)
    return start if behind is None else behind


def _about(ctx: HandlerContext, fields: list[str], expand: list[str]) -> Row:
    rows = indexed(ctx.query("fields"))
    names = {name: rows[name]["name"] for name in fields if name in rows}
    schemas = {name: rows[name]["schema"] for name in fields if rows.get(name, {}).get("schema")}
    return {**({"names": names} if "names" in expand else {}), **({"schema": schemas} if "schema" in expand else {})}


def _with_changelog(ctx: HandlerContext, issues: list[Row], answers: list[Row], expand: list[str]) -> list[Row]:
    if "changelog" not in expand or not issues:
        return answers
    users = users_by_id(ctx)
    rows = ctx.query("changes", {"issue_id": [issue["id"] for issue in issues]}, order_by=["-created", "-id"])
    for issue, answer in zip(issues, answers, strict=True):
        own = [change_answer(row, users) for row in rows if row["issue_id"] == issue["id"]]
        answer["changelog"] = {"startAt": 0, "maxResults": len(own), "total": len(own), "histories": own}
    return answers


def count_issues(ctx: HandlerContext) -> Row:
    text = _query(ctx)
    _refuse_unbounded(ctx, text)
    return {"count": len(_found(ctx, text))}


def match_issues(ctx: HandlerContext) -> Row:
    """Returns the issues that match each query."""
    ids, queries = list_of(ctx, "issueIds", int), list_of(ctx, "jqls", str)
    issues = ctx.query("issues", {"id": ids}) if ids else []
    results = []
    for text in queries:
        try:
            parse(text)
            fit = [issue["id"] for issue in issues if matches(ctx, text, issue)]
            results.append({"matchedIssues": fit, "errors": []})
        except QueryError as error:
            results.append({"matchedIssues": [], "errors": [str(error)]})
    return {"matches": results}


def parse_queries(ctx: HandlerContext) -> Row:
    """Checks queries and returns the mistakes of each."""
    found = []
    for text in list_of(ctx, "queries", str):
        try:
            find_issues(ctx, text)
            found.append({"query": text, "structure": {}})
        except QueryError as error:
            found.append({"query": text, "errors": [str(error)]})
    return {"queries": found}


def pick_issues(ctx: HandlerContext) -> Row:
    """Issues whose key or summary begins with the typed text."""
    asked = str(ctx.args.get("query", "")).casefold()
    rows = [row for row in ctx.query("issues") if asked and (row["key"].casefold().startswith(asked) or asked in row["summary"].casefold())]
    issues = [{"id": row["id"], "key": row["key"], "keyHtml": row["key"], "summary": row["summary"], "summaryText": row["summary"], "img": "/images/icons/issuetypes/task.svg"} for row in rows[:20]]
    return {"sections": [{"label": "Current Search", "sub": f"Showing {len(issues)} of {len(rows)} matching issues", "id": "cs", "issues": issues}]}
