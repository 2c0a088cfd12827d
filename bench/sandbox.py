"""A command that does nothing, in the sandbox with every layer, compared with a plain spawn and
with bubblewrap with equal rights (which has neither Landlock nor a seccomp filter). Then the
cost of background processes for the daemon.

The three alternate within each round. A round counts with its tenth percentile, because the rest is
noise from other work of the machine.
"""

import os
import shutil
import time

SPAWNS = 100
TIMES_PLAIN_GOAL = 6
RESIDENT_MIB = 1024
BACKGROUND = 200
BACKGROUND_SESSIONS = 8
BACKGROUND_KB_GOAL = 100


def measure(here, table):
    workspace, home = here.folder / "sandbox/ws", here.folder / "sandbox/home"
    for folder in (workspace / ".git/hooks", home / ".ssh", home / "data"):
        folder.mkdir(parents=True, exist_ok=True)
    (workspace / ".git/config").write_text("")
    (workspace / ".agentrt").mkdir(exist_ok=True)
    peer = shutil.which("bwrap")
    for resident in (0, RESIDENT_MIB):
        small = resident == 0
        seen = here.rounds(5, lambda: here.run(
            "spawns", os.path.realpath(workspace), os.path.realpath(home), SPAWNS, resident,
            *([peer] if peer else [])))
        ours = [r["ours"] for r in seen]
        name = "sandbox_true" if small else "sandbox_true_large"
        text = "sandboxed `true`, every layer" if small else "  from a process with 1 GiB resident"
        table.add(name, text, ours, "ms", better="less", limits=[r["plain"] for r in seen],
                  which="plain spawn", ratio_goal=1 / TIMES_PLAIN_GOAL)
        if peer:
            table.add(name + "_bubblewrap", "  the same beside bubblewrap", ours, "ms",
                      better="less", limits=[r["bubblewrap"] for r in seen], which="bubblewrap",
                      ratio_goal=1)
        else:
            table.skip(name + "_bubblewrap", "  the same beside bubblewrap", "it is not installed")
    measure_background(here, table)


def measure_background(here, table):
    """The daemon's memory growth while BACKGROUND processes run, each of which has printed a line.
    """
    home = here.home("background")
    share = BACKGROUND // BACKGROUND_SESSIONS
    calls = [{"name": "shell", "args": {"command": "echo up; exec sleep 600", "background": True}}]
    warm = home.script("warm", [{"text": "Starting.", "toolCalls": calls}, {"text": "Started."}])
    many = home.script("many", [{"text": "Starting.", "toolCalls": calls * share},
                                {"text": "Started."}])
    daemon = here.harness.Daemon(home)

    def play(session, script):
        reply = daemon.submit("go", sessionId=session, threadId="t",
                              options={"model": f"script:{script}", "mode": "bypass",
                                       "cwd": str(home.workspace)})
        daemon.wait_turn(reply, seconds=120)

    def running():
        return [p["processId"] for n in range(BACKGROUND_SESSIONS)
                for p in daemon.ok("get_session", sessionId=f"b{n}")["processes"]
                if p["outputBytes"] > 0]

    for n in range(BACKGROUND_SESSIONS):
        play(f"b{n}", warm)
    time.sleep(1)
    before = daemon.memory_kb()
    for n in range(BACKGROUND_SESSIONS):
        play(f"b{n}", many)
    here.harness.wait_until(lambda: len(running()) == BACKGROUND + BACKGROUND_SESSIONS, seconds=60,
                            what="every process's first line")
    table.add("background_kb", f"memory of the daemon, each of {BACKGROUND} background processes",
              (daemon.memory_kb() - before) / BACKGROUND, "kB", better="less",
              goal=BACKGROUND_KB_GOAL)
    for process in running():
        daemon.ok("terminate_process", processId=process)
    here.harness.wait_until(lambda: not running(), seconds=60, what="the end of them all")
    daemon.stop()
    home.remove()
