"""Formats errors for the author; their stacks contain only frames of the author's own files."""

from __future__ import annotations

import os
from types import CodeType, TracebackType

from .typed import TYPE_CHECKING, Row

if TYPE_CHECKING:
    from typing import Any

Frame = Row

FRAMES = 20
MESSAGE_CHARS = 4_000


def describe(error: BaseException, root: str, fallback: CodeType | None = None) -> dict[str, Any]:
    """Returns `{exception, message, trace}` of an error, and the same of its cause as `cause`.

    fallback: code whose first line is given as the place if the traceback has no frame of the author's files,
        for example after a call with wrong arguments.
    """
    frames = _frames(error.__traceback__, root) + _syntax_frame(error, root)
    if not frames and fallback is not None:
        frames = [_frame(fallback, fallback.co_firstlineno, root)]
    facts: dict[str, Any] = {
        "exception": type(error).__name__,
        "message": _message(error, root),
        "trace": frames[-FRAMES:],
    }
    if error.__cause__ is not None:
        facts["cause"] = f"{type(error.__cause__).__name__}: {_message(error.__cause__, root)}"
    return facts


def summarize(facts: dict[str, Any]) -> str:
    """Returns the error as one line, such as `ZeroDivisionError: division by zero (tools.py:12 in triage)`."""
    text = ": ".join(part for part in (facts["exception"], facts["message"]) if part)
    if not facts["trace"]:
        return text
    frame = facts["trace"][-1]
    return f"{text} ({frame['file']}:{frame['line']} in {frame['function']})"


def _message(error: BaseException, root: str) -> str:
    """Returns the error's text, with the names of files relative to the root of the world."""
    try:
        text = error.msg if isinstance(error, SyntaxError) else str(error)
        return str(text).replace(root + os.sep, "")[:MESSAGE_CHARS]
    except Exception as broken:
        return f"<no message: its __str__ raised {type(broken).__name__}>"


def _frames(traceback: TracebackType | None, root: str) -> list[Frame]:
    frames = []
    while traceback is not None:
        code = traceback.tb_frame.f_code
        if code.co_filename.startswith(root + os.sep):
            frames.append(_frame(code, traceback.tb_lineno, root))
        traceback = traceback.tb_next
    return frames


def _frame(code: CodeType, line: int | None, root: str) -> Frame:
    return _at(code.co_filename, line or code.co_firstlineno, code.co_qualname, root)


def _syntax_frame(error: BaseException, root: str) -> list[Frame]:
    if not isinstance(error, SyntaxError) or not error.filename or not error.lineno:
        return []
    if not error.filename.startswith(root + os.sep):
        return []
    return [_at(error.filename, error.lineno, "<module>", root)]


def _at(filename: str, line: int, function: str, root: str) -> Frame:
    import linecache  # 0.2 MB that only failed runs need

    return {
        "file": os.path.relpath(filename, root),
        "line": line,
        "function": function,
        "source": linecache.getline(filename, line).strip()[:200],
    }
