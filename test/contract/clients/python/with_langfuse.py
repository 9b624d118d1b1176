"""The SDK for traces, generations 3 and 4: spans by OTLP in protobuf, scores by `/ingestion`.

It traces, nests, generates, scores, flushes and reads back. Standard output has the trace as the SDK read it.
"""

from langfuse import Langfuse, propagate_attributes

langfuse = Langfuse(release="r1")
assert langfuse.auth_check()
with langfuse.start_as_current_observation(name="chat", as_type="span") as root:
    with propagate_attributes(
        user_id="user-1",
        session_id="session-1",
        tags=["first", "second"],
        metadata={"plan": "free"},
        trace_name="chat",
    ):
        root.update(input={"question": "How many?"})
        with langfuse.start_as_current_observation(
            name="retrieve", as_type="span", input={"k": 3}, metadata={"hits": 0}
        ) as span:
            with langfuse.start_as_current_observation(
                name="answer",
                as_type="generation",
                model="model-1",
                model_parameters={"temperature": 0.5},
                input=[{"role": "user", "content": "How many?"}],
            ) as generation:
                generation.update(
                    output="Seven.", usage_details={"input": 12, "output": 3, "total": 15}
                )
                generation.score(name="tone", value="friendly")
        root.update(output="Seven.")
    root.score_trace(name="quality", value=0.8, comment="fine")
    trace_id = root.trace_id
langfuse.flush()
print(langfuse.api.trace.get(trace_id).json())
assert langfuse.api.trace.list(user_id="user-1", tags=["first"]).data
langfuse.shutdown()
