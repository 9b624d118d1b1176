"""Sandbox of user code: the rights that a process gives up for good before it reads untrusted code.

It needs no privilege and works the same in a plain process, in bubblewrap and in a container. The kernel
enforces it from then on, whatever the code in the process does to its language. It uses only the standard
library, with few imports, because each worker waits for it.
"""
