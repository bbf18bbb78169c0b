"""Pictures of every screen of the console, on a phone and on desktops, in light and dark: to be looked at, and for the README and
articles. They show the node of `console_walk_checks`, whose phones, mailbox and strangers were rung."""

from PIL import Image

import console_walk_checks
from chromium import Chromium
from console_walk_checks import ring, steps

sizes = {"phone": (390, 844), "desktop": (1280, 900), "wide": (1920, 1080)}
screens = {
    "start": "#/", "phones": "#/phones", "now": "#/now", "people": "#/people", "keep": "#/keep",
    "settings": "#/settings", "access": "#/access", "ways": "#/ways",
}  # fmt: skip


def take(root, folder, out):
    out.mkdir(parents=True, exist_ok=True)
    lab = console_walk_checks.Lab(root, folder)
    browser = Chromium()
    try:
        world = console_walk_checks.World(lab, "node", browser)
        with world.page(world.link()) as page:
            page.says("Let your Bisq")
            # All but the move to another machine.
            for step in steps[:-1]:
                step(world, page)
            pictures_of(page, out)
        with world.page(f"{world.origin}/") as page:
            page.says("Your node")
            shoot(page, out, "login")
    finally:
        browser.stop()
        lab.stop()


def pictures_of(page, out):
    page.go("#/phones")
    for name in ("bert", "anna"):
        ring(page, name)
    page.go("#/now")
    page.run("document.querySelector('#reach button').click()")
    page.says("The node can be reached")
    page.says("The node is well")
    for name, fragment in screens.items():
        page.go(fragment)
        shoot(page, out, name)
    page.go("#/settings")
    page.run(
        """document.getElementById('log.level').value = 'debug';
        document.getElementById('tor.mode').value = 'system'"""
    )
    page.tap("Show the change")
    page.says("Difference")
    shoot(page, out, "difference")
    page.go("#/now")
    page.size(1280, 1000)
    for scheme in ("light", "dark"):
        page.appearance(scheme)
        page.settle()
        page.picture(out / f"rings-{scheme}.png")
        publish(out, f"rings-{scheme}", "now", scheme)
        for name in ("start", "phones", "keep"):
            publish(out, f"{name}-phone-{scheme}", name, scheme)


def publish(out, picture, name, scheme):
    """A picture of half the pixels, by the name that documents have for it."""
    whole = Image.open(out / f"{picture}.png").convert("RGB")
    small = whole.resize((whole.width // 2, whole.height // 2), Image.LANCZOS)
    end = "" if scheme == "light" else "~dark"
    small.quantize(256, method=Image.Quantize.MEDIANCUT, kmeans=3, dither=Image.Dither.NONE).save(out / f"console-{name}{end}.png", optimize=True)


def shoot(page, out, name):
    for size, (width, height) in sizes.items():
        page.size(width, height)
        for scheme in ("light", "dark"):
            page.appearance(scheme)
            page.run("document.getElementById('toast').classList.remove('is-shown')")
            page.settle()
            page.picture(out / f"{name}-{size}-{scheme}.png")
