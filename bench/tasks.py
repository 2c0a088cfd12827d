"""Tasks: what reads of a session with many of them cost compared with few, and what it does to the
core when one task concerns many others."""

import time

FEW, MANY = 100, 10_000
BATCH = 100
READS = 50
# Within 1.5 times of the session with few tasks.
RATIO_GOAL = 1 / 1.5
CORE_STEP_GOAL_US = 1_000
WORKER = {"kind": "external", "name": "bench"}


def make_tasks(daemon, session, count, **more):
    daemon.ok("create_session", sessionId=session)
    if more:
        daemon.ok("create_task", sessionId=session, taskId=f"{session}_root", objective="root")
    for first in range(0, count, BATCH):
        calls = [{"jsonrpc": "2.0", "id": n, "method": "create_task",
                  "params": {"sessionId": session, "taskId": f"{session}_{n}",
                             "objective": f"work {n}", **more}}
                 for n in range(first, first + BATCH)]
        reply = daemon.request("POST", "/v1/rpc", calls)
        assert all("result" in each for each in reply.json), reply


def each_ms(call):
    started = time.monotonic()
    for number in range(READS):
        call(number)
    return (time.monotonic() - started) / READS * 1e3


def compare(here, table, id_, name, read):
    """One row: `read(session, number of its tasks)` in ms, with many tasks and with few."""
    pairs = here.rounds(5, lambda: (read("many", MANY), read("few", FEW)))
    table.add(id_, name, [many for many, _ in pairs], "ms", better="less",
              limits=[few for _, few in pairs], which=f"with {FEW} tasks", ratio_goal=RATIO_GOAL)


def loaded_ms(here, home, session):
    """The first read of the session after a start of the daemon."""
    daemon = here.harness.Daemon(home)
    daemon.ok("list_sessions", limit=1)
    started = time.monotonic()
    daemon.ok("get_session", sessionId=session)
    found = time.monotonic() - started
    daemon.kill()
    daemon.errors.close()
    return found * 1e3


def longest_step(here, home, work, done):
    """The largest processor time of a core step while `work` is carried out, from a fresh start of
    the daemon. Waits for a processor are left out: the clients of the bench use both, too."""
    daemon = here.harness.Daemon(home)
    work(daemon)
    here.harness.wait_until(lambda: done(daemon), 120, what="every task has changed")
    found = daemon.metrics_value("core_step_cpu_us_max")
    daemon.stop()
    daemon.errors.close()
    return found


def none_is(daemon, session, status):
    return not daemon.ok("list_tasks", sessionId=session, status=[status], limit=1)["data"]


def complete(daemon, session):
    root = f"{session}_root"
    run = daemon.ok("start_task", taskId=root, worker=WORKER)["runId"]
    daemon.ok("complete_task", taskId=root, runId=run)


def measure(here, table):
    home = here.home("tasks")
    daemon = here.harness.Daemon(home)
    make_tasks(daemon, "few", FEW)
    make_tasks(daemon, "many", MANY)
    make_tasks(daemon, "waits", MANY, blockedBy=["waits_root"])
    make_tasks(daemon, "below", MANY, parentTaskId="below_root")
    compare(here, table, "task_get", f"get_task, session with {MANY:,} tasks",
            lambda session, count: each_ms(lambda number: daemon.ok(
                "get_task", taskId=f"{session}_{number * 7 % count}")))
    compare(here, table, "task_list", f"list_tasks, one page, session with {MANY:,} tasks",
            lambda session, _: each_ms(lambda _: daemon.ok(
                "list_tasks", sessionId=session, status=["accepted"], limit=50)))
    daemon.stop()
    compare(here, table, "task_load", f"load of a session with {MANY:,} tasks",
            lambda session, _: loaded_ms(here, home, session))
    table.add("task_unblock", f"longest core step, {MANY:,} tasks unblocked",
              longest_step(here, home, lambda daemon: complete(daemon, "waits"),
                           lambda daemon: none_is(daemon, "waits", "blocked")),
              "µs", better="less", goal=CORE_STEP_GOAL_US)
    table.add("task_cancel", f"longest core step, {MANY:,} child tasks cancelled",
              longest_step(here, home,
                           lambda daemon: daemon.ok("cancel_task", taskId="below_root",
                                                    reason="bench"),
                           lambda daemon: none_is(daemon, "below", "accepted")),
              "µs", better="less", goal=CORE_STEP_GOAL_US)
    home.remove()
