"""Becomes another program in the sandbox. Node is started this way, because it cannot enter the sandbox by
itself.

Arguments: the process id of the host, `auto` or `require`, the number of descriptors that stay open, the
limit on the program's data in bytes (0: no limit), the places that it may read, one per line; then the
program.
"""

import ctypes
import os
import resource
import sys

from .boundary import refuse, restrict

#: Descriptor on which a worker writes to its host.
_CHANNEL = 4


def main() -> None:
    parent, mode, keep, data_bytes, places = sys.argv[2:7]
    words = [word.encode() for word in sys.argv[7:]]
    variables = [name + b"=" + value for name, value in os.environb.items()]
    # The list keeps the texts in memory while this function runs.
    path = ctypes.create_string_buffer(words[0])
    arguments = (ctypes.c_char_p * (len(words) + 1))(*words, None)
    environment = (ctypes.c_char_p * (len(variables) + 1))(*variables, None)
    missing = restrict(
        parent=int(parent),
        keep=int(keep),
        readable=places.splitlines(),
        memory=(resource.RLIMIT_DATA, int(data_bytes)) if data_bytes != "0" else None,
        program=sys.argv[7],
        launch=tuple(ctypes.addressof(part) for part in (path, arguments, environment)),
    )
    if missing and mode == "require":
        refuse(missing)
    if missing and int(keep) > _CHANNEL:
        os.write(_CHANNEL, announce(missing))
    ctypes.CDLL(None).execve(path, arguments, environment)
    print(f"{sys.argv[7]} cannot be started", file=sys.stderr)
    os._exit(1)


def announce(missing: list[str]) -> bytes:
    """Writes the message for the host about missing parts of the sandbox (`protocol.ts`)."""
    names = ", ".join(f'"{name}"' for name in missing)
    return f'{{"type": "open", "nonce": "", "missing": [{names}]}}\n'.encode()
