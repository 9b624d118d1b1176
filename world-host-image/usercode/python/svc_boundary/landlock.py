"""Restricts by Landlock the files that a process may read, and the programs that it may execute.

All rights that the kernel's version of Landlock knows are revoked, and reading is granted for a few places:
nothing of /proc, of the host's folder or of other hosts' folders. Only /dev/null can be written. If the
kernel supports it, TCP, abstract sockets and signals to other processes are revoked, too.
"""

import ctypes
import os
import struct

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_ASK_VERSION = 1
_PATH_BENEATH = 1

EXECUTE, WRITE_FILE, READ_FILE, READ_DIR, TRUNCATE = 1, 1 << 1, 1 << 2, 1 << 3, 1 << 14
#: Number of bits for file rights, by the version of Landlock that introduced them.
_FILE_RIGHTS = {1: 13, 2: 14, 3: 15, 5: 16}
#: First version that also protects files from being truncated.
COMPLETE_VERSION = 3


def version(libc: ctypes.CDLL) -> int:
    """Returns the kernel's version of Landlock; 0 if the kernel does not have Landlock, or it is disabled."""
    found: int = libc.syscall(_CREATE_RULESET, None, 0, _ASK_VERSION)
    return max(found, 0)


def _take_all(abi: int) -> bytes:
    files = (1 << max(bits for since, bits in _FILE_RIGHTS.items() if since <= abi)) - 1
    network = 0b11 if abi >= 4 else 0
    scopes = 0b11 if abi >= 6 else 0
    length = 24 if abi >= 6 else 16 if abi >= 4 else 8
    return struct.pack("QQQ", files, network, scopes)[:length]


def restrict(
    libc: ctypes.CDLL, abi: int, readable: list[str], executable: list[str], writable: list[str]
) -> None:
    """Restricts this process and every program that it becomes. Paths that do not exist are ignored.

    executable: programs, and folders of libraries. They may also be read.
    """
    wanted = _take_all(abi)
    ruleset = libc.syscall(_CREATE_RULESET, wanted, len(wanted), 0)
    if ruleset < 0:
        raise OSError(ctypes.get_errno(), "landlock_create_ruleset")
    write = WRITE_FILE | (TRUNCATE if abi >= 3 else 0)
    rules = [(path, READ_FILE | READ_DIR) for path in readable]
    rules += [(path, READ_FILE | READ_DIR | EXECUTE) for path in executable]
    rules += [(path, READ_FILE | write) for path in writable]
    for path, rights in rules:
        _allow(libc, ruleset, path, rights)
    if libc.syscall(_RESTRICT_SELF, ruleset, 0) != 0:
        raise OSError(ctypes.get_errno(), "landlock_restrict_self")
    os.close(ruleset)


def _allow(libc: ctypes.CDLL, ruleset: int, path: str, rights: int) -> None:
    try:
        place = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return
    if not os.path.isdir(path):
        rights &= ~READ_DIR
    rule = struct.pack("=Qi", rights, place)
    if libc.syscall(_ADD_RULE, ruleset, _PATH_BENEATH, rule, 0) != 0:
        raise OSError(ctypes.get_errno(), f"landlock_add_rule: {path}")
    os.close(place)
