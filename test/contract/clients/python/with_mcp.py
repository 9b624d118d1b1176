"""The official MCP client for Python at the tools of a session: it lists them, calls each, and solves a task.

Standard input has what to do, as JSON: where each session is, and the calls. Standard output has what came of it.
"""

import asyncio
import json
import sys

import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client


async def work(at, calls):
    """Makes the calls one after the other at a session's server."""
    headers = {"authorization": f"Bearer {at['token']}"}
    async with httpx2.AsyncClient(headers=headers, timeout=60) as http:
        transport = streamable_http_client(at["url"], http_client=http)
        async with Client(transport) as client:
            # From now on the client holds results to the schemas of their tools.
            tools = (await client.list_tools()).tools
            results = []
            for call in calls:
                result = await client.call_tool(call["name"], call["arguments"])
                results.append(result.model_dump(mode="json", by_alias=True, exclude_none=True))
            return {"tools": [tool.name for tool in tools], "results": results}


async def main():
    given = json.load(sys.stdin)
    results = [await work(part["at"], part["calls"]) for part in given]
    json.dump(results, sys.stdout)


asyncio.run(main())
