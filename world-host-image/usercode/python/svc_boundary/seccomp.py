"""Assembles the filter of system calls: a program for the kernel (classic BPF).

The filter checks numbers and arguments, never memory that they point to. syscalls.py lists the allowed calls;
this file restricts the arguments of some of them. A refused call fails with EPERM (EROFS for a new folder), so
that a language reports it like any other error. It does not kill the process.
"""

import struct

from .syscalls import ABSENT, LAST_JUDGED, MARKS, new_folder_numbers, numbers

ALLOW = 0x7FFF0000
EPERM = 0x00050001
EROFS = 0x0005001E
ENOSYS = 0x00050026

_LOAD = 0x20  # BPF_LD | BPF_W | BPF_ABS
_AND = 0x54  # BPF_ALU | BPF_AND | BPF_K
_EQUAL = 0x15  # BPF_JMP | BPF_JEQ | BPF_K
_GREATER = 0x25  # BPF_JMP | BPF_JGT | BPF_K
_AT_LEAST = 0x35  # BPF_JMP | BPF_JGE | BPF_K
_RETURN = 0x06  # BPF_RET | BPF_K

#: Lowest number of the x32 ABI, which an x86_64 kernel may accept, too.
_X32 = 0x40000000

_CLONE_THREAD = 0x00010000
#: Flags of a clone that does not create a thread, or that enters namespaces, is traced, or replaces its parent.
_CLONE_MASK = 0x7E020000 | 0x0000E000 | _CLONE_THREAD
#: O_WRONLY, O_RDWR, O_CREAT, O_TRUNC and the bit of O_TMPFILE.
_WRITING = 0x3 | 0x40 | 0x200 | 0x400000

#: F_DUPFD to F_SETFL, F_DUPFD_CLOEXEC, F_DUPFD_QUERY, F_GETPIPE_SZ: nothing with owners, signals, leases.
_FCNTL = (0, 1, 2, 3, 4, 1030, 1027, 1032)
#: TCGETS, TCGETS2, TIOCGWINSZ, FIONREAD, FIONBIO, FIONCLEX, FIOCLEX.
_IOCTL = (0x5401, 0x802C542A, 0x5413, 0x541B, 0x5421, 0x5450, 0x5451)
#: PR_SET_NAME, PR_GET_NAME, PR_GET_DUMPABLE, PR_CAPBSET_READ, PR_GET_NO_NEW_PRIVS, PR_SET_VMA.
_PRCTL = (15, 16, 3, 23, 39, 0x53564D41)
#: SO_TYPE, SO_ERROR, SO_SNDBUF, SO_RCVBUF, SO_PROTOCOL, SO_DOMAIN; SO_PEERPIDFD would refer to the host.
_SOCKET_OPTIONS = (3, 4, 7, 8, 38, 39)
_SOL_SOCKET = 1
_AF_UNIX = 1
#: SIGKILL and SIGSTOP. The host relies on it that a process cannot send SIGKILL to itself.
_UNCATCHABLE = (9, 19)

Code = list[tuple[int, int, int, int]]


def _refuse() -> Code:
    return [(_RETURN, 0, 0, EPERM)]


def _low(argument: int) -> tuple[int, int, int, int]:
    return (_LOAD, 0, 0, 16 + 8 * argument)


def _high(argument: int) -> tuple[int, int, int, int]:
    return (_LOAD, 0, 0, 20 + 8 * argument)


def _is_one_of(argument: int, values: tuple[int, ...]) -> Code:
    """Builds a check: the filter continues if the lower half of an argument is one of the values, and refuses
    otherwise.
    """
    code: Code = [_low(argument)]
    for index, value in enumerate(values):
        code.append((_EQUAL, len(values) - index, 0, value))
    return code + _refuse()


def _is_exactly(argument: int, value: int) -> Code:
    """Builds a check: the filter continues if all 64 bits of an argument equal the value, and refuses
    otherwise.
    """
    return [
        _low(argument),
        (_EQUAL, 0, 2, value & 0xFFFFFFFF),
        _high(argument),
        (_EQUAL, 1, 0, value >> 32),
        *_refuse(),
    ]


def _is_masked(argument: int, mask: int, value: int) -> Code:
    return [_low(argument), (_AND, 0, 0, mask), (_EQUAL, 1, 0, value), *_refuse()]


def _is_none_of(argument: int, values: tuple[int, ...]) -> Code:
    code: Code = [_low(argument)]
    for value in values:
        code += [(_EQUAL, 0, 1, value), *_refuse()]
    return code


def _checks(pid: int, launch: tuple[int, ...] | None, may_open_to_write: bool) -> dict[str, Code]:
    """Returns the checks of calls by name; a call that passes its check is allowed."""
    checks = {
        "clone": _is_masked(0, _CLONE_MASK, _CLONE_THREAD),
        "fcntl": _is_one_of(1, _FCNTL),
        "ioctl": _is_one_of(1, _IOCTL),
        "prctl": _is_one_of(0, _PRCTL),
        # Only its own limits, and only to read them.
        "prlimit64": _is_one_of(0, (0, pid)) + _is_exactly(2, 0),
        # `abort` and `raise` signal the process itself.
        "tgkill": _is_one_of(0, (pid,)) + _is_none_of(2, _UNCATCHABLE),
        "socketpair": _is_one_of(0, (_AF_UNIX,)),
        # Only without an address, like `send`: a pair of datagram sockets could otherwise reach any socket.
        "sendto": _is_exactly(4, 0),
        "getsockopt": _is_one_of(1, (_SOL_SOCKET,)) + _is_one_of(2, _SOCKET_OPTIONS),
        "execve": _refuse(),
    }
    if launch is not None:
        # Only the first `execve` is allowed: no later program can know the addresses of its arguments.
        checks["execve"] = [
            instruction
            for argument, address in enumerate(launch)
            for instruction in _is_exactly(argument, address)
        ]
    if not may_open_to_write:
        checks["open"] = _is_masked(1, _WRITING, 0)
        checks["openat"] = _is_masked(2, _WRITING, 0)
    return checks


def _ranges(values: list[int]) -> list[tuple[int, int]]:
    ranges: list[tuple[int, int]] = []
    for value in sorted(values):
        if ranges and ranges[-1][1] == value - 1:
            ranges[-1] = (ranges[-1][0], value)
        else:
            ranges.append((value, value))
    return ranges


def assemble(
    machine: str,
    pid: int,
    launch: tuple[int, ...] | None = None,
    may_open_to_write: bool = True,
) -> bytes:
    """Assembles the filter of a process in the kernel's format.

    launch: addresses of the three arguments of the only allowed `execve`, if one is allowed.
    may_open_to_write: True if Landlock decides about writes; otherwise files can only be opened to read.
    """
    allowed = numbers(machine)
    checks = _checks(pid, launch, may_open_to_write)
    code: Code = [
        (_LOAD, 0, 0, 4),
        (_EQUAL, 1, 0, MARKS[machine]),
        *_refuse(),
        (_LOAD, 0, 0, 0),
        (_AT_LEAST, 0, 1, _X32),
        (_RETURN, 0, 0, ENOSYS),
    ]
    for name, check in checks.items():
        if name in allowed:
            block = [*check, (_RETURN, 0, 0, ALLOW)]
            code += [(_EQUAL, 0, len(block), allowed[name]), *block]
    for first, last in _ranges([n for name, n in allowed.items() if name not in checks]):
        code += [(_AT_LEAST, 0, 2, first), (_GREATER, 1, 0, last), (_RETURN, 0, 0, ALLOW)]
    for number in new_folder_numbers(machine):
        code += [(_EQUAL, 0, 1, number), (_RETURN, 0, 0, EROFS)]
    for number in ABSENT.values():
        code += [(_EQUAL, 0, 1, number), (_RETURN, 0, 0, ENOSYS)]
    code += [(_GREATER, 0, 1, LAST_JUDGED), (_RETURN, 0, 0, ENOSYS), *_refuse()]
    return b"".join(struct.pack("HBBI", *instruction) for instruction in code)
