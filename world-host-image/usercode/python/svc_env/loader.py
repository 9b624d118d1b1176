"""Finds an author's functions: imports files of the code directory, and remembers which ones failed."""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Callable
from types import ModuleType

from .trace import describe, summarize
from .typed import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Any

#: Files imported as soon as a code directory is loaded, so that the first calls need not wait for them.
EAGER = ("tools.py", "api/handlers.py")

COROUTINE = 0x80


class Unavailable(Exception):
    """Error for a function that cannot be called; `error` is the result of the run."""

    def __init__(self, code: str, message: str, details: dict[str, Any]) -> None:
        super().__init__(message)
        self.error = {"code": code, "message": message, "details": details}


class Loader:
    def __init__(self) -> None:
        self.root = ""
        self._failures: dict[str, Unavailable] = {}
        #: Modules of files that could be imported.
        self._found: dict[str, ModuleType] = {}

    def open(self, directory: str, eager: bool) -> list[str]:
        """Sets the directory of the author's code. Its modules are searched after the standard library.

        Returns the reasons why files that are imported at once could not be imported.
        """
        self.root = directory
        self._failures.clear()
        self._found.clear()
        sys.path.append(directory)
        _warn_of_hidden_modules(directory)
        if not eager:
            return []
        files = [file for file in EAGER if os.path.isfile(os.path.join(directory, file))]
        return [failure for file in files for failure in self._warm(file)]

    def find(self, file: str, name: str, fresh: bool) -> Callable[..., Any]:
        """Returns a function of a file. `fresh` imports the file again. Raises Unavailable."""
        module = self._module(file, fresh)
        function: Callable[..., Any] | None = getattr(module, name, None)
        if callable(function):
            return function
        found = sorted(key for key, value in vars(module).items() if _is_own(value, module))
        listed = ", ".join(found) or "none"
        raise Unavailable(
            "not_found", f"{file} has no function {name}; it has {listed}", {"functions": found}
        )

    def _warm(self, file: str) -> list[str]:
        try:
            module = self._module(file, fresh=False)
        except Unavailable as failure:
            return [failure.error["message"]]
        codes = [getattr(value, "__code__", None) for value in vars(module).values()]
        if any(code is not None and code.co_flags & COROUTINE for code in codes):
            import asyncio  # noqa: F401  (slow to import; the first call should not pay)
        return []

    def _module(self, file: str, fresh: bool) -> ModuleType:
        if self.root == "":
            raise Unavailable("load_failed", "no code is loaded", {"trace": []})
        if file in self._failures and not fresh:
            raise self._failures[file]
        name = file.removesuffix(".py").replace("/", ".")
        if fresh:
            sys.modules.pop(name, None)
        found = self._found.get(file)
        if found is not None and sys.modules.get(name) is found:
            return found
        try:
            found = self._found[file] = self._import(file, name)
            return found
        except Unavailable as failure:
            self._failures[file] = failure
            raise

    def _import(self, file: str, name: str) -> ModuleType:
        path = os.path.join(self.root, file)
        if name not in sys.modules:
            importlib.invalidate_caches()
        if not os.path.isfile(path):
            raise Unavailable("load_failed", f"there is no file {file}", {"trace": []})
        try:
            module = importlib.import_module(name)
        except BaseException as error:
            facts = describe(error, self.root)
            message = f"{file} cannot be imported: {summarize(facts)}"
            if isinstance(error, SyntaxError):
                message += f", by Python {sys.version_info.major}.{sys.version_info.minor}"
            del facts["message"]
            raise Unavailable("load_failed", message, facts) from None
        if getattr(module, "__file__", None) != path:
            message = f"{file} has the name of a module of Python's own; rename it"
            raise Unavailable("load_failed", message, {"trace": []})
        return module


def _is_own(value: object, module: ModuleType) -> bool:
    return callable(value) and getattr(value, "__module__", None) == module.__name__


def _warn_of_hidden_modules(directory: str) -> None:
    for entry in sorted(os.listdir(directory)):
        name = entry.removesuffix(".py")
        if name != entry and name in sys.stdlib_module_names:
            print(f"{entry} is hidden by Python's own module {name}; rename it", file=sys.stderr)
