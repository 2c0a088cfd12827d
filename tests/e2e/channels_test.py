"""Channels: identity, delivery, acknowledgements, resumption, the permission bridge, peer tasks."""

import json
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import time
import unittest

from harness import BINARY, Case, Stream, types, wait_until
from websocket import Closed, WebSocket

DECIDING = ["streaming", "resume", "permissions"]


class Channels(Case):
    scripts = {"main": [{"text": "word " * 20, "deltas": 20}]}

    def setUp(self):
        super().setUp()
        self.daemon.ok("create_session", sessionId="s")

    def connect(self, token=None, **options):
        socket = WebSocket(port=self.daemon.port, token=token or self.daemon.token, **options)
        self.addCleanup(socket.close)
        return socket

    def token(self, *scopes):
        made = self.daemon.request("POST", "/v1/tokens", json.dumps({"scopes": list(scopes)})).json
        return made["token"], made["tokenId"]

    def channel(self, socket, **params):
        reply = socket.call("connect_channel", **{"sessionId": "s", **params})
        self.assertIn("channelId", reply, reply)
        return reply

    def turn(self, session="s", **params):
        return self.daemon.wait_turn(self.daemon.submit(sessionId=session, **params))

    def facts(self, kind=None):
        events = self.daemon.events("s")
        return [e for e in events if kind is None or e["type"] == kind]

    def status(self, channel):
        rows = self.daemon.ok("list_channels", sessionId="s", includeClosed=True)["data"]
        return next(row for row in rows if row["channelId"] == channel)

    def disconnected(self, channel, reason):
        wait_until(lambda: self.status(channel).get("reason") == reason,
                   what=f"channel.disconnected {reason}")

    @staticmethod
    def up_to(socket, last):
        found = []
        while not found or found[-1]["sequence"] < last:
            note = socket.next_notification()
            if note["method"] == "event":
                found.append(note["params"]["event"])
        return found


class Delivery(Channels):
    def test_events_follow_the_reply_and_carry_the_channel(self):
        socket = self.connect()
        reply = self.channel(socket)
        self.assertEqual(reply["transport"], "websocket")
        self.assertEqual(reply["capabilities"], ["streaming", "resume"])
        self.assertEqual(reply["afterSequence"], reply["snapshot"]["asOfSequence"])
        self.assertNotIn("replay", reply)
        own = socket.call("submit_turn", sessionId="s", input=[{"type": "text", "text": "hi"}])
        events = self.up_to(socket, self.daemon.wait_turn(own)[-1]["sequence"])
        self.assertEqual([e["sequence"] for e in events],
                         list(range(reply["afterSequence"] + 1, events[-1]["sequence"] + 1)))
        submitted = [e for e in events if e["sequence"] <= own["sequence"]]
        self.assertEqual({e.get("channelId") for e in submitted}, {reply["channelId"]})
        stored = self.daemon.get("/v1/sessions/s/events?limit=1000").data.decode()
        self.assertNotIn(reply["resumeToken"], stored)
        self.check_session("s")

    def test_a_resumption_neither_loses_nor_repeats(self):
        socket = self.connect()
        first = self.channel(socket, afterSequence=0)
        last = self.turn()[-1]["sequence"]
        seen = [e["sequence"] for e in self.up_to(socket, last)]
        socket.close()
        self.disconnected(first["channelId"], "connection_lost")
        last = self.turn()[-1]["sequence"]
        again = self.connect()
        reply = again.call("reconnect_channel", channelId=first["channelId"],
                           resumeToken=first["resumeToken"], afterSequence=seen[-1])
        self.assertEqual(reply["replay"]["fromSequence"], seen[-1] + 1)
        self.assertNotIn("gap", reply)
        seen += [e["sequence"] for e in self.up_to(again, last)]
        self.assertEqual(seen, list(range(1, seen[-1] + 1)))
        resumed = self.facts("channel.resumed")[-1]
        self.assertEqual(resumed["payload"]["afterSequence"], reply["afterSequence"])
        self.assertNotEqual(reply["resumeToken"], first["resumeToken"])

    def test_acknowledgements_are_stored_and_never_go_back(self):
        socket = self.connect()
        reply = self.channel(socket, afterSequence=0)
        self.turn()
        ack = {"channelId": reply["channelId"]}
        self.assertEqual(socket.call("ack_events", sequence=3, **ack)["acknowledgedSequence"], 3)
        last = self.facts()[-1]["sequence"]
        lower = socket.call("ack_events", sequence=1, **ack)
        self.assertEqual((lower["acknowledgedSequence"], lower["headSequence"]), (3, last))
        self.assertEqual(socket.call("ack_events", sequence=last + 9, **ack)["data"]["code"],
                         "gone")
        self.assertEqual(socket.call("ack_events", sequence=3, generation="gen_0", **ack)
                         ["data"]["code"], "gone")
        self.crash()
        self.start()
        self.assertEqual(self.status(reply["channelId"])["acknowledgedSequence"], 3)
        again = self.connect().call("reconnect_channel", channelId=reply["channelId"],
                                    resumeToken=reply["resumeToken"])
        self.assertEqual(again["afterSequence"], 3)
        self.assertEqual(types(self.facts())[-2:], ["channel.disconnected", "channel.resumed"])

    def test_a_window_pauses_delivery_until_it_is_acknowledged(self):
        socket = self.connect()
        reply = self.channel(socket, afterSequence=0, ackWindow=5)
        last = self.turn()[-1]["sequence"]
        time.sleep(0.3)
        socket.call("list_sessions")  # whatever was sent has arrived before this reply
        got = [n["params"]["event"]["sequence"] for n in socket.notifications]
        self.assertEqual(got, [1, 2, 3, 4, 5])
        while got[-1] < last:
            socket.notifications.clear()
            socket.call("ack_events", channelId=reply["channelId"], sequence=got[-1])
            until = min(got[-1] + 5, last)
            got += [e["sequence"] for e in self.up_to(socket, until)]
        self.assertEqual(got, list(range(1, last + 1)))

    def test_one_channel_per_session_and_connection(self):
        socket = self.connect()
        first = self.channel(socket)
        self.assertEqual(socket.call("connect_channel", sessionId="s")["data"]["code"], "conflict")
        self.daemon.ok("create_session", sessionId="t")
        self.channel(socket, sessionId="t")
        closed = socket.call("disconnect_channel", channelId=first["channelId"])
        self.assertEqual(closed["status"], "closed")
        self.assertEqual(socket.call("disconnect_channel", channelId=first["channelId"])["status"],
                         "closed")
        self.channel(socket)
        self.assertEqual(socket.call("connect_channel", sessionId="s", channelId="x", scopes=[])
                         ["data"]["code"], "invalid_params")

    def test_resuming_elsewhere_replaces_the_connection(self):
        old = self.connect()
        reply = self.channel(old)
        new = self.connect()
        second = new.call("reconnect_channel", channelId=reply["channelId"],
                          resumeToken=reply["resumeToken"])
        with self.assertRaises(Closed) as closed:
            while True:
                old.read_text()
        self.assertEqual(closed.exception.code, 4000)
        carrying = self.connect()
        third = carrying.call("reconnect_channel", channelId=reply["channelId"],
                              resumeToken=second["resumeToken"])
        self.daemon.ok("create_session", sessionId="t")
        self.channel(carrying, sessionId="t")
        self.connect().call("reconnect_channel", channelId=reply["channelId"],
                            resumeToken=third["resumeToken"])
        self.assertIn("data", carrying.call("list_sessions"))  # it carries another channel
        reasons = [e["payload"]["reason"] for e in self.facts("channel.disconnected")]
        self.assertEqual(reasons, ["replaced"] * 3)

    def test_resume_tokens(self):
        socket = self.connect()
        first = self.channel(socket)
        resume = lambda token, via=None: (via or self.connect()).call(
            "reconnect_channel", channelId=first["channelId"], resumeToken=token)
        lost = resume(first["resumeToken"])["resumeToken"]
        second = resume(first["resumeToken"])["resumeToken"]
        self.assertEqual(resume(lost)["data"]["code"], "forbidden")
        self.assertIn("resumeToken", resume(second))
        self.assertEqual(resume(first["resumeToken"])["data"]["code"], "forbidden")
        other, _ = self.token("read")
        self.assertEqual(resume(second, self.connect(token=other))["data"]["code"], "not_found")
        admin, _ = self.token("admin")
        self.assertEqual(resume(second, self.connect(token=admin))["data"]["code"], "forbidden")
        for _ in range(30):
            last = resume("resume_x")["data"]["code"]
        self.assertEqual(last, "limit_exceeded")

    def test_gaps(self):
        socket = self.connect()
        first = self.channel(socket)
        head = self.facts()[-1]["sequence"]
        future = self.connect().call("reconnect_channel", channelId=first["channelId"],
                                     resumeToken=first["resumeToken"], afterSequence=head + 50)
        self.assertEqual(future["gap"], {"fromSequence": head + 1, "toSequence": head + 50,
                                         "reason": "future_sequence"})
        self.assertEqual(self.facts("snapshot.repaired")[-1]["payload"]["gap"], future["gap"])
        self.assertEqual(future["afterSequence"], future["snapshot"]["asOfSequence"])
        refused = self.connect().call("connect_channel", sessionId="s", afterSequence=head + 99)
        self.assertEqual(refused["data"]["code"], "gone")

    def test_a_restored_store_gives_a_named_gap(self):
        socket = self.connect()
        reply = self.channel(socket)
        self.daemon.stop()
        copy = self.home.folder / "copy"
        shutil.copytree(self.home.data, copy)
        self.start()
        self.turn()
        self.daemon.stop()
        shutil.rmtree(self.home.data)
        copy.rename(self.home.data)
        self.start()
        again = self.connect().call("reconnect_channel", channelId=reply["channelId"],
                                    resumeToken=reply["resumeToken"], afterSequence=3)
        self.assertEqual(again["gap"]["reason"], "other_generation")
        self.assertEqual(again["gap"]["fromSequence"], 1)
        self.assertEqual(again["afterSequence"], again["gap"]["toSequence"])

    def test_the_end_of_the_daemon_and_of_tokens(self):
        token, identity = self.token("read")
        socket = self.connect(token=token)
        revoked = self.channel(socket)
        kept = self.channel(self.connect())
        self.daemon.request("DELETE", f"/v1/tokens/{identity}")
        with self.assertRaises(Closed) as closed:
            while True:
                socket.read_text()
        self.assertEqual(closed.exception.code, 1008)
        self.disconnected(revoked["channelId"], "token_revoked")
        self.assertEqual(self.status(revoked["channelId"])["status"], "closed")
        self.daemon.stop()
        self.start()
        row = self.status(kept["channelId"])
        self.assertEqual((row["status"], row["reason"]), ("disconnected", "runtime_stopped"))
        again = self.connect()
        self.channel(again)
        self.crash()
        self.start()
        rows = self.daemon.ok("list_channels", sessionId="s")["data"]
        self.assertIn("stale", [row["status"] for row in rows])
        self.daemon.ok("get_session", sessionId="s")
        self.assertEqual(self.facts()[-1]["payload"]["reason"], "runtime_restart")

    def test_missed_heartbeats_disconnect(self):
        socket = self.connect()
        socket.pongs = False
        reply = self.channel(socket, heartbeatMs=1000)
        self.disconnected(reply["channelId"], "heartbeat_timeout")
        over_http = self.daemon.ok("connect_channel", sessionId="s", heartbeatMs=1000)
        self.assertEqual(over_http["transport"], "http_json")
        self.disconnected(over_http["channelId"], "heartbeat_timeout")

    def test_http_channels_and_their_header(self):
        reply = self.daemon.ok("connect_channel", sessionId="s")
        header = {"Agentrt-Channel": reply["channelId"]}
        done = self.daemon.request("POST", "/v1/commands/update_session",
                                   json.dumps({"sessionId": "s", "title": "x"}), headers=header)
        self.assertEqual(done.status, 200, done.data)
        self.assertEqual(self.facts("session.updated")[-1]["channelId"], reply["channelId"])
        self.daemon.ok("create_session", sessionId="t")
        for headers, params in (({"Agentrt-Channel": "chan_x"}, {"sessionId": "s"}),
                                (header, {"sessionId": "t"})):
            refused = self.daemon.request("POST", "/v1/commands/update_session",
                                          json.dumps({**params, "title": "y"}), headers=headers)
            self.assertEqual(refused.code, "not_found")
        claims = self.daemon.call("connect_channel", sessionId="s", transport="stdio")
        self.assertEqual(claims.code, "invalid_params")
        rpc = self.daemon.request("POST", "/v1/rpc", json.dumps(
            {"jsonrpc": "2.0", "id": 1, "method": "connect_channel", "params": {"sessionId": "s"}}))
        self.assertEqual(rpc.json["result"]["transport"], "json_rpc")

    def test_messages_and_peer_tasks(self):
        socket = self.connect()
        reply = self.channel(socket, nativeProtocol="a2a", nativeIds={"contextId": "c1"})
        channel = {"channelId": reply["channelId"]}
        sent = socket.call("send_channel_message", kind="status", text="ready", **channel)
        self.assertNotIn("messageRef", sent)
        whole = socket.call("send_channel_message", kind="note", text="x" * 3000, **channel)
        self.assertEqual(whole["messageRef"], f"log:{whole['sequence']}")
        self.assertEqual(socket.call("send_channel_message", kind="note", text="x" * 70000,
                                     **channel)["data"]["code"], "too_large")
        task = self.daemon.ok("create_task", sessionId="s", objective="do it")["taskId"]
        link = {**channel, "taskId": task, "nativeProtocol": "a2a"}
        self.assertEqual(socket.call("link_peer_task", remoteTaskId=task, **link)["data"]["code"],
                         "invalid_params")
        linked = socket.call("link_peer_task", remoteTaskId="r1", **link)
        self.assertEqual(linked["taskId"], task)
        self.assertEqual(socket.call("update_peer_task", taskId="task_x", remoteStatus="working",
                                     **channel)["data"]["code"], "not_found")
        socket.call("update_peer_task", taskId=task, remoteStatus="working", recovery="waiting",
                    **channel)
        socket.close()
        self.disconnected(reply["channelId"], "connection_lost")
        again = self.connect().call("reconnect_channel", resumeToken=reply["resumeToken"],
                                    **channel)
        self.assertEqual(again["peerTasks"], [{"taskId": task, "remoteTaskId": "r1",
                                               "remoteStatus": "working", "recovery": "waiting"}])
        self.assertEqual(self.daemon.ok("get_task", taskId=task)["status"], "accepted")
        summary = self.daemon.ok("get_session", sessionId="s")["channelSummary"]["channels"]
        self.assertEqual(summary[0]["peerTasks"][0]["recovery"], "waiting")
        self.assertEqual(summary[0]["nativeIds"], {"contextId": "c1"})
        model = self.daemon.get("/v1/sessions/s/models/channel_summary").json
        self.assertEqual(model["peers"][0]["channelId"], reply["channelId"])

    def test_the_list_and_its_table(self):
        reply = self.channel(self.connect())
        self.daemon.ok("disconnect_channel", channelId=reply["channelId"])
        self.channel(self.connect())
        self.assertEqual(len(self.daemon.ok("list_channels")["data"]), 1)
        page = self.daemon.ok("list_channels", includeClosed=True, limit=1)
        rest = self.daemon.ok("list_channels", includeClosed=True, cursor=page["nextCursor"])
        self.assertEqual(len(page["data"] + rest["data"]), 2)
        table = self.home.run("channels", "s").stdout
        self.assertIn("websocket", table)
        self.assertEqual(len(table.splitlines()), 2)
        listed = json.loads(self.home.run("channels", "--all", "--json").stdout)
        self.assertEqual([row["status"] for row in listed["data"]], ["connected", "closed"])

    def test_find_object_knows_channels(self):
        reply = self.channel(self.connect())
        found = self.daemon.ok("find_object", id=reply["channelId"])
        self.assertEqual((found["kind"], found["sessionId"]), ("channel", "s"))

    def test_the_client_of_the_documentation(self):
        page = pathlib.Path(__file__).parents[2] / "docs" / "channels.md"
        program = re.search(r"```python\n(.*?)```", page.read_text(), re.S).group(1)
        script = self.home.folder / "follow.py"
        script.write_text(program.replace('"agentrt"', json.dumps(BINARY)))
        copy, last = self.home.folder / "events.jsonl", 0

        def copied():
            lines = copy.read_bytes().split(b"\n")[:-1] if copy.exists() else []
            return [json.loads(line)["sequence"] for line in lines]

        for part in (0.3, 0.7, 1):
            before, last = last, self.turn()[-1]["sequence"]
            until = before + int((last - before) * part)
            client = subprocess.Popen([sys.executable, script, "s", self.home.folder], text=True,
                                      env=self.home.environment, stdout=subprocess.PIPE)
            wait_until(lambda: copied()[-1:] >= [until], what="the client")
            client.send_signal(signal.SIGKILL)
            self.assertEqual(client.communicate()[0], "")  # no gap
            self.crash()
            self.start()
        seen = copied()
        self.assertEqual(seen, list(range(1, seen[-1] + 1)))


class Permissions(Channels):
    scripts = {"main": [{"toolCalls": [{"name": "shell", "args": {"command": "echo hello > out"}}]},
                        {"text": "done"}]}

    def ask(self):
        """Submits a turn that waits for a permission."""
        reply = self.daemon.submit(sessionId="s")
        self.daemon.wait_event("s", lambda e: e["type"] == "action.required")
        return reply

    def test_the_first_answer_wins_and_is_recorded_for_every_channel(self):
        first, second = self.connect(), self.connect()
        one, two = (self.channel(each, capabilities=DECIDING) for each in (first, second))
        submitted = self.ask()
        request, other = first.next_request(), second.next_request()
        self.assertEqual(request["method"], "request_action")
        params = request["params"]
        self.assertEqual(params["channelId"], one["channelId"])
        self.assertEqual(params["scopes"], ["once", "session", "always", "channel"])
        self.assertEqual(params["action"]["input"], {"command": "echo hello > out"})
        first.send({"jsonrpc": "2.0", "id": request["id"], "result": {"decision": "allow"}})
        while (note := second.next_notification())["method"] != "cancel_action":
            pass
        self.assertEqual(note["params"], {"channelId": two["channelId"],
                                          "actionId": params["actionId"]})
        second.send({"jsonrpc": "2.0", "id": other["id"], "result": {"decision": "deny"}})
        self.assertEqual(self.daemon.wait_turn(submitted)[-1]["type"], "turn.completed")
        returned = {e["channelId"]: e["payload"] for e in
                    self.facts("channel.permission_returned")}
        self.assertEqual(returned[one["channelId"]]["decidedBy"], "remote")
        self.assertEqual(returned[two["channelId"]]["decidedBy"], "local")
        forwarded = self.facts("channel.permission_forwarded")
        self.assertEqual(len(forwarded), 2)
        self.assertEqual(forwarded[0]["payload"]["digest"], params["digest"])

    def test_a_refused_answer_is_asked_again(self):
        socket = self.connect()
        self.channel(socket, capabilities=DECIDING)
        submitted = self.ask()
        for result in ({"decision": "maybe"}, {}):
            request = socket.next_request()
            socket.send({"jsonrpc": "2.0", "id": request["id"], "result": result})
            while (note := socket.next_notification())["method"] != "action_refused":
                pass
            self.assertEqual(note["params"]["error"]["code"], "invalid_params")
        request = socket.next_request()
        socket.send({"jsonrpc": "2.0", "id": request["id"],
                     "error": {"code": -32000, "message": "no"}})  # leaves it open
        self.assertEqual(self.daemon.ok("list_actions", sessionId="s")["data"][0]["actionId"],
                         request["params"]["actionId"])
        socket.call("respond_action", actionId=request["params"]["actionId"], decision="deny")
        self.daemon.wait_turn(submitted)
        self.assertEqual(self.facts("channel.permission_returned")[0]["payload"]["decidedBy"],
                         "remote")

    def test_a_resumption_asks_again_without_a_second_fact(self):
        socket = self.connect()
        reply = self.channel(socket, capabilities=DECIDING)
        submitted = self.ask()
        first = socket.next_request()
        self.crash()
        self.start()
        again = self.connect()
        resumed = again.call("reconnect_channel", channelId=reply["channelId"],
                             resumeToken=reply["resumeToken"])
        self.assertEqual(resumed["pendingActions"], [first["params"]["actionId"]])
        second = again.next_request()
        self.assertEqual(second["params"]["actionId"], first["params"]["actionId"])
        self.assertEqual(len(self.facts("channel.permission_forwarded")), 1)
        again.send({"jsonrpc": "2.0", "id": second["id"], "result": {"decision": "allow"}})
        self.daemon.wait_turn(submitted)

    def test_an_answer_for_the_channel_holds_for_its_turns_until_it_closes(self):
        socket = self.connect()
        channel = self.channel(socket, capabilities=DECIDING)["channelId"]
        refused = self.ask_over(socket)
        self.assertEqual(
            self.daemon.call("respond_action", actionId=refused["params"]["actionId"],
                             decision="allow", scope="channel").code, "invalid_params")
        socket.send({"jsonrpc": "2.0", "id": refused["id"],
                     "result": {"decision": "allow", "scope": "channel"}})
        wait_until(lambda: "turn.completed" in types(self.facts()), what="the turn")
        self.assertTrue(self.facts("channel.permission_returned")[0]["payload"]["channelOnly"])
        over = socket.call("submit_turn", sessionId="s", threadId="b",
                           input=[{"type": "text", "text": "again"}])
        events = [e for e in self.daemon.wait_turn(over) if e.get("turnId") == over["turnId"]]
        self.assertNotIn("action.required", types(events))
        self.assertIn("process.completed", types(events))
        elsewhere = self.daemon.submit(sessionId="s", threadId="c")
        asked = self.daemon.wait_event("s", lambda e: e["type"] == "action.required"
                                       and e.get("threadId") == "c")[-1]
        socket.call("disconnect_channel", channelId=channel)
        self.daemon.ok("respond_action", actionId=asked["actionId"], decision="deny")
        self.daemon.wait_turn(elsewhere)
        origins = [rule["origin"] for rule in self.daemon.ok("get_rules", sessionId="s")["rules"]]
        self.assertNotIn("channel", origins)

    def ask_over(self, socket):
        socket.call("submit_turn", sessionId="s", threadId="a",
                    input=[{"type": "text", "text": "go"}])
        return socket.next_request()

    def test_server_sent_events_carry_requests(self):
        reply = self.daemon.ok("connect_channel", sessionId="s", transport="sse",
                               capabilities=DECIDING)
        self.assertEqual(reply["transport"], "sse")
        path = f"/v1/sessions/s/events?channelId={reply['channelId']}"
        self.assertEqual(self.daemon.get(path).code, "invalid_params")
        with Stream(self.daemon, path, {}, 15, 0) as stream:
            frames = stream.frames()
            submitted = self.ask()
            for number, kind, data in frames:
                if kind == "request_action":
                    break
            self.assertIsNone(number)
            action = json.loads(data)["actionId"]
            answered = self.daemon.request(
                "POST", "/v1/commands/respond_action",
                json.dumps({"actionId": action, "decision": "allow"}),
                headers={"Agentrt-Channel": reply["channelId"]})
            self.assertEqual(answered.status, 200, answered.data)
            kinds = []
            for number, kind, data in frames:
                kinds.append(kind)
                if kind == "turn.completed":
                    break
            self.assertNotIn("cancel_action", kinds)
        self.daemon.wait_turn(submitted)
        returned = self.facts("channel.permission_returned")[0]
        self.assertEqual(returned["payload"]["decidedBy"], "remote")


if __name__ == "__main__":
    unittest.main()
