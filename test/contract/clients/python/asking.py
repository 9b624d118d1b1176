"""Runs the flows of one client and tells, as one JSON document on standard output, how each call ended.

A flow is a function that takes `call`. A call that fails does not stop the flow: those after it say for
themselves what they lack, so that one run tells of everything.
"""

import json
import os
import sys
import traceback

url = os.environ["SVC_CLIENT_URL"]
token = os.environ["SVC_CLIENT_TOKEN"]
owner, name = "northquay", "berth"


def told_of(error):
    """An error in a line, with the place in the client that it came from."""
    last = traceback.extract_tb(error.__traceback__)[-1]
    place = f"{os.path.basename(last.filename)}:{last.lineno}"
    return f"{type(error).__name__}: {error} ({place})"[:300]


class Call:
    """Makes calls and keeps what was wrong with them."""

    def __init__(self):
        self.made = []

    def __call__(self, what, run, check=lambda value: True):
        """The value that `run` gives, which `check` must hold for; None when it failed."""
        try:
            value = run()
            fault = None if check(value) else f"answered {value!r}"[:300]
        except Exception as error:
            value, fault = None, told_of(error)
        self.made.append({"call": what, "fault": fault})
        return value

    def fails(self, what, kind, run, check=lambda error: True):
        """A call that must end with an error of this kind, which `check` must hold for."""
        try:
            fault = f"answered {run()!r}"[:300]
        except kind as error:
            fault = None if check(error) else f"failed with {told_of(error)}"
        except Exception as error:
            fault = f"failed with {told_of(error)}"
        self.made.append({"call": what, "fault": fault})


def tell(flows):
    """Runs the flows in their order, each by the name of its function."""
    calls_by_flow = {}
    for flow in flows:
        call = Call()
        try:
            flow(call)
        except Exception as error:
            call.made.append({"call": "the rest of the flow", "fault": told_of(error)})
        calls_by_flow[flow.__name__.replace("_", " ")] = call.made
    json.dump(calls_by_flow, sys.stdout)
