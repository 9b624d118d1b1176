"""Row cache of this worker: whole entities that are read without a request to the host.

The host decides which entities are cached and sends their changes, so a cached read returns what the store
would return. The cache answers only plain reads: rows by key, or by values of top-level fields with a column
in the store, in the order of such fields. Every other read returns `ASK`, even one that the store would
refuse: the worker then requests the rows from the host.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Iterator
from itertools import islice, product
from marshal import dumps, loads

from .typed import TYPE_CHECKING, Row

if TYPE_CHECKING:
    from typing import Any

Position = int

#: Result of a read that the cache cannot answer, so that the host has to.
ASK: Any = object()

#: Largest whole number that the store represents exactly.
_LARGEST = 2**53
#: Maximum number of fields that the store accepts in one `where`.
_MOST_FIELDS = 100
#: Upper bound for a limit or an offset.
_MOST = 2**31

#: Maximum number of indexes of one entity, and of cached results of ordered queries.
_MOST_INDEXES = 8
_MOST_RESULTS = 32

Index = dict[object, list[Position]]


class RowCache:
    """Cached entities, which the updates in the host's messages keep current."""

    def __init__(self) -> None:
        self._entities: dict[str, _Entity] = {}
        #: True if the last updates could not be applied, and the host must know that the cache is empty.
        self.lost = False
        #: Entities that were read from the cache since the run began.
        self.reads: set[str] = set()

    def apply(self, updates: Row) -> None:
        """Applies the updates of a message; empties the cache if that fails."""
        try:
            for name in updates["drop"]:
                self._entities.pop(name, None)
            for name, rows in updates["changed"].items():
                entity = self._entities.get(name)
                if entity is not None:
                    entity.change(_pairs(rows))
            for name, given in updates["hold"].items():
                columns = dict(given["columns"])
                self._entities[name] = _Entity(given["key"], columns, _pairs(given["rows"]))
        except BaseException:
            self.lose()
            raise

    def lose(self) -> None:
        """Empties the cache, and marks that the host must be informed."""
        self.lost = True
        self._entities.clear()

    def get(self, entity: object, key: object) -> Any:
        """Returns the row of a primary key; None if there is none; ASK if the cache cannot answer."""
        cached = self._entity(entity)
        return ASK if cached is None else cached.get(key)

    def query(
        self, entity: object, where: object, limit: object, offset: object, order_by: object
    ) -> Any:
        """Returns the matching rows; ASK if the cache cannot answer."""
        cached = self._entity(entity)
        return ASK if cached is None else cached.query(where, limit, offset, order_by)

    def count(self, entity: object, where: object) -> Any:
        """Returns the number of matching rows; ASK if the cache cannot answer."""
        cached = self._entity(entity)
        return ASK if cached is None else cached.count(where)

    def _entity(self, name: object) -> _Entity | None:
        held = self._entities.get(name) if type(name) is str else None
        if held is not None:
            self.reads.add(name)  # type: ignore[arg-type]
        return held


def _pairs(rows: list[Any]) -> Iterator[tuple[Position, Row | None]]:
    each = iter(rows)
    return zip(each, each)


class _Entity:
    def __init__(
        self, key: list[str], columns: dict[str, str], rows: Iterator[tuple[Position, Row]]
    ) -> None:
        self._key = tuple(sorted(key))
        self._columns = columns
        #: Names of the members that are lists or objects, for rows that have any.
        self._packed: dict[Position, tuple[str, ...]] = {}
        #: Rows by position, in insertion order. Lists and objects are packed.
        self._rows: dict[Position, Row] = {at: self._pack(at, row) for at, row in rows}
        self._last = next(reversed(self._rows), 0)
        #: Fields examined so far: those whose values all compare in Python as in the store, and the others.
        self._plain: set[str] = set()
        self._odd: set[str] = set()
        self._indexes: dict[tuple[str, ...], Index] = {}
        self._results: dict[Any, list[Position]] = {}

    def change(self, rows: Iterator[tuple[Position, Row | None]]) -> None:
        """Replaces the rows at some positions; None for a deleted row."""
        self._results.clear()
        is_sorted = True
        for position, row in rows:
            before = self._rows.get(position)
            self._packed.pop(position, None)
            if row is not None:
                self._pack(position, row)
                for field in [name for name in self._plain if not self._is_plain(name, row)]:
                    self._give_up(field)
            for fields, index in self._indexes.items():
                _move(index, position, _key_of(before, fields), _key_of(row, fields))
            if row is None:
                self._rows.pop(position, None)
                continue
            is_sorted = is_sorted and (before is not None or position > self._last)
            self._last = max(self._last, position)
            self._rows[position] = row
        if not is_sorted:  # A deleted row is back.
            self._rows = dict(sorted(self._rows.items()))

    def get(self, key: object) -> Any:
        if type(key) is not dict or len(key) != len(self._key):
            return ASK
        for field in self._key:
            if not _is_exact(key.get(field)) or not self._can_compare(field):
                return ASK
        index = self._index(self._key)
        if index is None:
            return ASK
        found = index.get(_key_of(key, self._key))
        if not found:
            return None
        row = self._rows[found[0]]
        # True equals 1 in the index, but is a different key in the store.
        if any(type(row[field]) is not type(key[field]) for field in self._key):
            return None
        return self._copy(found[0])

    def query(self, where: object, limit: object, offset: object, order_by: object) -> Any:
        if limit is not None and not _is_count(limit) or not _is_count(offset):
            return ASK
        order = self._read_order(order_by)
        wanted = self._read_where(where)
        if order is None or wanted is None:
            return ASK
        found = self._ordered(wanted, order) if order else self._matching(wanted)
        end = None if limit is None else offset + limit  # type: ignore[operator]
        if isinstance(found, dict):
            found = islice(found, offset, end)  # type: ignore[arg-type]
        else:
            found = found[offset:end]  # type: ignore[misc]
        return [self._copy(position) for position in found]

    def count(self, where: object) -> Any:
        wanted = self._read_where(where)
        return ASK if wanted is None else len(self._matching(wanted))

    def _read_order(self, order_by: object) -> list[tuple[str, bool]] | None:
        """Returns the fields, each with True if it descends; None if only the host can order so."""
        if not order_by and (order_by is None or type(order_by) in (list, str)):
            return []
        names = [order_by] if type(order_by) is str else order_by
        if type(names) is not list:
            return None
        order = []
        for name in names:
            if type(name) is not str:
                return None
            field = name.removeprefix("-")
            if not self._can_compare(field):
                return None
            order.append((field, name != field))
        return order

    def _read_where(self, where: object) -> dict[str, Any] | None:
        """Returns the wanted value of each field, a tuple of alternatives if there are several; None as above."""
        if where is None:
            return {}
        if type(where) is not dict or len(where) > _MOST_FIELDS:
            return None
        wanted: dict[str, Any] = {}
        for field in sorted(where) if all(type(name) is str for name in where) else [ASK]:
            if field is ASK or not self._can_compare(field):
                return None
            value = where[field]
            if type(value) in (list, tuple):
                if not all(item is None or _is_exact(item) for item in value):
                    return None
                value = tuple(dict.fromkeys(value))
            elif value is not None and type(value) is not bool and not _is_exact(value):
                return None
            wanted[field] = value
        return wanted

    def _ordered(self, wanted: dict[str, Any], order: list[tuple[str, bool]]) -> list[Position]:
        # The types are compared, too: True and 1 are the same key of a dictionary, but different values.
        asked = tuple((field, type(value), value) for field, value in wanted.items())
        key = (asked, tuple(order))
        found = self._results.get(key)
        if found is not None:
            return found
        found = list(self._matching(wanted))
        rows = self._rows
        for field, descends in reversed(order):
            values = {at: rows[at].get(field) for at in found}
            if None in values.values():
                found.sort(key=lambda at: (values[at] is not None, values[at]), reverse=descends)
            else:
                found.sort(key=values.__getitem__, reverse=descends)
        if len(self._results) >= _MOST_RESULTS:
            self._results.clear()
        self._results[key] = found
        return found

    def _matching(self, wanted: dict[str, Any]) -> list[Position] | dict[Position, Row]:
        """Returns the positions of the rows with the wanted values, in the order of insertion."""
        if not wanted:
            return self._rows
        found = self._find(wanted)
        flags = [field for field, value in wanted.items() if type(value) is bool]
        if not flags:
            return found
        rows = self._rows
        # The index does not distinguish 1 from True.
        return [at for at in found if all(type(rows[at].get(field)) is bool for field in flags)]

    def _find(self, wanted: dict[str, Any]) -> list[Position]:
        many = [(value if type(value) is tuple else (value,)) for value in wanted.values()]
        keys = 1
        for values in many:
            keys *= len(values)
        index = self._index(tuple(wanted)) if keys <= len(self._rows) else None
        if index is None:
            return self._scan(wanted, many)
        if len(many) == 1:
            found = [index[value] for value in many[0] if value in index]
        else:
            found = [index[key] for key in product(*many) if key in index]
        if len(found) == 1:
            return found[0]
        return sorted(at for positions in found for at in positions)

    def _scan(self, wanted: dict[str, Any], many: list[tuple[Any, ...]]) -> list[Position]:
        sets = [(field, frozenset(values)) for field, values in zip(wanted, many)]
        return [
            position
            for position, row in self._rows.items()
            if all(row.get(field) in values for field, values in sets)
        ]

    def _index(self, fields: tuple[str, ...]) -> Index | None:
        """Returns the positions of rows by their values of fields; None if there are too many indexes."""
        index = self._indexes.get(fields)
        if index is None and len(self._indexes) < _MOST_INDEXES:
            index = {}
            for position, row in self._rows.items():
                index.setdefault(_key_of(row, fields), []).append(position)
            self._indexes[fields] = index
        return index

    def _can_compare(self, field: str) -> bool:
        if field in self._plain:
            return True
        if field in self._odd or field not in self._columns:
            return False
        if all(self._is_plain(field, row) for row in self._rows.values()):
            self._plain.add(field)
            return True
        self._odd.add(field)
        return False

    def _is_plain(self, field: str, row: Row) -> bool:
        value = row.get(field)
        if value is None:
            return True
        if self._columns[field] == "TEXT":
            return type(value) is str and _is_exact(value)
        return type(value) is bool or type(value) is int and -_LARGEST <= value <= _LARGEST

    def _give_up(self, field: str) -> None:
        """Marks a field as one that only the host can compare, and drops its indexes."""
        self._plain.discard(field)
        self._odd.add(field)
        for fields in [each for each in self._indexes if field in each]:
            del self._indexes[fields]

    def _pack(self, position: Position, row: Row) -> Row:
        """Packs lists and objects into bytes, which take less memory and are quicker to copy."""
        names = tuple([name for name, value in row.items() if type(value) in _HOLDING])
        if names:
            self._packed[position] = names
            for name in names:
                row[name] = dumps(row[name])
        return row

    def _copy(self, position: Position) -> Row:
        row = self._rows[position].copy()
        for name in self._packed.get(position, ()):
            row[name] = loads(row[name])
        return row


#: Types of values that contain others.
_HOLDING = (dict, list)


def copied(value: Any) -> Any:
    """Returns a deep copy of a value."""
    if type(value) is dict:
        return {
            name: copied(member) if type(member) in _HOLDING else member
            for name, member in value.items()
        }
    return [copied(item) for item in value] if type(value) is list else value


def _is_exact(value: object) -> bool:
    """Returns True for a text or a whole number that compares in Python as it does in the store."""
    if type(value) is str:
        return value.isascii() or _is_whole(value)
    return type(value) is int and -_LARGEST <= value <= _LARGEST


def _is_whole(text: str) -> bool:
    """Returns True if a text has no lone surrogates. (JSON would join two of them into one character.)"""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _is_count(value: object) -> bool:
    return type(value) is int and 0 <= value < _MOST


def _key_of(row: Row | None, fields: tuple[str, ...]) -> Any:
    """Returns the key of a row in an index: a single value, or a tuple of several values."""
    if row is None:
        return ASK
    if len(fields) == 1:
        return row.get(fields[0])
    return tuple([row.get(field) for field in fields])


def _move(index: Index, position: Position, before: Any, after: Any) -> None:
    """Moves a row in an index from its old key to its new key; ASK means that the row has no such key."""
    if before is after or (before is not ASK and after is not ASK and before == after):
        return
    if before is not ASK:
        found = index[before]
        del found[bisect_left(found, position)]
        if not found:
            del index[before]
    if after is not ASK:
        insort(index.setdefault(after, []), position)
