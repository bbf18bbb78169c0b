"""Asks a mailbox in Firefox, from a page of another origin, what ntfy's web app 2.13 asks a server that is not its own
(binwiederhier/ntfy, web/src/app/Api.js and Connection.js). The app itself is in no package of Debian's.

    ntfy_web.py SERVER TOPIC READER PUBLISHER

READER and PUBLISHER are tokens; the reader's name is phone. Prints what it saw, as JSON.
"""

import json
import sys
import tempfile
from pathlib import Path

from firefox import Firefox
from host import Host

script = """
const [server, topic, reader, publisher] = given;
const seen = {};
const bearer = token => ({Authorization: `Bearer ${token}`});
const basic = `Basic ${btoa(`phone:${reader}`)}`;
const inURL = text => btoa(text).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
const status = async (path, options) => (await fetch(`${server}${path}`, options)).status;

seen.auth = [
    await status(`/${topic}/auth`, {headers: bearer(reader)}),
    await status(`/${topic}/auth`, {headers: bearer("tk_wrong")}),
    await status(`/${topic}/auth`, {headers: bearer(publisher)}),
];
const socket = new WebSocket(
    `${server.replace("http", "ws")}/${topic}/ws?since=none&auth=${inURL(basic)}`);
const heard = [];
await new Promise((resolve, reject) => {
    socket.onmessage = ({data}) => {
        heard.push(JSON.parse(data));
        if (heard.length === 1) resolve();
    };
    socket.onclose = () => reject(new Error("the socket closed"));
});
const events = new EventSource(`${server}/${topic}/sse?since=none&auth=${inURL(`Bearer ${reader}`)}`);
const told = [];
await new Promise((resolve, reject) => {
    events.addEventListener("open", resolve);
    events.onerror = () => reject(new Error("no events"));
});
events.onmessage = ({data}) => told.push(JSON.parse(data).message);

seen.json = await status("/", {method: "PUT", headers: bearer(publisher),
    body: JSON.stringify({topic, message: "by JSON", title: "T", tags: ["a"], priority: 4})});
seen.xhr = await new Promise(resolve => {
    const request = new XMLHttpRequest();
    request.open("PUT", `${server}/${topic}`);
    for (const [key, value] of Object.entries({...bearer(publisher), "X-Title": "X", "X-Priority": "5"}))
        request.setRequestHeader(key, value);
    request.onloadend = () => resolve([request.status, JSON.parse(request.responseText).title]);
    request.send("by XHR");
});
seen.refused = await (await fetch(`${server}/${topic}`, {method: "PUT", headers: {
    ...bearer(publisher), "X-Attach": "https://x/"}, body: "x"})).json();
seen.deleted = await status(`/${topic}/job`, {method: "DELETE", headers: bearer(publisher)});
while (heard.length < 4 || told.length < 2) await new Promise(resolve => setTimeout(resolve, 20));
seen.socket = heard.map(({event, message}) => message ?? event);
seen.events = told;
const poll = await fetch(`${server}/${topic}/json?poll=1`, {headers: {Authorization: basic}});
seen.poll = (await poll.text()).trim().split("\\n").map(line => JSON.parse(line)).map(({title}) => title ?? null);
socket.onclose = null;
socket.close();
events.close();
return JSON.stringify(seen);
"""

with tempfile.TemporaryDirectory() as folder:
    (Path(folder) / "index.html").write_text("<!doctype html><title>another origin</title>")
    page = Host(folder)
    # It talks to no push service.
    firefox = Firefox("ws://127.0.0.1:9/")
    try:
        firefox.open(page.origin + "/index.html")
        print(json.dumps(json.loads(firefox.run(script, *sys.argv[1:]))))
    finally:
        firefox.stop()
        page.stop()
