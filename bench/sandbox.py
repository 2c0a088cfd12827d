"""A command that does nothing, in the sandbox with every layer: beside a plain spawn, and beside
bubblewrap with equal rights (which has neither Landlock nor a filter of system calls).

The three take turns within each round. A round counts by its tenth percentile: what comes on top is
the machine's other work.
"""

import os
import shutil

SPAWNS = 100
TIMES_PLAIN_GOAL = 6
RESIDENT_MIB = 1024


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
