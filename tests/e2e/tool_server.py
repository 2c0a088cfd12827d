"""A small MCP server over standard input and output, for mcp_test.py.

It records in the file NOTES what happens to it: its start, each message that is not a request, its
end. While it lives, it holds a shared lock on that file. Its tools do what their names say.
"""

import base64
import fcntl
import json
import os
import sys
import time

OBJECT = {"type": "object"}
PICTURE = b"GIF89a\x02\x01\x03\x00 pixels;"  # declared as PNG: the bytes decide
TOOLS = [
    {"name": "echo", "description": "Says it again.",
     "inputSchema": {"type": "object", "properties": {"text": {"type": "string"}},
                     "required": ["text"]},
     "annotations": {"readOnlyHint": True}},
    {"name": "progress", "inputSchema": OBJECT},
    {"name": "ask", "inputSchema": OBJECT},
    {"name": "choose", "inputSchema": OBJECT},
    {"name": "hang", "inputSchema": OBJECT},
    {"name": "die", "inputSchema": OBJECT},
    {"name": "environment", "inputSchema": OBJECT},
    {"name": "picture", "inputSchema": OBJECT},
    {"name": "sample", "inputSchema": OBJECT},
]
FORM = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
CHOICES = {"type": "object", "required": ["tier", "days"], "properties": {
    "tier": {"type": "string", "oneOf": [{"const": "b", "title": "Basic"},
                                         {"const": "p", "title": "Paid"}]},
    "days": {"type": "array", "items": {"anyOf": [{"const": "mo", "title": "Monday"},
                                                  {"const": "tu", "title": "Tuesday"}]}}}}


def note(text):
    with open(os.environ["NOTES"], "a", encoding="utf-8") as notes:
        notes.write(text + "\n")


def send(**message):
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)


def text(words, **more):
    return {"content": [{"type": "text", "text": words}], **more}


class Server:
    def __init__(self):
        self.asking = None  # the call that waits for the answer to a question
        self.samples = []  # the errors that sampling got

    def call(self, number, params):
        name, args = params["name"], params["arguments"]
        if name == "progress":
            token = params["_meta"]["progressToken"]
            for step in (1, 2):
                send(method="notifications/progress",
                     params={"progressToken": token, "progress": step, "message": f"step {step}"})
                time.sleep(0.3)
        if name in ("ask", "choose"):
            self.asking = number
            return send(id="q", method="elicitation/create",
                        params={"message": "Who is there?",
                                "requestedSchema": FORM if name == "ask" else CHOICES})
        if name == "sample":
            self.asking = number
            for index in range(2):
                send(id=f"s{index}", method="sampling/createMessage",
                     params={"messages": [], "maxTokens": 5})
            return None
        if name == "hang":
            return note("hanging")
        if name == "die":
            print("the disk is on fire", file=sys.stderr, flush=True)
            os._exit(7)
        results = {
            "echo": lambda: text(args["text"]),
            "environment": lambda: text(f"{len(os.environ['SECRET'])} characters"),
            "picture": lambda: {"content": [
                {"type": "image", "data": base64.b64encode(PICTURE).decode(),
                 "mimeType": "image/png"}]},
        }
        return send(id=number, result=results.get(name, lambda: text("done"))())

    def take(self, message):
        method = message.get("method")
        if method == "initialize":
            send(id=message["id"], result={
                "protocolVersion": message["params"]["protocolVersion"],
                "capabilities": {"tools": {}}, "serverInfo": {"name": "t", "version": "1"}})
        elif method == "tools/list":
            send(id=message["id"], result={"tools": TOOLS})
        elif method == "tools/call":
            self.call(message["id"], message["params"])
        elif method == "ping":
            send(id=message["id"], result={})
        elif method is None and message.get("id") in ("s0", "s1"):
            self.samples.append(message["error"])
            if len(self.samples) == 2:
                send(id=self.asking, result=text(json.dumps(self.samples)))
        elif method is None and message.get("id") == "q":
            send(id=self.asking, result=text(json.dumps(message["result"], sort_keys=True)))
        else:
            note(method)


if __name__ == "__main__":
    note("started")
    alive = open(os.environ["NOTES"], encoding="utf-8")
    fcntl.flock(alive, fcntl.LOCK_SH)
    server = Server()
    for line in sys.stdin:
        server.take(json.loads(line))
    note("ended")
