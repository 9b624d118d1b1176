"""Reads webhooks by the models of jamf-pro-sdk, and tells what each fault was; null for none."""

import json
import os

from jamf_pro_sdk.models.webhooks import webhooks

results = []
for sent in json.loads(os.environ["SVC_WEBHOOKS"]):
    body = sent["body"]
    try:
        getattr(webhooks, sent["event"]).model_validate(json.loads(body) if isinstance(body, str) else body)
        results.append(None)
    except Exception as error:
        results.append(f"{type(error).__name__}: {error}")
print(json.dumps(results))
