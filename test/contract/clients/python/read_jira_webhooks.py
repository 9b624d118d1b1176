"""Receives webhooks as a program beside the client does: verifies their signature over the bytes that came, and reads
what they tell by the resources of `jira`. Tells what each fault was; null for none."""

import hashlib
import hmac
import json
import os

from jira.resources import Comment, Issue


def read(sent):
    body = sent["body"].encode()
    wanted = "sha256=" + hmac.new(os.environ["SVC_WEBHOOK_SECRET"].encode(), body, hashlib.sha256).hexdigest()
    assert hmac.compare_digest(wanted, sent["headers"]["x-hub-signature"]), "the signature is another one"
    event = json.loads(body)
    assert event["webhookEvent"] == sent["event"], event["webhookEvent"]
    issue = Issue({}, None, raw=event["issue"])
    assert issue.key.startswith("BERTH-") and issue.fields.summary and issue.fields.issuetype.name
    if event["webhookEvent"].startswith("comment_"):
        assert Comment({}, None, raw=event["comment"]).author.displayName
    else:
        # Comments tell of their issue no more than a link does.
        assert issue.fields.status.name and issue.fields.reporter.displayName


results = []
for sent in json.loads(os.environ["SVC_WEBHOOKS"]):
    try:
        read(sent)
        results.append(None)
    except Exception as error:
        results.append(f"{type(error).__name__}: {error}")
print(json.dumps(results))
