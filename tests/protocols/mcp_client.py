"""A plain MCP client over Streamable HTTP, and one over the standard input and output of
`agentrt mcp serve`."""

import http.client
import json
import queue
import subprocess
import threading
import time

from harness import BINARY

WAIT_S = 30


class Reply:
    def __init__(self, status, headers, messages):
        self.status, self.headers, self.messages = status, headers, messages

    @property
    def result(self):
        return self.messages[-1]["result"]

    @property
    def error(self):
        return self.messages[-1]["error"]

    @property
    def told(self):
        return self.result["structuredContent"]


class Http:
    """One session of the server."""

    def __init__(self, daemon, token=..., capabilities=None, begin=True):
        self.daemon = daemon
        self.token = daemon.token if token is ... else token
        self.session, self.last = None, 0
        if begin:
            reply = self.ask("initialize", protocolVersion="2025-11-25",
                             capabilities=capabilities or {},
                             clientInfo={"name": "test", "version": "1"})
            assert reply.status == 200, (reply.status, reply.messages)
            self.session = reply.headers["Mcp-Session-Id"]
            self.greeting = reply.result
            assert self.notify("notifications/initialized").status == 202

    def post(self, message, on_message=None, accept="application/json, text/event-stream",
             **headers):
        connection = http.client.HTTPConnection("127.0.0.1", self.daemon.port, timeout=WAIT_S)
        sent = {"Content-Type": "application/json", "Accept": accept}
        if self.token:
            sent["Authorization"] = f"Bearer {self.token}"
        if self.session:
            sent["Mcp-Session-Id"] = self.session
        sent.update({name.replace("_", "-"): value for name, value in headers.items()})
        body = message if isinstance(message, (str, bytes)) else json.dumps(message)
        connection.request("POST", "/mcp", body, sent)
        answer = connection.getresponse()
        messages = []
        if (answer.getheader("Content-Type") or "").startswith("text/event-stream"):
            for line in answer:
                if line.startswith(b"data:"):
                    messages.append(json.loads(line[5:]))
                    if on_message:
                        on_message(messages[-1])
        else:
            text = answer.read()
            if text:
                messages.append(json.loads(text))
        connection.close()
        return Reply(answer.status, answer.headers, messages)

    def ask(self, method, on_message=None, headers=None, **params):
        self.last += 1
        return self.post({"jsonrpc": "2.0", "id": self.last, "method": method, "params": params},
                         on_message, **(headers or {}))

    def notify(self, method, **params):
        return self.post({"jsonrpc": "2.0", "method": method, "params": params})

    def answer(self, number, result):
        return self.post({"jsonrpc": "2.0", "id": number, "result": result})

    def call(self, tool, on_message=None, progress=None, **arguments):
        params = {"name": tool, "arguments": arguments}
        if progress is not None:
            params["_meta"] = {"progressToken": progress}
        return self.ask("tools/call", on_message, **params)


class Stdio:
    """`agentrt mcp serve`."""

    def __init__(self, home, capabilities=None):
        self.process = subprocess.Popen([BINARY, "mcp", "serve"], cwd=home.workspace, text=True,
                                        env=home.environment, stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.messages = queue.Queue()
        self.other = []
        threading.Thread(target=self._read, daemon=True).start()
        self.last = 0
        self.greeting = self.ask("initialize", protocolVersion="2025-06-18",
                                 capabilities=capabilities or {},
                                 clientInfo={"name": "test", "version": "1"})["result"]
        self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def _read(self):
        for line in self.process.stdout:
            self.messages.put(json.loads(line))

    def send(self, message):
        self.process.stdin.write(json.dumps(message) + "\n")
        self.process.stdin.flush()

    def begin(self, method, **params):
        self.last += 1
        self.send({"jsonrpc": "2.0", "id": self.last, "method": method, "params": params})
        return self.last

    def next(self, wanted, seconds=WAIT_S):
        """The next message that `wanted` accepts; others are kept in `other`."""
        for message in list(self.other):
            if wanted(message):
                self.other.remove(message)
                return message
        deadline = time.monotonic() + seconds
        while True:
            message = self.messages.get(timeout=max(0.01, deadline - time.monotonic()))
            if wanted(message):
                return message
            self.other.append(message)

    def reply(self, number, seconds=WAIT_S):
        return self.next(lambda m: m.get("id") == number and "method" not in m, seconds)

    def ask(self, method, seconds=WAIT_S, **params):
        return self.reply(self.begin(method, **params), seconds)

    def close(self):
        self.process.stdin.close()
        return self.process.wait(WAIT_S)

    def end(self):
        """Kills the process if it still runs."""
        self.process.kill()
        self.process.wait(WAIT_S)
        for pipe in (self.process.stdin, self.process.stdout, self.process.stderr):
            pipe.close()
