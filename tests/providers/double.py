"""A fake model provider that plays scripts on the three wires that agentrt speaks, and misbehaves
on request.

It stores no conversation: the next answer of a script follows from the number of answers in the
request. The model's name in the request selects a script, or a fault in `faults.py`. Run as a
program, it prints its address and serves until killed.
"""

import argparse
import http.server
import json
import pathlib
import socket
import ssl
import threading

import faults
import wires

# A script is a list of answers in the format of wires.py.
SCRIPTS = {
    "hello": [{"text": "Hello there, wörld 🙂.", "usage": {"input": 12, "output": 5}}],
    "talk": [
        {"reasoning": "I should look first.", "text": "Let me look.",
         "calls": [{"name": "shell", "args": {"command": "echo one; echo zwei: ä🙂"}},
                   {"name": "shell", "args": {"command": "exit 3"}}],
         "usage": {"input": 100, "output": 20, "cached": 40}},
        {"text": "", "calls": [{"name": "no_such_tool", "args": {}},
                               {"name": "shell", "raw": '{"command": "echo'}],
         "usage": {"input": 200, "output": 10, "cached": 100}},
        {"text": "All of it is done.", "usage": {"input": 300, "output": 7, "cached": 200}},
        {"text": "You asked again.", "usage": {"input": 400, "output": 4, "cached": 300}},
    ],
    "short": [{"text": "It is cut and", "stop": "max_tokens", "usage": {"input": 9, "output": 4}}],
}


class Exchange(http.server.BaseHTTPRequestHandler):
    """One connection. A fault takes over the socket; otherwise a script is played."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def log_message(self, *_):
        pass

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if "://" in self.path:  # a proxy request
            self.path = "/" + self.path.split("/", 3)[3]
        self.wire = next((wire for wire in wires.WIRES.values() if wire.path == self.path), None)
        double = self.server.double
        double.heard(self.path, dict(self.headers.items()), body)
        if self.wire is None:
            return self.answer_json(404, wires.Chat.error("not_found_error", "no such route"))
        keys = self.wire.keys(self.headers)
        if double.key and double.key not in keys:
            return self.answer_json(401, self.wire.error(
                "authentication_error", f"the key {keys[0]} is not valid", "invalid_api_key"))
        if body["model"] in faults.FAULTS:
            return faults.FAULTS[body["model"]].act(self, body)
        if body["model"] in faults.UNLISTED:
            return faults.UNLISTED[body["model"]](self, body)
        script = double.scripts.get(body["model"])
        if script is None:
            return self.answer_json(404, self.wire.error(
                "not_found_error", f"there is no model {body['model']}", "model_not_found"))
        self.play(script[min(self.wire.answers_told(body), len(script) - 1)], body)

    def play(self, answer, body):
        self.begin_stream()
        for event in self.wire.events(answer, body):
            self.send_piece(wires.frame(event))
        self.end_stream()

    def answer_json(self, status, value, **headers):
        data = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        for name, text in headers.items():
            self.send_header(name.replace("_", "-"), text)
        self.end_headers()
        self.wfile.write(data)

    def begin_stream(self, status=200, content_type="text/event-stream; charset=utf-8"):
        self.send_response(status)
        self.send_header("Content-Type", content_type)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()

    def send_piece(self, data):
        self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
        self.wfile.flush()

    def end_stream(self):
        self.wfile.write(b"0\r\n\r\n")
        self.wfile.flush()

    def wait_for_close(self, seconds=10):
        """Waits until the peer closes; returns whether it did."""
        self.connection.settimeout(seconds)
        try:
            closed = self.connection.recv(1) == b""
        except ConnectionError:
            closed = True
        except OSError:
            closed = False
        self.close_connection = True
        self.server.double.closed(closed)
        return closed


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def handle_error(self, *_):
        pass  # many tests close the connection on purpose


class ProviderDouble:
    """Serves from start() to stop(); records the requests."""

    def __init__(self, scripts=None, key=None, certificate=None, port=0):
        self.scripts = SCRIPTS if scripts is None else scripts
        self.key = key
        self.requests = []  # {"path", "headers", "body"}
        self.closes = []  # per wait for a close: whether the peer closed
        self.lock = threading.Lock()
        self.server = Server(("127.0.0.1", port), Exchange)
        self.server.double = self
        if certificate:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(*certificate)
            self.server.socket = context.wrap_socket(self.server.socket, server_side=True)
        scheme = "https" if certificate else "http"
        self.url = f"{scheme}://127.0.0.1:{self.server.server_address[1]}"

    def start(self):
        threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.05},
                         daemon=True).start()
        return self

    def stop(self):
        self.server.shutdown()
        self.server.server_close()

    def heard(self, path, headers, body):
        with self.lock:
            self.requests.append({"path": path, "headers": headers, "body": body})

    def closed(self, closed):
        with self.lock:
            self.closes.append(closed)

    def base_url(self, provider):
        """The base URL for the configuration of that provider."""
        return self.url if provider == "anthropic" else self.url + "/v1"


def closed_port():
    """An address at which no process listens."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--key")
    parser.add_argument("--scripts", type=pathlib.Path, help="a JSON object of scripts")
    arguments = parser.parse_args()
    scripts = json.loads(arguments.scripts.read_text()) if arguments.scripts else None
    double = ProviderDouble(scripts, key=arguments.key, port=arguments.port)
    print(f"listening on {double.url}", flush=True)
    double.server.serve_forever()


if __name__ == "__main__":
    main()
