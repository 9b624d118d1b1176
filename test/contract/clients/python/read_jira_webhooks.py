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
    told = json.loads(body)
    assert told["webhookEvent"] == sent["event"], told["webhookEvent"]
    issue = Issue({}, None, raw=told["issue"])
    assert issue.key.startswith("BERTH-") and issue.fields.summary and issue.fields.issuetype.name
    if told["webhookEvent"].startswith("comment_"):
        assert Comment({}, None, raw=told["comment"]).author.displayName
    else:
        # Comments tell of their issue no more than a link does.
        assert issue.fields.status.name and issue.fields.reporter.displayName


told = []
for sent in json.loads(os.environ["SVC_WEBHOOKS"]):
    try:
        read(sent)
        told.append(None)
    except Exception as error:
        told.append(f"{type(error).__name__}: {error}")
print(json.dumps(told))
