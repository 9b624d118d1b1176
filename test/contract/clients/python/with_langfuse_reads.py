"""The SDK for traces, generation 4: models with prices, metrics, and comments.

It makes a model, traces a generation that is priced by it, and reads metrics, models and comments back. Standard output
has the cost that metrics tell.
"""

import json
from datetime import datetime, timedelta, timezone

from langfuse import Langfuse

langfuse = Langfuse()
api = langfuse.api
project = api.projects.get().data[0]

model = api.models.create(
    model_name="python-model", match_pattern="^python-model$", input_price=0.5, output_price=1.0
)
assert model.pricing_tiers[0].name == "Standard" and not model.is_langfuse_managed
assert api.models.get(model.id).prices["input"].price == 0.5
listed = [one for page in (1, 2) for one in api.models.list(page=page, limit=100).data]
assert any(one.is_langfuse_managed for one in listed)
assert model.id in [one.id for one in listed]

with langfuse.start_as_current_observation(
    name="priced", as_type="generation", model="python-model"
) as generation:
    generation.update(usage_details={"input": 4, "output": 3})
    trace_id = generation.trace_id
langfuse.flush()

now = datetime.now(timezone.utc)
answer = api.metrics.metrics(
    query=json.dumps(
        {
            "view": "observations",
            "metrics": [
                {"measure": "totalCost", "aggregation": "sum"},
                {"measure": "count", "aggregation": "count"},
            ],
            "dimensions": [{"field": "providedModelName"}],
            "filters": [
                {
                    "type": "string",
                    "column": "providedModelName",
                    "operator": "=",
                    "value": "python-model",
                }
            ],
            "fromTimestamp": (now - timedelta(days=1)).isoformat(),
            "toTimestamp": (now + timedelta(days=1)).isoformat(),
        }
    )
)
[row] = answer.data

comment = api.comments.create(
    project_id=project.id, object_type="TRACE", object_id=trace_id, content="dear"
)
[found] = api.comments.get(object_type="TRACE", object_id=trace_id).data
assert found.id == comment.id and found.content == "dear"
assert api.comments.get_by_id(comment.id).project_id == project.id

api.models.delete(model.id)
langfuse.shutdown()
print(row["sum_totalCost"])
