"""OpenTelemetry for Python with its exporter of OTLP in protobuf, as it is: nested spans of the GenAI conventions.

Standard output has the id of their trace.
"""

from opentelemetry import trace
from opentelemetry.exporter.otlp.proto.http import Compression
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor

provider = TracerProvider(resource=Resource.create({"service.name": "agent"}))
provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter(compression=Compression.Gzip)))
trace.set_tracer_provider(provider)
tracer = trace.get_tracer("agent")
with tracer.start_as_current_span("run", attributes={"session.id": "session-1"}) as root:
    with tracer.start_as_current_span("chat model-1") as chat:
        chat.set_attribute("gen_ai.operation.name", "chat")
        chat.set_attribute("gen_ai.request.model", "model-1")
        chat.set_attribute("gen_ai.usage.input_tokens", 12)
        chat.set_attribute("gen_ai.usage.output_tokens", 3)
        chat.add_event("gen_ai.choice", {"index": 0, "finish_reason": "stop"})
    print(f"{root.get_span_context().trace_id:032x}")
provider.shutdown()
