"""The contexts that handlers and graders are called with."""

from __future__ import annotations

from .errors import Answered
from .run import Row, Run
from .typed import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Any, NoReturn


class _Clock:
    def __init__(self, run: Run) -> None:
        self._run = run

    def now(self) -> str:
        """The time in the world, ISO 8601 in UTC."""
        return self._run.now()


class _Ids:
    def __init__(self, run: Run) -> None:
        self._run = run

    def uuid(self) -> str:
        """A new UUID."""
        return self._run.uuid()

    def next(self, entity: str, field: str, within: Row | None = None) -> int:
        """One more than the largest number that rows hold or have held; `svc_env.ids.next` says how."""
        return self._run.next_integer(entity, field, within)


class _Reader:
    """Reading the world; `svc_env.get`, `svc_env.query` and `svc_env.count` say how."""

    def __init__(self, run: Run) -> None:
        self._run = run

    def get(self, entity: str, key: Row) -> Row | None:
        """The row with this primary key, or None."""
        return self._run.get(entity, key)

    def query(
        self,
        entity: str,
        where: Row | None = None,
        limit: int | None = None,
        offset: int = 0,
        order_by: str | list[str] | None = None,
    ) -> list[Row]:
        """The rows that match, in the order they were inserted unless `order_by` says otherwise."""
        return self._run.query(entity, where, limit, offset, order_by)

    def count(self, entity: str, where: Row | None = None) -> int:
        """How many rows match."""
        return self._run.count(entity, where)


class HandlerContext(_Reader):
    """One request to the world's API.

    What the handler returns is the JSON body, with the status of its route; `respond` chooses
    another status, `fail` an error of the vendor's.
    """

    method: str
    path: str
    #: The path of its route as the connector has it, for example `/repos/{owner}/issues`.
    route: str
    #: Path arguments and query parameters.
    args: Row
    #: The body: JSON or a form as a value, one of the route's other `body_types` as text, bytes as `body_encoding` says; None for none.
    body: Any
    #: Header names in lower case.
    headers: dict[str, str]
    #: The one of the route's `media_types` that the client wants; JSON's where none are declared.
    media_type: str
    #: The media type of the body, in lower case and without parameters; '' for one without, or no body.
    content_type: str
    clock: _Clock
    ids: _Ids

    def __init__(self, run: Run, request: Row) -> None:
        super().__init__(run)
        self.method = request["method"]
        self.path = request["path"]
        self.route = request["route"]
        self.args = request["args"]
        self.body = request["body"]
        self.headers = request["headers"]
        self.media_type = request["mediaType"]
        self.content_type = request["contentType"]
        self.clock = _Clock(run)
        self.ids = _Ids(run)
        self._response: Row | None = None
        self._headers = run.headers

    def insert(self, entity: str, row: Row) -> Row:
        """Adds a row and returns it.

        Raises Refused when the contract, a key or a reference forbids it.
        """
        return self._run.insert(entity, row)

    def update(self, entity: str, key: Row, patch: Row) -> Row:
        """Replaces the named top-level fields of a row and returns the new row."""
        return self._run.update(entity, key, patch)

    def delete(self, entity: str, key: Row) -> None:
        """Removes a row. Raises Refused when there is none.

        Rows that refer to it are looked for when the call ends.
        """
        self._run.delete(entity, key)

    def deliver(
        self,
        event_type: str,
        body: Any,
        scope: Row | None = None,
        delivery_id: str | None = None,
    ) -> None:
        """Sends an event to every webhook that wants it, once the request has succeeded.

        body: JSON, at most 256 KiB, fixed as it is now.
        scope: what it is about, by the names of `[webhooks] scope`: a value or a list of them.
            Subscriptions that list others are left out. Raises Refused beyond the limits.
        delivery_id: the one that its deliveries have in their headers; each has its own otherwise.

        >>> ctx.deliver("issues", {"action": "closed", "issue": issue}, {"repository": 7})
        """
        self._run.deliver(event_type, body, scope, delivery_id)

    def mint_token(self) -> Row:
        """A new bearer for the API as `{"token": ..., "expires": ...}`, where `[auth]` has scheme "oauth2"."""
        return self._run.mint_token()

    def revoke_token(self) -> None:
        """Ends the minted bearer that the request came with; the session's own token stays good."""
        self._run.revoke_token()

    def set_header(self, name: str, value: object) -> None:
        """Adds a header to the answer, whatever the answer will be; set by `before`, to every answer.

        >>> ctx.set_header("x-ratelimit-remaining", 4999)
        """
        self._headers[str(name).lower()] = str(value)

    def respond(self, status: int, body: Any = None, headers: dict[str, str] | None = None) -> None:
        """Sets the answer; what the handler returns is then not used.

        body: a JSON value, a text of the content type that `headers` name, or a file's content as bytes
            of UTF-8, which goes out as it is: addresses in it are not the vendor's.

        >>> return ctx.respond(201, issue, {"location": issue["url"]})
        """
        _check_status(status, 200)
        self._response = {**_body(body), "status": status, "headers": _texts(headers)}

    def fail(
        self, status: int, body: Any = None, headers: dict[str, str] | None = None
    ) -> NoReturn:
        """Ends the request with an error answer of the vendor's; nothing is written.

        >>> ctx.fail(422, {"message": "Validation Failed"})
        """
        _check_status(status, 400)
        raise Answered(status, body, self._headers | _texts(headers))

    def _result(self, value: Any) -> Row:
        """What the request comes to when the handler returned a value."""
        given = self._response or {"value": value}
        headers = self._headers | given.get("headers", {})
        return {**given, "headers": headers} if headers else given


class VerifyContext(_Reader):
    """What a grader is called with: the state that the agent left, to read and to judge."""

    def __init__(self, run: Run) -> None:
        super().__init__(run)
        self._checks: list[Row] = []

    def check(self, name: str, passed: object, detail: object = None) -> bool:
        """Records one check and returns whether it passed. A grade passes when all checks do.

        >>> ctx.check("issue 7 is closed", issue["state"] == "closed", f"it is {issue['state']}")
        """
        text = None if detail is None else str(detail)
        self._checks.append({"name": str(name), "passed": bool(passed), "detail": text})
        return bool(passed)


def _body(body: Any) -> Row:
    if not isinstance(body, (bytes, bytearray, memoryview)):
        return {"value": body}
    return {"value": str(body, "utf-8"), "isFile": True}


def _check_status(status: object, least: int) -> None:
    if not isinstance(status, int) or isinstance(status, bool) or not least <= status <= 599:
        raise ValueError(f"{status!r} is no HTTP status from {least} to 599")


def _texts(headers: dict[str, str] | None) -> dict[str, str]:
    return {str(name): str(value) for name, value in (headers or {}).items()}
