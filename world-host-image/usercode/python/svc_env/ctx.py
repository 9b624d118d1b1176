"""Contexts that handlers and graders are called with."""

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
        """Returns the world's time, in ISO 8601 and UTC."""
        return self._run.now()


class _Ids:
    def __init__(self, run: Run) -> None:
        self._run = run

    def uuid(self) -> str:
        """Returns a new UUID."""
        return self._run.uuid()

    def next(self, entity: str, field: str, within: Row | None = None) -> int:
        """Returns one more than the largest number that the field has, or ever had; see `svc_env.ids.next`."""
        return self._run.next_integer(entity, field, within)


class _Reader:
    """Read access to the world; see `svc_env.get`, `svc_env.query` and `svc_env.count`."""

    def __init__(self, run: Run) -> None:
        self._run = run

    def get(self, entity: str, key: Row) -> Row | None:
        """Returns the row with this primary key, or None."""
        return self._run.get(entity, key)

    def query(
        self,
        entity: str,
        where: Row | None = None,
        limit: int | None = None,
        offset: int = 0,
        order_by: str | list[str] | None = None,
    ) -> list[Row]:
        """Returns the matching rows, in insertion order unless `order_by` is given."""
        return self._run.query(entity, where, limit, offset, order_by)

    def count(self, entity: str, where: Row | None = None) -> int:
        """Counts the matching rows."""
        return self._run.count(entity, where)


class HandlerContext(_Reader):
    """Context of one request to the world's API.

    The handler's return value is the JSON body, sent with the route's status. `respond` sets another status,
    `fail` sends an error of the vendor.
    """

    method: str
    path: str
    #: Path of the route as the connector declares it, for example `/repos/{owner}/issues`.
    route: str
    #: Path arguments and query parameters.
    args: Row
    #: Body: JSON or a form is a value, another of the route's `body_types` is text, and bytes are encoded as
    #: `body_encoding` says. None if there is no body.
    body: Any
    #: Headers, with names in lower case.
    headers: dict[str, str]
    #: Media type of the answer: the one of the route's `media_types` that the client accepts; JSON by default.
    media_type: str
    #: Media type of the body, in lower case and without parameters; '' if it has none, or there is no body.
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

        Raises Refused if the contract, a key or a reference forbids it.
        """
        return self._run.insert(entity, row)

    def update(self, entity: str, key: Row, patch: Row) -> Row:
        """Replaces the named top-level fields of a row and returns the new row."""
        return self._run.update(entity, key, patch)

    def delete(self, entity: str, key: Row) -> None:
        """Removes a row. Raises Refused if there is no such row.

        Rows that refer to the removed row are checked when the call ends.
        """
        self._run.delete(entity, key)

    def deliver(
        self,
        event_type: str,
        body: Any,
        scope: Row | None = None,
        delivery_id: str | None = None,
    ) -> None:
        """Sends an event to every subscription that matches it, once the request has succeeded.

        body: JSON, at most 256 KiB. Later changes of the value have no effect.
        scope: the subject of the event, by the names of `[webhooks] scope`: a value or a list of values.
            Subscriptions that list other values get no delivery. Raises Refused beyond the limits.
        delivery_id: the id in the headers of all deliveries. By default, each delivery has its own id.

        >>> ctx.deliver("issues", {"action": "closed", "issue": issue}, {"repository": 7})
        """
        self._run.deliver(event_type, body, scope, delivery_id)

    def mint_token(self) -> Row:
        """Mints a bearer token for the API: `{"token": ..., "expires": ...}`. `[auth]` must have scheme
        "oauth2".
        """
        return self._run.mint_token()

    def revoke_token(self) -> None:
        """Revokes the minted token of the request. The session's own token stays valid."""
        self._run.revoke_token()

    def set_header(self, name: str, value: object) -> None:
        """Adds a header to the answer, whatever it is. A header that `before` adds is in every answer.

        >>> ctx.set_header("x-ratelimit-remaining", 4999)
        """
        self._headers[str(name).lower()] = str(value)

    def respond(self, status: int, body: Any = None, headers: dict[str, str] | None = None) -> None:
        """Sets the answer; the handler's return value is then not used.

        body: a JSON value, a text of the content type in `headers`, or the content of a file as bytes of
            UTF-8. A file is sent unchanged, even if it contains the vendor's addresses.

        >>> return ctx.respond(201, issue, {"location": issue["url"]})
        """
        _check_status(status, 200)
        self._response = {**_body(body), "status": status, "headers": _texts(headers)}

    def fail(
        self, status: int, body: Any = None, headers: dict[str, str] | None = None
    ) -> NoReturn:
        """Ends the request with an error answer in the vendor's form; nothing is written.

        >>> ctx.fail(422, {"message": "Validation Failed"})
        """
        _check_status(status, 400)
        raise Answered(status, body, self._headers | _texts(headers))

    def _result(self, value: Any) -> Row:
        """Returns the result of the request if the handler returned a value."""
        given = self._response or {"value": value}
        headers = self._headers | given.get("headers", {})
        return {**given, "headers": headers} if headers else given


class VerifyContext(_Reader):
    """Context of a grader: read access to the state that the agent left, and the recording of checks."""

    def __init__(self, run: Run) -> None:
        super().__init__(run)
        self._checks: list[Row] = []

    def check(self, name: str, passed: object, detail: object = None) -> bool:
        """Records one check and returns True if the check passed. A grade passes if all its checks pass.

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
