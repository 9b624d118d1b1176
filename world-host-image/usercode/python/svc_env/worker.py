"""Python worker, which handles one request of the world host after the other until the host ends."""

from __future__ import annotations

import ctypes
import errno
import faulthandler
import gc
import json
import os
import re
import resource
import signal
import sys
import threading
from collections.abc import Callable

from svc_boundary.boundary import MIME_TYPES, refuse, restrict

from .ctx import HandlerContext, VerifyContext
from .errors import Answered, Failed, Refused
from .headers import SeenHeaders
from .row_cache import copied
from .loader import Loader, Unavailable
from .process import guard
from .run import Channel, Run, TooLarge, enter_run
from .trace import describe, summarize
from .typed import TYPE_CHECKING, Row

if TYPE_CHECKING:
    from typing import Any

Message = Row
Result = Row

#: Stack size of threads. The system's default, 8 MiB, would use up the limit on addresses.
_STACK_BYTES = 1 << 20

#: Pattern of headers that are certainly valid.
_HEADER = re.compile(r"[a-z0-9-]+:[ -~]*")


def main() -> None:
    """Runs the worker. The program's arguments are `[package folder, options as JSON]`."""
    options = json.loads(sys.argv[2])
    for read_by_now in ("MALLOC_ARENA_MAX", "MALLOC_TRIM_THRESHOLD_"):  # by the C library
        os.environ.pop(read_by_now, None)
    sys.argv = [""]
    readable = [*_own_places(), *options["libraries"]]
    sys.path.extend(options["libraries"])
    missing = _restrict(options)
    trim = _find_trim()  # The sandbox forbids the search afterwards.
    guard(readable)
    threading.stack_size(_STACK_BYTES)
    # The host sends this signal when a run's time is over. The handler prints the stack and ends the process
    # without the interpreter, which may be stuck.
    faulthandler.register(signal.SIGUSR1, file=2, all_threads=True, chain=True)
    channel = Channel(options["message_bytes"])
    loader = Loader()
    if missing:
        channel.send({"type": "open", "nonce": "", "missing": missing})
    channel.send({"type": "ready", "nonce": ""})
    while True:
        message = channel.receive()
        if message["type"] == "load":
            readable.append(message["directory"])
            failures = loader.open(message["directory"], message["eager"])
            gc.freeze()  # Loaded code stays; searching it for garbage again would take longer than many runs.
            trim(0)  # Releases memory that only the compilation needed.
            channel.send({"type": "loaded", "nonce": message["nonce"], "failures": failures})
        else:
            _serve(loader, channel, message)


def _restrict(options: Message) -> list[str]:
    """Returns the missing parts of the sandbox; ends the process if all are required."""
    prefixes = {sys.base_prefix, sys.base_exec_prefix}
    library = os.path.dirname(os.path.realpath(os.__file__))
    places = [library, *(f"{prefix}/{sys.platlibdir}" for prefix in prefixes)]
    missing = restrict(
        parent=options["parent"],
        keep=5,
        readable=[*options["readable"], *places],
        memory=(resource.RLIMIT_AS, _address_space() + options["memory_bytes"]),
    )
    if missing and options["boundary"] == "require":
        refuse(missing)
    return missing


def _find_trim() -> Callable[[int], object]:
    """Returns the function by which the C library releases free memory. If there is none, returns a function
    without effect.
    """
    return getattr(ctypes.CDLL(None), "malloc_trim", lambda _: None)


def _address_space() -> int:
    """Returns the bytes that the interpreter itself takes; 0 if the system does not report it."""
    try:
        with open("/proc/self/statm") as file:
            return int(file.read().split()[0]) * resource.getpagesize()
    except OSError:
        return 0


def _own_places() -> list[str]:
    """Returns the places of Python's library, of this package, and of system files that the library reads."""
    library = os.path.dirname(os.path.realpath(os.__file__))
    package = os.path.dirname(os.path.realpath(__file__))
    system = ["/usr/share/zoneinfo", "/etc/localtime", "/dev/urandom", *MIME_TYPES]
    return [library, package, *system]


def _serve(loader: Loader, channel: Channel, message: Message) -> None:
    run = Run(channel, message["nonce"], message.get("time"), message.get("numbers"))
    function = None
    try:
        if message["as"] == "tests":
            enter_run(run)
            from ._suite import run_suite

            result = {"ok": True, "value": run_suite(loader.root, message["input"])}
        else:
            fresh = message["as"] == "verify"
            function = loader.find(message["file"], message["function"], fresh)
            result = _call(function, run, message)
    except Unavailable as problem:
        result = {"ok": False, "error": problem.error}
    except BaseException as error:
        result = _failure(error, loader.root, function)
        if run.headers:
            result["headers"] = run.headers
    following = message["next"]
    try:
        goes_on = run.end(result, following is not None and _lets_pass(result))
    except (TypeError, ValueError, RecursionError) as error:
        goes_on = run.end(_unsendable(error, loader.root, message, function))
    if goes_on:
        _serve(loader, channel, message | {"as": "handler", "function": following, "next": None})


def _lets_pass(result: Result) -> bool:
    """Returns True if `before` gave no answer, so that the handler may run. If a header may be invalid,
    returns False, because the host has to check it.
    """
    if not result["ok"] or "status" in result:
        return False
    headers = result.get("headers", {})
    return all(_HEADER.fullmatch(f"{name}:{value}") for name, value in headers.items())


def _call(function: Callable[..., Any], run: Run, message: Message) -> Result:
    enter_run(run)
    if message["as"] == "tool":
        return {"ok": True, "value": _awaited(function(**message["input"]))}
    if message["as"] in ("handler", "before"):
        request = message["input"]
        if message["next"] is not None:
            request = copied(request)
        if message["watched"]:
            run.seen_headers = SeenHeaders(request["headers"])
            request["headers"] = run.seen_headers
        context = HandlerContext(run, request)
        value = _awaited(function(context))
        return {"ok": True, **context._result(None if message["as"] == "before" else value)}
    grader = VerifyContext(run)
    _awaited(function(grader))
    if not grader._checks:
        raise Failed("the grader made no check: call ctx.check at least once", "failed", {})
    return {"ok": True, "value": {"checks": grader._checks}}


def _awaited(value: Any) -> Any:
    if not hasattr(value, "__await__"):
        return value
    import asyncio

    async def wait() -> Any:
        return await value

    return asyncio.run(wait())


def _failure(error: BaseException, root: str, function: Any) -> Result:
    if isinstance(error, Answered):
        vendor = {"status": error.status, "body": error.body, "headers": error.headers}
        return _failed("failed", str(error)) | {"vendor": vendor}
    if isinstance(error, Failed):
        return _failed(str(error.code), str(error.message), error.details or None)
    facts = describe(error, root, getattr(function, "__code__", None))
    if isinstance(error, MemoryError) or getattr(error, "errno", None) == errno.ENOMEM:
        return _failed("out_of_memory", f"it ran out of memory: {summarize(facts)}", facts)
    if isinstance(error, Refused):
        details = {
            "entity": error.entity,
            "kind": error.kind,
            "field": error.field,
            "pointer": error.pointer,
            "detail": error.detail,
            "trace": facts["trace"],
        }
        return _failed("refused", str(error), details)
    message = summarize(facts)
    del facts["message"]
    return _failed("raised", message, facts)


def _unsendable(error: BaseException, root: str, message: Message, function: Any) -> Result:
    name = message["function"]
    if isinstance(error, TooLarge):
        return _failed("too_large", f"the answer of {name} is {error}")
    facts = describe(error, root, getattr(function, "__code__", None))
    text = f"the answer of {name} is not JSON: {facts.pop('message')}"
    return _failed("raised", text, facts)


def _failed(code: str, message: str, details: Any = None) -> Result:
    error = {"code": code, "message": message}
    return {"ok": False, "error": error if details is None else error | {"details": details}}
