"""Hidden paths that are created while a command runs, and a workspace that cannot be mounted."""

import os
import shutil
import subprocess
import unittest

import cage

LATE = [".aws/credentials", ".netrc", ".config/gh/hosts.yml", ".cargo/credentials.toml",
        ".kube/config", ".something-new"]


class Hidden(cage.Caged):
    def make(self, *names):
        for name in names:
            path = self.cage.home / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(cage.SECRET)
        self.cage.own()

    def test_what_is_made_later_is_not_there_for_a_running_command(self):
        self.make(".config/tool", ".cargo/config.toml", "notes", "deep/notes")
        (self.cage.home / "link").symlink_to("notes")
        paths = " ".join(f"{self.cage.home}/{name}" for name in LATE)
        running = self.cage.started(
            ["bash", "-c", f"until test -e go; do sleep 0.02; done; cat {paths}; "
             f"ls -A {self.cage.home} {self.cage.home}/.ssh; cat {self.cage.home}/link; "
             f"cat {self.cage.home}/.config/tool {self.cage.home}/deep/notes; "
             f"cat {self.cage.home}/.ssh/*"])
        self.addCleanup(running.end)
        running.wait_for("started")
        self.make(*LATE)
        # Also as a replacement of a path that is already hidden.
        shutil.rmtree(self.cage.home / ".ssh")
        self.make(".ssh/id")
        (self.cage.workspace / "go").touch()
        running.wait_for("exited")
        (self.cage.workspace / "go").unlink()
        output = running.output().decode()
        # What existed before is visible: the link, the note that it leads to, and two more.
        self.assertEqual(output.count(cage.SECRET), 3, (output, running.output("stderr")))
        for name in ("notes", "link", ".config"):
            self.assertIn(f"{name}\n", output)
        for name in LATE:
            self.assertNotIn(f"{name.split('/')[0]}\n" if name.count("/") == 1 and
                             not name.startswith((".config", ".cargo")) else f"{name}\n", output)

    def test_a_home_stays_readable_and_cannot_be_written(self):
        self.make(".gitconfig", "tools/run")
        done = self.cage.probed(["bash", "-c", "cat {home}/.gitconfig {home}/tools/run > x; "
                                 "wc -c < x; touch {home}/y; touch {home}/tools/y; "
                                 "rm {home}/.gitconfig"])
        self.assertEqual(done.stdout, f"{2 * len(cage.SECRET)}\n", done.stderr)
        self.assertEqual(done.stderr.count("Read-only file system"), 3, done.stderr)
        self.assertTrue((self.cage.home / ".gitconfig").exists())

    def test_a_workspace_below_the_home_is_writable(self):
        workspace = self.cage.home / "work/project"
        workspace.mkdir(parents=True)
        self.cage.own()
        done = self.cage.probed(["bash", "-c", "echo x > made; cat made; ls {home}/work"],
                                workspace=workspace)
        self.assertEqual(done.stdout, "x\nproject\n", done.stderr)
        self.assertTrue((workspace / "made").exists())


globals().update(cage.for_each_user(Hidden))


@unittest.skipUnless(os.geteuid() == 0, "only root can mount")
class Overlay(unittest.TestCase):
    def test_a_workspace_on_an_overlay_is_refused_with_a_way_out(self):
        place = cage.Cage(0)
        self.addCleanup(place.remove)
        # Layers on a tmpfs: not every file system supports them.
        layers = place.base / "layers"
        layers.mkdir()
        merged = place.base / "merged"
        merged.mkdir()
        subprocess.run(["mount", "-t", "tmpfs", "tmpfs", str(layers)], check=True)
        self.addCleanup(subprocess.run, ["umount", str(layers)])
        for name in ("lower", "upper", "work"):
            (layers / name).mkdir()
        made = subprocess.run(
            ["mount", "-t", "overlay", "overlay", "-o", f"lowerdir={layers}/lower,upperdir="
             f"{layers}/upper,workdir={layers}/work", str(merged)], capture_output=True)
        if made.returncode != 0:
            self.skipTest(f"no overlay can be mounted here: {made.stderr}")
        self.addCleanup(subprocess.run, ["umount", str(merged)])
        done = place.sandboxed(["touch", "x"], workspace=merged)
        if done.returncode == 0:  # the kernel supports it
            self.assertTrue((merged / "x").exists())
            return
        self.assertEqual(done.returncode, 125, done.stderr)
        self.assertIn("overlayfs", done.stderr)
        self.assertIn("run agentrt as the user who owns the workspace", done.stderr)
        self.assertFalse((merged / "x").exists())


if __name__ == "__main__":
    unittest.main()
