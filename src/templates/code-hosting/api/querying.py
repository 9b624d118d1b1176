"""The language of the search: words, "phrases", and qualifiers such as `is:open` or `-label:bug`.

`grouping.py` adds what only the search for issues knows: AND, OR and parentheses.
"""

import operator
import re
from collections import namedtuple
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache

from svc_env import HandlerContext, Row

from .matching import Test
from .reading import utc_time
from .refusals import invalid, refuse

#: A parenthesis; or a qualifier's name and a colon, or nothing, and then a phrase or a word.
#: `https://…` and `a::b` are words.
TOKEN = re.compile(
    r'(?P<bracket>-?\(|\))|'
    r'(?P<minus>-?)(?:(?P<name>[A-Za-z][A-Za-z-]*):(?![:/]))?'
    r'(?:"(?P<phrase>[^"]*)"|(?P<word>[^\s()]+))'
)

#: Words that are none, unless in quotes.
OPERATORS = ("AND", "OR", "NOT")

#: `>=5`, `<2025-01-01`, `1..9`, `*..9`, `5`.
RANGE = re.compile(r"(?P<sign>>=|<=|>|<)?(?P<low>[^.]+?)(?:\.\.(?P<high>.+))?")

SIGNS = {"": operator.eq, ">": operator.gt, ">=": operator.ge, "<": operator.lt, "<=": operator.le}

#: Qualifiers that ask for times, and what a bound may be besides a time with its date.
TIMES = ("created", "updated", "closed", "merged", "pushed")
TIME_RANGE = re.compile(r"(?P<sign>>=|<=|>|<)?(?P<low>.+?)(?:\.\.(?P<high>.+))?")
DATE = re.compile(r"\*|\d{4}(?:-(?:0[1-9]|1[0-2])(?:-(?:0[1-9]|[12]\d|3[01]))?)?")

#: Qualifiers that say where to look.
SCOPES = ("repo", "user", "org")

MOST_RESULTS = 1000


class Term(namedtuple("Term", ("name", "value", "negated"))):
    """One qualifier, or with no name one word or phrase that a text must hold."""

    __slots__ = ()


class Group(namedtuple("Group", ("parts", "alternatives", "negated"), defaults=(False, False))):
    """Terms and groups: all of them must hold, or one of them at least."""

    __slots__ = ()


def read_tokens(ctx: HandlerContext, known: Iterable[str]) -> list[Term | str]:
    """Splits the parameter `q` into terms, and as texts operators, `(`, `-(` and `)`. A qualifier
    that is not known says nothing: it is left out."""
    text = ctx.args.get("q") or ""
    if not text.strip():
        invalid(ctx, "Search", "q", "missing")
    names = set(known)
    tokens: list[Term | str] = []
    for match in TOKEN.finditer(text):
        name = (match["name"] or "").lower()
        if match["bracket"] or match[0] in OPERATORS:
            tokens.append(match[0])
        elif not name or name in names:
            value = match["word"] if match["phrase"] is None else match["phrase"]
            if name in TIMES:
                value = _times_of(ctx, value)
            tokens.append(Term(name, value, match["minus"] == "-"))
    return tokens


def _times_of(ctx: HandlerContext, value: str) -> str:
    """A range of times, its bounds as rows hold times."""
    match = TIME_RANGE.fullmatch(value)
    bounds = [bound for bound in (match["low"], match["high"]) if bound] if match else [value]
    try:
        times = [bound if DATE.fullmatch(bound) else utc_time(bound) for bound in bounds]
    except ValueError:
        message = (
            f'"{value}" is not a recognized date/time format. '
            "Please provide an ISO 8601 date/time value, such as YYYY-MM-DD."
        )
        invalid(ctx, "Search", "q", "invalid", message=message)
    return f"{(match and match['sign']) or ''}{'..'.join(times)}"


def read_terms(ctx: HandlerContext, known: Iterable[str]) -> list[Term]:
    """The terms of a query without groups, where `AND` and `OR` are words; `NOT x` is `-x`."""
    found: list[Term] = []
    negated = False
    for token in read_tokens(ctx, known):
        if token == "NOT":
            negated = True
        elif token in ("AND", "OR"):
            found.append(Term("", str(token), False))
        elif isinstance(token, Term):
            found.append(Term(token.name, token.value, token.negated != negated))
            negated = False
    return found


#: Questions by the name of their qualifier, made of its value; a word is asked for by no name.
Tests = dict[str, Callable[[str], Test]]


def selects(parts: Sequence[Term | Group], tests: Tests) -> Test:
    """Builds the test whether a row fulfils all parts of a query. Commas in a value mean: one of these; and so
    do several places to look in."""
    scope: list[Test] = []
    made: list[tuple[list[Test], bool]] = []
    for part in parts:
        if not _narrows(part, tests):
            continue
        if isinstance(part, Group):
            made.append((_choices_of(part, tests), part.negated))
            continue
        values = part.value.split(",") if part.name else [part.value]
        choices = [tests[part.name](value) for value in values if value]
        if part.name in SCOPES and not part.negated:
            scope += choices
        else:
            made.append((choices, part.negated))
    if scope:
        made.append((scope, False))
    wanted = [(_any_of(choices), negated) for choices, negated in made]

    def selected(row: Row) -> bool:
        for test, negated in wanted:
            if test(row) == negated:
                return False
        return True

    return selected


def _any_of(tests: list[Test]) -> Test:
    return tests[0] if len(tests) == 1 else lambda row: any(test(row) for test in tests)


def _choices_of(group: Group, tests: Tests) -> list[Test]:
    if not group.alternatives:
        return [selects(group.parts, tests)]
    return [selects([part], tests) for part in group.parts if _narrows(part, tests)]


def _narrows(part: Term | Group, tests: Tests) -> bool:
    """Returns true if the term restricts the search: `sort:` and `in:` do not."""
    if isinstance(part, Term):
        return part.name in tests
    return any(_narrows(inner, tests) for inner in part.parts)


def holds(texts: list[str], word: str) -> bool:
    """Returns true if a word of the texts begins with this one."""
    beginning = _beginning(word)
    return any(beginning.search(text) for text in texts)


def rank_of(terms: Iterable[Term], texts: list[str]) -> int:
    """Returns how often words of a query begin a word of the texts; the first text counts most."""
    rank = 1
    for term in terms:
        if not term.name and not term.negated:
            counts = [len(_beginning(term.value).findall(text)) for text in texts]
            rank += sum(count * (10 if index == 0 else 1) for index, count in enumerate(counts))
    return rank


def score_of(terms: list[Term], texts: list[str]) -> int:
    """The same; 0 when one of the words is missing, or one that must be missing is there."""
    words = [term for term in terms if not term.name]
    fits = all(holds(texts, term.value) != term.negated for term in words)
    return rank_of(words, texts) if fits else 0


@lru_cache(maxsize=32)
def _beginning(word: str) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w){re.escape(word)}", re.IGNORECASE)


def in_range(text: str, read: Callable[[Row], str | int | None]) -> Test:
    """Compares a number, or a time as far as the range gives it: `2025-11` is all of November."""
    match = RANGE.fullmatch(text)
    low, high = (match["low"], match["high"]) if match else (text, None)
    holds = SIGNS[(match and match["sign"]) or ""]

    def compare(row: Row) -> bool:
        value = read(row)
        if value is None:
            return False
        if high is not None:
            return _order(value, low) >= 0 and _order(value, high) <= 0
        return holds(_order(value, low), 0)

    return compare


def _order(value: str | int, bound: str) -> int:
    """-1, 0 or 1. `*` is no bound at all."""
    if bound == "*":
        return 0
    if isinstance(value, str):
        start = value[: len(bound)]
        return (start > bound) - (start < bound)
    number = int(bound) if bound.isdecimal() else 0
    return (value > number) - (value < number)


def check_depth(ctx: HandlerContext) -> None:
    """A search shows a thousand results and no more, however it is paged."""
    numbers = [str(ctx.args.get(name) or "") for name in ("page", "per_page")]
    page, size = (int(text) if text.isdecimal() and len(text) < 9 else None for text in numbers)
    if ((page or 1) - 1) * min(size or 30, 100) >= MOST_RESULTS:
        refuse(ctx, 422, "Only the first 1000 search results are available")
