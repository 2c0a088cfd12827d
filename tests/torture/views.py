"""Logs, a model of each, and the views that a daemon serves, all taken at the same time."""

import time

import clients
import harness
import log_model


def read_all(daemon, session, model):
    threads = {thread: daemon.ok("get_thread_read", sessionId=session, threadId=thread)
               for thread in model.threads}
    return daemon.ok("get_session", sessionId=session, limit=1000), threads


def lengths(logs):
    return {session: len(events) for session, events in logs.items()}


def at_rest(daemon):
    """(logs, models, views), taken after recovery without writes in between, and compared."""
    deadline = time.monotonic() + harness.WAIT_SECONDS
    while time.monotonic() < deadline:
        rows = daemon.ok("list_sessions", limit=1000)["data"]
        logs = clients.logs_of(daemon)
        models = {session: log_model.Model(events) for session, events in logs.items()}
        views = {session: read_all(daemon, session, model) for session, model in models.items()}
        recovered = all(row["status"] != "stale" for row in rows)
        if recovered and lengths(clients.logs_of(daemon)) == lengths(logs):
            for session, model in models.items():
                log_model.compare(model, *views[session])
            return logs, models, views
        time.sleep(0.005)
    raise AssertionError(f"the sessions did not come to rest: {rows}")


def check_replay(home):
    """A store serves the same data with and without snapshots, when it folds from the first event.

    A session whose snapshot is missing says so with one more fact (snapshot.repaired), so only the
    sequence and the time of the last fact may differ.
    """
    views = after_restart(home)
    log_model.forget_snapshots(home.data / "agentrt.db")
    log_model.same(without_last_fact(after_restart(home)), without_last_fact(views),
                   "the views after a whole replay")


def without_last_fact(value):
    """`value` without the members that every fact of a session changes, at any depth."""
    if isinstance(value, dict):
        return {name: without_last_fact(each) for name, each in value.items()
                if name not in ("asOfSequence", "updatedAt")}
    if isinstance(value, (list, tuple)):
        return [without_last_fact(each) for each in value]
    return value


def after_restart(home):
    daemon = harness.Daemon(home)
    try:
        return at_rest(daemon)[2]
    finally:
        daemon.kill()
        daemon.errors.close()
