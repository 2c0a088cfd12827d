"""An https server on this machine whose pages a test chooses, and its certificate."""

import http.server
import pathlib
import ssl
import subprocess
import sys
import threading

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "e2e"))
sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "providers"))


def certificate(folder):
    """Makes a certificate for localhost, 127.0.0.1 and 127.0.0.2; returns its two files."""
    files = folder / "web_cert.pem", folder / "web_key.pem"
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2",
                    "-subj", "/CN=web", "-addext",
                    "subjectAltName=DNS:localhost,IP:127.0.0.1,IP:127.0.0.2",
                    "-out", files[0], "-keyout", files[1]], check=True, capture_output=True)
    return files


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        self.server.web.requests.append((self.path, dict(self.headers)))
        answer = self.server.web.pages.get(self.path.partition("?")[0])
        if callable(answer):
            return answer(self)
        self.answer(*(answer or (404, {"Content-Type": "text/plain"}, b"no such page")))

    def answer(self, status, headers, body):
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    address_family = 2  # IPv4

    def handle_error(self, *_):
        pass  # a client that closes early is part of many tests


class WebServer:
    """Serves `pages`, {path: (status, headers, body) or function(handler)}, on 127.0.0.1 and
    127.0.0.2; records the requests."""

    def __init__(self, folder, pages):
        self.pages = pages
        self.requests = []  # (path, headers)
        self.files = certificate(folder)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(*self.files)
        self.server = Server(("0.0.0.0", 0), Handler)
        self.server.web = self
        self.server.socket = context.wrap_socket(self.server.socket, server_side=True,
                                                 do_handshake_on_connect=False)
        self.port = self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.05},
                         daemon=True).start()

    def url(self, path="/", host="127.0.0.1"):
        return f"https://{host}:{self.port}{path}"

    def paths(self):
        return [path for path, _ in self.requests]

    def stop(self):
        self.server.shutdown()
        self.server.server_close()
