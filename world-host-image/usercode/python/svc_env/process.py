"""Refuses forbidden actions by Python's audit events, with an error that names the action and the file.

These guards help against mistakes. Malicious code that gets past them is still inside the sandbox around its
process (`svc_boundary`).
"""

from __future__ import annotations

import os
import sys

from .typed import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Any

#: Actions that user code may not do, by Python's audit events.
FORBIDDEN = {
    event: deed
    for deed, events in {
        "start processes": (
            "os.exec os.fork os.forkpty os.posix_spawn os.spawn os.system "
            "pty.spawn subprocess.Popen"
        ),
        "signal processes": "os.kill os.killpg",
        "use the network": (
            "socket.bind socket.connect socket.getaddrinfo socket.gethostbyname socket.sendto"
        ),
        "write files": (
            "os.chmod os.chown os.link os.mkdir os.remove os.rename os.rmdir os.symlink os.truncate"
        ),
        "load foreign code": "ctypes.dlopen",
    }.items()
    for event in events.split()
}

#: Modules that cannot work in the sandbox, and what they are for.
NO_MODULES = {
    "_ctypes": "load foreign code (ctypes)",
    "_multiprocessing": (
        "share anything with processes (multiprocessing, its ThreadPool too): "
        "for threads there is concurrent.futures.ThreadPoolExecutor"
    ),
}


def guard(readable: list[str]) -> None:
    """Forbids processes, network and foreign code irreversibly. Also forbids all files, except reading the
    `readable` folders and files. The list `readable` may grow later.
    """
    for name in ("ctypes", "_ctypes"):
        sys.modules.pop(name, None)

    def audit(event: str, arguments: tuple[Any, ...]) -> None:
        if event == "open":
            _check_open(readable, *arguments)
        elif event == "import" and arguments[0] in NO_MODULES:
            raise ImportError(f"user code may not {NO_MODULES[arguments[0]]}")
        elif event in FORBIDDEN:
            raise PermissionError(f"user code may not {FORBIDDEN[event]} ({event})")

    sys.addaudithook(audit)


WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND


def _check_open(readable: list[str], path: Any, mode: str | None, flags: int) -> None:
    if isinstance(path, int):
        return
    real = os.path.realpath(os.fsdecode(path))
    if real == os.devnull:
        return
    if flags & WRITING:
        raise PermissionError(f"user code may not write files ({real})")
    if not any(real == place or real.startswith(place + os.sep) for place in readable):
        raise PermissionError(f"user code may read only its own files ({real})")
