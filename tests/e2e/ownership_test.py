"""One owner per data folder; stores and configurations that cannot be used."""

import hashlib
import json
import os
import signal
import sqlite3
import stat
import subprocess
import unittest

from harness import Case


class Ownership(Case):
    def test_a_second_daemon_is_refused_with_the_firsts_pid(self):
        done = self.home.run("serve", "--listen", "127.0.0.1:0")
        self.assertEqual(done.returncode, 4, done)
        self.assertIn(str(self.daemon.process.pid), done.stderr)
        self.assertEqual(done.stdout, "")
        self.daemon.ok("create_session")

    def test_the_folder_its_socket_and_owner_file_are_the_owners_alone(self):
        owner = json.loads((self.home.data / "owner.json").read_text())
        self.assertEqual(owner["pid"], self.daemon.process.pid)
        self.assertEqual(owner["url"], self.daemon.url)
        self.assertEqual(stat.S_IMODE(self.home.data.stat().st_mode), 0o700)
        socket = self.home.data / "agentrt.sock"
        self.assertTrue(stat.S_ISSOCK(socket.stat().st_mode))
        self.assertEqual(stat.S_IMODE(socket.stat().st_mode), 0o600)

    def test_a_stopped_daemon_leaves_no_owner_and_another_can_start(self):
        self.assertEqual(self.daemon.stop(), 0)
        self.assertFalse((self.home.data / "owner.json").exists())
        self.start()
        self.daemon.ok("create_session")

    def test_what_a_killed_daemon_left_behind_does_not_stop_the_next(self):
        self.crash()
        self.assertTrue((self.home.data / "owner.json").exists())
        self.start()
        self.daemon.ok("create_session")

    def test_an_open_stream_does_not_hold_up_a_stop(self):
        self.daemon.ok("create_session", sessionId="s")
        with self.daemon.stream("s", after=0) as stream:
            frames = stream.frames()
            next(frames)
            self.daemon.process.send_signal(signal.SIGTERM)
            self.assertEqual(list(frames), [])
        self.assertEqual(self.daemon.process.wait(10), 0)


class Stores(Case):
    judged = False  # the stores are damaged on purpose

    def database(self):
        found = [path for path in self.home.data.iterdir()
                 if path.is_file() and path.read_bytes()[:15] == b"SQLite format 3"]
        self.assertEqual(len(found), 1, found)
        return found[0]

    def test_a_store_of_a_newer_version_is_refused_and_left_as_it_was(self):
        self.daemon.ok("create_session", sessionId="s")
        self.daemon.stop()
        path = self.database()
        connection = sqlite3.connect(path)
        connection.execute("PRAGMA journal_mode=DELETE")
        version = connection.execute("PRAGMA user_version").fetchone()[0]
        self.assertGreater(version, 0)
        connection.execute(f"PRAGMA user_version={version + 1}")
        connection.commit()
        connection.close()
        before = hashlib.sha256(path.read_bytes()).hexdigest()
        done = self.home.run("serve", "--listen", "127.0.0.1:0")
        self.assertEqual(done.returncode, 4, done)
        self.assertIn("newer", done.stderr)
        self.assertEqual(hashlib.sha256(path.read_bytes()).hexdigest(), before)

    def test_a_file_that_is_no_store_is_refused(self):
        self.daemon.stop()
        path = self.database()
        path.write_bytes(b"this is not a database, and never was" * 200)
        done = self.home.run("serve", "--listen", "127.0.0.1:0")
        self.assertEqual(done.returncode, 4, done)
        self.assertTrue(done.stderr.strip())

    def test_a_damaged_row_names_itself_and_other_sessions_serve_on(self):
        for session in ("good", "bad"):
            self.daemon.ok("create_session", sessionId=session)
            for number in range(5):
                self.daemon.ok("update_session", sessionId=session, title=f"{session}{number}")
        self.daemon.stop()
        self.damage(b"bad3")
        self.start()
        page = self.daemon.get("/v1/sessions/bad/events")
        self.assertRefused(page, 500, "internal")
        self.assertIn("bad", page.json["error"]["message"])
        self.assertIn("5", page.json["error"]["message"])
        self.assertEqual(len(self.check_session("good")), 6)
        self.daemon.ok("update_session", sessionId="good", title="still here")

    def damage(self, text):
        connection = sqlite3.connect(self.database())
        tables = [name for (name,) in connection.execute(
            "SELECT name FROM sqlite_master WHERE type = 'table'")]
        changed = 0
        for table in tables:
            columns = [row[1] for row in connection.execute(f"PRAGMA table_info({table})")]
            if "payload" not in columns:
                continue
            for row, payload in connection.execute(
                    f"SELECT rowid, payload FROM {table}").fetchall():
                data = payload if isinstance(payload, bytes) else str(payload).encode()
                if text in data:
                    flipped = data.replace(text, text[:-1] + b"X")
                    value = flipped if isinstance(payload, bytes) else flipped.decode()
                    connection.execute(f"UPDATE {table} SET payload = ? WHERE rowid = ?",
                                       (value, row))
                    changed += 1
        connection.commit()
        connection.close()
        self.assertGreaterEqual(changed, 1)


class Configurations(Case):
    daemon_at_start = False

    def write(self, text):
        (self.home.folder / "config/agentrt/config.toml").write_text(text)

    def refused(self, *words):
        done = self.home.run("serve", "--listen", "127.0.0.1:0")
        self.assertEqual(done.returncode, 2, done)
        self.assertEqual(done.stdout, "")
        for word in words:
            self.assertIn(word, done.stderr)

    def test_a_configuration_that_cannot_be_read_stops_the_program(self):
        self.write("[models.main\n")
        self.refused("config.toml", "1")

    def test_an_unknown_key_stops_the_program_and_is_named(self):
        self.write("[permissions]\ndenyy = []\n")
        self.refused("config.toml", "denyy")

    def test_a_wrong_type_stops_the_program_and_is_named(self):
        self.write("[permissions]\ndeny = 7\n")
        self.refused("deny")

    def test_a_folder_that_cannot_be_made_is_said(self):
        blocked = self.home.folder / "file"
        blocked.write_text("")
        done = self.home.run("serve", "--listen", "127.0.0.1:0", AGENTRT_HOME=str(blocked / "x"))
        self.assertEqual(done.returncode, 4, done)

    def test_other_machines_are_let_in_only_on_purpose(self):
        for listen in ("0.0.0.0:0", "[::]:0"):
            done = self.home.run("serve", "--listen", listen)
            self.assertEqual(done.returncode, 2, done)
            self.assertIn("--allow-remote", done.stderr)
        done = self.home.run("serve", "--listen", "0.0.0.0:0", "--allow-remote")
        self.assertEqual(done.returncode, 2, done)

    def test_a_port_in_use_is_said(self):
        daemon = self.start()
        done = self.home.run("serve", "--listen", f"127.0.0.1:{daemon.port}",
                             AGENTRT_HOME=str(self.home.folder / "other"))
        self.assertNotEqual(done.returncode, 0)
        self.assertIn(str(daemon.port), done.stderr)


class OtherUsers(Case):
    @unittest.skipUnless(os.geteuid() == 0, "needs root to act as another user")
    def test_another_user_cannot_reach_the_data(self):
        nobody = 65534
        os.chmod(self.home.folder, 0o755)
        self.assertGreater(len(list(self.home.data.iterdir())), 3)
        for path in self.home.data.iterdir():
            done = subprocess.run(["cat", str(path)], user=nobody, group=nobody, extra_groups=[],
                                  capture_output=True, text=True)
            self.assertIn("Permission denied", done.stderr, path)


if __name__ == "__main__":
    unittest.main()
