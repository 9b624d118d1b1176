"""Searching issues and pull requests, repositories, and users."""

from collections import Counter
from collections.abc import Callable
from functools import cache

from svc_env import HandlerContext, Row
from svc_env.finding import same_name

from ..answers.repositories import repository_answer, setting
from ..answers.users import simple_user
from ..grouping import read_groups, terms_of
from ..highlighting import matches_in
from ..matching import (
    Test,
    assigned_to,
    belongs,
    carries,
    comment_counts,
    commented_by,
    mentions,
    place_and_number,
    written_by,
)
from ..media import form_of
from ..paging import answer_page, each
from ..pulling import is_approved
from ..querying import (
    Term,
    Tests,
    check_depth,
    holds,
    in_range,
    rank_of,
    read_terms,
    score_of,
    selects,
)
from ..reacting import CONTENTS, counts_of
from ..refusals import refuse
from ..viewer import VIEWER, can_see
from .issues import issues_of_repositories, visible_issues

#: Tells which signs stand under each issue, by its id.
Reactions = Callable[[], dict[int, Counter[str]]]


def search_issues(ctx: HandlerContext) -> None:
    rows = visible_issues(ctx, {})
    # Read when a term or the order asks for them.
    counts = cache(lambda: comment_counts(ctx, {}))
    reactions = cache(lambda: counts_of(ctx, "issue", rows))
    tests = _issue_tests(ctx, counts, reactions)
    query = read_groups(ctx, {*tests, "in", "sort"})
    terms = list(terms_of(query))
    _check_places(ctx, terms)
    places = _places(terms, ("title", "body", "comments"))
    comments: dict[tuple, list[str]] = {}
    for row in ctx.query("comments") if "comments" in places else []:
        comments.setdefault(place_and_number(row), []).append(row["body"])

    parts: dict[str, Callable[[Row], str | None]] = {
        "title": lambda issue: issue["title"],
        "body": lambda issue: issue.get("body"),
        "comments": lambda issue: "\n".join(comments.get(place_and_number(issue), [])),
    }
    looked_at = [parts[place] for place in places]

    def texts(issue: Row) -> list[str]:
        return [part(issue) or "" for part in looked_at]

    tests[""] = lambda word: lambda row: holds(texts(row), word)
    sorts: dict[str, Callable[[Row], object]] = {
        "created": lambda row: row["created_at"],
        "updated": lambda row: row["updated_at"],
        "comments": lambda row: counts()[place_and_number(row)],
        "reactions": lambda row: reactions()[row["id"]].total(),
        "interactions": lambda row: counts()[place_and_number(row)] + reactions()[row["id"]].total(),
        **{f"reactions-{one}": _reacted(reactions, one) for one in CONTENTS},
    }
    _answer(
        ctx,
        terms,
        rows=list(filter(selects([query], tests), rows)),
        score=lambda row: rank_of(terms, texts(row)),
        sorts=sorts,
        answer=lambda page: [_found(body) for body in issues_of_repositories(ctx, page)],
        more={"search_type": "lexical"},
    )


def _reacted(reactions: Reactions, content: str) -> Callable[[Row], int]:
    return lambda row: reactions()[row["id"]][content]


def _found(body: Row) -> Row:
    """An issue as a search shows it: who closed it is for those who open it."""
    return {name: value for name, value in body.items() if name != "closed_by"}


def _issue_tests(
    ctx: HandlerContext, counts: Callable[[], Counter[tuple]], reactions: Reactions
) -> Tests:
    """`is:open`, `repo:northquay/berth`, `author:@me` … as questions about rows of `issues`.

    counts, reactions: tell those of the comments of each issue, and to each issue by its id.
    """
    pulls = {place_and_number(row): row for row in ctx.query("pulls")}
    titles = {_milestone_key(row): row["title"] for row in ctx.query("milestones")}
    repositories = {(row["owner"], row["name"]): row for row in ctx.query("repositories")}

    def of_pull(test: Test) -> Test:
        return lambda row: place_and_number(row) in pulls and test(pulls[place_and_number(row)])

    def repository_of(row: Row) -> Row:
        return repositories[row["owner"], row["repo"]]

    def is_private(row: Row) -> bool:
        return repository_of(row)["private"]

    states: dict[str, Test] = {
        "open": lambda row: row["state"] == "open",
        "closed": lambda row: row["state"] == "closed",
        "issue": lambda row: place_and_number(row) not in pulls,
        "pr": of_pull(lambda _: True),
        "pull-request": of_pull(lambda _: True),
        "merged": of_pull(lambda pull: pull["merged"]),
        "unmerged": of_pull(lambda pull: not pull["merged"]),
        "draft": of_pull(lambda pull: pull["draft"]),
        "locked": lambda row: row.get("locked", False),
        "unlocked": lambda row: not row.get("locked", False),
        "private": is_private,
        "public": lambda row: not is_private(row),
    }
    missing: dict[str, Test] = {
        # There are neither projects nor types of issues in this world.
        "project": lambda _: True,
        "type": lambda _: True,
        "label": _without_any(ctx, "issue_labels"),
        "assignee": _without_any(ctx, "issue_assignees"),
        "milestone": lambda row: row.get("milestone") is None,
    }
    reviewed: dict[str, Test] = {
        "approved": of_pull(lambda pull: is_approved(ctx, pull)),
        "none": of_pull(lambda pull: not ctx.query("reviews", _number_of(pull), limit=1)),
        "changes_requested": of_pull(
            lambda pull: bool(
                ctx.query("reviews", {**_number_of(pull), "state": "CHANGES_REQUESTED"}, limit=1)
            )
        ),
    }
    people: Tests = {
        "author": lambda login: written_by(_named(login)),
        "assignee": lambda login: assigned_to(ctx, {}, _named(login)),
        "commenter": lambda login: commented_by(ctx, {}, _named(login)),
        "mentions": lambda login: mentions(ctx, {}, _named(login)),
    }

    def involves(login: str) -> Test:
        tests = [made(login) for made in people.values()]
        return lambda row: any(test(row) for test in tests)

    return {
        "is": _one_of(states),
        "type": _one_of(states),
        "state": _one_of(states),
        "no": _one_of(missing),
        "draft": lambda value: lambda row: states["draft"](row) == (value == "true"),
        "review": _one_of(reviewed),
        "review-requested": lambda login: _asked_to_review(ctx, _named(login)),
        "user-review-requested": lambda login: _asked_to_review(ctx, _named(login)),
        "reviewed-by": lambda login: _reviewed_by(ctx, _named(login)),
        "linked": lambda _: lambda _row: False,
        "project": lambda _: lambda _row: False,
        "team": lambda _: lambda _row: False,
        "reactions": lambda text: in_range(text, lambda row: reactions()[row["id"]].total()),
        "interactions": lambda text: in_range(
            text, lambda row: counts()[place_and_number(row)] + reactions()[row["id"]].total()
        ),
        "repo": lambda name: lambda row: same_name(f"{row['owner']}/{row['repo']}", name),
        "user": _of_owner,
        "org": _of_owner,
        "language": lambda name: (
            lambda row: same_name(repository_of(row).get("language") or "", name)
        ),
        "archived": lambda value: (
            lambda row: setting(repository_of(row), "archived") == (value == "true")
        ),
        **people,
        "involves": involves,
        "label": lambda name: carries(ctx, {}, name),
        "milestone": lambda title: (
            lambda row: same_name(titles.get(_milestone_key(row), ""), title)
        ),
        "reason": lambda value: lambda row: row.get("state_reason") == value.replace(" ", "_"),
        "head": lambda name: of_pull(lambda pull: pull["head"].startswith(name)),
        "base": lambda name: of_pull(lambda pull: pull["base"] == name),
        "comments": lambda text: in_range(text, lambda row: counts()[place_and_number(row)]),
        "created": lambda text: in_range(text, lambda row: row["created_at"]),
        "updated": lambda text: in_range(text, lambda row: row["updated_at"]),
        "closed": lambda text: in_range(text, lambda row: row.get("closed_at")),
        "merged": lambda text: of_pull(in_range(text, lambda pull: pull.get("merged_at"))),
    }


def _asked_to_review(ctx: HandlerContext, login: str) -> Test:
    rows = ctx.query("review_requests")
    return belongs(row for row in rows if same_name(row["login"], login))


def _reviewed_by(ctx: HandlerContext, login: str) -> Test:
    rows = ctx.query("reviews")
    return belongs(
        row for row in rows if same_name(row["user"], login) and row["state"] != "PENDING"
    )


def search_repositories(ctx: HandlerContext) -> None:
    rows = [row for row in ctx.query("repositories") if can_see(ctx, row)]
    tests = _repository_tests()
    terms = read_terms(ctx, {*tests, "in", "sort"})
    places = _places(terms, ("name", "description", "topics"))

    def texts(row: Row) -> list[str]:
        parts = {**row, "topics": " ".join(row["topics"])}
        return [parts.get(place) or "" for place in places]

    _answer(
        ctx,
        terms,
        rows=list(filter(selects(terms, tests), rows)),
        score=lambda row: score_of(terms, texts(row)),
        sorts={
            "stars": lambda row: row["stargazers_count"],
            "forks": lambda row: row["forks_count"],
            "updated": lambda row: row["updated_at"],
        },
        answer=each(lambda row: repository_answer(ctx, row)),
    )


def _repository_tests() -> Tests:
    states: dict[str, Test] = {
        "public": lambda row: not row["private"],
        "private": lambda row: row["private"],
        "template": lambda row: setting(row, "is_template"),
        "archived": lambda row: setting(row, "archived"),
    }
    counts = {"stars": "stargazers_count", "forks": "forks_count", "size": "size"}
    times = {"created": "created_at", "updated": "updated_at", "pushed": "pushed_at"}
    return {
        "is": _one_of(states),
        "user": _of_owner,
        "org": _of_owner,
        "repo": lambda name: lambda row: same_name(f"{row['owner']}/{row['name']}", name),
        "language": lambda name: lambda row: same_name(row.get("language") or "", name),
        "topic": lambda name: lambda row: name.lower() in row["topics"],
        "license": lambda key: lambda row: ((row.get("license") or {}).get("key")) == key.lower(),
        "archived": lambda value: lambda row: setting(row, "archived") == (value == "true"),
        "template": lambda value: lambda row: setting(row, "is_template") == (value == "true"),
        "mirror": lambda value: lambda _row: value != "true",
        # No repository of this world is a fork: `true` and `false` do not narrow, `only` leaves none.
        "fork": lambda value: lambda _row: value != "only",
        "topics": lambda text: in_range(text, lambda row: len(row["topics"])),
        "followers": lambda text: in_range(text, lambda row: row["subscribers_count"]),
        **{name: _range_of(field) for name, field in {**counts, **times}.items()},
    }


def search_users(ctx: HandlerContext) -> None:
    kinds: dict[str, Test] = {
        "user": lambda row: row["type"] == "User",
        "org": lambda row: row["type"] == "Organization",
    }
    tests: Tests = {
        "type": _one_of(kinds),
        "user": lambda login: lambda row: same_name(row["login"], login),
        "org": lambda login: lambda row: kinds["org"](row) and same_name(row["login"], login),
        "location": lambda name: lambda row: name.casefold() in (row["location"] or "").casefold(),
        "repos": _range_of("public_repos"),
        "followers": _range_of("followers"),
        "created": _range_of("created_at"),
    }
    terms = read_terms(ctx, {*tests, "in", "sort"})
    places = _places(terms, ("login", "name", "email"))
    _answer(
        ctx,
        terms,
        rows=list(filter(selects(terms, tests), ctx.query("users"))),
        score=lambda row: score_of(terms, [row[place] or "" for place in places]),
        sorts={
            "followers": lambda row: row["followers"],
            "repositories": lambda row: row["public_repos"],
            "joined": lambda row: row["created_at"],
        },
        answer=each(simple_user),
    )


def _answer(
    ctx: HandlerContext,
    terms: list[Term],
    rows: list[Row],
    score: Callable[[Row], int],
    sorts: dict[str, Callable[[Row], object]],
    answer: Callable[[list[Row]], list[Row]],
    more: Row | None = None,
) -> None:
    """The rows that hold the words of the query; the best ones first, unless asked otherwise.

    more: what the answer says beside its items; behind them, as clients take the first for the list.
    """
    check_depth(ctx)
    scores = {row["id"]: score(row) for row in rows}
    found = [row for row in rows if scores[row["id"]]]
    sort, order = _sorting(ctx, terms)
    wants_matches = form_of(ctx) == "text-match"

    def bodies(page: list[Row]) -> list[Row]:
        made = [{**body, "score": 1.0} for body in answer(page)]
        if not wants_matches:
            return made
        pairs = zip(page, made, strict=True)
        return [{**body, "text_matches": matches_in(terms, row, body)} for row, body in pairs]

    value = sorts.get(sort)
    rank = value or (lambda row: scores[row["id"]])
    answer_page(
        ctx,
        found,
        bodies,
        by=lambda row: (rank(row), row["id"]),
        downwards=value is None or order != "asc",
        wrap=lambda items: {
            "total_count": len(found),
            "incomplete_results": False,
            "items": items,
            **(more or {}),
        },
    )


def _sorting(ctx: HandlerContext, terms: list[Term]) -> tuple[str, str]:
    """By what, and "asc" or not: as the parameters say, else the query, as in `sort:created-asc`."""
    if ctx.args.get("sort"):
        return ctx.args["sort"], ctx.args.get("order") or ""
    said = next((term.value for term in reversed(terms) if term.name == "sort"), "")
    sort, _, order = said.partition("-")
    return sort, order


def _places(terms: list[Term], places: tuple[str, ...]) -> list[str]:
    """Returns the fields in which words are searched: all, unless `in:` names some."""
    wanted = {place for term in terms if term.name == "in" for place in term.value.split(",")}
    return [place for place in places if place in wanted] or list(places)


def _check_places(ctx: HandlerContext, terms: list[Term]) -> None:
    """A repository or an owner that there is not, or that the viewer cannot see, is refused."""
    rows = [row for row in ctx.query("repositories") if can_see(ctx, row)]
    known = {f"{row['owner']}/{row['name']}".casefold() for row in rows}
    owners = {row["login"].casefold() for row in ctx.query("users")}
    for term in terms:
        names = {"repo": known, "user": owners, "org": owners}.get(term.name)
        if names is not None and not term.negated and term.value.casefold() not in names:
            message = (
                "The listed users and repositories cannot be searched either because the "
                "resources do not exist or you do not have permission to view them."
            )
            error = {"message": message, "resource": "Search", "field": "q", "code": "invalid"}
            refuse(ctx, 422, "Validation Failed", [error])


def _one_of(tests: dict[str, Test]) -> Callable[[str], Test]:
    """A qualifier whose value names a question. A name that is not known finds nothing."""
    return lambda value: tests.get(value.lower(), lambda _: False)


def _range_of(field: str) -> Callable[[str], Test]:
    return lambda text: in_range(text, lambda row: row.get(field))


def _of_owner(login: str) -> Test:
    return lambda row: same_name(row["owner"], _named(login))


def _without(test: Test) -> Test:
    return lambda row: not test(row)


def _without_any(ctx: HandlerContext, entity: str) -> Test:
    """Builds the test that no row of an entity belongs to an issue; reads the rows at the first use."""
    any_of = cache(lambda: belongs(ctx.query(entity)))
    return lambda issue: not any_of()(issue)


def _named(login: str) -> str:
    return VIEWER if login == "@me" else login


def _number_of(pull: Row) -> Row:
    return {"owner": pull["owner"], "repo": pull["repo"], "number": pull["number"]}


def _milestone_key(row: Row) -> tuple[str, str, int | None]:
    """The milestone that a row of `milestones` is, or that an issue belongs to."""
    number = row["number"] if "creator" in row else row.get("milestone")
    return row["owner"], row["repo"], number
