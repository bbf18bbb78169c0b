"""A push service as Firefox sees Mozilla's: a websocket that hands out endpoints and carries pushes.

Protocol: Firefox, `PushServiceWebSocket.sys.mjs`.
"""

import base64
import json
import secrets
import socket
import threading
import uuid

from websockets.exceptions import ConnectionClosed
from websockets.sync.server import serve

host = "https://updates.push.services.mozilla.com"


class PushService:
    def __init__(self):
        self.server = serve(self.converse, "127.0.0.1", 0, subprotocols=["push-notification"], ping_interval=None)
        self.port = self.server.socket.getsockname()[1]
        self.channels = {}  # by endpoint: channelID
        self.keys = {}  # by endpoint: the VAPID key it was made for
        self.acknowledged = {}  # by version: code
        self.unacknowledged = {}  # by version: what a browser gets again when it comes back, as Mozilla's does it
        self.uaid = None
        self.browser = None
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def converse(self, browser):
        try:
            for text in browser:
                request = json.loads(text)
                answer = self.answer(request, browser)
                if answer is not None:
                    browser.send(json.dumps(answer))
                if request.get("messageType") == "hello":
                    # From here on pushes are sent at once.
                    self.browser = browser
                    for message in list(self.unacknowledged.values()):
                        browser.send(message)
        except ConnectionClosed:
            pass  # Firefox comes back by itself.

    def answer(self, request, browser):
        kind = request.get("messageType")
        if kind == "hello":
            self.uaid = self.uaid or uuid.uuid4().hex
            return {"messageType": "hello", "uaid": self.uaid, "status": 200, "use_webpush": True, "broadcasts": {}}
        if kind == "register":
            # As long as Mozilla's: a Fernet token of 64 bytes.
            endpoint = f"{host}/wpush/v2/gAAAAAB{secrets.token_urlsafe(132)}"
            self.channels[endpoint] = request["channelID"]
            self.keys[endpoint] = request["key"].rstrip("=")
            return {
                "messageType": "register",
                "channelID": request["channelID"],
                "status": 200,
                "pushEndpoint": endpoint,
            }
        if kind == "unregister":
            self.drop(request["channelID"])
            return {"messageType": "unregister", "channelID": request["channelID"], "status": 200}
        if kind == "ack":
            for update in request["updates"]:
                self.ended(update["version"], update["code"])
        if kind == "nack":
            self.ended(request["version"], request["code"])
        if kind == "broadcast_subscribe":
            return {"messageType": "broadcast", "broadcasts": {}}
        return {} if kind is None else None

    def ended(self, version, code):
        self.acknowledged[version] = code
        self.unacknowledged.pop(version, None)

    def drop(self, channel):
        self.channels = {endpoint: name for endpoint, name in self.channels.items() if name != channel}

    def push(self, endpoint, body):
        """Hands a body on; its version, under which the browser acknowledges it."""
        version = secrets.token_hex(8)
        message = {
            "messageType": "notification",
            "channelID": self.channels[endpoint],
            "version": version,
            "data": base64.urlsafe_b64encode(body).rstrip(b"=").decode(),
            "headers": {"encoding": "aes128gcm"},
        }
        self.unacknowledged[version] = json.dumps(message)
        try:
            self.browser.send(self.unacknowledged[version])
        except ConnectionClosed:
            pass  # It gets it when it is back.
        return version

    def forget_browser(self):
        """Another uaid than it had makes the browser drop its subscriptions; it learns that when it comes back."""
        self.uaid = None
        self.channels = {}
        self.unacknowledged = {}
        self.browser.socket.shutdown(socket.SHUT_RDWR)

    def stop(self):
        self.server.shutdown()
