"""Pictures of every screen of the console, on a phone and on a desktop, in light and dark: to be looked at, and for an article."""

from PIL import Image


sizes = {"phone": (390, 844), "desktop": (1280, 900)}
screens = {
    "start": "#/", "phones": "#/phones", "now": "#/now", "people": "#/people", "keep": "#/keep",
    "settings": "#/settings", "access": "#/access", "ways": "#/ways",
}  # fmt: skip
token = "android|Pixel 8|Dk9erQ51RUOo8bV1IvaGpE99prQKLUdS|" + "a" * 140


def fill(page):
    page.go("#/phones")
    page.run("document.getElementById('name').value = 'alice'")
    page.run("document.getElementById('token').value = given[0]", token)
    page.tap("Add")
    page.says("alice")


def take(world, out):
    out.mkdir(parents=True, exist_ok=True)
    with world.page(world.origin + "/") as page:
        page.says("Your node")
        shoot(page, out, "login")
    with world.page(world.link()) as page:
        page.says("Let your Bisq")
        fill(page)
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
    for scheme in ("light", "dark"):
        for name in ("start", "phones", "keep"):
            picture = Image.open(out / f"{name}-phone-{scheme}.png").convert("RGB")
            small = picture.resize((picture.width // 2, picture.height // 2), Image.LANCZOS)
            end = "" if scheme == "light" else "~dark"
            small.quantize(64, method=Image.Quantize.MAXCOVERAGE).save(out / f"console-{name}{end}.png", optimize=True)


def shoot(page, out, name):
    for size, (width, height) in sizes.items():
        page.size(width, height)
        for scheme in ("light", "dark"):
            page.appearance(scheme)
            page.run(
                "document.getElementById('toast').classList.remove('is-shown'); await new Promise(done => setTimeout(done, 200))"
            )
            page.picture(out / f"{name}-{size}-{scheme}.png")
