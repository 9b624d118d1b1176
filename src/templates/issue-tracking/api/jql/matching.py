"""Finds the issues that a query asks for, in its order."""

import re
from collections.abc import Callable, Iterator
from datetime import datetime
from functools import cmp_to_key
from itertools import count
from typing import Any

from svc_env import HandlerContext, Row

from ..finding import by_id
from .fields import KINDS, Field, World, field_named
from .functions import call
from .moments import moment_of
from .parsing import Group, Query, QueryError, Term, Value, parse

#: Issues that are read together where each is looked at.
_AT_ONCE = 100

Condition = Callable[[Row], bool]

_WORD = re.compile(r"\w+", re.UNICODE)
#: Of a word that stands for several.
_PATTERN = re.compile(r"[*?]")
_COMPARE = {
    "<": lambda a, b: a < b,
    ">": lambda a, b: a > b,
    "<=": lambda a, b: a <= b,
    ">=": lambda a, b: a >= b,
}
_DATES = "Valid formats include: 'yyyy/MM/dd HH:mm', 'yyyy-MM-dd HH:mm', 'yyyy/MM/dd', 'yyyy-MM-dd', or a period format e.g. '-5d', '4w 2d'."


#: Fields whose values are those of a column of the rows.
_COLUMNS = {
    "project": "project_id",
    "key": "id",
    "status": "status_id",
    "issuetype": "type_id",
    "assignee": "assignee",
    "reporter": "reporter",
    "creator": "creator",
}
#: Columns that rows are sorted by as the fields of that name are: all issues have them.
_SORTED_COLUMNS = ("created", "updated")


def find_issues(ctx: HandlerContext, text: str) -> list[Row]:
    """The issues that a query finds, in its order; without one the newest come first. Raises QueryError."""
    world, query = World(ctx), parse(text)
    holds = condition(world, query.where)
    where, _ = _where(world, query.where)
    found = [issue for issue in _each(ctx, where) if holds(issue)]
    return _ordered(world, found, query)


def _each(ctx: HandlerContext, where: Row) -> Iterator[Row]:
    """The issues that columns name, a few at a time: most of them are looked at and let go of."""
    for start in count(step=_AT_ONCE):
        rows = ctx.query("issues", where, limit=_AT_ONCE, offset=start)
        yield from rows
        if len(rows) < _AT_ONCE:
            return


def find_page(ctx: HandlerContext, text: str, start: int, size: int) -> tuple[list[Row], int]:
    """The issues of one page, and how many there are on all. Raises QueryError.

    Where columns say all that a query asks for, no other issues are read than those of the page.
    """
    world, query = World(ctx), parse(text)
    condition(world, query.where)  # refuses what is wrong with it
    where, is_all = _where(world, query.where)
    order = _column_order(query)
    if not is_all or order is None:
        found = find_issues(ctx, text)
        return found[start : start + size], len(found)
    rows = ctx.query("issues", where, limit=size, offset=start, order_by=order) if size else []
    return rows, ctx.count("issues", where)


def _where(world: World, part: Group | Term | None) -> tuple[Row, bool]:
    """Returns the conditions that columns can decide, and whether these are all conditions of the query."""
    if part is None:
        return {}, True
    if isinstance(part, Term):
        field = field_named(world, part.name)
        column = _COLUMNS.get(field.name if field else "")
        is_plain = part.operator in ("=", "in") and not any(value.is_empty for value in part.values)
        if field is None or column is None or not is_plain:
            return {}, False
        meant = [one for value in part.values for one in _meaning(world, field, value, part)]
        return ({column: meant}, True) if meant else ({}, False)
    if part.kind != "and":
        return {}, False
    where, is_all = {}, True
    for one in part.parts:
        columns, is_whole = _where(world, one)
        # Of a column that is named twice the second word is left to the condition.
        is_all = is_all and is_whole and not columns.keys() & where.keys()
        where = {**columns, **where}
    return where, is_all


def _column_order(query: Query) -> list[str] | None:
    """The columns that issues are sorted by; None where other things decide."""
    names = [(name.casefold(), downwards) for name, downwards in query.order]
    if any(name not in _SORTED_COLUMNS for name, _ in names):
        return None
    return [*(f"-{name}" if downwards else name for name, downwards in names), "-id"]


def matches(ctx: HandlerContext, text: str, issue: Row) -> bool:
    """Returns true if a query finds an issue; an invalid query finds nothing."""
    try:
        return condition(World(ctx), parse(text).where)(issue)
    except QueryError:
        return False


def condition(world: World, part: Group | Term | None) -> Condition:
    """Builds the function that decides whether an issue is found. Raises QueryError."""
    if part is None:
        return lambda issue: True
    if isinstance(part, Term):
        return _filter(world, part) if part.name.casefold() in ("filter", "savedfilter") else _term(world, part)
    parts = [condition(world, one) for one in part.parts]
    if part.kind == "not":
        return lambda issue: not parts[0](issue)
    decide = all if part.kind == "and" else any
    return lambda issue: decide(one(issue) for one in parts)


def _filter(world: World, term: Term, level: int = 0) -> Condition:
    """The queries that others have saved."""
    parts = []
    for value in term.values:
        rows = [row for row in world.rows("filters") if row["name"].casefold() == value.text.casefold()]
        row = by_id(world.ctx, "filters", value.text) or next(iter(rows), None)
        if row is None:
            raise QueryError(f"The value '{value.text}' does not exist for the field 'filter'.")
        if _names_filters(parse(row["jql"]).where):
            raise QueryError(f"The saved filter '{row['name']}' names another filter, which is not supported.")
        parts.append(condition(world, parse(row["jql"]).where))
    if term.operator in ("=", "in"):
        return lambda issue: any(one(issue) for one in parts)
    return lambda issue: not any(one(issue) for one in parts)


def _names_filters(part: Group | Term | None) -> bool:
    if isinstance(part, Term):
        return part.name.casefold() in ("filter", "savedfilter")
    return part is not None and any(map(_names_filters, part.parts))


def _term(world: World, term: Term) -> Condition:
    field = field_named(world, term.name)
    if field is None:
        raise QueryError(f"Field '{term.name}' does not exist or you do not have permission to view it.")
    _check(field, term)
    operator = term.operator
    if any(value.is_empty for value in term.values) and not term.is_list:
        wants_none = operator in ("is", "=")
        return lambda issue: _is_empty(world, field, issue) == wants_none
    if field.kind == "text":
        has_words = _words(term.values[0].text)
        if operator == "!~":
            return lambda issue: not has_words(_text_of(world, field, issue))
        return lambda issue: has_words(_text_of(world, field, issue))
    meant = [one for value in term.values for one in _meaning(world, field, value, term)]
    if operator in _COMPARE:
        compare = _COMPARE[operator]
        return lambda issue: any(compare(one, limit) for one in field.values(world, issue) for limit in meant)
    wanted = set(meant)
    empty_too = any(value.is_empty for value in term.values)
    if operator in ("=", "in"):
        return lambda issue: (empty_too and _is_empty(world, field, issue)) or not wanted.isdisjoint(field.values(world, issue))
    # What has no value at all is no other value either.
    return lambda issue: not _is_empty(world, field, issue) and wanted.isdisjoint(field.values(world, issue))


def _check(field: Field, term: Term) -> None:
    operator, name = term.operator, term.name
    if operator not in KINDS[field.kind]:
        raise QueryError(f"The operator '{operator}' is not supported by the '{name}' field.")
    has_function = any(value.arguments is not None for value in term.values)
    if operator in ("in", "not in") and not term.is_list and not has_function:
        raise QueryError(f"Operator '{operator}' does not support the non-list value '{_quoted(term.values[0])}' for field '{name}'.")
    is_empty = all(value.is_empty for value in term.values)
    if operator in ("is", "is not") and not is_empty:
        raise QueryError(f"Operator '{operator}' does not support the non-empty value '{_quoted(term.values[0])}' for field '{name}'.")
    if is_empty and operator not in ("is", "is not", "=", "!=", "in", "not in"):
        raise QueryError(f"The operator '{operator}' does not support searching for an empty value in the '{name}' field.")


def _quoted(value: Value) -> str:
    return f'"{value.text}"'


def _is_empty(world: World, field: Field, issue: Row) -> bool:
    if field.name == "resolution":
        return not issue.get("resolution_id")
    return not any(value != "" for value in field.values(world, issue))


def _meaning(world: World, field: Field, value: Value, term: Term) -> list[Any]:
    if value.is_empty:
        return []
    if field.kind == "time":
        return [_point(field, one) for one in _moments(world, field, value, term)]
    if value.arguments is not None:
        return list(call(world, field, value))
    found = list(field.meaning(world, value.text))
    if not found:
        if field.name == "key":
            raise QueryError(f"An issue with key '{value.text}' does not exist for field '{term.name}'.")
        raise QueryError(f"The value '{value.text}' does not exist for the field '{term.name}'.")
    return found


def _moments(world: World, field: Field, value: Value, term: Term) -> list[datetime]:
    if value.arguments is not None:
        return list(call(world, field, value))
    found = moment_of(value.text, world.now)
    if found is None:
        raise QueryError(f"Date value '{value.text}' for field '{term.name}' is invalid. {_DATES}")
    return [found]


def _point(field: Field, moment: datetime) -> Any:
    """A moment as the values of the field are: a day, or a time."""
    return moment.strftime("%Y-%m-%d") if field.is_date else moment


def _text_of(world: World, field: Field, issue: Row) -> str:
    return "\n".join(map(str, field.values(world, issue))).casefold()


def _words(wanted: str) -> Callable[[str], bool]:
    """Builds the test of a lower-case text for the words and quoted phrases of a query."""
    phrases = [phrase.casefold() for phrase in re.findall(r'"([^"]+)"', wanted)]
    words = re.findall(r"[\w*?]+", re.sub(r'"[^"]*"', " ", wanted).casefold())
    stems = [_stem(word) for word in words if not _PATTERN.search(word)]
    patterns = [_pattern(word) for word in words if _PATTERN.search(word)]
    # A stem is the beginning of its word: a text without it somewhere has no such word.
    parts = [*phrases, *stems]

    def holds(text: str) -> bool:
        if not all(part in text for part in parts):
            return False
        if not stems and not patterns:
            return True
        found = {_stem(word) for word in _WORD.findall(text)}
        return found.issuperset(stems) and all(any(map(pattern.match, found)) for pattern in patterns)

    return holds


def _pattern(word: str) -> re.Pattern[str]:
    return re.compile("".join({"*": ".*", "?": "."}.get(sign, re.escape(sign)) for sign in word))


def _stem(word: str) -> str:
    """A word without the endings that English gives it."""
    for ending in ("ing", "ed", "s"):
        if word.endswith(ending) and len(word) - len(ending) > 2:
            word = word.removesuffix(ending)
            break
    return word.removesuffix("e") if len(word) > 3 else word


def _ordered(world: World, issues: list[Row], query: Query) -> list[Row]:
    order: list[tuple[Callable[[World, Row], Any], bool]] = []
    for name, downwards in query.order:
        field = field_named(world, name)
        if field is None or field.order is None:
            if field is None:
                raise QueryError(f"Field '{name}' does not exist or you do not have permission to view it.")
            raise QueryError(f"Not able to sort using field '{name}'.")
        order.append((field.order, downwards))
    found = sorted(issues, key=lambda issue: -issue["id"])
    # The last of several orders first: sorting keeps what was in order before.
    for by, downwards in reversed(order):
        keyed = [(by(world, issue), issue) for issue in found]
        keyed.sort(key=cmp_to_key(_compare), reverse=downwards)
        found = [issue for _, issue in keyed]
    return found


def _compare(one: tuple[Any, Row], other: tuple[Any, Row]) -> int:
    """Issues without a value come last."""
    a, b = one[0], other[0]
    if a is None or b is None:
        return (a is None) - (b is None)
    return (a > b) - (a < b)
