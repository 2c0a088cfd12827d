"""The client of the conformance scenarios about authorization: logs in with the shipped command
and a scripted browser, then runs a turn that calls the tool.

Usage: auth_client.py SERVER_URL. The scenario is in MCP_CONFORMANCE_SCENARIO, what it configures
in MCP_CONFORMANCE_CONTEXT.
"""

import json
import os
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "e2e"))

from browser import log_in
from harness import Home

METADATA_URL = "https://conformance-test.local/client-metadata.json"
SCRIPTS = {"main": [{"toolCalls": [{"name": "mcp__box__test-tool", "args": {}}]},
                    {"text": "Done."}]}


def config_of(url, scenario, context, folder):
    text = f'[permissions]\nmode = "bypass"\n[mcp_servers.box]\nurl = "{url}"\nwait_ms = 60000\n'
    if scenario == "auth/basic-cimd":
        text = f'[mcp]\nclient_metadata_url = "{METADATA_URL}"\n' + text
    if "client_id" in context:
        text += f'[mcp_servers.box.oauth]\nclient_id = "{context["client_id"]}"\n'
        if scenario.startswith("auth/client-credentials"):
            text += 'grant = "client_credentials"\n'
        if "client_secret" in context:
            text += 'client_secret_env = "BOX_SECRET"\n'
        if "private_key_pem" in context:
            key = folder / "key.pem"
            key.touch(0o600)
            key.write_text(context["private_key_pem"])
            text += f'private_key_file = "{key}"\n'
            text += f'signing_algorithm = "{context["signing_algorithm"]}"\n'
    return text


def called(home):
    """Runs a turn; whether the tool gave a result."""
    done = home.run("run", "--json", "call it", timeout=90)
    events = [json.loads(line) for line in done.stdout.splitlines()]
    results = [event for event in events if event["type"] == "tool.result"]
    failures = [event["payload"] for event in events if event["type"] == "tool.failed"]
    print("turn:", len(results), failures, file=sys.stderr)
    return bool(results)


def main():
    scenario = os.environ["MCP_CONFORMANCE_SCENARIO"]
    context = json.loads(os.environ.get("MCP_CONFORMANCE_CONTEXT", "{}"))
    home = Home(SCRIPTS)
    config = home.folder / "config/agentrt/config.toml"
    config.write_text(config.read_text() + config_of(sys.argv[1], scenario, context, home.folder))
    if "client_secret" in context:
        home.environment["BOX_SECRET"] = context["client_secret"]
    try:
        done = log_in(home, "box")
        print("login:", done.returncode, done.stdout, done.stderr, file=sys.stderr)
        if done.returncode != 0:
            return done.returncode
        if called(home):
            return 0
        # The call lacked scopes, which the next login requests.
        done = log_in(home, "box")
        print("login:", done.returncode, done.stdout, done.stderr, file=sys.stderr)
        return 0 if done.returncode == 0 and called(home) else 1
    finally:
        home.remove()


if __name__ == "__main__":
    sys.exit(main())
