"""Sandbox of user code: a process irrevocably gives up rights before it reads untrusted code.

The sandbox needs no privilege and works the same in a plain process, in bubblewrap and in a container. The
kernel enforces it from then on, whatever the code in the process does to its language. The package uses only
the standard library, with few imports, because each worker waits for it.
"""
