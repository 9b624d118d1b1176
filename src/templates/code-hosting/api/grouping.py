"""AND, OR, NOT and parentheses in the search for issues.

Terms side by side are joined by AND, which binds more tightly than OR. A parenthesis too many or too
few is overlooked; groups without terms say nothing.
"""

from collections import deque
from collections.abc import Iterable, Iterator

from svc_env import HandlerContext

from .querying import OPERATORS, Group, Term, read_tokens
from .refusals import refuse

MOST_OPERATORS = 5
DEEPEST = 5

Tokens = deque[Term | str]


def read_groups(ctx: HandlerContext, known: Iterable[str]) -> Group:
    """The query of the parameter `q`."""
    tokens = deque(read_tokens(ctx, known))
    if sum(token in OPERATORS for token in tokens) > MOST_OPERATORS:
        _refuse(ctx, "More than five AND / OR / NOT operators were used.")
    parts: list[Term | Group] = []
    while tokens:
        parts.append(_read_alternatives(ctx, tokens, 0))
        if tokens:
            tokens.popleft()  # a parenthesis that nothing opened
    return Group(parts)


def terms_of(group: Group) -> Iterator[Term]:
    """All terms, from left to right."""
    for part in group.parts:
        if isinstance(part, Term):
            yield part
        else:
            yield from terms_of(part)


def _read_alternatives(ctx: HandlerContext, tokens: Tokens, depth: int) -> Group:
    """Reads the terms between parentheses, up to the closing one."""
    if depth > DEEPEST:
        _refuse(ctx, "Parentheses are nested more than five levels deep.")
    choices = [_read_joined(ctx, tokens, depth)]
    while tokens and tokens[0] == "OR":
        tokens.popleft()
        choices.append(_read_joined(ctx, tokens, depth))
    return Group([choice for choice in choices if choice.parts], alternatives=True)


def _read_joined(ctx: HandlerContext, tokens: Tokens, depth: int) -> Group:
    parts: list[Term | Group] = []
    negated = False
    while tokens and tokens[0] not in ("OR", ")"):
        token = tokens.popleft()
        if token == "AND":
            continue
        if token == "NOT":
            negated = not negated
            continue
        if isinstance(token, Term):
            parts.append(Term(token.name, token.value, token.negated != negated))
        else:
            inner = _read_alternatives(ctx, tokens, depth + 1)
            if tokens:
                tokens.popleft()
            if inner.parts:
                parts.append(Group(inner.parts, True, (token == "-(") != negated))
        negated = False
    return Group(parts)


def _refuse(ctx: HandlerContext, message: str) -> None:
    error = {"message": message, "resource": "Search", "field": "q", "code": "invalid"}
    refuse(ctx, 422, "Validation Failed", [error])
