"""The SDK for traces, generation 2: events by `/ingestion`. It traces, nests, generates, scores, flushes, reads back.

Standard output has the trace as the SDK read it.
"""

import json
from datetime import datetime, timedelta, timezone

from langfuse import Langfuse

start = datetime(2026, 3, 1, 10, tzinfo=timezone.utc)


def later(ms):
    """So many milliseconds after the start."""
    return start + timedelta(milliseconds=ms)


langfuse = Langfuse()
assert langfuse.auth_check()
trace = langfuse.trace(
    name="chat",
    user_id="user-1",
    session_id="session-1",
    input={"question": "How many?"},
    metadata={"plan": "free"},
    tags=["first", "second"],
    release="r1",
)
span = trace.span(name="retrieve", start_time=start, input={"k": 3})
generation = span.generation(
    name="answer",
    start_time=later(100),
    model="model-1",
    model_parameters={"temperature": 0.5},
    input=[{"role": "user", "content": "How many?"}],
)
generation.end(
    output="Seven.",
    end_time=later(600),
    usage={"input": 12, "output": 3, "total": 15, "unit": "TOKENS"},
)
span.end(end_time=later(700), metadata={"hits": 0})
trace.update(output="Seven.")
trace.score(name="quality", value=0.8, comment="fine")
generation.score(name="tone", value="friendly")
langfuse.flush()
print(langfuse.fetch_trace(trace.id).data.json())
