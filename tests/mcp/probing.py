"""Runs mcp_probe and parses its output, one JSON object per line."""

import json
import os
import pathlib
import subprocess

PROBE = os.environ.get("AGENTRT_MCP_PROBE", "")
PACKAGES = pathlib.Path(os.environ.get("AGENTRT_NODE_PACKAGES", "build/node")) / "node_modules"
SCOPE = PACKAGES / "@modelcontextprotocol"
WAIT_S = 60


def newer_node():
    """The Node that ./dev installs from npm, because some packages need a newer one than Debian's.
    """
    found = sorted(PACKAGES.glob("node-linux-*/bin/node"))
    return str(found[0]) if found else "node"


def program(package):
    """The command that runs a server from npm."""
    folder = SCOPE / package
    bins = json.loads((folder / "package.json").read_text())["bin"]
    return ["node", str(folder / next(iter(bins.values())))]


def older(url):
    """A server that is reached over the older transport (HTTP+SSE)."""
    return ("--sse", url)


def probe(calls, server, cwd, answer=None, pause_ms=0, at_once=False):
    """The list of tools and the result of each call. `server`: a URL, an older one or a command."""
    words = [PROBE]
    for tool, args in calls:
        words += ["--call", tool, json.dumps(args)]
    if answer is not None:
        words += ["--answer", json.dumps(answer)]
    if pause_ms:
        words += ["--pause", str(pause_ms)]
    if at_once:
        words.append("--at-once")
    if isinstance(server, list):
        words += ["--", *server]
    else:
        words += server if isinstance(server, tuple) else (server,)
    done = subprocess.run(words, cwd=cwd, capture_output=True, text=True, timeout=WAIT_S)
    heard = [json.loads(line) for line in done.stdout.splitlines()]
    if not heard:
        raise AssertionError(f"the probe said nothing: {done.stderr}")
    return heard[0], heard[1:]
