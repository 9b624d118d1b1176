"""What a worker process may do. Standard library only, and no import of the rest of the package:
run as a script it becomes another program (`process.py <parent pid> <program> <arguments>`), which
then keeps the tie to the parent.

These are guards against mistakes and against mischief of the simple kind. What contains code that
means harm is the container around the host.
"""

from __future__ import annotations

import os
import resource
import signal
import sys
from typing import Any

PR_SET_PDEATHSIG = 1

#: What user code may not do, by Python's audit events.
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


def tie_to_parent(parent: int) -> None:
    """Has the kernel kill this process when its parent ends, however that ends, where it can.

    Elsewhere than on Linux a worker notices when it next reads its channel.
    """
    if sys.platform == "linux":
        try:
            import ctypes
        except ImportError:
            return  # A Python built without it: as on other systems.
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(0)


def limit_resources(memory_bytes: int | None) -> None:
    """Bounds the address space, where the system knows how; no core dumps.

    There is no limit on processes: the kernel counts all that a user has on the machine, so any
    limit would be hit by others' processes. The container has one.
    """
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if memory_bytes is not None and sys.platform == "linux":
        resource.setrlimit(resource.RLIMIT_AS, (memory_bytes, memory_bytes))


def guard(readable: list[str]) -> None:
    """From here on: no processes, no network, no foreign code, and of files only `readable`
    folders and files, for reading. `readable` may grow later. It cannot be undone."""
    for name in ("ctypes", "_ctypes"):
        sys.modules.pop(name, None)

    def audit(event: str, arguments: tuple[Any, ...]) -> None:
        if event == "open":
            _check_open(readable, *arguments)
        elif event == "import" and arguments[0] == "_ctypes":
            raise ImportError("user code may not load foreign code (ctypes)")
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


def main() -> None:
    limit_resources(None)
    tie_to_parent(int(sys.argv[1]))
    os.execv(sys.argv[2], sys.argv[2:])


if __name__ == "__main__":
    main()
