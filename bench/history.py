"""The cost of a turn in a thread with many turns, as ratios within one run."""

import datetime
import statistics

TURNS = 210
EARLY, LATE = slice(2, 12), slice(190, 210)
LATE_GOAL = 1.2
QUEUED = 1_000
QUEUE_GOAL = 1.5


def measure(here, table):
    call = {"name": "shell", "args": {"command": "true"}}
    answers = [{"text": "Look.", "toolCalls": [call]}, {"text": "Done."}]
    home = here.harness.Home({"main": answers}, '[permissions]\nmode = "bypass"\n',
                             folder=str(here.folder / "history"))
    daemon = here.harness.Daemon(home)
    numbers = iter(range(100))

    running = [daemon]

    def one_round():
        session = f"long{next(numbers)}"
        took = [turn_ms(running[0], session) for _ in range(TURNS)]
        early, late = statistics.mean(took[EARLY]), statistics.mean(took[LATE])
        running[0].stop()
        running[0] = here.harness.Daemon(home)
        first = turn_ms(running[0], session)
        again = statistics.mean(turn_ms(running[0], session) for _ in range(10))
        return late / early, first / early, again / early

    seen = here.rounds(1, one_round)
    table.add("history_late", "200th turn with a call, compared with the 5th",
              [r[0] for r in seen], "x", better="less", goal=LATE_GOAL)
    table.add("history_cold", "  the first after a restart, which rebuilds the conversation",
              [r[1] for r in seen], "x", better="less")
    table.add("history_warm", "  the next ones", [r[2] for r in seen], "x", better="less",
              goal=LATE_GOAL)
    running[0].stop()
    home.remove()
    queue_row(here, table)


def turn_ms(daemon, session):
    reply = daemon.ok("submit_turn", sessionId=session, threadId="t",
                      input=[{"type": "text", "text": "go"}])
    # The duration that the runtime itself records.
    seen = daemon.wait_event(reply["sessionId"], lambda e: e["type"] == "turn.completed" and
                             e["turnId"] == reply["turnId"], after=reply["sequence"])
    return seen[-1]["payload"]["durationMs"]


def queue_row(here, table):
    home = here.home("queue")
    daemon = here.harness.Daemon(home)

    def one_round():
        for number in range(QUEUED):
            last = daemon.submit(f"turn {number}", sessionId="queue", threadId="t")
        daemon.wait_event("queue", lambda e: e["type"] == "turn.completed" and
                          e["turnId"] == last["turnId"], seconds=600)
        ends = [datetime.datetime.fromisoformat(e["timestamp"].replace("Z", "+00:00"))
                for e in daemon.events("queue") if e["type"] == "turn.completed"]
        gaps = [(b - a).total_seconds() for a, b in zip(ends, ends[1:])]
        return statistics.mean(gaps[-100:]) / statistics.mean(gaps[:100])

    table.add("history_queue", "the last hundred of 1,000 queued turns, compared with the first",
              here.rounds(1, one_round), "x", better="less", goal=QUEUE_GOAL)
    daemon.stop()
    home.remove()
