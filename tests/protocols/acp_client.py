"""A plain ACP client over the standard input and output of `agentrt acp`."""

from mcp_client import Stdio
from harness import BINARY

import queue
import subprocess
import threading


class Editor(Stdio):
    def __init__(self, home, capabilities=None, begin=True):
        self.process = subprocess.Popen([BINARY, "acp"], cwd=home.workspace, text=True,
                                        env=home.environment, stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.messages = queue.Queue()
        self.other = []
        self.last = 0
        self.folder = str(home.workspace)
        threading.Thread(target=self._read, daemon=True).start()
        if begin:
            self.greeting = self.ask("initialize", protocolVersion=1,
                                     clientCapabilities=capabilities or {})["result"]

    def open(self, model=None, **more):
        reply = self.ask("session/new", cwd=self.folder, mcpServers=more.pop("servers", []), **more)
        session = reply["result"]["sessionId"]
        if model:
            self.choose(session, model)
        return session

    def choose(self, session, model):
        reply = self.ask("session/set_config_option", sessionId=session, configId="model",
                         value=model)
        assert "result" in reply, reply

    def prompt(self, session, text="hello"):
        return self.begin("session/prompt", sessionId=session,
                          prompt=[{"type": "text", "text": text}])

    def request(self, method, seconds=30):
        return self.next(lambda m: m.get("method") == method, seconds)

    def answer(self, request, option):
        self.send({"jsonrpc": "2.0", "id": request["id"], "result": {
            "outcome": {"outcome": "selected", "optionId": option}}})

    def updates(self, kind):
        """The updates of a kind that have arrived."""
        while True:
            try:
                self.other.append(self.messages.get_nowait())
            except queue.Empty:
                break
        return [m["params"]["update"] for m in self.other if m.get("method") == "session/update"
                and m["params"]["update"]["sessionUpdate"] == kind]

    def text(self):
        return "".join(each["content"]["text"] for each in self.updates("agent_message_chunk"))


