"""The boundary of user code: what a process takes from itself, for good, before it reads code of strangers.

It needs no privilege and works the same in a plain process, in bubblewrap and in a container. The kernel
holds it from then on, whatever the code in the process does to its language. Standard library only, and
as few imports as can be, since each worker waits for it.
"""
