"""A static web host on localhost that can go down, and remembers what it was asked for."""

import functools
import http.server
import threading

from checks import free_port


class Handler(http.server.SimpleHTTPRequestHandler):
    # HTTP/1.0: a kept connection would go on serving after the host is down, and "offline" would prove nothing.
    protocol_version = "HTTP/1.0"

    def end_headers(self):
        self.send_header("Cache-Control", "no-cache")
        super().end_headers()

    def log_message(self, *_):
        self.server.requests.append(self.path)


class Host:
    def __init__(self, folder):
        self.folder = folder
        # It comes back at the port that it had, so nobody may take that meanwhile.
        self.port = free_port()
        self.start()

    def start(self):
        handler = functools.partial(Handler, directory=str(self.folder))
        http.server.ThreadingHTTPServer.allow_reuse_address = True
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", self.port), handler)
        self.server.requests = []
        threading.Thread(target=self.server.serve_forever, args=(0.05,), daemon=True).start()

    @property
    def origin(self):
        return f"http://localhost:{self.port}"

    @property
    def requests(self):
        return self.server.requests

    def stop(self):
        self.server.shutdown()
        self.server.server_close()
