"""A phone beside a node that runs elsewhere: the page on a static host, and a real Firefox. Deploy/tools/package-test leads it.

phone.py FOLDER PUSH-SERVICE

Prints the page's address. Reads the node's link, pairs, and prints the pairing token. Then for each line that it reads it
waits until a notification with this text is shown and listed, and prints "shown".
"""

import sys

from firefox import Firefox, PageInFirefox
from host import Host


class Phone(PageInFirefox):
    def __init__(self, push_service):
        self.firefox = Firefox(push_service)

    def pair(self, link):
        self.firefox.open(link)
        self.firefox.click("Turn on notifications")
        return self.token_after_yes()


def say(text):
    print(text, flush=True)


def main(folder, push_service):
    host = Host(folder)
    phone = Phone(push_service)
    try:
        say(f"{host.origin}/phone/")
        say(phone.pair(sys.stdin.readline().strip()))
        for line in sys.stdin:
            phone.shows(line.strip())
            phone.go("#/")
            phone.listed(line.strip())
            say("shown")
    finally:
        phone.firefox.stop()
        host.stop()


if __name__ == "__main__":
    main(*sys.argv[1:])
