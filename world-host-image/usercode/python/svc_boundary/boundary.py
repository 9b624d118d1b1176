"""Puts this process into the sandbox, in the only order in which each step is still allowed."""

import ctypes
import os
import resource
import sys

from . import landlock, seccomp
from .syscalls import MARKS

_PR_SET_PDEATHSIG, _PR_SET_SECCOMP, _PR_SET_NO_NEW_PRIVS = 1, 22, 38
_SIGKILL = 9
_FILTER_MODE = 2
_CAPABILITY_VERSION = 0x20080522

_OPEN_FILES = 256

#: Files that the libraries of both languages read; the linker loads programs from them.
_LIBRARIES = ["/lib", "/lib32", "/lib64", "/usr/lib", "/usr/lib32", "/usr/lib64", "/usr/local/lib"]
_LIBRARIES += ["/nix/store"]
_SYSTEM = ["/etc/ld.so.cache", "/etc/localtime", "/usr/share/zoneinfo", "/dev/urandom", "/dev/random"]
_SYSTEM += ["/etc/ssl/openssl.cnf", "/usr/local/ssl/openssl.cnf", "/etc/pki/tls/openssl.cnf"]
_SYSTEM += ["/etc/crypto-policies"]
#: Files that Python's `mimetypes` reads if they exist.
MIME_TYPES = ["/etc/mime.types", "/etc/apache2/mime.types"]
_NOTHING = ["/dev/null"]

#: Exit status of a process that requires the whole sandbox on a system that lacks a part (EX_CONFIG).
REFUSED = 78


def restrict(
    parent: int,
    keep: int,
    readable: list[str],
    memory: tuple[int, int] | None,
    program: str | None = None,
    launch: tuple[int, ...] | None = None,
) -> list[str]:
    """Restricts this process to computing, irreversibly. Returns the parts of the sandbox that the system
    lacks: `landlock`, `seccomp`.

    parent: the process id of the host. This process ends when the host ends.
    keep: descriptors below this number stay open, all others are closed.
    readable: files and folders that may be read, in addition to those of the system.
    memory: a limit of `resource`, and its value in bytes.
    program, launch: the program that the process becomes, and the memory addresses of its arguments.
    """
    is_linux = sys.platform == "linux"
    # On Linux this is a single system call, elsewhere one for each descriptor.
    os.closerange(keep, 1 << 20 if is_linux else resource.getrlimit(resource.RLIMIT_NOFILE)[0])
    libc = ctypes.CDLL(None, use_errno=True)
    if is_linux:
        libc.prctl(_PR_SET_PDEATHSIG, _SIGKILL, 0, 0, 0)
    if os.getppid() != parent:
        os._exit(0)
    _limit(memory)
    if not is_linux:
        return ["landlock", "seccomp"]
    _volunteer()
    _drop_capabilities(libc)
    if libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0:
        return ["landlock", "seccomp"]
    abi = landlock.version(libc)
    if abi > 0:
        executable = _LIBRARIES + ([] if program is None else [program])
        landlock.restrict(libc, abi, _SYSTEM + MIME_TYPES + readable, executable, _NOTHING)
    is_filtered = _filter(libc, launch, abi >= landlock.COMPLETE_VERSION)
    return ([] if abi > 0 else ["landlock"]) + ([] if is_filtered else ["seccomp"])


def _limit(memory: tuple[int, int] | None) -> None:
    """Sets resource limits. The number of processes is not limited, because the kernel counts all processes
    of a user on the machine, also those in other containers.
    """
    limits = {"CORE": 0, "FSIZE": 0, "NOFILE": _OPEN_FILES, "MEMLOCK": 0, "MSGQUEUE": 0}
    for name, value in limits.items():
        which = getattr(resource, f"RLIMIT_{name}", None)
        if which is not None:
            _lower(which, value)
    if memory is not None and sys.platform == "linux":
        _lower(*memory)


def _lower(which: int, value: int) -> None:
    """Sets a limit, unless the present limit is already as low."""
    limits = resource.getrlimit(which)
    hard = value if limits[1] == resource.RLIM_INFINITY else min(value, limits[1])
    if limits != (hard, hard):
        resource.setrlimit(which, (hard, hard))


def _volunteer() -> None:
    """Makes the kernel kill this process rather than the host if memory runs out."""
    try:
        with open("/proc/self/oom_score_adj", "w") as file:
            file.write("1000")
    except OSError:
        pass  # This system has no such file; the limits apply nevertheless.


def _drop_capabilities(libc: ctypes.CDLL) -> None:
    """Drops all capabilities, which only a host that runs as root has."""
    header = (ctypes.c_uint32 * 2)(_CAPABILITY_VERSION, 0)
    libc.capset(header, (ctypes.c_uint32 * 6)())


def _filter(libc: ctypes.CDLL, launch: tuple[int, ...] | None, may_open_to_write: bool) -> bool:
    machine = os.uname().machine
    if machine not in MARKS or sys.maxsize < 1 << 32:
        return False
    code = seccomp.assemble(machine, os.getpid(), launch, may_open_to_write)
    buffer = ctypes.create_string_buffer(code, len(code))

    class Program(ctypes.Structure):
        _fields_ = [("length", ctypes.c_ushort), ("code", ctypes.c_void_p)]

    program = Program(len(code) // 8, ctypes.addressof(buffer))
    done: int = libc.prctl(_PR_SET_SECCOMP, _FILTER_MODE, ctypes.byref(program), 0, 0)
    return done == 0


def refuse(missing: list[str]) -> None:
    """Ends a process that requires the whole sandbox on a system that lacks a part of it."""
    print(f"this system lacks {' and '.join(missing)}, which the sandbox of user code requires", file=sys.stderr)
    os._exit(REFUSED)
