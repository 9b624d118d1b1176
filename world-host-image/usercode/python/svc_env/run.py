"""Current run, and its connection to the world host."""

from __future__ import annotations

import json
import os
import threading
import time
from contextvars import ContextVar

from .errors import Refused
from .headers import SeenHeaders
from .row_cache import ASK, RowCache
from .json_text import json_text
from .typed import TYPE_CHECKING, Row

if TYPE_CHECKING:
    from typing import Any

#: Function that returns the machine time. It is captured before an author's code can replace it.
_machine_ns = time.time_ns


class TooLarge(ValueError):
    """Error for a message over the limit that both sides enforce."""


class Channel:
    """Channel of JSON lines, which reads from descriptor 3 and writes to descriptor 4."""

    def __init__(self, message_bytes: int) -> None:
        self._message_bytes = message_bytes
        for descriptor in (3, 4):
            os.set_inheritable(descriptor, False)
        self._lines = open(3, "rb", buffering=65536)
        #: Updated by received messages.
        self.row_cache = RowCache()

    def receive(self) -> Row:
        """Returns the next message. Ends the process if the host has ended."""
        line = self._lines.readline()
        if not line.endswith(b"\n"):
            os._exit(0)
        try:
            # Decoded here, because `json` would first detect the encoding of bytes.
            message = json.loads(line.decode("utf-8", "surrogatepass"))
        except BaseException:
            self.row_cache.lose()  # The lost message may have had cache updates.
            raise
        updates = message.get("rows")
        if updates is not None:
            self.row_cache.apply(updates)
        return message

    def send(self, message: Row) -> None:
        """Sends a message. Raises ValueError or TypeError if a value is not JSON, TooLarge if the message
        exceeds the limit.
        """
        data = json_text(message).encode("ascii")
        if len(data) > self._message_bytes:
            limit = self._message_bytes / 1024 / 1024
            raise TooLarge(f"{len(data) / 1024 / 1024:.1f} MiB of JSON; the limit is {limit:g} MiB")
        rest = memoryview(data + b"\n")
        while rest:
            rest = rest[os.write(4, rest) :]


class Run:
    """One run. Its code can access the store only through this object, and only until the run has ended."""

    def __init__(
        self, channel: Channel, nonce: str, given_time: Row | None = None, numbers: Row | None = None
    ) -> None:
        self._channel = channel
        self._row_cache = channel.row_cache
        self._row_cache.reads.clear()
        self._nonce = nonce
        #: World time from the host, and the machine time until which it is valid.
        self._time = given_time
        self._timed = False
        #: Next numbers of fields by entity, each until a write to that entity.
        self._numbers: dict[object, dict[object, int]] = numbers or {}
        self._numbered = False
        self._lock = threading.Lock()
        self._asked = 0
        self._ended = False
        self._threads = threading.active_count()
        #: Headers that a handler has set so far. They are sent with the answer, whatever it is.
        self.headers: dict[str, str] = {}
        #: Headers of the request, if the host must know which of them the code reads.
        self.seen_headers: SeenHeaders | None = None

    def end(self, result: Row, has_next: bool = False) -> bool:
        """Sends the result; the store cannot be accessed afterwards. Raises the same errors as
        `Channel.send`.

        Returns True if the handler runs next in this process. It does not while a thread of this run is
        alive.
        """
        with self._lock:
            message = {"type": "done", "nonce": self._nonce, "result": result}
            if threading.active_count() > self._threads:
                message["leftRunning"] = True
            elif has_next:
                message["type"] = "next"
            if self._timed:
                message["timed"] = True
            if self._numbered:
                message["numbered"] = True
            if self._row_cache.reads:
                message["reads"] = sorted(self._row_cache.reads)
            if self.seen_headers is not None:
                message["headers"] = self.seen_headers.seen()
            self._channel.send(message)
            self._ended = True
            return message["type"] == "next"

    def get(self, entity: str, key: Row) -> Row | None:
        with self._lock:
            self._check_open()
            row = self._row_cache.get(entity, key)
        return row if row is not ASK else self._ask("get", entity=entity, key=key)

    def query(
        self,
        entity: str,
        where: Row | None,
        limit: int | None,
        offset: int,
        order_by: str | list[str] | None,
    ) -> list[Row]:
        with self._lock:
            self._check_open()
            rows = self._row_cache.query(entity, where, limit, offset, order_by)
        if rows is not ASK:
            return rows
        return self._ask(
            "query", entity=entity, where=where, limit=limit, offset=offset, orderBy=order_by or []
        )

    def count(self, entity: str, where: Row | None) -> int:
        with self._lock:
            self._check_open()
            number = self._row_cache.count(entity, where)
        return number if number is not ASK else self._ask("count", entity=entity, where=where)

    def insert(self, entity: str, row: Row) -> Row:
        self._forget_numbers(entity)
        return self._ask("insert", entity=entity, row=row)

    def update(self, entity: str, key: Row, patch: Row) -> Row:
        self._forget_numbers(entity)
        return self._ask("update", entity=entity, key=key, patch=patch)

    def delete(self, entity: str, key: Row) -> None:
        self._forget_numbers(entity)
        self._ask("remove", entity=entity, key=key)

    def next_integer(self, entity: str, field: str, within: Row | None) -> int:
        if within is None and type(entity) is str and type(field) is str:
            with self._lock:
                self._check_open()
                number = self._numbers.get(entity, {}).get(field)
                if number is not None:
                    self._numbered = True
                    return number
        return self._ask("next", entity=entity, field=field, within=within)

    def now(self) -> str:
        given = self._time
        if given is not None:
            until = given["untilMs"]
            if until is None or _machine_ns() < until * 1_000_000:
                with self._lock:
                    self._check_open()
                    self._timed = True
                    return given["iso"]
        return self._ask("now")

    def uuid(self) -> str:
        return self._ask("uuid")

    def mint_token(self) -> Row:
        return self._ask("mint_token")

    def revoke_token(self) -> None:
        self._ask("revoke_token")

    def deliver(
        self, event_type: str, body: Any, scope: Row | None, delivery_id: str | None
    ) -> None:
        self._ask("deliver", type=event_type, body=body, scope=scope, id=delivery_id)

    def ask(self, operation: str, **arguments: Any) -> Any:
        """Sends a request of tests to the host, and returns its answer."""
        return self._ask(operation, **arguments)

    def _forget_numbers(self, entity: object) -> None:
        """Forgets the next numbers of an entity that is about to be written to."""
        if type(entity) is str:
            with self._lock:
                self._numbers.pop(entity, None)

    def _check_open(self) -> None:
        if self._ended:
            raise RuntimeError("the call has ended, so its world can no longer be used")

    def _ask(self, operation: str, **arguments: Any) -> Any:
        with self._lock:
            self._check_open()
            self._asked += 1
            message = {
                "type": "ask",
                "nonce": self._nonce,
                "id": self._asked,
                "operation": operation,
                "arguments": arguments,
            }
            if self._row_cache.lost:
                self._row_cache.lose()
                message["lost"] = True
            self._channel.send(message)
            self._row_cache.lost = False
            reply = self._channel.receive()
        refusal = reply.get("refusal")
        if refusal is not None:
            raise Refused(**refusal)
        return reply["value"]


_current: ContextVar[Run] = ContextVar("svc_env_run")


def current_run() -> Run:
    """Returns the run that the calling code belongs to."""
    run = _current.get(None)
    if run is None:
        raise RuntimeError(
            "svc_env reaches the world only inside a call: "
            "not while a module is imported, and not in a thread of your own"
        )
    return run


def enter_run(run: Run) -> None:
    """Makes a run the current one of this context and of tasks that start in it."""
    _current.set(run)
