"""The language of the search: words, "phrases", and qualifiers such as `is:open` or `-label:bug`."""

import operator
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from svc_env import HandlerContext, Row

from .matching import Test
from .refusals import invalid, refuse

#: A qualifier's name and a colon, or nothing; then a phrase or a word. `https://…` and `a::b` are words.
TERM = re.compile(
    r'(?P<minus>-?)(?:(?P<name>[A-Za-z][A-Za-z-]*):(?![:/]))?'
    r'(?:"(?P<phrase>[^"]*)"|(?P<word>\S+))'
)

#: `>=5`, `<2025-01-01`, `1..9`, `*..9`, `5`.
RANGE = re.compile(r"(?P<sign>>=|<=|>|<)?(?P<low>[^.]+?)(?:\.\.(?P<high>.+))?")

SIGNS = {"": operator.eq, ">": operator.gt, ">=": operator.ge, "<": operator.lt, "<=": operator.le}

#: Qualifiers that say where to look.
SCOPES = ("repo", "user", "org")

MOST_RESULTS = 1000


@dataclass(frozen=True)
class Term:
    """One qualifier, or with no name one word or phrase that a text must hold."""

    name: str
    value: str
    negated: bool


def read_query(ctx: HandlerContext, known: Iterable[str]) -> list[Term]:
    """The terms of the parameter `q`. A qualifier that is not known says nothing: it is left out."""
    text = ctx.args.get("q") or ""
    if not text.strip():
        invalid(ctx, "Search", "q", "missing")
    known, terms = set(known), []
    for match in TERM.finditer(text):
        value = match["word"] if match["phrase"] is None else match["phrase"]
        name = (match["name"] or "").lower()
        if name and name not in known:
            continue
        terms.append(Term(name, value, match["minus"] == "-"))
    return _negated_by_word(terms)


def _negated_by_word(terms: list[Term]) -> list[Term]:
    """`NOT x` is `-x`."""
    found, negated = [], False
    for term in terms:
        if (term.name, term.value) == ("", "NOT"):
            negated = True
            continue
        found.append(Term(term.name, term.value, term.negated != negated))
        negated = False
    return found


def selects(terms: list[Term], tests: dict[str, Callable[[str], Test]]) -> Test:
    """Whether a row is what all qualifiers ask for. Commas in a value mean: one of these; and so do
    several places to look in."""
    scope: list[Test] = []
    made: list[tuple[list[Test], bool]] = []
    for term in terms:
        if term.name not in tests:
            continue
        choices = [tests[term.name](value) for value in term.value.split(",") if value]
        if term.name in SCOPES and not term.negated:
            scope += choices
        else:
            made.append((choices, term.negated))
    if scope:
        made.append((scope, False))
    return lambda row: all(any(test(row) for test in tests) != negated for tests, negated in made)


def score_of(terms: list[Term], texts: list[str]) -> int:
    """How often the words of a query begin a word of the texts, the first text counting most; 0 when
    one of them is missing, or one that must be missing is there."""
    score = 1
    for term in terms:
        if term.name:
            continue
        word = re.compile(rf"(?<!\w){re.escape(term.value)}", re.IGNORECASE)
        counts = [len(word.findall(text)) for text in texts]
        if bool(sum(counts)) == term.negated:
            return 0
        score += sum(count * (10 if index == 0 else 1) for index, count in enumerate(counts))
    return score


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
