"""Models behind HTTP: the same facts for every wire, and a fact for every failure."""

import json
import os
import pathlib
import re
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "providers"))

import faults  # noqa: E402
from double import ProviderDouble, closed_port  # noqa: E402
from harness import Case, Home, types, wait_until  # noqa: E402

PROVIDERS = ["openai_chat", "openai_responses", "anthropic"]
PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs/models.md"
KEY = "sk-canary-4f9a1c77d2e04b58"
PNG = b"\x89PNG\r\n\x1a\n" + bytes(range(64))


def section(name, provider, model, url, **more):
    lines = [f"[models.{name}]", f'provider = "{provider}"', f'model = "{model}"',
             f'base_url = "{url}"']
    lines += [f"{key} = {json.dumps(value)}" for key, value in more.items()]
    return "\n".join(lines) + "\n"


class ModelCase(Case):
    """A daemon whose models are played by a double; `models` are {name: (provider, model, more)}.
    """

    scripts = {}
    daemon_at_start = False
    key = None
    models = {}
    more_config = ""

    def setUp(self):
        self.double = ProviderDouble(key=self.key).start()
        self.addCleanup(self.double.stop)
        super().setUp()
        if self.key:
            self.home.environment["CANARY_KEY"] = self.key
        self.start()

    @property
    def config(self):
        key = {"api_key_env": "CANARY_KEY"} if self.key else {}
        return self.more_config + "".join(
            section(name, provider, model, self.double.base_url(provider), **key, **more)
            for name, (provider, model, more) in self.models.items())

    def turn(self, model, text="go", session=None, wait=True, parts=None, **options):
        reply = self.daemon.ok(
            "submit_turn", sessionId=session or f"s_{model}", threadId="t",
            input=parts or [{"type": "text", "text": text}],
            options={"model": model, "mode": "bypass", "cwd": str(self.home.workspace), **options})
        if wait:
            self.daemon.wait_turn(reply, seconds=30)
        return reply

    def events_of(self, session, kind):
        return [e for e in self.daemon.events(session) if e["type"] == kind]

    def payload(self, session, kind, at=-1):
        return self.events_of(session, kind)[at]["payload"]


def plain(event, names):
    """The event without the parts that must differ: ids (numbered by first occurrence), times,
    provider names, and opaque provider data."""
    def number(found):
        return names.setdefault(found.group(), f"id{len(names)}")

    told = {name: value for name, value in event["payload"].items()
            if name not in ("providerState", "requestDigest", "historyDigest")}
    payload = json.dumps(told, sort_keys=True)
    payload = re.sub(r"\b[a-z]+_[0-9a-z]{26}\b", number, payload)
    payload = re.sub(r'"(durationMs|firstTokenMs|queuedMs|pid|startTicks|toSequence|used)": \d+',
                     r'"\1": 0', payload)
    payload = re.sub(r"\b(openai_chat|openai_responses|anthropic)\b", "WIRE", payload)
    payload = re.sub(r"log:[\d-]+", "log:N", payload)
    return event["type"], payload


def story(events):
    """The facts with fragments joined, because their number depends on timing."""
    names, told = {}, []
    for event in events:
        if event["type"] in ("model.delta", "reasoning.delta") and told and \
                told[-1][0] == event["type"]:
            told[-1] = (event["type"], told[-1][1] + event["payload"]["text"])
        elif event["type"] in ("model.delta", "reasoning.delta"):
            told.append((event["type"], event["payload"]["text"]))
        elif event["type"] in ("item.updated", "process.output", "snapshot.updated"):
            continue
        elif event["type"] == "item.started" and "toolCallId" in event or \
                event["payload"].get("status") == "streaming":
            continue  # earlier if the model takes long to write a call
        else:
            told.append(plain(event, names))
    return told


class SameFacts(ModelCase):
    models = {provider: (provider, "talk", {"context_tokens": 100000}) for provider in PROVIDERS}

    def test_the_same_conversation_gives_the_same_facts_on_every_wire(self):
        stories = {}
        for provider in PROVIDERS:
            self.turn(provider)
            self.turn(provider, "and again?")
            events = self.check_session(f"s_{provider}")
            self.assertEqual(types(events).count("turn.completed"), 2, types(events))
            stories[provider] = story(events)
        first = stories[PROVIDERS[0]]
        for provider in PROVIDERS[1:]:
            for one, other in zip(first, stories[provider]):
                self.assertEqual(one, other, provider)
            self.assertEqual(len(first), len(stories[provider]))

    def test_what_a_model_said_and_called_is_in_the_facts(self):
        self.turn("openai_chat")
        session = "s_openai_chat"
        completed = [e["payload"] for e in self.events_of(session, "model.completed")]
        self.assertEqual([c["stopReason"] for c in completed], ["tool_use", "tool_use", "end_turn"])
        self.assertEqual(completed[0]["usage"],
                         {"inputTokens": 100, "outputTokens": 20, "cachedTokens": 40})
        self.assertEqual([c["name"] for c in completed[0]["toolCalls"]], ["shell", "shell"])
        self.assertEqual(self.payload(session, "reasoning.summary")["text"], "I should look first.")
        self.assertEqual(self.payload(session, "tool.result", 0)["preview"], "one\nzwei: ä🙂\n")
        failed = [e["payload"]["error"] for e in self.events_of(session, "tool.failed")]
        self.assertEqual([f["category"] for f in failed], ["not_found", "invalid_input"])
        self.assertIn("JSON", failed[1]["message"])

    def test_a_model_is_told_its_calls_their_results_and_the_turns_before(self):
        for provider in PROVIDERS:
            with self.subTest(provider=provider):
                self.double.requests.clear()
                self.turn(provider)
                self.turn(provider, "and again?")
                bodies = [request["body"] for request in self.double.requests]
                self.assertEqual(len(bodies), 4)
                told = json.dumps(bodies[-1], ensure_ascii=False)
                for text in ("one\\nzwei: ä🙂", "Exit code 3.", "no_such_tool", "All of it is done.",
                             "and again?", "must be one JSON object"):
                    self.assertIn(text, told)
                self.assertEqual([t.get("name") or t["function"]["name"]
                                  for t in bodies[0]["tools"]],
                                 ["shell", "read_file", "write_file", "edit_file", "list_files",
                                  "search_files", "web_fetch", "update_plan", "ask_user",
                                  "spawn_subagent", "wait_subagents", "send_subagent_input"])
                self.assertIn(str(self.home.workspace), told)

    def test_calls_and_results_stand_as_each_wire_wants_them(self):
        for provider in PROVIDERS:
            self.turn(provider)
        bodies = {request["path"]: request["body"] for request in self.double.requests}
        chat = bodies["/v1/chat/completions"]["messages"]
        self.assertEqual([m["role"] for m in chat],
                         ["system", "user", "assistant", "tool", "tool", "assistant", "tool",
                          "tool"])
        self.assertEqual([c["id"] for c in chat[2]["tool_calls"]],
                         [chat[3]["tool_call_id"], chat[4]["tool_call_id"]])
        self.assertEqual(json.loads(chat[5]["tool_calls"][1]["function"]["arguments"]),
                         {"not_json": '{"command": "echo'})
        self.assertEqual(chat[2]["reasoning_content"], "I should look first.")
        self.assertNotIn("reasoning_content", chat[5])
        items = bodies["/v1/responses"]["input"]
        self.assertEqual([i.get("type", i.get("role")) for i in items],
                         ["user", "user", "assistant", "function_call", "function_call",
                          "function_call_output", "function_call_output", "function_call",
                          "function_call", "function_call_output", "function_call_output"])
        messages = bodies["/v1/messages"]["messages"]
        self.assertEqual([m["role"] for m in messages],
                         ["user", "assistant", "user", "assistant", "user"])
        self.assertEqual([b["type"] for b in messages[2]["content"]], ["tool_result"] * 2)
        self.assertTrue(messages[2]["content"][1]["is_error"])
        self.assertEqual(messages[4]["content"][-1]["cache_control"], {"type": "ephemeral"})
        self.assertIn("cache_control", bodies["/v1/messages"]["system"][-1])


class Context(ModelCase):
    more_config = '[context]\ncompact = "off"\n'
    models = {"small": ("openai_chat", "hello", {"context_tokens": 10000}),
              **{provider: (provider, "hello", {}) for provider in PROVIDERS}}

    def test_what_does_not_fit_into_the_context_is_left_out_and_said(self):
        for text in ("x" * 9000, "middle", "last"):
            self.turn("small", text, session="s")
        omitted = self.payload("s", "context.resolved")["omitted"]
        self.assertEqual([o["ref"] for o in omitted], ["history"])
        self.assertIn("do not fit", omitted[0]["reason"])
        self.assertEqual(self.payload("s", "runtime.warning")["code"], "turns_omitted")
        told = json.dumps(self.double.requests[-1]["body"]["messages"])
        self.assertIn("Operating system", told)
        self.assertIn("middle", told)
        self.assertNotIn("x" * 9000, told)
        self.assertEqual(self.payload("s", "history.window.loaded")["omitted"], 1)

    def test_run_gives_files_of_the_workspace_and_says_what_it_cannot_give(self):
        (self.home.workspace / "shot.png").write_bytes(PNG)
        (self.home.workspace / "large.txt").write_text("x" * 300_000)
        (self.home.folder / "elsewhere.png").write_bytes(PNG)
        run = ("run", "--model", "openai_chat", "what is this?", "--file")
        done = self.home.run(*run, "shot.png", "--file", "large.txt")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("iVBORw0KGgoAAQIDBA", json.dumps(self.double.requests[-1]["body"]))
        self.assertRegex(done.stderr, r"not used: file:.*large.txt: it is larger than")
        done = self.home.run(*run, "../elsewhere.png")
        self.assertEqual(done.returncode, 0, done.stderr)
        told = json.dumps(self.double.requests[-1]["body"])
        self.assertIn("iVBORw0KGgoAAQIDBA", told)
        self.assertIn("elsewhere.png, uploaded", told)
        for file, words in (("none.png", "does not exist"), (".", "is not a file")):
            done = self.home.run(*run, file)
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn(words, done.stderr)

    def test_images_and_text_files_are_given_and_the_rest_is_refused_in_words(self):
        (self.home.workspace / "shot.png").write_bytes(PNG)
        (self.home.workspace / "notes.txt").write_text("remember the milk")
        os.symlink("/etc/passwd", self.home.workspace / "link")
        parts = [{"type": "text", "text": "what is this?"},
                 *({"type": "file", "path": path}
                   for path in ("shot.png", "notes.txt", "link", "../config/agentrt/config.toml"))]
        for provider in PROVIDERS:
            with self.subTest(provider=provider):
                self.turn(provider, parts=parts)
                body = json.dumps(self.double.requests[-1]["body"])
                self.assertIn("iVBORw0KGgoAAQIDBA", body)
                self.assertIn("image/png", body)
                self.assertIn("remember the milk", body)
                self.assertNotIn("root:x:0", body)
                self.assertNotIn("base_url", body)
                context = self.payload(f"s_{provider}", "context.resolved")
                self.assertEqual([r["ref"] for r in context["workspaceRefs"]],
                                 ["file:shot.png", "file:notes.txt"])
                self.assertEqual(len(context["missing"]), 2)

    def test_files_of_earlier_turns_are_sent_again_as_they_were(self):
        (self.home.workspace / "shot.png").write_bytes(PNG)
        notes = self.home.workspace / "notes.txt"
        notes.write_text("remember the milk")
        parts = [{"type": "text", "text": "what is this?"}, {"type": "file", "path": "shot.png"},
                 {"type": "file", "path": "notes.txt"}]
        more = [{"type": "text", "text": "and?"}]
        for provider in PROVIDERS:
            with self.subTest(provider=provider):
                notes.write_text("remember the milk")
                self.turn(provider, parts=parts)
                self.turn(provider, parts=more)
                body = json.dumps(self.double.requests[-1]["body"])
                self.assertIn("iVBORw0KGgoAAQIDBA", body)
                self.assertIn("remember the milk", body)
                notes.write_text("forget it")
                self.turn(provider, parts=more)
                body = json.dumps(self.double.requests[-1]["body"])
                self.assertIn("iVBORw0KGgoAAQIDBA", body)
                self.assertIn("remember the milk", body)
                self.assertNotIn("forget it", body)
                context = self.payload(f"s_{provider}", "context.resolved")
                self.assertEqual(context["prefix"], {"status": "same"})


class Faults(ModelCase):
    more_config = "[limits]\nmodel_retries_max = 0\n"
    models = {f"{name}_{provider}": (provider, name, each.settings)
              for name, each in faults.FAULTS.items() for provider in PROVIDERS}

    def test_every_fault_becomes_the_fact_that_the_page_says(self):
        replies = {name: self.turn(name, wait=False) for name in self.models}
        for name, reply in replies.items():
            self.daemon.wait_turn(reply, seconds=60)
        rows = []
        for fault, each in faults.FAULTS.items():
            outcomes = set()
            for provider in PROVIDERS:
                failed = self.events_of(f"s_{fault}_{provider}", "model.failed")
                self.assertEqual(len(failed), 1, (fault, provider))
                payload = failed[0]["payload"]
                error = payload["error"]
                message = error["message"].replace(self.double.url, "ADDRESS")
                message = message.replace(f"models.{fault}_{provider}", "models.NAME")
                message = re.sub(r"with \d+ bytes remaining", "with N bytes remaining", message)
                outcomes.add((error["category"], "yes" if error["retryable"] else "no",
                              str(payload.get("providerStatus", "")), message))
            self.assertEqual(len(outcomes), 1, (fault, outcomes))
            category, retryable, status, message = outcomes.pop()
            rows.append(f"| {each.title} | `{category}` | {retryable} | {status} | {message} |")
        self.hold_page_to(rows)
        self.assertTrue(all(self.double.closes), "a connection was left open")

    def hold_page_to(self, rows):
        begin, end = "<!-- faults: begin -->\n", "<!-- faults: end -->"
        page = PAGE.read_text()
        head, tail = page.index(begin) + len(begin), page.index(end)
        table = "\n".join(["| the provider … | category | retried | status | message |",
                           "| --- | --- | --- | --- | --- |", *rows]) + "\n"
        if os.environ.get("AGENTRT_UPDATE_DOCS"):
            PAGE.write_text(page[:head] + table + page[tail:])
        else:
            self.assertEqual(page[head:tail], table,
                             "docs/models.md is out of date; run with AGENTRT_UPDATE_DOCS=1")

    def test_words_for_a_person_say_what_to_do(self):
        for fault, words in (("refused_key_openai_chat", "api_key_env"),
                             ("unknown_model_openai_chat", "correct model in [models."),
                             ("context_full_anthropic", "choose a model with a larger one"),
                             ("empty_answer_anthropic", "try again")):
            done = self.home.run("run", "--model", fault, "hello")
            self.assertEqual(done.returncode, 1, done.stderr)
            self.assertIn(words, done.stderr)


class Steering(ModelCase):
    models = {"stalls": ("openai_chat", "stalls", {}), "once": ("anthropic", "fails_once", {}),
              "killed": ("openai_responses", "stalls_once", {}),
              "killed_chat": ("openai_chat", "stalls_once", {}),
              "killed_anthropic": ("anthropic", "stalls_once", {})}

    def test_an_interrupt_closes_the_connection(self):
        reply = self.turn("stalls", wait=False)
        self.daemon.wait_event("s_stalls", lambda e: e["type"] == "model.delta")
        self.daemon.ok("interrupt_turn", sessionId="s_stalls", threadId="t",
                       turnId=reply["turnId"])
        wait_until(lambda: self.double.closes == [True], what="the close of the connection")
        self.assertEqual(self.payload("s_stalls", "turn.failed")["status"], "cancelled")

    def test_the_next_turn_knows_what_was_interrupted(self):
        for name in ("killed", "killed_chat", "killed_anthropic"):
            with self.subTest(model=name):
                self.double.requests.clear()
                reply = self.turn(name, "count the sheep", wait=False)
                self.daemon.wait_event(f"s_{name}", lambda e: e["type"] == "model.delta")
                self.daemon.ok("interrupt_turn", sessionId=f"s_{name}", threadId="t",
                               turnId=reply["turnId"])
                self.turn(name, "the goats, I mean")
                told = json.dumps(self.double.requests[-1]["body"])
                places = [told.find(text) for text in ("count the sheep",
                          "[This turn was interrupted here.]", "the goats, I mean")]
                self.assertEqual(places, sorted(places))
                self.assertGreater(places[0], 0)
                self.assertEqual(self.payload(f"s_{name}", "model.completed")["text"],
                                 "Now it works.")

    def test_what_may_pass_is_tried_again_and_succeeds(self):
        self.turn("once")
        failed = self.payload("s_once", "model.failed")
        self.assertEqual((failed["error"]["category"], failed["providerStatus"]), ("provider", 503))
        self.assertEqual(failed["retry"]["number"], 1)
        self.assertEqual(self.payload("s_once", "model.completed")["text"], "Now it works.")

    def test_a_turn_that_a_kill_cut_off_asks_again_when_it_is_resumed(self):
        reply = self.turn("killed", wait=False)
        self.daemon.wait_event("s_killed", lambda e: e["type"] == "model.delta")
        self.crash()
        self.start()
        wait_until(lambda: self.daemon.ok("get_thread_read", sessionId="s_killed",
                                          threadId="t")["status"] == "blocked")
        self.daemon.ok("resume_thread", sessionId="s_killed", threadId="t")
        self.daemon.wait_turn(reply)
        self.assertEqual(self.payload("s_killed", "model.failed")["error"]["category"],
                         "interrupted")
        self.assertEqual(self.payload("s_killed", "model.completed")["text"], "Now it works.")
        self.assertEqual(len(self.double.requests), 2)

    def test_nobody_there_is_unavailable_and_said_so(self):
        home = Home({}, section("gone", "openai_chat", "m", f"http://127.0.0.1:{closed_port()}/v1") +
                    "[limits]\nmodel_retries_max = 0\n")
        self.addCleanup(home.remove)
        done = home.run("run", "hello")
        self.assertEqual(done.returncode, 1)
        self.assertIn("cannot be reached", done.stderr)
        self.assertIn("base_url", done.stderr)


class Keys(ModelCase):
    key = KEY
    models = {provider: (provider, "snoop", {}) for provider in PROVIDERS}

    def setUp(self):
        super().setUp()
        self.double.scripts = {"snoop": [
            {"text": "", "usage": {"input": 1, "output": 1},
             "calls": [{"name": "shell", "args": {
                 "command": "env; cat /proc/*/environ /proc/*/cmdline | tr '\\0' '\\n'"}}]},
            {"text": "Done.", "usage": {"input": 1, "output": 1}}]}

    def test_a_key_reaches_the_provider_and_nothing_else(self):
        for provider in PROVIDERS:
            self.turn(provider)
            self.assertEqual(types(self.daemon.events(f"s_{provider}")).count("tool.result"), 1)
        sent = [request["headers"] for request in self.double.requests]
        self.assertEqual(len([h for h in sent if KEY in json.dumps(h)]), 6)
        self.double.key = "another"
        reply = self.turn("openai_chat", session="refused")
        error = self.payload("refused", "turn.failed")["error"]
        self.assertEqual(error["category"], "denied")
        self.assertIn("CANARY_KEY", error["message"])
        self.assertIn("[key]", error["message"], reply)
        self.daemon.stop()
        self.assertNotIn(KEY, self.daemon.stderr())
        for path in self.home.folder.rglob("*"):
            if path.is_file():
                self.assertNotIn(KEY.encode(), path.read_bytes(), path)

    def test_a_model_without_its_key_is_left_out_and_the_variable_is_named(self):
        self.daemon.stop()
        del self.home.environment["CANARY_KEY"]
        self.start()
        reply = self.turn("anthropic", wait=False)
        self.daemon.wait_event("s_anthropic", lambda e: e["type"] == "routing.not_possible")
        excluded = self.payload("s_anthropic", "routing.candidates.resolved")["excluded"]
        self.assertIn({"name": "anthropic", "reason": "credential",
                       "remedy": "set CANARY_KEY, then start agentrt again"}, excluded)
        self.assertIn("CANARY_KEY",
                      self.payload("s_anthropic", "routing.not_possible")["decisionReason"])
        self.daemon.ok("interrupt_turn", sessionId="s_anthropic", threadId="t",
                       turnId=reply["turnId"])
        self.daemon.stop()
        done = self.home.run("run", "--model", "anthropic", "hello")
        self.assertEqual(done.returncode, 2)
        self.assertIn("CANARY_KEY", done.stderr)


class Payloads(ModelCase):
    """Raw payloads, stored if the configuration says so, and never with a key."""

    key = KEY
    models = {**{provider: (provider, "talk", {"debug_payloads": True}) for provider in PROVIDERS},
              "quiet": ("openai_chat", "talk", {})}

    def bytes_of(self, ref):
        return self.daemon.get(f"/v1/outputs/{ref}").data.decode()

    def test_requests_and_answers_stand_behind_refs(self):
        for provider in PROVIDERS:
            with self.subTest(provider=provider):
                self.turn(provider)
                completed = self.payload(f"s_{provider}", "model.completed", 0)
                request = self.bytes_of(completed["rawRequestRef"])
                self.assertTrue(request.startswith("POST http://127.0.0.1:"), request[:80])
                self.assertIn('"talk"', request)
                self.assertIn(": [omitted]", request)
                answer = self.bytes_of(completed["rawResponseRef"])
                self.assertTrue(answer.startswith("HTTP 200\n"), answer[:80])
                self.assertIn("data: ", answer)
                self.assertNotIn(KEY, request + answer)

    def test_nothing_is_kept_unasked(self):
        self.turn("quiet")
        self.assertNotIn("rawRequestRef", self.payload("s_quiet", "model.completed"))


class FailedPayloads(ModelCase):
    models = {"bad": ("openai_chat", "bad_request", {"debug_payloads": True})}

    def test_a_refused_request_is_kept_too(self):
        self.turn("bad")
        failed = self.payload("s_bad", "model.failed")
        answer = self.daemon.get(f"/v1/outputs/{failed['rawResponseRef']}").data.decode()
        self.assertTrue(answer.startswith("HTTP 4"), answer[:80])


class Reaching(Case):
    """Certificates, proxies, and models without configuration."""

    scripts = {}
    daemon_at_start = False

    def double(self, **more):
        double = ProviderDouble(**more).start()
        self.addCleanup(double.stop)
        return double

    def certificate(self):
        files = self.home.folder / "cert.pem", self.home.folder / "key.pem"
        subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2",
                        "-subj", "/CN=double", "-addext", "subjectAltName=IP:127.0.0.1",
                        "-out", files[0], "-keyout", files[1]], check=True, capture_output=True)
        return files

    def write(self, text):
        (self.home.folder / "config/agentrt/config.toml").write_text(text)

    def test_certificates_are_checked(self):
        files = self.certificate()
        double = self.double(certificate=files)
        self.write(section("main", "openai_chat", "hello", double.url + "/v1"))
        done = self.home.run("run", "hello")
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertIn("certificate", done.stderr)
        self.assertIn("SSL_CERT_FILE", done.stderr)
        self.assertEqual(double.requests, [])
        done = self.home.run("run", "hello", SSL_CERT_FILE=str(files[0]))
        self.assertEqual((done.returncode, done.stdout), (0, "Hello there, wörld 🙂.\n"),
                         done.stderr)

    def test_proxies_of_the_environment_are_used(self):
        double = self.double()
        self.write(section("main", "anthropic", "hello", "http://model.invalid"))
        done = self.home.run("run", "hello", http_proxy=double.url)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(double.requests[0]["headers"]["Host"], "model.invalid")

    def test_variables_alone_give_a_model(self):
        double = self.double(key=KEY)
        for name, url in (("OPENAI", double.url + "/v1/"), ("ANTHROPIC", double.url)):
            done = self.home.run("run", "hello", **{f"{name}_API_KEY": KEY, f"{name}_BASE_URL": url,
                                                    f"{name}_MODEL": "hello"})
            self.assertEqual((done.returncode, done.stdout), (0, "Hello there, wörld 🙂.\n"),
                             done.stderr)
        done = self.home.run("run", "hello", OPENAI_API_KEY=KEY, OPENAI_BASE_URL=double.url + "/v1",
                             OPENAI_MODEL="nonesuch")
        self.assertEqual(done.returncode, 1)
        self.assertIn("correct OPENAI_MODEL", done.stderr)
        done = self.home.run("run", "hello", OPENAI_BASE_URL=double.url + "/v1",
                             OPENAI_MODEL="hello")
        self.assertIn("requires an API key (status 401: ", done.stderr)
        self.assertIn("; set OPENAI_API_KEY", done.stderr)
        done = self.home.run("run", "hello", OPENAI_BASE_URL="http://127.0.0.1:1/v1")
        self.assertEqual(done.returncode, 1)
        self.assertIn("start that server, or correct OPENAI_BASE_URL", done.stderr)
        self.assertNotIn("[models.", done.stderr)
        done = self.home.run("run", "hello", OPENAI_BASE_URL="localhost:11434")
        self.assertEqual(done.returncode, 2)
        self.assertIn("OPENAI_BASE_URL must be a URL", done.stderr)

    def test_without_any_model_the_program_says_what_to_set(self):
        done = self.home.run("run", "hello")
        self.assertEqual(done.returncode, 2)
        for word in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "[models."):
            self.assertIn(word, done.stderr)

    def test_doctor_names_a_missing_key(self):
        self.write(section("main", "openai_chat", "m", "http://127.0.0.1:1/v1",
                           api_key_env="CANARY_KEY"))
        done = self.home.run("doctor")
        self.assertIn("set CANARY_KEY", done.stdout)


if __name__ == "__main__":
    unittest.main()
