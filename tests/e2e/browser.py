"""A headless Chromium, driven through chromedriver's WebDriver protocol (W3C) with the standard
library alone."""
import base64
import contextlib
import json
import os
import shutil
import subprocess
import tempfile
import time
import urllib.request

from ports import free_port
from waiting import PATIENCE

ARGUMENTS = ("--headless", "--no-sandbox", "--disable-gpu", "--disable-extensions", "--disable-features=Translate,OptimizationHints,MediaRouter", "--renderer-process-limit=1", "--no-zygote", "--disable-quic", "--no-first-run",
             "--disable-background-networking", "--disable-component-update", "--disable-sync",
             "--window-size=1400,1000")


def programs():
    """(browser, driver), each None where it is not installed."""
    browser = shutil.which("chromium") or shutil.which("chromium-browser")
    return browser, shutil.which("chromedriver")


class Browser:
    def __init__(self):
        self._folder = tempfile.mkdtemp(prefix="muster-browser-", dir="/tmp")
        browser, driver = programs()
        port = free_port()
        self._base = f"http://127.0.0.1:{port}"
        env = {**os.environ, "HOME": self._folder, "TMPDIR": self._folder}
        with open(os.path.join(self._folder, "driver.log"), "wb") as log:
            self._driver = subprocess.Popen([driver, f"--port={port}"], env=env, stdout=log,
                                            stderr=subprocess.STDOUT)
        self._await_driver()
        profile = os.path.join(self._folder, "profile")
        options = {"binary": browser, "args": [*ARGUMENTS, f"--user-data-dir={profile}"]}
        answer = self._ask("POST", "/session", {
            "capabilities": {"alwaysMatch": {"goog:chromeOptions": options}}})
        self._session = "/session/" + answer["sessionId"]

    def _await_driver(self, timeout=30):
        deadline = time.monotonic() + timeout
        while True:
            try:
                if self._ask("GET", "/status")["ready"]:
                    return
            except OSError:
                assert time.monotonic() < deadline, "chromedriver does not answer"
                time.sleep(0.05)

    def _ask(self, method, path, body=None):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self._base + path, data=data, method=method,
                                         headers={"Content-Type": "application/json"})
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        with opener.open(request, timeout=PATIENCE) as answer:
            return json.load(answer)["value"]

    @contextlib.contextmanager
    def window(self):
        """A window without cookies, and closed at the end: for a page at a port of its own as in a browser that has just been started, which
        takes two seconds of a processor."""
        first = self._ask("GET", self._session + "/window")
        self._ask("POST", self._session + "/goog/cdp/execute", {"cmd": "Network.clearBrowserCookies", "params": {}})
        made = self._ask("POST", self._session + "/window/new", {"type": "window"})
        self._ask("POST", self._session + "/window", {"handle": made["handle"]})
        try:
            yield self
        finally:
            self._ask("DELETE", self._session + "/window")
            self._ask("POST", self._session + "/window", {"handle": first})

    def resize(self, width, height):
        self._ask("POST", self._session + "/window/rect", {"width": width, "height": height})

    def open(self, url):
        self._ask("POST", self._session + "/url", {"url": url})

    def evaluate(self, script):
        """The value that the function body `script` returns."""
        return self._ask("POST", self._session + "/execute/sync", {"script": script, "args": []})

    def evaluate_with(self, script, *arguments):
        """The value of the body of an async function, which has `arguments`."""
        whole = f"const done = arguments[arguments.length - 1];\n(async function() {{{script}}}).apply(null, arguments).then(done, (e) => done('' + e))"
        return self._ask("POST", self._session + "/execute/async", {"script": whole, "args": arguments})

    def wait(self, script, timeout=PATIENCE):
        """Until `script` returns something true, which is returned."""
        deadline = time.monotonic() + timeout
        while True:
            value = self.evaluate(script)
            if value:
                return value
            assert time.monotonic() < deadline, f"not in {timeout} s: {script}\n" + str(
                self.evaluate("return document.body.innerText"))
            time.sleep(0.1)

    def type(self, text, held=""):
        """Keys as a person presses them, into what has the focus, while those of `held` are down; WebDriver's code points are special
        keys."""
        actions = [{"type": kind, "value": key} for key in text for kind in ("keyDown", "keyUp")]
        actions = ([{"type": "keyDown", "value": key} for key in held] + actions +
                   [{"type": "keyUp", "value": key} for key in held])
        self._ask("POST", self._session + "/actions",
                  {"actions": [{"type": "key", "id": "keyboard", "actions": actions}]})

    def screenshot(self, path):
        with open(path, "wb") as file:
            file.write(base64.b64decode(self._ask("GET", self._session + "/screenshot")))

    def close(self):
        try:
            self._ask("DELETE", self._session)
        finally:
            self._driver.terminate()
            self._driver.wait(30)
            shutil.rmtree(self._folder, ignore_errors=True)
