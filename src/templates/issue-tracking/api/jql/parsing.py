"""Reads the query language: a text becomes a tree of conditions and an order, or a refusal that says where it broke."""

import re
from dataclasses import dataclass, field

OPERATORS = "'=', '!=', '<', '>', '<=', '>=', '~', '!~', 'IN', 'NOT IN', 'IS' and 'IS NOT'"
MOST_LEVELS = 50

_TOKEN = re.compile(
    r"(?P<space>\s+)|(?P<quoted>\"(?:[^\"\\]|\\.)*\"|'(?:[^'\\]|\\.)*')|(?P<open>[\"'])"
    r"|(?P<sign>!=|!~|<=|>=|&&|\|\||[=<>~(),!&|])|(?P<word>(?:[^\s=!<>~(),\"'&|@{}#$%;?^`*/\[\]\\]|\\.|\[\d+\])+)"
    r"|(?P<other>.)",
    re.DOTALL,
)
_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|.)", re.DOTALL)
_ESCAPED = {"t": "\t", "n": "\n", "r": "\r", "\\": "\\", "'": "'", '"': '"', " ": " "}
_ESCAPES = r"""\', \", \t, \n, \r, \\, '\ ' and \uXXXX"""


class QueryError(Exception):
    """Mistake in a query, in the tracker's words."""


@dataclass(frozen=True)
class Token:
    kind: str
    text: str
    at: int

    def says(self, *words: str) -> bool:
        """Returns true if the token is one of these words or signs, without quotation marks around it."""
        return self.kind in ("word", "sign") and self.text.lower() in words


@dataclass(frozen=True)
class Value:
    """A text, or the call of a function, or nothing at all (EMPTY)."""

    text: str
    is_empty: bool = False
    arguments: tuple[str, ...] | None = None


@dataclass(frozen=True)
class Term:
    """One condition: `status in (Done, "In Review")`."""

    name: str
    operator: str
    values: tuple[Value, ...]
    is_list: bool


@dataclass(frozen=True)
class Group:
    """Conditions that hold together ("and"), of which one holds ("or"), or of which the one does not ("not")."""

    kind: str
    parts: tuple["Group | Term", ...]


@dataclass
class Query:
    where: Group | Term | None = None
    order: list[tuple[str, bool]] = field(default_factory=list)


def parse(text: str) -> Query:
    """The query of a text. Raises QueryError."""
    return _Parser(text).query()


class _Parser:
    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens = list(_tokens(text))
        self.at = 0
        self.level = 0

    def query(self) -> Query:
        query = Query()
        if self.peek() and not self.is_order():
            query.where = self.alternatives()
        if self.is_order():
            self.at += 2
            query.order = self.order()
        token = self.peek()
        if token:
            self.refuse(f"Expecting either 'OR' or 'AND' but got '{token.text}'.", token)
        return query

    def peek(self) -> Token | None:
        return self.tokens[self.at] if self.at < len(self.tokens) else None

    def next_says(self, *words: str) -> bool:
        token = self.peek()
        return bool(token and token.says(*words))

    def is_order(self) -> bool:
        two = self.tokens[self.at : self.at + 2]
        return len(two) == 2 and two[0].says("order") and two[1].says("by")

    def alternatives(self) -> Group | Term:
        return self.joined("or", ("or", "||", "|"), lambda: self.joined("and", ("and", "&&", "&"), self.single))

    def joined(self, kind: str, words: tuple[str, ...], part) -> Group | Term:
        parts = [part()]
        while self.next_says(*words):
            self.at += 1
            parts.append(part())
        return parts[0] if len(parts) == 1 else Group(kind, tuple(parts))

    def single(self) -> Group | Term:
        self.level += 1
        if self.level > MOST_LEVELS:
            raise QueryError("Error in the JQL Query: The query nests too deeply.")
        try:
            if self.next_says("not", "!"):
                self.at += 1
                return Group("not", (self.single(),))
            if self.next_says("("):
                self.at += 1
                inner = self.alternatives()
                self.close()
                return inner
            return self.term()
        finally:
            self.level -= 1

    def close(self) -> None:
        token = self.peek()
        if token is None:
            raise QueryError("Error in the JQL Query: Expecting ')' before the end of the query.")
        if not token.says(")"):
            self.refuse(f"Expecting ')' but got '{token.text}'.", token)
        self.at += 1

    def term(self) -> Term:
        name = self.name()
        operator = self.operator()
        if operator in ("in", "not in") and self.next_says("("):
            return Term(name, operator, self.values(), True)
        return Term(name, operator, (self.value(),), False)

    def name(self) -> str:
        token = self.peek()
        if token is None:
            raise QueryError("Error in the JQL Query: Expecting a field name before the end of the query.")
        if token.kind == "sign" or token.says("and", "or", "in", "is", "empty", "null"):
            self.refuse(f"Expecting a field name but got '{token.text}'. You must surround '{token.text}' in quotation marks to use it as a field name.", token)
        self.at += 1
        return token.text

    def operator(self) -> str:
        token = self.peek()
        valid = f"The valid operators are {OPERATORS}."
        if token is None:
            raise QueryError(f"Error in the JQL Query: Expecting operator before the end of the query. {valid}")
        self.at += 1
        if token.says("=", "!=", "<", ">", "<=", ">=", "~", "!~", "in"):
            return token.text.lower()
        if token.says("is"):
            if self.next_says("not"):
                self.at += 1
                return "is not"
            return "is"
        if token.says("not") and self.next_says("in"):
            self.at += 1
            return "not in"
        return self.refuse(f"Expecting operator but got '{token.text}'. {valid}", token)

    def values(self) -> tuple[Value, ...]:
        self.at += 1
        found = [self.value()]
        while self.next_says(","):
            self.at += 1
            found.append(self.value())
        self.close()
        return tuple(found)

    def value(self) -> Value:
        token = self.peek()
        if token is None:
            raise QueryError("Error in the JQL Query: Expecting either a value, list or function before the end of the query.")
        if token.kind == "sign":
            message = f"Expecting either a value, list or function but got '{token.text}'."
            self.refuse(f"{message} You must surround '{token.text}' in quotation marks to use it as a value.", token)
        self.at += 1
        if token.kind == "word" and self.next_says("("):
            return Value(token.text, arguments=self.arguments())
        return Value(token.text, is_empty=token.says("empty", "null"))

    def arguments(self) -> tuple[str, ...]:
        self.at += 1
        found: list[str] = []
        while not self.next_says(")"):
            found.append(self.value().text)
            if not self.next_says(","):
                break
            self.at += 1
        self.close()
        return tuple(found)

    def order(self) -> list[tuple[str, bool]]:
        found = []
        while True:
            name = self.name()
            downwards = self.next_says("desc")
            if self.next_says("asc", "desc"):
                self.at += 1
            found.append((name, downwards))
            if not self.next_says(","):
                return found
            self.at += 1

    def refuse(self, message: str, token: Token):
        raise QueryError(f"Error in the JQL Query: {message} {_place(self.text, token.at)}")


def _place(text: str, at: int) -> str:
    line = text.count("\n", 0, at) + 1
    return f"(line {line}, character {at - (text.rfind(chr(10), 0, at) + 1) + 1})"


def _tokens(text: str):
    for match in _TOKEN.finditer(text):
        kind, found, at = match.lastgroup or "", match[0], match.start()
        if kind == "space":
            continue
        if kind == "open":
            rest = text[at + 1 :]
            raise QueryError(f"Error in the JQL Query: The quoted string '{rest}' has not been completed. {_place(text, at)}")
        if kind == "other":
            escape = f"\\u{ord(found):04x}" if ord(found) < 0x10000 else found
            message = f"The character '{found}' is a reserved JQL character. You must enclose it in a string or use the escape '{escape}' instead."
            raise QueryError(f"Error in the JQL Query: {message} {_place(text, at)}")
        if kind == "quoted":
            yield Token(kind, _decoded(text, found[1:-1], at + 1), at)
        elif "\\" in found:
            # A word with an escape is a value like a quoted one: no word of the language, and no function.
            yield Token("quoted", _decoded(text, found, at), at)
        else:
            yield Token(kind, found, at)


def _decoded(text: str, written: str, at: int) -> str:
    """Decodes the escapes of a value that begins at a place of the query. Raises QueryError."""

    def decode(match: re.Match[str]) -> str:
        said = match[1]
        if len(said) == 5:
            return chr(int(said[1:], 16))
        if said not in _ESCAPED:
            message = f"'{match[0]}' is an illegal JQL escape sequence. The valid escape sequences are {_ESCAPES}."
            raise QueryError(f"Error in the JQL Query: {message} {_place(text, at + match.start())}")
        return _ESCAPED[said]

    # Two escapes may write one character beyond U+FFFF, as a pair of surrogates.
    units = _ESCAPE.sub(decode, written).encode("utf-16-le", "surrogatepass")
    return units.decode("utf-16-le", "replace")
