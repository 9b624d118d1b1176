"""Access to the world under test, for its author's tests, `tests/test_*.py`, which pytest runs; and for
scripts that solve a task.

    from svc_env.testing import ToolError, world

    def test_a_closed_issue_is_not_listed():
        world.tools.close_issue(number=7)
        assert world.api.get("/issues", params={"state": "open"}).json() == []
        assert world.get("issues", {"number": 7})["state"] == "closed"

Each test begins with the rows of the world, whatever the previous test did.
"""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import urlencode

from . import count, delete, get, insert, query, update
from .run import Row, current_run

__all__ = ["Response", "ToolError", "world"]


class ToolError(Exception):
    """Error for a tool call that failed and therefore has changed nothing."""

    def __init__(self, error: Row) -> None:
        super().__init__(f"{error.get('code')}: {error.get('message')}")
        self.code: str = error.get("code", "")
        self.message: str = error.get("message", "")
        #: JSON pointer to the value in the input that is at fault; None if no value is.
        self.path: str | None = error.get("path")
        self.details: Any = error.get("details")


class Response:
    """Answer of the world's API."""

    def __init__(self, answer: Row) -> None:
        self.status: int = answer["status"]
        #: Headers, with names in lower case.
        self.headers: dict[str, str] = answer["headers"]
        self.text: str = answer["text"]

    def json(self) -> Any:
        """Returns the body, parsed as JSON."""
        return json.loads(self.text)

    def __repr__(self) -> str:
        return f"<{self.status} {self.text[:500]}>"


class _Tools:
    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return lambda **given: self.call(name, given)

    def call(self, name: str, given: Row | None = None) -> Any:
        """Calls a tool by its name. Raises ToolError if the call fails."""
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
    #: `world.api.get(path)`, and the same for other methods
    api = _Api()
    get = staticmethod(get)
    query = staticmethod(query)
    count = staticmethod(count)
    insert = staticmethod(insert)
    update = staticmethod(update)
    delete = staticmethod(delete)

    def now(self) -> str:
        """Returns the world's time, in ISO 8601 and UTC."""
        return current_run().now()

    def answer(self, value: Any) -> None:
        """Submits the answer of the task, in a script that solves the task. Raises ToolError if it is
        refused.
        """
        answer = current_run().ask("answer", answer=value)
        if "error" in answer:
            raise ToolError(answer["error"])

    def prove(self, task: str) -> Row:
        """Proves a task of the world and returns the report. Raises AssertionError with everything that is
        wrong.
        """
        proof = current_run().ask("prove", task=task)
        amiss = [f"{row['what']}: {row['detail'] or row['verdict']}" for row in proof["rows"] if not row["ok"]]
        if amiss:
            raise AssertionError("\n".join([f"the task {task} is not proved", *amiss]))
        return proof

    def deliveries(self) -> list[Row]:
        """Returns the webhooks sent since the test began: `{event, url, headers, body}`."""
        return current_run().ask("deliveries")


world = _World()
