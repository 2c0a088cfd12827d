"""Deliveries of events over server-sent events, WebSockets, TLS and channels, compared with a bare
Beast server or with each other.

First the bytes of a single subscriber and their times are recorded. The bare server (bare_fanout)
then plays that recording to the same number of subscribers: the same bytes, to the same client
program, at the same times. It stores and decides nothing, so it is the minimum that a Beast server
must do. With few subscribers, both deliver as fast as facts are created; with many, writing
dominates.
"""

import itertools
import json
import statistics
import subprocess

SUBSCRIBERS = {1: 7, 100: 5, 1_000: 1}  # number of subscribers: repetitions per round
EVENTS = 900  # per session; at 1,000 facts a snapshot would add another one
BATCH = 100
RATIO_GOAL = 0.7  # of the bare fan-out
TLS_RATIO_GOAL = 0.5  # of the same without TLS
TLS_SUBSCRIBERS = 100
CHANNELS = 50  # of one session; 64 may be open
ACK_EVERY = 100
ACK_RATIO_GOAL = 0.9  # of the same without acknowledgements
TIMEOUT_SECONDS = 60


def clients(here, port, token, session, count, *more):
    process = subprocess.Popen(
        here.program("stream_clients", "--port", port, "--token", token, "--session", session,
                     "--after", 1, "--connections", count, "--events", EVENTS, *more),
        stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "ready\n"
    return process


def result_of(process):
    out, _ = process.communicate(timeout=TIMEOUT_SECONDS)
    return json.loads(out)


def ours(here, daemon, session, count, *more):
    daemon.disconnect()
    daemon.ok("create_session", sessionId=session)
    before = daemon.metrics_value("events_delivered")
    process = clients(here, daemon.port, daemon.token, session, count, *more)
    for first in range(0, EVENTS, BATCH):
        calls = [{"jsonrpc": "2.0", "id": n, "method": "update_session",
                  "params": {"sessionId": session, "title": f"title {n}"}}
                 for n in range(first, first + BATCH)]
        reply = daemon.request("POST", "/v1/rpc", calls)
        assert reply.status == 200, reply
    result = result_of(process)
    counted = daemon.metrics_value("events_delivered") - before
    if "channel" not in more:  # each channel also gets the connections of others
        assert counted == count * EVENTS, f"the daemon counted {counted} deliveries"
    return result


def bare(here, recording, count, *over):
    server = subprocess.Popen(here.program("bare_fanout", "--replay", recording, "--subscribers",
                                           count, *over), stdout=subprocess.PIPE, text=True)
    try:
        port = int(server.stdout.readline().split()[1])
        return result_of(clients(here, port, "none", "s", count, *over))
    finally:
        server.kill()
        server.communicate()


def fan_out(here, table, daemon, names):
    recording = here.folder / "recording"

    def one_run(count, *over):
        ours(here, daemon, next(names), 1, "--record", recording, *over)
        mine = ours(here, daemon, next(names), count, *over)
        return mine["per_second"], bare(here, recording, count, *over)["per_second"]

    def one_round(count, repeats, *over):
        runs = [one_run(count, *over) for _ in range(repeats)]
        return tuple(statistics.median(column) for column in zip(*runs))

    def row(id_, name, count, repeats, *over):
        seen = here.rounds(5, lambda: one_round(count, repeats, *over))
        table.add(id_, name, [mine for mine, _ in seen], "/s", limits=[limit for _, limit in seen],
                  which="bare Beast fan-out", strict=True, ratio_goal=RATIO_GOAL)

    for count, repeats in SUBSCRIBERS.items():
        row(f"deliveries_{count}",
            f"deliveries, {count:,} subscriber" + ("" if count == 1 else "s"), count, repeats)
    row("deliveries_websocket", "deliveries, 1,000 WebSockets", 1_000, 1, "--over", "websocket")


def acknowledged(here, table, daemon, names):
    def one_round():
        return tuple(ours(here, daemon, next(names), CHANNELS, "--over", "channel",
                          *more)["per_second"] for more in (("--ack", ACK_EVERY), ()))

    seen = here.rounds(5, one_round)
    table.add("deliveries_acknowledged",
              f"deliveries, {CHANNELS} channels, an acknowledgement per {ACK_EVERY} events",
              [mine for mine, _ in seen], "/s", limits=[limit for _, limit in seen],
              which="without acknowledgements", ratio_goal=ACK_RATIO_GOAL)


def encrypted(here, table, daemon, names):
    """The same deliveries from a daemon with TLS and from one without, in each round."""
    home = here.home("tls")
    certificate, key = home.folder / "cert.pem", home.folder / "key.pem"
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
                    "ec_paramgen_curve:prime256v1", "-nodes", "-days", "1", "-subj",
                    "/CN=localhost", "-keyout", key, "-out", certificate], check=True,
                   capture_output=True)
    secure = here.harness.Daemon(home, "--tls-cert", certificate, "--tls-key", key)

    def one_round():
        mine = ours(here, secure, next(names), TLS_SUBSCRIBERS, "--tls", "yes")
        return mine["per_second"], ours(here, daemon, next(names), TLS_SUBSCRIBERS)["per_second"]

    seen = here.rounds(5, one_round)
    table.add("deliveries_tls", f"deliveries over TLS, {TLS_SUBSCRIBERS} subscribers",
              [mine for mine, _ in seen], "/s", limits=[limit for _, limit in seen],
              which="the same without TLS", ratio_goal=TLS_RATIO_GOAL)
    secure.stop()
    home.remove()


def measure(here, table):
    home = here.home("streams")
    daemon = here.harness.Daemon(home)
    names = (f"s{n}" for n in itertools.count())
    fan_out(here, table, daemon, names)
    acknowledged(here, table, daemon, names)
    encrypted(here, table, daemon, names)
    daemon.stop()
    home.remove()
