"""Memory of many channels and of many WebSocket subscribers."""

import itertools
import subprocess

import setting

CHANNELS = 1_000
CHANNELS_PER_CONNECTION = 250  # of 256 that one connection may have
CHANNELS_GOAL_MIB = 16
SUBSCRIBERS = 1_000
SUBSCRIBERS_GOAL_MIB = 48 * 1e6 / 2**20  # 48 MB


def channels_mib(here, daemon, prefix):
    """Idle channels: each on a session of its own, because a connection has one per session."""
    import websocket
    setting.make_sessions(daemon, prefix, CHANNELS)
    before = daemon.memory_kb()
    sockets = []
    for first in range(0, CHANNELS, CHANNELS_PER_CONNECTION):
        sockets.append(websocket.WebSocket(daemon.port, daemon.token))
        for number in range(first, first + CHANNELS_PER_CONNECTION):
            sockets[-1].call("connect_channel", sessionId=f"{prefix}_{number}",
                             channelId=f"{prefix}_{number}")
    grown = daemon.memory_kb() - before
    for connected in sockets:
        connected.close()
    return grown / 1024


def subscribers_mib(here, daemon):
    before = daemon.memory_kb()
    clients = subprocess.Popen(
        here.program("stream_clients", "--port", daemon.port, "--token", daemon.token, "--session",
                     "awake", "--after", 1, "--connections", SUBSCRIBERS, "--events", 1_000_000,
                     "--over", "websocket"), stdout=subprocess.PIPE, text=True)
    assert clients.stdout.readline() == "ready\n"
    grown = daemon.memory_kb() - before
    clients.kill()
    clients.communicate()
    return grown / 1024


def measure(here, table):
    home = here.home("channels")
    prefixes = (f"c{n}" for n in itertools.count())

    def fresh(measured):
        daemon = here.harness.Daemon(home)
        try:
            return measured(daemon)
        finally:
            daemon.stop()

    def subscribed(daemon):
        daemon.ok("create_session", sessionId="awake")
        return subscribers_mib(here, daemon)

    table.add("memory_channels", f"resident memory, {CHANNELS:,} idle channels",
              here.rounds(3, lambda: fresh(lambda daemon: channels_mib(here, daemon,
                                                                       next(prefixes)))),
              "MiB", better="less", goal=CHANNELS_GOAL_MIB)
    table.add("memory_websockets", f"resident memory, {SUBSCRIBERS:,} WebSocket subscribers",
              here.rounds(3, lambda: fresh(subscribed)), "MiB", better="less",
              goal=SUBSCRIBERS_GOAL_MIB)
    home.remove()
