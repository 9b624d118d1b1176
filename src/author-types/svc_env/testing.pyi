"""The world under test, for `tests/test_*.py`, run by pytest."""

from typing import Any

from . import Row
from . import count as _count
from . import delete as _delete
from . import get as _get
from . import insert as _insert
from . import query as _query
from . import update as _update

class ToolError(Exception):
    """A tool failed, and has changed nothing."""

    code: str
    message: str
    path: str | None
    details: Any

class Response:
    """An answer of the world's API; names of headers in lower case."""

    status: int
    headers: dict[str, str]
    text: str
    def json(self) -> Any: ...

class _Tools:
    def __getattr__(self, name: str) -> Any: ...
    def call(self, name: str, given: Row | None = None) -> Any: ...

class _Api:
    def request(
        self,
        method: str,
        path: str,
        *,
        json: Any = None,
        params: Row | None = None,
        headers: dict[str, str] | None = None,
        auth: bool = True,
    ) -> Response: ...
    def get(self, path: str, **options: Any) -> Response: ...
    def post(self, path: str, **options: Any) -> Response: ...
    def put(self, path: str, **options: Any) -> Response: ...
    def patch(self, path: str, **options: Any) -> Response: ...
    def delete(self, path: str, **options: Any) -> Response: ...

class _World:
    tools: _Tools
    api: _Api
    get = staticmethod(_get)
    query = staticmethod(_query)
    count = staticmethod(_count)
    insert = staticmethod(_insert)
    update = staticmethod(_update)
    delete = staticmethod(_delete)
    def now(self) -> str: ...
    def answer(self, value: Any) -> None: ...
    def deliveries(self) -> list[Row]: ...

world: _World
