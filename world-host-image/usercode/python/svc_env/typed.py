"""Types of this package that only a checker of types looks into.

Importing `typing` takes 0.4 MB of every worker, so the modules of this package import it for checkers alone.
"""

from __future__ import annotations

#: False when the program runs; checkers of types take this name for true.
TYPE_CHECKING = False

if TYPE_CHECKING:
    from typing import Any

    #: A row, a key or any JSON object.
    Row = dict[str, Any]
else:
    Row = dict
