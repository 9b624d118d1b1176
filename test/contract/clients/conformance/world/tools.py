"""Tools by the names and with the answers that scenarios of the MCP conformance suite ask for."""


def test_simple_text():
    return "This is a simple text response for testing."


def test_error_handling():
    raise ValueError("This tool intentionally returns an error for testing")


def json_schema_2020_12_tool(name=None, address=None):
    return [address] if address else []
