"""Runs the MCP client through the @modelcontextprotocol/conformance scenarios about tools."""

import json
import pathlib
import shlex
import subprocess
import tempfile
import unittest

import probing

AUTH_CLIENT = pathlib.Path(__file__).resolve().parent / "auth_client.py"
# All that version 0.1.16 has for clients, except cross-app-access-complete-flow: it starts from the
# token of an identity provider that the runtime does not have.
LOGINS = [
    "metadata-default", "metadata-var1", "metadata-var2", "metadata-var3", "basic-cimd",
    "scope-from-www-authenticate", "scope-from-scopes-supported", "scope-omitted-when-undefined",
    "scope-step-up", "scope-retry-limit", "token-endpoint-auth-basic", "token-endpoint-auth-post",
    "token-endpoint-auth-none", "pre-registration", "2025-03-26-oauth-metadata-backcompat",
    "2025-03-26-oauth-endpoint-fallback", "resource-mismatch", "offline-access-scope",
    "offline-access-not-supported", "client-credentials-jwt", "client-credentials-basic"]


class Conformance(unittest.TestCase):
    def run_scenario(self, scenario, *calls):
        words = [probing.PROBE]
        for tool, args in calls:
            words += ["--call", tool, json.dumps(args)]
        self.run_client(scenario, words)

    def run_client(self, scenario, words):
        with tempfile.TemporaryDirectory() as folder:
            client = pathlib.Path(folder) / "client"
            client.write_text(f'#!/bin/sh\nexec {shlex.join(words)} "$@"\n')
            client.chmod(0o755)
            done = subprocess.run(
                [probing.newer_node(), str(probing.SCOPE / "conformance/dist/index.js"), "client",
                 "--command", str(client), "--scenario", scenario, "--timeout", "100000"],
                cwd=folder, capture_output=True, text=True, timeout=2 * probing.WAIT_S)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("OVERALL: PASSED", done.stdout + done.stderr)

    def test_initialize(self):
        self.run_scenario("initialize")

    def test_tools_call(self):
        self.run_scenario("tools_call", ("add_numbers", {"a": 5, "b": 3}))

    def test_elicitation_defaults(self):
        self.run_scenario("elicitation-sep1034-client-defaults",
                          ("test_client_elicitation_defaults", {}))

    def test_sse_retry(self):
        self.run_scenario("sse-retry", ("test_reconnection", {}))

    def run_login(self, scenario):
        """With `agentrt mcp login`, then a turn. A warning counts as a failure."""
        self.run_client(f"auth/{scenario}", ["/usr/bin/python3", str(AUTH_CLIENT)])


for name in LOGINS:
    setattr(Conformance, "test_login_" + name.replace("-", "_"),
            lambda self, name=name: self.run_login(name))


if __name__ == "__main__":
    unittest.main()
