"""Types of this package that only type checkers use.

Importing `typing` takes 0.4 MB of every worker, so the modules of this package import it only for type
checkers.
"""

from __future__ import annotations

#: False when the program runs; type checkers assume that this name is true.
TYPE_CHECKING = False

if TYPE_CHECKING:
    from typing import Any

    #: A row, a key or any JSON object.
    Row = dict[str, Any]
else:
    Row = dict
