"""The world under test, for the tests of its author, `tests/test_*.py`, run by pytest; and for scripts that solve a task.

    from svc_env.testing import ToolError, world

    def test_a_closed_issue_is_not_listed():
        world.tools.close_issue(number=7)
        assert world.api.get("/issues", params={"state": "open"}).json() == []
        assert world.get("issues", {"number": 7})["state"] == "closed"

Each test begins with the rows of the world, whatever the one before it did.
"""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import urlencode

from . import count, delete, get, insert, query, update
from .run import Row, current_run

__all__ = ["Response", "ToolError", "world"]


class ToolError(Exception):
    """A tool failed, and has changed nothing."""

    def __init__(self, error: Row) -> None:
        super().__init__(f"{error.get('code')}: {error.get('message')}")
        self.code: str = error.get("code", "")
        self.message: str = error.get("message", "")
        #: JSON pointer into the input, where one value is at fault.
        self.path: str | None = error.get("path")
        self.details: Any = error.get("details")


class Response:
    """An answer of the world's API."""

    def __init__(self, answer: Row) -> None:
        self.status: int = answer["status"]
        #: Names in lower case.
        self.headers: dict[str, str] = answer["headers"]
        self.text: str = answer["text"]

    def json(self) -> Any:
        """The body, read as JSON."""
        return json.loads(self.text)

    def __repr__(self) -> str:
        return f"<{self.status} {self.text[:500]}>"


class _Tools:
    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return lambda **given: self.call(name, given)

    def call(self, name: str, given: Row | None = None) -> Any:
        """Calls a tool by its name; raises ToolError."""
        answer = current_run().ask("tool", name=name, input=given or {})
        if "error" in answer:
            raise ToolError(answer["error"])
        return answer["output"]


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
    ) -> Response:
        """Sends a request to the world's routes, with the session's token unless `auth` is false."""
        target = path if not params else f"{path}?{urlencode(params, doseq=True)}"
        asked = {"method": method, "path": target, "headers": headers or {}, "auth": auth}
        return Response(current_run().ask("request", **asked, body=_body_of(json)))

    def get(self, path: str, **options: Any) -> Response:
        return self.request("GET", path, **options)

    def post(self, path: str, **options: Any) -> Response:
        return self.request("POST", path, **options)

    def put(self, path: str, **options: Any) -> Response:
        return self.request("PUT", path, **options)

    def patch(self, path: str, **options: Any) -> Response:
        return self.request("PATCH", path, **options)

    def delete(self, path: str, **options: Any) -> Response:
        return self.request("DELETE", path, **options)


def _body_of(value: Any) -> str | None:
    return None if value is None else json.dumps(value)


class _World:
    #: `world.tools.<name>(**input)`
    tools = _Tools()
    #: `world.api.get(path)` and the other methods
    api = _Api()
    get = staticmethod(get)
    query = staticmethod(query)
    count = staticmethod(count)
    insert = staticmethod(insert)
    update = staticmethod(update)
    delete = staticmethod(delete)

    def now(self) -> str:
        """The time in the world, ISO 8601 in UTC."""
        return current_run().now()

    def answer(self, value: Any) -> None:
        """Gives the answer of the task, in a script that solves one; raises ToolError."""
        answer = current_run().ask("answer", answer=value)
        if "error" in answer:
            raise ToolError(answer["error"])

    def prove(self, task: str) -> Row:
        """Proves a task of the world by its name, and answers the report. Raises AssertionError with all that is amiss."""
        proof = current_run().ask("prove", task=task)
        amiss = [f"{row['what']}: {row['detail'] or row['verdict']}" for row in proof["rows"] if not row["ok"]]
        if amiss:
            raise AssertionError("\n".join([f"the task {task} is not proved", *amiss]))
        return proof

    def deliveries(self) -> list[Row]:
        """Webhooks sent since the test began: `{event, url, headers, body}`."""
        return current_run().ask("deliveries")


world = _World()
