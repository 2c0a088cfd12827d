"""`agentrt validate` as used by a person or a build server."""

import json
import pathlib
import resource
import subprocess
import unittest
import xml.etree.ElementTree

import harness
from harness import Case, Home

GOLDEN = pathlib.Path(__file__).parents[1] / "golden/0001-first-release.jsonl"
MEMORY_KB_MAX = 64 * 1024


class Files(unittest.TestCase):
    def setUp(self):
        self.home = Home()
        self.addCleanup(self.home.remove)
        self.lines = GOLDEN.read_text().splitlines()

    def validate(self, lines, *arguments):
        return self.home.run("validate", "-", *arguments, stdin="\n".join(lines) + "\n")

    def test_a_good_stream_is_conformant_from_a_file_and_from_standard_input(self):
        for done in (self.home.run("validate", GOLDEN), self.validate(self.lines)):
            self.assertEqual(done.returncode, 0, done.stdout)
            self.assertIn("152 events in 1 session", done.stdout)
            self.assertIn("conformant: no violations", done.stdout)
            self.assertEqual(done.stderr, "")

    def test_nothing_is_made_in_the_data_folder(self):
        self.home.run("validate", GOLDEN)
        self.assertFalse(self.home.data.exists())

    def test_the_first_offending_event_is_named_with_its_line(self):
        done = self.validate(self.lines[:9] + self.lines[10:])
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertIn("first: order.sequence line 10, task.profile.resolved (sequence 11): "
                      "sequence 11 follows 9: 1 events are missing", done.stdout)

    def test_json_and_junit_say_the_same(self):
        broken = self.lines + self.lines[-1:]
        report = json.loads(self.validate(broken, "--format", "json").stdout)
        self.assertFalse(report["conformant"])
        self.assertEqual(report["findings"][0]["line"], 153)
        rules = {row["rule"] for row in report["rules"]}
        self.assertIn("ids.event_unique", rules)
        self.assertTrue(report["findings"][0]["link"].startswith("docs/conformance.md#"))
        suite = xml.etree.ElementTree.fromstring(self.validate(broken, "--format", "junit").stdout)
        failed = {case.get("name") for case in suite.iter("testcase")
                  if case.find("failure") is not None}
        self.assertEqual(failed, rules)
        self.assertEqual(json.loads(self.validate(broken, "--json").stdout), report)

    def test_a_snapshot_is_compared(self):
        snapshot = self.home.folder / "s.json"
        snapshot.write_text('{"sessionId":"golden","title":"Not that","asOfSequence":152}')
        done = self.home.run("validate", GOLDEN, "--snapshot", snapshot)
        self.assertEqual(done.returncode, 1)
        self.assertIn('title is "Not that" in the snapshot, '
                      '"A golden session" in the replayed stream',
                      done.stdout)
        snapshot.write_text('{"sessionId":"golden","title":"A golden session","archived":true}')
        self.assertEqual(self.home.run("validate", GOLDEN, "--snapshot", snapshot).returncode, 0)

    def test_server_sent_events_are_read_as_they_are(self):
        frames = []
        for line in self.lines:
            frames += [f"id: {json.loads(line)['sequence']}", f"event: {json.loads(line)['type']}",
                       f"data: {line}", "", ": still there"]
        done = self.validate(frames)
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertIn("152 events", done.stdout)

    def test_a_part_of_a_stream_is_judged_with_after(self):
        self.assertEqual(self.validate(self.lines[60:]).returncode, 1)
        done = self.validate(self.lines[60:], "--after", "60")
        self.assertEqual(done.returncode, 0, done.stdout)

    def test_should_counts_only_when_strict(self):
        lines = [line.replace('"schemaVersion":"0.4.0",', "") for line in self.lines]
        done = self.validate(lines)
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertIn("should envelope.origin", done.stdout)
        self.assertEqual(self.validate(lines, "--strict").returncode, 1)

    def test_a_runtime_without_the_wider_families_is_judged_by_the_core(self):
        kept, sequence = [], 0
        for line in self.lines:
            event = json.loads(line)
            if event["type"].startswith(("routing.", "item.", "task.attempt", "task.profile")):
                continue
            sequence += 1
            event.update(sequence=sequence, eventId=f"e{sequence}")
            event["payload"].pop("asOfSequence", None)
            event["payload"].pop("toSequence", None)
            kept.append(json.dumps(event))
        done = self.validate(kept, "--profile", "core")
        self.assertEqual(done.returncode, 0, done.stdout)

    def test_rules_are_explained(self):
        done = self.home.run("validate", "--explain", "action.pauses")
        self.assertEqual(done.returncode, 0)
        self.assertIn("Work that waits for a decision does not continue.", done.stdout)
        everything = self.home.run("validate", "--explain", "all").stdout.splitlines()
        self.assertGreater(len(everything), 60)
        self.assertEqual(self.home.run("validate", "--explain", "nothing").returncode, 2)

    def test_bad_input_is_told_in_a_sentence(self):
        for arguments, word in ((["/nowhere.jsonl"], "cannot be read"),
                                ([], "SOURCE is missing"),
                                ([GOLDEN, "--snapshot", "/nowhere"], "cannot be read"),
                                ([GOLDEN, "--format", "yaml"], "--format"),
                                (["-"], "contains no events")):
            with self.subTest(arguments=arguments):
                done = self.home.run("validate", *arguments)
                self.assertEqual(done.returncode, 2, done)
                self.assertIn(word, done.stderr)
                self.assertEqual(len(done.stderr.strip().splitlines()), 1)
        done = self.home.run("validate", "http://127.0.0.1:1/")
        self.assertEqual(done.returncode, 4, done)

    def test_garbage_is_an_offence_and_not_a_crash(self):
        garbage = ["{", "[]", "null", '"x"', "{}", '{"type":7}', "\x1b[31mred", "[" * 100_000,
                   '{"type":"turn.started","sessionId":"s","sequence":-1,"payload":[]}',
                   json.dumps({"type": "tool.result", "eventId": "e", "sessionId": "s",
                               "sequence": 1, "timestamp": "yesterday", "toolCallId": "\x1b[2J",
                               "payload": {}})]
        done = self.validate(garbage)
        self.assertEqual(done.returncode, 1)
        self.assertNotIn("\x1b", done.stdout)
        self.assertIn("envelope.json", done.stdout)

    def test_a_long_stream_takes_little_memory(self):
        stream = self.home.folder / "long.jsonl"
        text = GOLDEN.read_text()
        with stream.open("w") as out:
            for i in range(1_500):
                out.write(text.replace('"sessionId":"golden"', f'"sessionId":"golden_{i}"')
                          .replace("evt_golden_", f"evt_golden_{i}_"))
        done = subprocess.run(["/usr/bin/env", harness.BINARY, "validate", stream], text=True,
                              capture_output=True, env=self.home.environment,
                              preexec_fn=lambda: resource.setrlimit(
                                  resource.RLIMIT_DATA, (MEMORY_KB_MAX * 1024,) * 2)
                              if "ASAN_OPTIONS" not in self.home.environment
                              and "TSAN_OPTIONS" not in self.home.environment else None)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("228000 events in 1500 sessions", done.stdout)


class Servers(Case):
    def url(self, route):
        return f"http://127.0.0.1:{self.daemon.port}{route}"

    def test_a_server_is_judged_by_its_event_route(self):
        reply = self.daemon.submit(sessionId="s")
        self.daemon.wait_turn(reply)
        other = Home()
        self.addCleanup(other.remove)
        token = ["--token", self.daemon.token]
        for route in ("/", "/v1/events", "/v1/sessions/s/events", "/v1/sessions/s/events?limit=3"):
            with self.subTest(route=route):
                done = other.run("validate", self.url(route), *token)
                self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
                self.assertIn("in 1 session", done.stdout)
        after = other.run("validate", self.url("/v1/sessions/s/events"), "--after", "5", *token)
        self.assertEqual(after.returncode, 0, after.stdout)

    def test_a_token_is_needed_and_the_own_daemon_s_is_found(self):
        self.daemon.ok("create_session", sessionId="s")
        self.assertEqual(self.home.run("validate", self.url("/")).returncode, 0)
        other = Home()
        self.addCleanup(other.remove)
        done = other.run("validate", self.url("/"))
        self.assertEqual(done.returncode, 2)
        self.assertIn("token", done.stderr)

    def test_a_thread_s_snapshot_is_compared_too(self):
        reply = self.daemon.submit(sessionId="s", threadId="t")
        self.daemon.wait_turn(reply)
        snapshot = self.home.folder / "thread.json"
        read = self.daemon.ok("get_thread_read", sessionId="s", threadId="t")
        snapshot.write_text(json.dumps(read))
        route = self.url("/v1/sessions/s/events")
        self.assertEqual(self.home.run("validate", route, "--snapshot", snapshot).returncode, 0)
        read["status"] = "running"
        snapshot.write_text(json.dumps(read))
        done = self.home.run("validate", route, "--snapshot", snapshot)
        self.assertEqual(done.returncode, 1)
        self.assertIn('status is "running" in the snapshot, "idle" in the replayed stream',
                      done.stdout)


if __name__ == "__main__":
    unittest.main()
