"""The contexts that handlers and graders are called with."""

from typing import Any, NoReturn

from . import Row

class _Clock:
    def now(self) -> str:
        """The time in the world, ISO 8601 in UTC."""

class _Ids:
    def uuid(self) -> str:
        """A new UUID."""

    def next(self, entity: str, field: str, within: Row | None = None) -> int:
        """One more than the largest number that rows hold or have held; `svc_env.ids.next` says how."""

class _Reader:
    """Reading the world; `svc_env.get`, `svc_env.query` and `svc_env.count` say how."""

    def get(self, entity: str, key: Row) -> Row | None:
        """The row with this primary key, or None."""

    def query(
        self,
        entity: str,
        where: Row | None = None,
        limit: int | None = None,
        offset: int = 0,
        order_by: str | list[str] | None = None,
    ) -> list[Row]:
        """The rows that match, in the order they were inserted unless `order_by` says otherwise."""

    def count(self, entity: str, where: Row | None = None) -> int:
        """How many rows match."""

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
    #: The body: JSON or a form as a value, one of the route's other `body_types` as text; None for none.
    body: Any
    #: Header names in lower case.
    headers: dict[str, str]
    #: The one of the route's `media_types` that the client wants; JSON's where none are declared.
    media_type: str
    #: The media type of the body, in lower case and without parameters; '' for one without, or no body.
    content_type: str
    clock: _Clock
    ids: _Ids

    def insert(self, entity: str, row: Row) -> Row:
        """Adds a row and returns it. Raises Refused when the contract or a key forbids it."""

    def update(self, entity: str, key: Row, patch: Row) -> Row:
        """Replaces the named top-level fields of a row and returns the new row."""

    def delete(self, entity: str, key: Row) -> None:
        """Removes a row. Raises Refused when there is none, or other rows refer to it."""

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

    def set_header(self, name: str, value: object) -> None:
        """Adds a header to the answer, whatever the answer will be; set by `before`, to every answer.

        >>> ctx.set_header("x-ratelimit-remaining", 4999)
        """

    def respond(self, status: int, body: Any = None, headers: dict[str, str] | None = None) -> None:
        """Sets the answer; what the handler returns is then not used.

        body: a JSON value, a text of the content type that `headers` name, or a file's content as bytes
            of UTF-8, which goes out as it is: addresses in it are not the vendor's.

        >>> return ctx.respond(201, issue, {"location": issue["url"]})
        """

    def fail(
        self, status: int, body: Any = None, headers: dict[str, str] | None = None
    ) -> NoReturn:
        """Ends the request with an error answer of the vendor's; nothing is written.

        >>> ctx.fail(422, {"message": "Validation Failed"})
        """

class VerifyContext(_Reader):
    """What a grader is called with: the state that the agent left, to read and to judge."""

    def check(self, name: str, passed: object, detail: object = None) -> bool:
        """Records one check and returns whether it passed. A grade passes when all checks do.

        >>> ctx.check("issue 7 is closed", issue["state"] == "closed", f"it is {issue['state']}")
        """
