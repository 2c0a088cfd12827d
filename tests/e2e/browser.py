"""A scripted browser for `agentrt mcp login`: opens the address that the command prints, follows
the redirects, and so reaches the listener of the command."""

import http.client
import json
import subprocess
import threading
import urllib.parse

from harness import BINARY


def visit(url, follow=10):
    """The last URL, status and body; follows redirects like a browser."""
    for _ in range(follow):
        parts = urllib.parse.urlsplit(url)
        connection = http.client.HTTPConnection(parts.netloc, timeout=60)
        connection.request("GET", f"{parts.path or '/'}?{parts.query}")
        answer = connection.getresponse()
        body = answer.read().decode(errors="replace")
        location = answer.getheader("Location")
        connection.close()
        if answer.status not in (301, 302, 303, 307, 308) or not location:
            return url, answer.status, body
        url = urllib.parse.urljoin(url, location)
    raise AssertionError("the browser was redirected too often")


def address_in(lines):
    """The address to open, in the output of the command."""
    for line in lines:
        if line.startswith("{"):
            opening = json.loads(line)
            if "authorizationUrl" in opening:
                return opening["authorizationUrl"]
        if line.startswith("  http"):
            return line.strip()
    return None


class Login:
    """`agentrt mcp login` in the background, up to the address that it prints."""

    def __init__(self, home, server, *options, **environment):
        self.lines = []
        self.process = subprocess.Popen(
            [BINARY, "mcp", "login", server, *options], cwd=home.workspace, text=True,
            env={**home.environment, **environment}, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE)
        self.address = None
        for line in self.process.stdout:
            self.lines.append(line.rstrip("\n"))
            self.address = address_in(self.lines)
            if self.address:
                break

    def paste(self, text):
        self.process.stdin.write(text + "\n")
        self.process.stdin.flush()

    def finish(self, timeout=100):
        out, errors = self.process.communicate(timeout=timeout)
        return subprocess.CompletedProcess(
            self.process.args, self.process.returncode, "\n".join(self.lines) + "\n" + out, errors)


def log_in(home, server, *options, change=lambda url: url, **environment):
    """The whole login. `change` alters the address that the browser visits."""
    login = Login(home, server, *options, **environment)
    if login.address:
        browser = threading.Thread(target=lambda: visit(change(login.address)), daemon=True)
        browser.start()
    return login.finish()
