"""What joins the facts of a run: the digest of each request, spans, traces, and stored texts. The
digests are computed here from docs/replay.md alone."""

import hashlib
import json
import unittest

from harness import Case, types

TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"
PARENT = "00f067aa0ba902b7"


def sha(data):
    return hashlib.sha256(data if isinstance(data, bytes) else data.encode()).digest()


def extended(listing, element):
    return sha(listing + element)


def text_of(value):
    """A JSON value as the runtime writes it."""
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


def message_digest(role, text, calls="", answers=None, failed=False):
    out = '{"role":%s,"text":%s' % (text_of(role), text_of(text))
    if calls:
        out += ',"calls":[%s]' % calls
    if answers:
        out += ',"toolCallId":%s' % text_of(answers)
    if failed:
        out += ',"isError":true'
    return sha(out + "}")


def raw_value(text, name):
    """The JSON text of the member, exactly as it was sent."""
    at = text.index('"%s":' % name) + len(name) + 3
    _, end = json.JSONDecoder().raw_decode(text, at)
    return text[at:end]


class Requests(Case):
    scripts = {"main": [
        {"toolCalls": [{"name": "list_files", "args": {"path": "."}}]},
        {"text": "There is one file."}]}

    def lines(self, session):
        reply = self.daemon.get(f"/v1/sessions/{session}/events?limit=1000")
        text = reply.data.decode()
        lines, at = [], text.index('"data":[') + 8
        while text[at] != "]":
            event, end = json.JSONDecoder().raw_decode(text, at)
            lines.append((event, text[at:end]))
            at = end + (text[end] == ",")
        return lines

    def digests(self, session):
        """For each model.requested its digest, computed from the facts before it."""
        out = []
        history = turn = bytes(32)
        for event, raw in self.lines(session):
            payload = event["payload"]
            kind = event["type"]
            if kind == "turn.submitted":
                question = message_digest("user", payload["input"][0]["text"])
                before = after = bytes(32)
                calls, results = [], {}
            elif kind == "context.resolved":
                self.assertEqual(payload["historyDigest"], history.hex() if any(history) else "")
                self.assertEqual(payload["inputDigest"], question.hex())
                instructions = sha(b"".join(
                    self.daemon.get(f"/v1/outputs/{ref['outputRef']}").data
                    for ref in payload["instructionRefs"]))
                self.assertEqual(payload["instructionsDigest"], "sha256:" + instructions.hex())
                if "message" in payload:
                    before = extended(before, message_digest("user", payload["message"]))
            elif kind == "tool.catalog.resolved":
                if "tools" in payload:
                    offered = b""
                    for tool in json.loads(raw)["payload"]["tools"]:
                        if tool["policy"] != "denied":
                            schema = raw[raw.index('"toolName":"%s"' % tool["toolName"]):]
                            for part in (tool["toolName"], tool["description"],
                                         raw_value(schema, "inputSchema")):
                                offered += part.encode() + b"\0"
                    tools = sha(offered)
                self.assertEqual(payload["offeredDigest"], "sha256:" + tools.hex())
            elif kind == "model.completed":
                text = ",".join('{"toolCallId":%s,"name":%s,"args":%s}' % (
                    text_of(call["toolCallId"]), text_of(call["name"]),
                    raw_value(raw[raw.index(call["toolCallId"]):], "args"))
                    for call in payload["toolCalls"])
                after = extended(after, message_digest("assistant", payload.get("text", ""), text))
                calls = [call["toolCallId"] for call in payload["toolCalls"]]
            elif kind == "tool.result":
                results[event["toolCallId"]] = message_digest(
                    "tool", payload["preview"], answers=event["toolCallId"],
                    failed=payload["isError"])
                if len(results) == len(calls):
                    for call in calls:
                        after = extended(after, results[call])
            elif kind == "model.requested":
                turn = sha(before + question + after)
                out.append((payload["requestDigest"], "sha256:" + sha(
                    sha(payload["model"]) + sha("{}") + instructions + tools + history +
                    turn).hex()))
            elif kind == "turn.completed":
                history = extended(history, sha(before + question + after))
        return out

    def test_each_request_has_the_digest_that_follows_from_the_facts_before_it(self):
        (self.home.workspace / "AGENTS.md").write_text("Be brief.\n")
        for text in ("what is here?", "and now?"):
            self.daemon.wait_turn(self.daemon.submit(text, sessionId="s", threadId="t"))
        found = self.digests("s")
        self.assertEqual(len(found), 4)
        for recorded, computed in found:
            self.assertEqual(recorded, computed)
        self.assertEqual(len({recorded for recorded, _ in found}), 4)

    def test_the_text_that_a_model_gets_is_stored_once_per_content(self):
        agents = self.home.workspace / "AGENTS.md"
        refs = []
        for text in ("Be brief.\n", "Be brief.\n", "Be long.\n"):
            agents.write_text(text)
            events = self.daemon.wait_turn(self.daemon.submit("hi", sessionId="s", threadId="t"))
            context = [e for e in events if e["type"] == "context.resolved"][-1]["payload"]
            refs.append({ref["ref"].split("/")[-1]: ref["outputRef"]
                         for ref in context["instructionRefs"]})
        self.assertEqual(refs[0], refs[1])
        self.assertEqual(refs[0]["builtin:system_prompt"], refs[2]["builtin:system_prompt"])
        self.assertNotEqual(refs[0]["AGENTS.md"], refs[2]["AGENTS.md"])
        shown = self.daemon.get("/v1/outputs/" + refs[2]["AGENTS.md"]).data.decode()
        self.assertIn("Be long.", shown)
        kept = [e["payload"] for e in self.daemon.events("s") if e["type"] == "output.spilled"]
        self.assertEqual(len([each for each in kept if "expiresAt" not in each]), 3)

    def test_every_request_and_call_has_a_span_of_its_own_in_the_callers_trace(self):
        reply = self.daemon.request(
            "POST", "/v1/commands/submit_turn",
            {"sessionId": "s", "input": [{"type": "text", "text": "hi"}]},
            headers={"traceparent": f"00-{TRACE}-{PARENT}-01"})
        events = self.daemon.wait_turn(reply.json)
        submitted = [e for e in events if e["type"] == "turn.submitted"][0]
        self.assertEqual(submitted["payload"]["parentSpanId"], PARENT)
        self.assertTrue(submitted["payload"]["traceSampled"])
        self.assertEqual({e["traceId"] for e in events if "turnId" in e}, {TRACE})
        spans = {}
        for event in events:
            thing = (event.get("toolCallId") if event["type"].startswith("tool.") else
                     event.get("modelRequestId"))
            if thing:
                self.assertEqual(spans.setdefault(thing, event["spanId"]), event["spanId"])
        self.assertEqual(len(set(spans.values()) | {submitted["spanId"]}), len(spans) + 1)
        turn = sha(f"s turn {submitted['turnId']}")[:8]
        turn = turn[:7] + bytes([turn[7] | 1])
        self.assertEqual(submitted["spanId"], turn.hex())
        telemetry = self.daemon.ok("get_session", sessionId="s")["telemetrySummary"]
        self.assertEqual(telemetry["joinStatus"], "joined")

    def test_closing_facts_say_how_long_things_took(self):
        events = self.daemon.wait_turn(self.daemon.submit("hi", sessionId="s"))
        self.assertIn("turn.completed", types(events))
        wanted = {"turn.started": "queuedMs", "model.completed": "firstTokenMs",
                  "tool.result": "durationMs", "task.attempt.completed": "durationMs"}
        for kind, member in wanted.items():
            found = [e["payload"] for e in self.daemon.events("s") if e["type"] == kind]
            self.assertTrue(found, kind)
            for payload in found:
                self.assertGreaterEqual(payload[member], 0, kind)
        result = [e["payload"] for e in events if e["type"] == "tool.result"][0]
        self.assertEqual(result["toolName"], "list_files")
        candidates = [e["payload"] for e in events if e["type"] == "routing.candidates.resolved"]
        self.assertIn("defaultModel", candidates[0])
        self.assertEqual(candidates[0]["fallback"], [])


if __name__ == "__main__":
    unittest.main()
