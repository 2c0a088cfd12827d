"""Runs the MCP client through the @modelcontextprotocol/conformance scenarios about tools."""

import json
import pathlib
import shlex
import subprocess
import tempfile
import unittest

import probing


class Conformance(unittest.TestCase):
    def run_scenario(self, scenario, *calls):
        words = [probing.PROBE]
        for tool, args in calls:
            words += ["--call", tool, json.dumps(args)]
        with tempfile.TemporaryDirectory() as folder:
            client = pathlib.Path(folder) / "client"
            client.write_text(f'#!/bin/sh\nexec {shlex.join(words)} "$@"\n')
            client.chmod(0o755)
            done = subprocess.run(
                [probing.newer_node(), str(probing.SCOPE / "conformance/dist/index.js"), "client",
                 "--command", str(client), "--scenario", scenario],
                cwd=folder, capture_output=True, text=True, timeout=probing.WAIT_S)
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


if __name__ == "__main__":
    unittest.main()
