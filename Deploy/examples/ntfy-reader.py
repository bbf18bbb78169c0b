#!/usr/bin/env python3
"""Reads a mailbox over Tor with aiontfy, a client of ntfy that knows nothing of this project, or as ntfy subscribe does.

  Deploy/examples/ntfy-reader.py URL --socks 127.0.0.1:9050 [--seen FILE] <TOKEN

URL is the mailbox's ntfy address, TOKEN a reader's token. Prints a JSON object for each message. --seen keeps the id of
the last one: the next call, and each new connection, goes on behind it. --json reads lines in place of the WebSocket that
aiontfy has. Ends with 1 where the node itself refuses the token or the topic: no other try helps. Needs aiontfy and aiohttp-socks from PyPI.
"""
import argparse
import asyncio
import json
import pathlib
import secrets
import sys
import types

import aiohttp
from aiohttp_socks import ProxyConnector
from aiontfy import Event, Ntfy
from aiontfy.exceptions import NtfyHTTPError, raise_http_error

parser = argparse.ArgumentParser()
parser.add_argument("url")
parser.add_argument("--socks")
parser.add_argument("--seen", type=pathlib.Path)
parser.add_argument("--json", action="store_true")
options = parser.parse_args()
token = sys.stdin.readline().strip()
server, topic = options.url.rsplit("/", 1)
last = options.seen.read_text() if options.seen and options.seen.exists() else "all"


def keep(seen):
    # Whole or not at all: half an id would be none.
    unfinished = options.seen.with_suffix(".new")
    unfinished.write_text(seen)
    unfinished.replace(options.seen)


def take(notification):
    global last
    if notification.event != Event.MESSAGE:
        return
    shown = {"id": notification.id, "title": notification.title, "message": notification.message}
    print(json.dumps(shown), flush=True)
    last = notification.id
    if options.seen:
        keep(last)


def named(error):
    # Not its text: that may have the request's head with the token.
    return f"{type(error).__name__} {getattr(error, 'status', '')}".strip()


async def lines(session):
    # Two keep-alives may be late, as with the app for Android.
    patience = aiohttp.ClientTimeout(total=None, sock_read=77)
    fields = {"Authorization": f"Bearer {token}"}
    async with session.get(f"{server}/{topic}/json", headers=fields, timeout=patience) as answer:
        if answer.status >= 400 and answer.content_type == "application/json":
            raise_http_error(**await answer.json())
        answer.raise_for_status()
        async for line in answer.content:
            take(types.SimpleNamespace(**{"title": None, "message": None} | json.loads(line)))


async def read():
    while True:
        # A name of its own for each connection makes tor use a new circuit. On the last one's, a node that was killed
        # would be waited for until tor gives it up, which takes minutes.
        proxy = f"socks5://{secrets.token_hex(8)}:x@{options.socks}"
        connector = ProxyConnector.from_url(proxy, rdns=True) if options.socks else None
        # aiontfy itself has no way to say what was seen; ntfy takes it from a field of the request's head as well.
        session = aiohttp.ClientSession(connector=connector, headers={"X-Since": last})
        async with session:
            try:
                if options.json:
                    await lines(session)
                else:
                    await Ntfy(server, session, token=token).subscribe([topic], take)
                reason = "the connection has ended"
            except NtfyHTTPError as error:
                # In ntfy's own form: a proxy before a node that is away does not speak so.
                if error.http in (401, 403, 404):
                    sys.exit(f"the node refuses: {error}")
                reason = named(error)
            except Exception as error:  # of aiontfy, and of the proxy library: whatever it is, try again
                reason = named(error)
        print(f"{reason}; trying again", file=sys.stderr, flush=True)
        await asyncio.sleep(1)


try:
    asyncio.run(read())
except KeyboardInterrupt:
    pass
