"""Runs the judges from npm: the SDKs of the protocols, in the Node that ./dev installs."""

import os
import pathlib
import subprocess

HERE = pathlib.Path(__file__).resolve().parent
PACKAGES = pathlib.Path(os.environ.get("AGENTRT_NODE_PACKAGES", "build/node"))
MODULES = PACKAGES / "node_modules"


def node():
    """A newer Node than Debian's, which some packages need."""
    found = sorted(MODULES.glob("node-linux-*/bin/node"))
    return str(found[0]) if found else "node"


def judge(script, *arguments, timeout=120, **environment):
    """Runs a judge of this folder with the packages from npm; fails the test if it fails."""
    done = subprocess.run(
        [node(), str(HERE / script), *map(str, arguments)], text=True, capture_output=True,
        timeout=timeout, cwd=str(PACKAGES),
        env={**os.environ, "AGENTRT_NODE_PACKAGES": str(PACKAGES), **environment})
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


class Forwarder:
    """Adds the token to each request, for judges that cannot send one."""

    def __init__(self, daemon, token=None):
        import http.client
        import http.server
        import threading

        token = token or daemon.token

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_):
                pass

            def forward(self):
                body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                connection = http.client.HTTPConnection("127.0.0.1", daemon.port, timeout=60)
                headers = {k: v for k, v in self.headers.items()
                           if k.lower() not in ("connection", "content-length")}
                headers["Authorization"] = f"Bearer {token}"
                connection.request(self.command, self.path, body or None, headers)
                answer = connection.getresponse()
                self.send_response(answer.status)
                length = answer.getheader("Content-Length")
                for name, value in answer.getheaders():
                    if name.lower() not in ("connection", "transfer-encoding"):
                        self.send_header(name, value)
                self.send_header("Connection", "close")
                self.end_headers()
                self.close_connection = True
                if length is not None:
                    self.wfile.write(answer.read())
                while length is None:
                    piece = answer.read1(65536)
                    if not piece:
                        break
                    self.wfile.write(piece)
                    self.wfile.flush()
                connection.close()

            do_GET = do_POST = do_DELETE = do_OPTIONS = forward

        class Server(http.server.ThreadingHTTPServer):
            daemon_threads = True

            def handle_error(self, *_):
                """A client that closes early is not an error."""

        self.server = Server(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.url = f"http://localhost:{self.server.server_port}"

    def close(self):
        self.server.shutdown()
        self.server.server_close()
