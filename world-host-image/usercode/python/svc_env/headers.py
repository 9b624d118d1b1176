"""Headers of a request whose answer may be cached; reads of them are recorded."""

from __future__ import annotations

from collections.abc import ItemsView, Iterator, KeysView, ValuesView

from .typed import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Any


class SeenHeaders(dict[str, str]):
    """Dictionary that records reads. If code iterates over it, or changes it, all headers count as read."""

    def __init__(self, headers: dict[str, str]) -> None:
        super().__init__(headers)
        self._names: set[str] | None = set()

    def seen(self) -> list[str] | str:
        """Returns the names that were read, whether or not the headers are present; "all" if all count as
        read.
        """
        return "all" if self._names is None else sorted(self._names)

    def _note(self, name: object) -> None:
        if self._names is not None and isinstance(name, str):
            self._names.add(name)

    def _note_all(self) -> None:
        self._names = None

    def __getitem__(self, name: str) -> str:
        self._note(name)
        return super().__getitem__(name)

    def __contains__(self, name: object) -> bool:
        self._note(name)
        return super().__contains__(name)

    def get(self, name: str, default: Any = None) -> Any:
        self._note(name)
        return super().get(name, default)

    def __iter__(self) -> Iterator[str]:
        self._note_all()
        return super().__iter__()

    def __reversed__(self) -> Iterator[str]:
        self._note_all()
        return super().__reversed__()

    def __len__(self) -> int:
        self._note_all()
        return super().__len__()

    def __eq__(self, other: object) -> bool:
        self._note_all()
        return super().__eq__(other)

    def __ne__(self, other: object) -> bool:
        self._note_all()
        return super().__ne__(other)

    def __or__(self, other: Any) -> Any:
        self._note_all()
        return super().__or__(other)

    def __ror__(self, other: Any) -> Any:
        self._note_all()
        return super().__ror__(other)

    def __repr__(self) -> str:
        self._note_all()
        return super().__repr__()

    def __setitem__(self, name: str, value: str) -> None:
        self._note_all()
        super().__setitem__(name, value)

    def __delitem__(self, name: str) -> None:
        self._note_all()
        super().__delitem__(name)

    def keys(self) -> KeysView[str]:
        self._note_all()
        return super().keys()

    def values(self) -> ValuesView[str]:
        self._note_all()
        return super().values()

    def items(self) -> ItemsView[str, str]:
        self._note_all()
        return super().items()

    def copy(self) -> dict[str, str]:
        self._note_all()
        return super().copy()

    def pop(self, *given: Any) -> Any:
        self._note_all()
        return super().pop(*given)

    def popitem(self) -> tuple[str, str]:
        self._note_all()
        return super().popitem()

    def setdefault(self, *given: Any) -> Any:
        self._note_all()
        return super().setdefault(*given)

    def __reduce__(self) -> Any:
        """Returns a plain dictionary."""
        self._note_all()
        return dict, (dict(super().items()),)

    def __reduce_ex__(self, _protocol: Any) -> Any:
        return self.__reduce__()

    __hash__ = None  # type: ignore[assignment]
