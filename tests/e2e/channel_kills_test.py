"""Channels across kill -9 of the client, the daemon or both, at random points; and bad peers.

AGENTRT_CHANNEL_KILLS sets the number of kills (default 12), AGENTRT_SEED the seed.
"""

import json
import os
import pathlib
import random
import re
import signal
import socket
import subprocess
import sys
import threading
import time
import unittest

from channels_test import Channels, DECIDING
from harness import BINARY, wait_until
from websocket import Closed, WebSocket

KILLS = int(os.environ.get("AGENTRT_CHANNEL_KILLS", "12"))
SEED = int(os.environ.get("AGENTRT_SEED", "1"))


class Kills(Channels):
    scripts = {"main": [{"text": "word " * 60, "deltas": 60}]}

    def follower(self):
        page = pathlib.Path(__file__).parents[2] / "docs" / "channels.md"
        program = re.search(r"```python\n(.*?)```", page.read_text(), re.S).group(1)
        script = self.home.folder / "follow.py"
        script.write_text(program.replace('"agentrt"', json.dumps(BINARY)))
        return subprocess.Popen([sys.executable, script, "s", self.home.folder], text=True,
                                env=self.home.environment, stdout=subprocess.PIPE,
                                stderr=subprocess.DEVNULL)

    def copied(self):
        copy = self.home.folder / "events.jsonl"
        lines = copy.read_bytes().split(b"\n")[:-1] if copy.exists() else []
        return [json.loads(line) for line in lines]

    def test_nothing_is_lost_or_repeated(self):
        dice = random.Random(SEED)
        client, gaps = None, []
        for kill in range(KILLS):
            if client is None:
                client = self.follower()
            try:
                self.daemon.submit(sessionId="s", threadId=f"t{dice.randrange(3)}")
            except OSError:
                pass
            time.sleep(dice.random() * 0.6)
            victim = dice.choice(("client", "daemon", "both"))
            if victim != "daemon":
                client.send_signal(signal.SIGKILL)
            if victim != "client":
                self.crash()
                self.start()
            if victim == "daemon":  # its connection has ended, and so it ends
                client.send_signal(signal.SIGKILL)
            gaps.append(client.communicate()[0])
            client = None
        for thread in range(3):
            self.daemon.call("resume_thread", sessionId="s", threadId=f"t{thread}")
        client = self.follower()
        wait_until(lambda: self.copied()[-1:] and
                   self.copied()[-1]["sequence"] == self.facts()[-1]["sequence"] and
                   self.facts()[-1]["type"] not in ("model.delta", "item.updated"),
                   seconds=60, what="the client to catch up")
        client.send_signal(signal.SIGKILL)
        gaps.append(client.communicate()[0])
        self.assertEqual([gap for gap in gaps if gap], [])
        copy = self.copied()
        self.assertEqual([e["sequence"] for e in copy], list(range(1, len(copy) + 1)))
        stored = {e["sequence"]: e for e in self.facts()}
        self.assertEqual(copy, [stored[e["sequence"]] for e in copy])


class BadPeers(Channels):
    scripts = {"main": [{"text": "word " * 300, "deltas": 300}]}

    def test_they_leave_memory_and_other_clients_alone(self):
        good = self.connect()
        mine = self.channel(good)
        before = self.daemon.memory_kb()
        bad, asleep = [], []
        for number in range(40):
            peer = self.connect()
            reply = peer.call("connect_channel", sessionId="s")
            bad.append((peer, reply))
            if number % 4 == 0:
                asleep.append(peer)  # never reads again
        for number, (peer, reply) in enumerate(bad):
            if peer in asleep:
                continue
            if number % 4 == 1:  # acknowledges the future, and for others
                future = peer.call("ack_events", channelId=reply["channelId"], sequence=10 ** 9)
                self.assertEqual(future["data"]["code"], "gone")
            elif number % 4 == 2:  # answers what it was not asked
                peer.send({"jsonrpc": "2.0", "id": "action_1", "result": {"decision": "allow"}})
                peer.send({"jsonrpc": "2.0", "id": "action_1", "result": {"decision": "allow"}})
            else:  # bad frames
                peer.send_frame(1, b"\xff")
                with self.assertRaises(Closed):
                    while True:
                        peer.read_text()
        turns = [self.daemon.submit(sessionId="s", threadId=f"t{i}") for i in range(4)]
        for turn in turns:
            self.daemon.wait_turn(turn)
        last = self.facts("turn.completed")[-1]["sequence"]
        got = [e["sequence"] for e in self.up_to(good, last)]
        self.assertEqual(got, list(range(mine["afterSequence"] + 1, got[-1] + 1)))
        self.assert_memory(64 << 10, before)
        for peer, _ in bad:
            peer.close()
        wait_until(lambda: self.daemon.metrics_value("channels") == 1,
                   what="the channels of the bad peers to end")
        self.assertEqual(self.daemon.metrics_value("websockets"), 1)

    def test_a_revocation_closes_within_a_second(self):
        token, identity = self.token("read")
        peers = [self.connect(token=token) for _ in range(20)]
        for peer in peers:
            self.channel(peer)
        began = time.monotonic()
        self.daemon.request("DELETE", f"/v1/tokens/{identity}")
        for peer in peers:
            with self.assertRaises(Closed):
                while True:
                    peer.read_text()
        self.assertLess(time.monotonic() - began, 1)
        wait_until(lambda: not self.daemon.ok("list_channels", sessionId="s")["data"],
                   what="every channel of the token to close")

    def test_many_reconnects_at_once(self):
        count = 300
        self.daemon.stop()
        with open(self.home.folder / "config/agentrt/config.toml", "a") as config:
            config.write("\n[channels]\nper_session = 1000\n")
        self.start()
        channels = []
        for _ in range(count):
            peer = self.connect()
            channels.append(self.channel(peer))
            peer.close()
        resumed, failures = [], []

        def resume(part):
            for reply in part:
                for _ in range(50):
                    with WebSocket(port=self.daemon.port, token=self.daemon.token) as peer:
                        again = peer.call("reconnect_channel", channelId=reply["channelId"],
                                          resumeToken=reply["resumeToken"])
                    if "channelId" in again:
                        resumed.append(again["channelId"])
                        break
                    if again["data"]["code"] != "overloaded":
                        failures.append(again)
                        break
                    time.sleep(0.05)

        threads = [threading.Thread(target=resume, args=(channels[i::30],)) for i in range(30)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(failures, [])
        self.assertEqual(len(set(resumed)), count)

    def test_a_handshake_that_stalls_is_closed(self):
        peer = socket.create_connection(("127.0.0.1", self.daemon.port), timeout=15)
        self.addCleanup(peer.close)
        peer.sendall(b"GET /v1/ws HTTP/1.1\r\nHost: localhost\r\n")
        before = time.monotonic()
        self.assertIn(b"408", peer.recv(4096))
        self.assertLess(time.monotonic() - before, 14)


del Channels  # its tests run in channels_test

if __name__ == "__main__":
    unittest.main()
