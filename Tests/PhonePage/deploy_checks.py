"""The folder that Deploy/phone-page writes, and the files it is made of."""

import json
import re
import subprocess

import bisq
from checks import equal


def deploy(root, *arguments):
    return subprocess.run([root / "Deploy/phone-page", *arguments], capture_output=True, text=True)


def the_folder_has_its_sums_and_lists_every_file(root, work):
    out = work / "folder"
    equal(deploy(root, out).returncode, 0)
    equal(subprocess.run(["sha256sum", "--check", "--strict", "--quiet", "SHA256SUMS"], cwd=out).returncode, 0)
    files = {str(path.relative_to(out)) for path in out.rglob("*") if path.is_file()}
    equal({line[66:] for line in (out / "SHA256SUMS").read_text().splitlines()}, files - {"SHA256SUMS"})
    cached = set(re.findall(r'^    "(.*)",$', (out / "deployed.js").read_text(), re.M))
    equal(cached, files - {"index.html", "worker.js", "SHA256SUMS"} | {"./"})


def the_version_follows_the_key_and_every_byte(root, work):
    version = lambda out: re.search(r'version = "([0-9a-f]{16})"', (out / "deployed.js").read_text())[1]
    plain, again, baked = work / "plain", work / "again", work / "baked"
    key = bisq.vapid_key()
    for arguments in ([plain], [again], [baked, "--vapid", key]):
        equal(deploy(root, *arguments).returncode, 0)
    equal(version(plain), version(again))
    assert version(plain) != version(baked)
    assert f'vapidKey = "{key}"' in (baked / "deployed.js").read_text()


def what_is_no_key_and_what_is_anothers_folder_is_refused(root, work):
    key = bisq.vapid_key()
    for wrong in (key[:-1], key + "A", "A" + key[1:], key[:-1] + "B", ""):
        assert deploy(root, work / "wrong", "--vapid", wrong).returncode != 0 or wrong == "", wrong
    other = work / "others"
    other.mkdir()
    (other / "mine.txt").write_text("kept")
    equal(deploy(root, other).returncode, 73)
    equal((other / "mine.txt").read_text(), "kept")
    again = work / "folder"
    (again / "CNAME").write_text("kept")
    equal(deploy(root, again).returncode, 0)
    equal((again / "CNAME").read_text(), "kept")


def every_language_has_the_same_texts_and_values(root, _):
    texts = {}
    for path in sorted((root / "Sources/PhonePage/languages").glob("*.js")):
        body = path.read_text().removeprefix("export default ").rstrip().removesuffix(";")
        body = re.sub(r"^    (\w+):", r'    "\1":', body, flags=re.M).replace(",\n}", "\n}")
        texts[path.stem] = json.loads(body)
    equal(sorted(texts), ["de", "en", "es", "fr", "pt", "ru"])
    values = lambda text: sorted(re.findall(r"\{\w+\}", text))
    for language, found in texts.items():
        equal((language, list(found)), (language, list(texts["en"])))
        for name, text in found.items():
            assert text.strip(), (language, name)
            equal((language, name, values(text)), (language, name, values(texts["en"][name])))
        same = [
            name for name in found if language != "en" and len(found[name]) > 20 and found[name] == texts["en"][name]
        ]
        equal((language, same), (language, []))


def no_file_is_over_350_lines_and_none_has_inline_code(root, _):
    for path in (root / "Sources/PhonePage").rglob("*"):
        if path.suffix in (".js", ".css", ".html"):
            assert len(path.read_text().splitlines()) <= 350, path
        if path.suffix == ".js":
            assert not re.search(
                r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function", path.read_text()
            ), path


checks = [
    the_folder_has_its_sums_and_lists_every_file,
    the_version_follows_the_key_and_every_byte,
    what_is_no_key_and_what_is_anothers_folder_is_refused,
    every_language_has_the_same_texts_and_values,
    no_file_is_over_350_lines_and_none_has_inline_code,
]
