"""Latency of a model's text: from the provider's write to a subscriber's read.

The provider is the double of tests/providers on this machine; the subscriber reads the live stream
of the session. In between, the fragment is parsed, decided, synced and sent.
"""

import statistics
import sys
import time

import setting

TURNS = 40  # per round
FIRST_TOKEN_GOAL_MS = 2.0
PAUSE_SECONDS = 0.02  # before the text, so that nothing else is in flight


def measure(here, table):
    sys.path.insert(0, str(setting.HERE.parent / "tests/providers"))
    import double
    import faults
    import wires

    sent = []

    def tick(exchange, body):
        exchange.begin_stream()
        answer = {"text": "tick", "usage": {"input": 1, "output": 1}}
        for event in exchange.wire.events(answer, body):
            data = wires.frame(event)
            if b'"content": "tick"' in data:
                time.sleep(PAUSE_SECONDS)
                sent.append(time.perf_counter())
            exchange.send_piece(data)
        exchange.end_stream()

    faults.UNLISTED["tick"] = tick
    provider = double.ProviderDouble().start()
    home = here.harness.Home({}, f"""[models.main]
provider = "openai_chat"
model = "tick"
base_url = "{provider.base_url("openai_chat")}"
""", folder=str(here.folder / "models"))
    daemon = here.harness.Daemon(home)

    def first_tokens(session):
        daemon.ok("create_session", sessionId=session)
        seen = []
        sent.clear()
        with daemon.stream(session, after=0, seconds=60) as stream:
            events = stream.events()
            for turn in range(TURNS):
                daemon.submit("go", sessionId=session, threadId=f"t{turn}")
                for event in events:
                    if event["type"] == "model.delta":
                        seen.append(time.perf_counter())
                    if event["type"] == "task.completed":
                        break
        return statistics.median((there - here_) * 1e3 for here_, there in zip(sent, seen))

    names = iter(f"s{n}" for n in range(1_000))
    values = here.rounds(5, lambda: first_tokens(next(names)))
    table.add("first_token", "first token, provider to subscriber", values, "ms", better="less",
              goal=FIRST_TOKEN_GOAL_MS)
    daemon.stop()
    provider.stop()
    home.remove()
