"""A small WebSocket client on the standard library, for tests that speak JSON-RPC to /v1/ws."""

import base64
import json
import os
import socket
import ssl
import struct

TEXT, CLOSE, PING, PONG = 1, 8, 9, 10


class Closed(Exception):
    """The server closed the connection; `code` is its close code, or None."""

    def __init__(self, code):
        super().__init__(f"closed with {code}")
        self.code = code


class Refused(Exception):
    """The handshake was answered with an HTTP status other than 101."""

    def __init__(self, status):
        super().__init__(f"refused with {status}")
        self.status = status


class WebSocket:
    def __init__(self, port=None, token=None, path=None, headers=None, timeout=15, context=None):
        """Connects to a TCP port of this machine, or to a Unix socket."""
        if path:
            self.socket = socket.socket(socket.AF_UNIX)
            self.socket.settimeout(timeout)
            self.socket.connect(str(path))
        else:
            self.socket = socket.create_connection(("127.0.0.1", port), timeout=timeout)
        if context:
            self.socket = context.wrap_socket(self.socket, server_hostname="localhost")
        self.buffer, self.notifications, self.replies, self.last_id = b"", [], {}, 0
        self.requests = []
        self.pongs = True  # answer pings
        lines = ["GET /v1/ws HTTP/1.1", "Host: localhost", "Connection: Upgrade",
                 "Upgrade: websocket", "Sec-WebSocket-Version: 13",
                 "Sec-WebSocket-Key: " + base64.b64encode(os.urandom(16)).decode()]
        if token:
            lines.append(f"Authorization: Bearer {token}")
        lines += [f"{name}: {value}" for name, value in (headers or {}).items()]
        self.socket.sendall("\r\n".join(lines + ["", ""]).encode())
        while b"\r\n\r\n" not in self.buffer:
            self._receive()
        head, self.buffer = self.buffer.split(b"\r\n\r\n", 1)
        self.head = head.decode()
        status = int(self.head.split()[1])
        if status != 101:
            raise Refused(status)

    def _receive(self):
        data = self.socket.recv(65536)
        if not data:
            raise Closed(None)
        self.buffer += data

    def _take(self, size):
        while len(self.buffer) < size:
            self._receive()
        data, self.buffer = self.buffer[:size], self.buffer[size:]
        return data

    def send_frame(self, opcode, payload, first=None):
        mask = os.urandom(4)
        size = len(payload)
        header = bytes([first if first is not None else 0x80 | opcode])
        if size < 126:
            header += bytes([0x80 | size])
        elif size < 65536:
            header += b"\xfe" + struct.pack(">H", size)
        else:
            header += b"\xff" + struct.pack(">Q", size)
        masked = bytes(b ^ mask[i % 4] for i, b in enumerate(payload))
        self.socket.sendall(header + mask + masked)

    def send(self, message):
        text = message if isinstance(message, str) else json.dumps(message)
        self.send_frame(TEXT, text.encode())

    def read_text(self):
        """The next text message, undecoded."""
        while True:
            first, second = self._take(2)
            size = second & 0x7f
            if size == 126:
                size = struct.unpack(">H", self._take(2))[0]
            elif size == 127:
                size = struct.unpack(">Q", self._take(8))[0]
            payload = self._take(size)
            opcode = first & 0x0f
            if opcode == PING and self.pongs:
                self.send_frame(PONG, payload)
            elif opcode == CLOSE:
                raise Closed(struct.unpack(">H", payload[:2])[0] if len(payload) >= 2 else None)
            elif opcode == TEXT:
                return payload.decode()

    def _sort(self):
        """Reads one message and keeps it where it belongs."""
        text = self.read_text()
        message = json.loads(text)
        if "method" not in message:
            self.replies[message["id"]] = message
        elif "id" in message:
            self.requests.append(message)
        else:
            message["raw"] = text
            self.notifications.append(message)

    def start(self, method, **params):
        self.last_id += 1
        self.send({"jsonrpc": "2.0", "id": self.last_id, "method": method, "params": params})
        return self.last_id

    def wait(self, identity):
        while identity not in self.replies:
            self._sort()
        return self.replies.pop(identity)

    def call(self, method, **params):
        """The result of a call, or its error, as the reply has it."""
        reply = self.wait(self.start(method, **params))
        return reply.get("result", reply.get("error"))

    def next_notification(self):
        while not self.notifications:
            self._sort()
        return self.notifications.pop(0)

    def next_request(self):
        while not self.requests:
            self._sort()
        return self.requests.pop(0)

    def events(self):
        """The events that follow, as stored bytes and decoded."""
        while True:
            note = self.next_notification()
            if note["method"] == "event":
                raw = note["raw"]
                start = raw.index('"event":') + len('"event":')
                yield raw[start:raw.rindex("}}")], note["params"]["event"]

    def close(self):
        self.socket.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def trusting(certificate):
    """An SSL context that trusts this certificate."""
    return ssl.create_default_context(cafile=str(certificate))
