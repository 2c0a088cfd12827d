"""An MCP server that requires a login, and its authorization server, played by the test.

`Auth.options` says how they misbehave. `Auth.seen` has every request as a tuple of method, path,
headers and body.
"""

import base64
import hashlib
import http.server
import json
import secrets
import threading
import time
import urllib.parse

TOOLS = [{"name": "echo", "inputSchema": {"type": "object"}},
         {"name": "write", "inputSchema": {"type": "object"}}]


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 256

    def handle_error(self, *_):
        """A client that closes early is not an error."""


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def body(self):
        return self.rfile.read(int(self.headers.get("Content-Length") or 0)).decode()

    def give(self, status, document=None, **headers):
        body = b"" if document is None else (
            document if isinstance(document, bytes) else json.dumps(document).encode())
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def endless(self):
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.end_headers()
        while True:
            self.wfile.write(b" " * 65536)

    def do_GET(self):
        self.server.auth.serve(self, "GET", "")

    def do_POST(self):
        self.server.auth.serve(self, "POST", self.body())

    def do_DELETE(self):
        self.give(200)


class Auth:
    """Both servers, at two ports of this machine."""

    def __init__(self, **options):
        self.options = options
        self.seen, self.lock = [], threading.Lock()
        self.codes, self.access, self.refresh = {}, {}, {}
        self.issued = []  # every secret that was given out
        self.registered = 0
        self.hold = threading.Event()  # token requests wait while options["hold"] is set
        self.servers = []
        for _ in range(2):
            server = Server(("127.0.0.1", 0), Handler)
            server.auth = self
            self.servers.append(server)
            threading.Thread(target=server.serve_forever, daemon=True).start()
        self.origin = f"http://127.0.0.1:{self.servers[0].server_port}"
        self.issuer = f"http://127.0.0.1:{self.servers[1].server_port}"
        self.url = self.origin + "/mcp"

    def close(self):
        self.hold.set()
        for server in self.servers:
            server.shutdown()
            server.server_close()

    def requests(self, path):
        return [each for each in self.seen if each[1].startswith(path)]

    def serve(self, handler, method, body):
        path, _, query = handler.path.partition("?")
        with self.lock:
            self.seen.append((method, path, dict(handler.headers), body))
        if path in self.options.get("endless", ()):
            return handler.endless()
        if path in self.options.get("redirect", {}):
            return handler.give(302, Location=self.options["redirect"][path])
        if path == "/mcp":
            return self.mcp(handler, method, body)
        if path.startswith("/.well-known/oauth-protected-resource"):
            return handler.give(200, self.options.get("resource_document") or {
                "resource": self.options.get("resource", self.url),
                "authorization_servers": [self.options.get("named_issuer", self.issuer)],
                "scopes_supported": ["read"]})
        if path == "/.well-known/oauth-authorization-server":
            return handler.give(200, self.metadata())
        if path == "/register":
            with self.lock:
                self.registered += 1
            return handler.give(201, {"client_id": f"client-{self.registered}",
                                      **json.loads(body)})
        if path == "/authorize":
            return self.authorize(handler, dict(urllib.parse.parse_qsl(query)))
        if path == "/token":
            return self.token(handler, dict(urllib.parse.parse_qsl(body)))
        if path == "/revoke":
            fields = dict(urllib.parse.parse_qsl(body))
            with self.lock:
                self.refresh.pop(fields["token"], None)
                self.access.clear()
            return handler.give(self.options.get("revoke_status", 200), {})
        return handler.give(404, {})

    def metadata(self):
        found = {"issuer": self.options.get("issuer", self.issuer),
                 "authorization_endpoint": self.issuer + "/authorize",
                 "token_endpoint": self.options.get("token_endpoint", self.issuer + "/token"),
                 "registration_endpoint": self.issuer + "/register",
                 "scopes_supported": ["read", "write"],
                 "token_endpoint_auth_methods_supported": ["none"],
                 "code_challenge_methods_supported": self.options.get("pkce", ["S256"])}
        if self.options.get("promises_iss"):
            found["authorization_response_iss_parameter_supported"] = True
        if not self.options.get("no_revocation"):
            found["revocation_endpoint"] = self.issuer + "/revoke"
        return found

    def authorize(self, handler, fields):
        code = secrets.token_urlsafe(24)
        with self.lock:
            self.codes[code] = fields
            self.issued.append(code)
        answer = {"code": code, "state": fields["state"]}
        if self.options.get("denied"):
            answer = {"error": "access_denied", "error_description": "The person said no.",
                      "state": fields["state"]}
        if self.options.get("state"):
            answer["state"] = self.options["state"]
        if self.options.get("iss"):
            answer["iss"] = self.options["iss"]
        handler.give(302, Location=fields["redirect_uri"] + "?" + urllib.parse.urlencode(answer))

    def tokens(self, scope):
        access, refresh = secrets.token_urlsafe(32), secrets.token_urlsafe(32)
        life = self.options.get("expires_in", 3600)
        with self.lock:
            self.access[access] = (time.monotonic() + self.options.get("valid_s", 3600),
                                   scope.split())
            self.issued += [access, refresh]
            given = {"access_token": access, "token_type": "Bearer", "expires_in": life,
                     "scope": scope}
            if not self.options.get("no_refresh"):
                self.refresh[refresh] = scope
                given["refresh_token"] = refresh
        return given

    def token(self, handler, fields):
        if self.options.get("hold"):
            self.hold.wait(60)
        if self.options.get("token_status"):
            return handler.give(self.options["token_status"], {})
        kind = fields["grant_type"]
        if kind == "authorization_code":
            with self.lock:
                asked = self.codes.pop(fields["code"], None)
            challenge = base64.urlsafe_b64encode(
                hashlib.sha256(fields["code_verifier"].encode()).digest()).rstrip(b"=").decode()
            with self.lock:
                self.issued.append(fields["code_verifier"])
            if (asked is None or asked["code_challenge"] != challenge
                    or asked["redirect_uri"] != fields["redirect_uri"]
                    or asked["resource"] != fields["resource"]):
                return handler.give(400, {"error": "invalid_grant", "error_description":
                                          "no such code: " + fields["code"]})
            return handler.give(200, self.tokens(asked.get("scope", "read")))
        if kind == "refresh_token":
            with self.lock:  # each refresh token works once
                scope = self.refresh.pop(fields["refresh_token"], None)
            if scope is None:
                return handler.give(400, {"error": "invalid_grant"})
            given = self.tokens(scope)
            if self.options.get("lose_reply"):
                handler.close_connection = True
                return handler.connection.close()
            return handler.give(200, given)
        return handler.give(400, {"error": "unsupported_grant_type"})

    def mcp(self, handler, method, body):
        if method != "POST":
            return handler.give(405)
        token = (handler.headers.get("Authorization") or "").removeprefix("Bearer ")
        with self.lock:
            until, scopes = self.access.get(token, (0, []))
        if until < time.monotonic():
            return handler.give(401, {}, WWW_Authenticate=self.options.get(
                "challenge", 'Bearer error="invalid_token", resource_metadata='
                f'"{self.origin}/.well-known/oauth-protected-resource/mcp"'))
        message = json.loads(body)
        asked = message.get("method")
        answer = {"jsonrpc": "2.0", "id": message.get("id")}
        if asked == "initialize":
            answer["result"] = {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}},
                                "serverInfo": {"name": "tickets", "version": "1"}}
        elif asked == "tools/list":
            answer["result"] = {"tools": TOOLS}
        elif asked == "tools/call" and message["params"]["name"] == "write" \
                and "write" not in scopes:
            return handler.give(403, {}, WWW_Authenticate='Bearer error="insufficient_scope", '
                                'scope="read write"')
        elif asked == "tools/call":
            answer["result"] = {"content": [{"type": "text", "text": "done"}]}
        elif asked == "ping":
            answer["result"] = {}
        else:
            return handler.give(202)
        handler.give(200, answer)
