"""A full disk: writes are refused, reads keep working, and writing resumes when there is room."""

import json
import os
import pathlib
import subprocess
import tempfile
import time
import unittest

from harness import Daemon, Home, wait_until
from stream_checker import StreamChecker

SIZE = "4m"


def small_disk():
    """A folder on its own small file system; None if mounting is not permitted."""
    folder = tempfile.mkdtemp(prefix="agentrt_disk_")
    if os.geteuid() == 0:
        done = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={SIZE}", "tmpfs", folder],
                              capture_output=True, text=True)
        if done.returncode == 0:
            return folder, ""
        reason = done.stderr.strip()
    else:
        reason = "not root"
    os.rmdir(folder)
    return None, reason


class FullDisk(unittest.TestCase):
    def setUp(self):
        folder, reason = small_disk()
        if folder is None:
            self.skipTest(f"cannot mount a small file system: {reason}")
        self.addCleanup(os.rmdir, folder)
        self.addCleanup(subprocess.run, ["umount", "-l", folder])
        self.home = Home({"main": [{"text": "Hello.", "deltas": 3, "delayMs": 2000}]})
        self.addCleanup(self.home.remove)
        self.home.data = pathlib.Path(folder) / "data"
        self.home.environment["AGENTRT_HOME"] = str(self.home.data)
        self.daemon = Daemon(self.home)
        self.addCleanup(lambda: self.daemon.alive() and self.daemon.kill())
        self.disk = pathlib.Path(folder)

    def test_a_full_disk_refuses_writes_serves_reads_and_recovers(self):
        self.daemon.ok("create_session", sessionId="s")
        acknowledged = 1
        filler = "z" * 20_000
        refused = None
        for _ in range(1000):
            reply = self.daemon.call("update_session", sessionId="s", metadata={"fill": filler})
            if reply.status != 200:
                refused = reply
                break
            acknowledged = reply.json["sequence"]
        self.assertIsNotNone(refused, "the disk did not fill up")
        self.assertEqual((refused.status, refused.code), (507, "storage_full"))
        self.assertTrue(self.daemon.alive(), self.daemon.stderr())
        events = self.daemon.events("s")
        StreamChecker().feed_all(events)
        self.assertEqual(events[-1]["sequence"], acknowledged)
        self.assertEqual(self.daemon.ok("get_session", sessionId="s")["asOfSequence"],
                         acknowledged)
        again = self.daemon.call("update_session", sessionId="s", metadata={"fill": filler})
        self.assertEqual(again.status, 507)
        subprocess.run(["mount", "-o", "remount,size=64m", str(self.disk)], check=True)

        def writes():
            reply = self.daemon.call("update_session", sessionId="s", title="room again")
            return reply.json if reply.status == 200 else None
        reply = wait_until(writes, what="writing to resume")
        self.assertEqual(reply["sequence"], acknowledged + 1)
        self.daemon.kill()
        self.daemon = Daemon(self.home)
        events = self.daemon.events("s")
        StreamChecker().feed_all(events)
        self.assertGreaterEqual(events[-1]["sequence"], acknowledged + 1)

    def test_reads_are_answered_while_a_turn_waits_for_room(self):
        self.daemon.ok("create_session", sessionId="filler")
        turn = self.daemon.submit("hello", sessionId="s", threadId="t")
        wait_until(lambda: any(e["type"] == "model.requested" for e in self.daemon.events("s")))
        filler = "z" * 20_000
        while self.daemon.call("update_session", sessionId="filler",
                               metadata={"fill": filler}).status == 200:
            pass
        time.sleep(3)  # the model has answered by now, and its answer cannot be stored
        for _ in range(3):
            began = time.monotonic()
            stored = self.daemon.events("s")[-1]["sequence"]
            self.assertEqual(self.daemon.ok("get_session", sessionId="s")["asOfSequence"], stored)
            self.assertEqual(
                self.daemon.ok("get_thread_read", sessionId="s", threadId="t")["asOfSequence"],
                stored)
            refused = self.daemon.call("update_session", sessionId="s", metadata={"f": filler})
            self.assertEqual((refused.status, refused.code), (507, "storage_full"))
            self.assertLess(time.monotonic() - began, 5)
        subprocess.run(["mount", "-o", "remount,size=64m", str(self.disk)], check=True)
        self.assertEqual(self.daemon.wait_turn(turn)[-1]["type"], "turn.completed")


class FullWhilePrinting(unittest.TestCase):
    """The disk fills up while commands print: the missing output is reported to user and model."""

    def setUp(self):
        FullDisk.setUp(self)

    def fill(self):
        """Fills all but a few blocks of the disk."""
        with open(self.disk / "filler", "wb") as filler:
            left = os.statvfs(self.disk)
            filler.write(b"x" * (left.f_bavail * left.f_bsize - 24 * 1024))

    def play(self, session, **more):
        command = f"until [ -e {session} ]; do sleep 0.02; done; seq 1 30000"
        script = self.home.script(session, [
            {"text": "On it.", "toolCalls": [
                {"name": "shell", "args": {"command": command, **more}}]},
            {"text": "Done."}])
        self.daemon.ok("submit_turn", sessionId=session, threadId="t",
                       input=[{"type": "text", "text": "go"}],
                       options={"model": f"script:{script}", "mode": "bypass",
                                "cwd": str(self.home.workspace)})
        started = self.daemon.wait_event(session, lambda e: e["type"] == "process.started")[-1]
        run = self.home.data / f"run/{started['processId']}/exit.json"
        if more:
            self.daemon.wait_event(session, lambda e: e["type"] == "task.completed")
        self.fill()
        (self.home.workspace / session).touch()
        wait_until(run.exists, what="its record, for which there was room")
        record = json.loads(run.read_text())
        self.assertLess(record["stdoutKept"], record["stdout"], "the disk did not fill up")
        (self.disk / "filler").unlink()
        self.daemon.wait_event(session, lambda e: e["type"] == "process.completed", seconds=40)
        return record, self.daemon

    def check_events(self, session, record):
        events = self.daemon.events(session)
        StreamChecker().feed_all(events)
        cut = [e["payload"] for e in events if e["type"] == "output.truncated"]
        self.assertEqual([(c["size"], c["kept"]) for c in cut],
                         [(record["stdout"], record["stdoutKept"])])
        whole = "".join(f"{n}\n" for n in range(1, 30001)).encode()
        kept = self.daemon.request("GET", f"/v1/outputs/{cut[0]['outputRef']}").data
        self.assertEqual(kept, whole[:record["stdoutKept"]])
        warned = [e["payload"] for e in events if e["type"] == "runtime.warning"]
        self.assertEqual([w["code"] for w in warned], ["output_incomplete"], warned)
        self.assertIn(str(record["stdoutKept"]), warned[0]["message"])
        return events

    def test_a_command_of_a_turn(self):
        record, _ = self.play("s")
        self.daemon.wait_event("s", lambda e: e["type"] == "task.completed")
        events = self.check_events("s", record)
        result = [e["payload"] for e in events if e["type"] == "tool.result"][0]
        missing = record["stdout"] - record["stdoutKept"]
        self.assertIn(f"{missing} more bytes that the command wrote were not stored: the disk was "
                      "full", result["preview"])

    def test_a_process_in_the_background(self):
        record, _ = self.play("b", background=True)
        self.check_events("b", record)


if __name__ == "__main__":
    unittest.main()
