"""Cold starts and resident memory."""

import subprocess
import time

import setting

SESSIONS = 10_000
OPENED = 1_000
SUBSCRIBERS = 1_000
START_GOAL_MS = 100
IDLE_GOAL_MIB = 10 * 1e6 / 2**20  # 10 MB


def start_ms(here, home):
    daemon = here.harness.Daemon(home)
    daemon.kill()
    daemon.errors.close()
    return daemon.start_seconds * 1e3


def idle_mib(here, home):
    daemon = here.harness.Daemon(home)
    found = daemon.memory_kb() / 1024
    daemon.stop()
    daemon.errors.close()
    return found


def run_ms(here, home, owned):
    """From the start of `agentrt run` to the first event that it prints."""
    if not owned:
        home.end_owners()
    started = time.monotonic()
    process = subprocess.Popen([here.harness.BINARY, "run", "--json", "hello"], cwd=home.workspace,
                               env=home.environment, stdin=subprocess.DEVNULL,
                               stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    process.stdout.readline()
    found = time.monotonic() - started
    process.communicate()
    return found * 1e3


def owner_mib(here, home):
    home.end_owners()
    home.run("sessions")
    return here.harness.memory_kb(home.owner()["pid"]) / 1024


def terminals(here, table):
    """Commands without a daemon."""
    home = here.home("terminals")
    home.run("run", "hello")
    table.add("run_owned", "start of agentrt run, with an owner",
              here.rounds(9, lambda: run_ms(here, home, True)), "ms", better="less",
              goal=START_GOAL_MS)
    table.add("run_alone", "start of agentrt run, without an owner",
              here.rounds(9, lambda: run_ms(here, home, False)), "ms", better="less",
              goal=START_GOAL_MS)
    table.add("memory_owner", "resident memory, idle background owner",
              here.rounds(3, lambda: owner_mib(here, home)), "MiB", better="less",
              goal=IDLE_GOAL_MIB)
    home.remove()


def measure(here, table):
    terminals(here, table)
    home = here.home("starts")
    here.harness.Daemon(home).stop()
    table.add("start_empty", "start to ready, empty store",
              here.rounds(9, lambda: start_ms(here, home)), "ms", better="less",
              goal=START_GOAL_MS)
    table.add("memory_idle", "resident memory, idle",
              here.rounds(3, lambda: idle_mib(here, home)), "MiB", better="less",
              goal=IDLE_GOAL_MIB)
    daemon = here.harness.Daemon(home)
    setting.make_sessions(daemon, "many", SESSIONS)
    daemon.kill()
    table.add("start_10000", f"start to ready, {SESSIONS:,} sessions",
              here.rounds(9, lambda: start_ms(here, home)), "ms", better="less",
              goal=START_GOAL_MS)
    daemon = here.harness.Daemon(home)
    open_sessions(here, table, daemon)
    daemon.stop()
    daemon = here.harness.Daemon(home)
    subscribers(here, table, daemon)
    daemon.stop()
    home.remove()


def open_sessions(here, table, daemon):
    before = daemon.memory_kb()
    for number in range(OPENED):
        daemon.submit("hello", sessionId=f"many_{number}", threadId="t")
    here.harness.wait_until(lambda: daemon.metrics_value("turns_completed") >= OPENED, 60)
    held = daemon.metrics_value("sessions_in_memory")
    table.add("memory_session", "resident memory, each open session after a turn",
              (daemon.memory_kb() - before) / max(1, held), "KiB", better="less")


def subscribers(here, table, daemon):
    """The memory of idle subscribers: connection and stream state."""
    daemon.ok("update_session", sessionId="many_0", title="awake")
    before = daemon.memory_kb()
    clients = subprocess.Popen(
        here.program("stream_clients", "--port", daemon.port, "--token", daemon.token, "--session",
                     "many_0", "--after", 1, "--connections", SUBSCRIBERS, "--events", 1_000_000),
        stdout=subprocess.PIPE, text=True)
    assert clients.stdout.readline() == "ready\n"
    grown = daemon.memory_kb() - before
    clients.kill()
    clients.communicate()
    table.add("memory_subscriber", "resident memory, each subscriber", grown / SUBSCRIBERS, "KiB",
              better="less")
