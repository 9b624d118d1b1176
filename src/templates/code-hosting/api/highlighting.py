"""Places of the words of a search in its results: `text_matches`."""

import re
from collections.abc import Iterable

from svc_env import Row

from .querying import Term

#: What is looked through, by a field that only this kind of row has: its type, and its texts.
KINDS = {
    "title": ("Issue", ("title", "body")),
    "default_branch": ("Repository", ("name", "description")),
    "login": ("User", ("login", "name", "email")),
}

#: How much is shown around a word.
AROUND = 80


def matches_in(terms: Iterable[Term], row: Row, body: Row) -> list[Row]:
    """The places in a row, one for each of its texts that holds a word of the query."""
    kind, fields = next(kind for field, kind in KINDS.items() if field in row)
    words = [re.escape(term.value) for term in terms if not term.name and not term.negated]
    if not words:
        return []
    pattern = re.compile(rf"(?<!\w)(?:{'|'.join(words)})\w*", re.IGNORECASE)
    found = []
    for field in fields:
        text = row.get(field) or ""
        first = pattern.search(text)
        if first:
            fragment = text[max(0, first.start() - AROUND) : first.end() + AROUND]
            found.append(
                {
                    "object_url": body["url"],
                    "object_type": kind,
                    "property": field,
                    "fragment": fragment,
                    "matches": [
                        {"text": match[0], "indices": [match.start(), match.end()]}
                        for match in pattern.finditer(fragment)
                    ],
                }
            )
    return found
