"""The page of `muster dash`: who may see it, and each of its screens in a real browser."""
import functools
import gzip
import http.server
import json
import os
import re
import subprocess
import sys
import threading
import time

import pytest

from dash_page import Dash
from embedded_api import Api
from embedded_muster import Cluster
from places import ROOT
from waiting import await_true, await_words

FAILS = """import os, sys, time
print("step 1 loss 0.5", flush=True)
print("<img src=x onerror='window.pwned=1'><script>window.pwned=2</script>", flush=True)
if os.environ["RANK"] == "1":
    raise ValueError("shard <b>7</b> is not there")
time.sleep(60)
"""
WAITS = """import os, time
print("step 1", flush=True)
end = time.time() + 120
while time.time() < end:
    if os.environ["RANK"] == "1" or time.time() % 0.2 > 0.1:
        time.sleep(0.1)
"""
JOBS = "/apis/kubeflow.org/v1/namespaces/default/pytorchjobs"
MARKUP = "<img src=x onerror=window.pwned=1>"


@pytest.fixture
def dash(cluster):
    made = Dash(cluster)
    yield made
    made.end()


@pytest.fixture
def page(dash, chromium):
    with chromium.window() as made:
        made.open(dash.link)
        made.wait("return document.querySelector('.screen') && document.getElementById('link-state').textContent === 'live'")
        yield made


def text_of(page, selector="main"):
    return page.evaluate(f"return document.querySelector({json.dumps(selector)})?.innerText ?? ''")


def press(page, *keys):
    for key in keys:
        page.evaluate(f"""
          const target = document.activeElement ?? document.body;
          target.dispatchEvent(new KeyboardEvent('keydown', {{key: {json.dumps(key)}, bubbles: true, cancelable: true}}));""")


def click(page, title, within="body"):
    page.wait(f"""
      const button = [...document.querySelectorAll({json.dumps(within + ' button')})].find(
        (each) => each.textContent.trim() === {json.dumps(title)} && !each.disabled && each.offsetParent);
      if (button) button.click();
      return Boolean(button);""")


def script(cluster, name, text):
    """The command that runs it."""
    with open(cluster.path("home", name), "w") as file:
        file.write(text)
    return f"python {cluster.path('home', name)}"


def show(page, screen):
    page.evaluate(f"location.hash = '#/{screen}'")


def show_running(cluster, page, name, command, *flags):
    """The screen of a job that runs the command."""
    cluster.submit(name, command, *flags)
    cluster.wait(name, "RUNNING")
    show(page, f"job/default/{name}")


def failed_job(cluster, name="base"):
    cluster.submit(name, script(cluster, "fails.py", FAILS), "--workers=2")
    cluster.wait(name, "FAILED")


# --- who may see it


def test_a_link_lets_one_browser_in_once(dash):
    assert dash.ask("/api/state")[0] == 401
    assert dash.ask("/api/session", "POST", {"link": "x" * 40})[0] == 403
    cookie = dash.enter()
    assert "HttpOnly" in cookie and "SameSite=Strict" in cookie and dash.token not in cookie
    assert dash.ask("/api/session", "POST", {"link": dash.token})[0] == 403
    assert dash.get("/api/state")["namespace"] == "default"
    dash.cookie = dash.cookie[:-1]
    assert dash.ask("/api/state")[0] == 401


def test_another_host_or_origin_is_refused(dash):
    dash.enter()
    for path in ("/", "/app.js", "/api/state", "/api/events"):
        assert dash.ask(path, Host="evil.example")[0] == 403
        assert dash.ask(path, Host=f"evil.example:{dash.port}")[0] == 403
        assert dash.ask(path, Origin="http://evil.example")[0] == 403
    action = {"verb": "delete", "namespace": "default", "run": "base", "uid": "x"}
    assert dash.ask("/api/action", "POST", action, Origin="http://evil.example")[0] == 403
    assert dash.ask("/api/action", "POST", action, Origin=None)[0] == 403
    assert dash.ask("/api/action", "POST", action)[0] == 404


def test_every_answer_is_guarded(dash):
    dash.enter()
    for path in ("/", "/app.js", "/api/state", "/api/none", "/api/run/default/none"):
        _, headers, _ = dash.ask(path)
        assert "default-src 'none'" in headers["Content-Security-Policy"]
        assert "unsafe" not in headers["Content-Security-Policy"]
        assert headers["X-Content-Type-Options"] == "nosniff"
        assert headers["Referrer-Policy"] == "no-referrer"
        assert headers["X-Frame-Options"] == "DENY"
        assert headers["Cache-Control"] == ("no-store" if "/api/" in path else "no-cache")


def test_the_page_has_nothing_inline_and_nothing_from_elsewhere(dash):
    size = 0
    # The page, with its style sheet; one script of all modules.
    for name in ("index.html", "app.js", "icon.svg"):
        status, headers, content = dash.ask("/" + name)
        assert status == 200 and headers["Content-Encoding"] == "gzip", name
        size += len(content)
        text = gzip.decompress(content).decode()
        assert "innerHTML" not in text and "insertAdjacentHTML" not in text, name
        assert not re.search(r"(src|href)=\"(https?:)?//", text), name
        if name.endswith(".html"):
            assert not re.search(r"<script(?![^>]*src=)|\son\w+=|style=|javascript:", text)
    assert size < 300_000


def test_bad_requests_name_what_is_wrong(dash):
    dash.enter()
    for path, words in (("/api/logs/default/base?tail=x", "tail"), ("/api/logs/default/base?ranks=b", "ranks"),
                        ("/api/history?limit=0", "limit"), ("/api/compare/default?run=a", "two to 5"),
                        ("/api/events?job=x", "job"), ("/api/starts?job=x", "job"), ("/api/logs/default/base?since=now", "since")):
        status, _, content = dash.ask(path)
        assert status == 400 and words in json.loads(content)["error"], (path, content)
    assert dash.ask("/api/run/default/..%2f..%2fetc")[0] == 404
    status, _, content = dash.ask("/api/action", "POST", {"verb": "delete", "namespace": "default", "run": "--all", "uid": "u"})
    assert status == 400 and "run" in json.loads(content)["error"]
    assert dash.ask("/api/action", "POST", {"x": "y" * 5000})[0] == 400


def test_a_port_that_is_taken_or_wrong(cluster, dash):
    done = cluster.run("dash", "--no-open", "--port", str(dash.port), code=1)
    assert str(dash.port) in done.stderr and done.stderr.count("\n") == 1
    done = cluster.run("dash", "--port", "70000", code=2)
    assert "--port" in done.stderr


def test_the_link_is_in_no_argument_list(cluster):
    """Who opens the browser is given a file that only this user can read."""
    with open(cluster.path("bin", "xdg-open"), "w") as file:
        file.write(f"#!/bin/sh\nstat -c %a \"$1\" >{cluster.path('opened.mode')}\ncp \"$1\" {cluster.path('opened')}\n"
                   f"tr '\\0' ' ' </proc/$$/cmdline >{cluster.path('opened.args')}\n")
    os.chmod(cluster.path("bin", "xdg-open"), 0o755)
    env = {**cluster.env, "DISPLAY": ":7", "PATH": cluster.path("bin") + ":" + cluster.env["PATH"]}
    process = subprocess.Popen([cluster.binary, "dash"], env=env, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    token = process.stdout.readline().strip().split("#")[1]
    await_true(lambda: os.path.exists(cluster.path("opened.args")) and open(cluster.path("opened.args")).read())
    assert token in open(cluster.path("opened")).read()
    assert token not in open(cluster.path("opened.args")).read()
    assert open(cluster.path("opened.mode")).read().strip() == "600"
    process.terminate()
    assert process.wait(30) == 130
    assert not [name for _, _, names in os.walk(cluster.path("run")) for name in names if name.startswith("dash-")]
    process.stdout.close()
    process.stderr.close()


# --- the screens


def test_jobs_appear_and_change_by_themselves(cluster, page):
    page.wait("return document.body.innerText.includes('No jobs yet')")
    cluster.submit("first", "sleep 1")
    page.wait("return document.querySelector('tbody')?.innerText.includes('first')")
    page.wait("return document.querySelector('tbody').innerText.includes('Succeeded')")
    cluster.submit("second", "sleep 60", "--workers=2")
    page.wait("return /Running[^]*second[^]*2\\/2/.test(document.querySelector('tbody').innerText)")
    press(page, "/")
    assert page.evaluate("return document.activeElement.type") == "search"
    page.evaluate("const field = document.activeElement; field.value = 'succ'; field.dispatchEvent(new Event('input'));")
    assert "second" not in text_of(page, "tbody") and "first" in text_of(page, "tbody")
    press(page, "Escape", "Escape")
    page.wait("return document.querySelector('tbody').innerText.includes('second')")
    press(page, "j", "Enter")
    page.wait("return location.hash.startsWith('#/job/default/')")
    cluster.run("delete", "second", "--force")
    press(page, "1")
    page.wait("return location.hash === '#/jobs' && !document.querySelector('tbody').innerText.includes('second')")


def test_a_newcomer_finds_why_a_job_failed(cluster, page):
    """Open the page, open what is red, read."""
    failed_job(cluster)
    page.wait("return document.querySelector('[data-kind=bad]')")
    page.evaluate("document.querySelector('tbody a').click()")
    page.wait("return document.querySelector('.verdict h3')")
    card = text_of(page, ".verdict")
    verdict = json.loads(cluster.run("explain", "base", "-o", "json").stdout)
    for words in (verdict["title"], verdict["class"], verdict["adviceText"], "rank 1", "shard <b>7</b> is not there"):
        assert words.lower() in card.lower(), (words, card)
    page.wait("return document.querySelector('.log-lines')?.innerText.includes('ValueError')")
    assert page.wait("return document.querySelector('.rank[data-kind=bad]')?.textContent") == "1"
    assert "muster explain base" in card
    press(page, "r")
    page.wait("return document.querySelector('[aria-label=\"Ranks in detail\"]')?.innerText.includes('step 1')")


def test_what_comes_from_the_cluster_is_text(cluster, page):
    failed_job(cluster)
    manifest = {"apiVersion": "kubeflow.org/v1", "kind": "PyTorchJob",
                "metadata": {"name": "odd", "annotations": {"muster.dev/command": MARKUP}},
                "spec": {"pytorchReplicaSpecs": {"Master": {"replicas": 1, "restartPolicy": "Never", "template": {"spec": {"containers": [{
                    "name": "pytorch", "image": MARKUP, "command": ["sh", "-c", f"echo \"{MARKUP}\"; exit 3"],
                    "env": [{"name": "X", "value": MARKUP}]}]}}}}}}
    with open(cluster.path("odd.json"), "w") as file:
        json.dump(manifest, file)
    cluster.run("apply", "-f", cluster.path("odd.json"))
    cluster.wait("odd", "FAILED")
    for screen in ("#/jobs", "#/job/default/base", "#/job/default/odd", "#/history", "#/machine"):
        page.evaluate(f"location.hash = '{screen}'")
        page.wait("return document.querySelector('.screen').innerText.length > 20")
    show(page, "job/default/base")
    page.wait("return document.querySelector('.log-lines')?.innerText.includes('<script>window.pwned=2</script>')")
    show(page, "history")
    page.wait(f"return document.querySelector('tbody')?.innerText.includes({json.dumps(MARKUP)})")
    assert page.evaluate("return window.pwned ?? 0") == 0
    assert page.evaluate("return document.querySelectorAll('main img, main script, main b').length") == 0


def test_the_log_is_searched_from_end_to_end(cluster, page):
    show_running(cluster, page, "talks", script(cluster, "talks.py", """
import sys, time
for i in range(30000):
    print('step', i, 'needle' if i in (5, 29990) else '')
sys.stdout.flush()
time.sleep(60)
"""))
    page.wait("return document.querySelector('.log-lines')?.innerText.includes('step 29999')")
    assert page.evaluate("return document.querySelectorAll('.log-line').length") < 200
    press(page, "/")
    page.evaluate("document.activeElement.value = 'needle'")
    press(page, "Enter")
    page.wait("return document.querySelector('.log-note').innerText.includes('2 lines')")
    found = text_of(page, ".log-lines")
    assert "step 5 needle" in found and "step 29990 needle" in found
    assert page.evaluate("return document.querySelectorAll('.log-line mark').length") == 2
    page.evaluate("document.querySelector('.log-line').click()")
    page.wait("return document.querySelector('.log-note').innerText.includes('5,000 lines')")
    assert "step 5 needle" in text_of(page, ".log-lines")
    click(page, "End")
    page.wait("return document.querySelector('.log-lines').innerText.includes('step 29999')")
    click(page, "Start")
    page.wait("return /^.*step 0\\b/m.test(document.querySelector('.log-lines').innerText)")


def test_a_log_is_followed(cluster, page):
    show_running(cluster, page, "grows", f"for i in 1 2 3; do echo line $i; while [ ! -e {cluster.path('go')}$i ]; do sleep 0.05; done; done; echo done")
    for number in (1, 2, 3):
        page.wait(f"return document.querySelector('.log-lines')?.innerText.includes('line {number}')")
        assert f"line {number + 1}" not in text_of(page, ".log-lines")
        open(cluster.path(f"go{number}"), "w").close()
    page.wait("return document.querySelector('.log-lines').innerText.includes('done')")
    page.wait("return document.querySelector('.job-head .state').textContent === 'Succeeded'")


def test_a_log_is_left_by_its_reader_only(cluster, page):
    waits = f"while [ ! -e {cluster.path('more')}$i ]; do sleep 0.05; done"
    show_running(cluster, page, "long", f"seq -f 'line %g' 200; for i in 1 2; do {waits}; seq -f \"part $i line %g\" 200; done; sleep 600")
    page.wait("return document.querySelector('.log-lines')?.innerText.includes('line 200')")
    page.evaluate("""const box = document.querySelector('.log-lines');
box.style.maxHeight = `${box.clientHeight - 100}px`;
box.dispatchEvent(new Event('scroll'));""")
    open(cluster.path("more1"), "w").close()
    page.wait("return document.querySelector('.log-lines').innerText.includes('part 1 line 200')")
    up = page.evaluate("const box = document.querySelector('.log-lines'); box.scrollTop -= 300; return box.scrollTop")
    page.wait("return !document.querySelector('.log-lines').innerText.includes('part 1 line 200')")
    open(cluster.path("more2"), "w").close()
    page.wait("return document.querySelector('.log-note').innerText.includes('600 lines')")
    assert page.evaluate("return document.querySelector('.log-lines').scrollTop") == up


# --- a shell in the page


def test_a_shell_in_an_instance(cluster, page):
    show_running(cluster, page, "open", "sleep 600", "--workers=2")
    click(page, "Shell", "[aria-label=Ranks]")
    page.wait("return document.querySelector('.shell .command code')?.innerText === 'muster attach open -i open-master-0 -- bash'")
    screen = "document.querySelector('.terminal').innerText"
    page.wait(f"return /[#$] *$/.test({screen}.trim())")
    page.type("echo rank $((40+2)) of $TERM in $RANK; stty size\n")
    page.wait(f"return {screen}.includes('rank 42 of xterm-256color in 0')")
    rows, columns = map(int, page.wait(f"return /^(\\d+) (\\d+) *$/m.exec({screen})?.slice(1)"))
    assert rows > 20 and columns > 60
    # Ctrl-C reaches the program, and its colours the page.
    page.type("sleep 1003\n")
    await_true(lambda: subprocess.run(["pgrep", "-fx", "sleep 1003"], stdout=subprocess.DEVNULL, check=False).returncode == 0)
    page.type("c", held="\ue009")
    page.wait(f"return /\\^C[^]*[#$] *$/.test({screen}.trim())")
    page.type("printf '\\033[1;31mred\\033[0m %s\\n' \"$?\"\n")
    page.wait("""return [...document.querySelectorAll('.terminal span')].some(
      (each) => each.textContent === 'red' && getComputedStyle(each).color === 'rgb(255, 139, 129)')""")
    assert page.wait(f"return {screen}.includes('red 130')")
    # What it prints is text, also where it is markup; the page's own keys do nothing here.
    page.type(f"echo '{MARKUP}' ddd\n")
    page.wait(f"return {screen}.split(' ddd').length > 2")
    assert page.evaluate("return window.pwned === undefined && !document.querySelector('.terminal img')")
    assert page.evaluate("return !document.getElementById('dialog').open")
    assert page.evaluate(NAMELESS) == []
    page.type("exit 7\n")
    page.wait("return document.querySelector('.shell .log-note').innerText === 'The shell has ended with exit code 7.'")
    click(page, "Close", ".shell")
    page.wait("return document.querySelector('.log-lines')?.offsetParent")


def test_a_shell_ends_with_its_page(cluster, page):
    show_running(cluster, page, "open", "sleep 600")
    click(page, "Shell", "[aria-label=Ranks]")
    page.wait("return document.querySelector('.shell .command code')")
    mark = cluster.path("mark")
    page.type(f"echo $$ > {mark}; exec sleep 777\n")
    pid = await_true(lambda: os.path.exists(mark) and open(mark).read().strip())
    show(page, "jobs")
    # The shell counts in a namespace of its own.
    await_true(lambda: not subprocess.run(["pgrep", "-f", "^sleep 777$"], capture_output=True).stdout)
    assert pid


def test_a_shell_is_refused_in_words(cluster, dash):
    dash.enter()
    status, _, content = dash.ask("/api/shell/default/none?columns=0")
    assert (status, json.loads(content)["error"]) == (400, 'columns "0" is invalid: a number from 1 to 1000')
    status, _, content = dash.ask("/api/shell", "POST", {"id": "none", "input": "x"})
    assert (status, json.loads(content)["error"]) == (404, "this shell has ended")
    assert dash.ask("/api/shell", "POST", {"id": "none"}, Origin="http://evil.example")[0] == 403
    assert dash.ask("/api/shell/default/none", Sec_Fetch_Site="same-site")[0] == 403


class _Scripts(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


@pytest.fixture(scope="module")
def scripts(chromium):
    """A window at the scripts of the page, without a job or a daemon."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(_Scripts, directory=os.path.join(ROOT, "web")))
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    with chromium.window() as made:
        made.open(f"http://127.0.0.1:{server.server_port}/screen.js")
        yield made
    server.shutdown()
    thread.join()
    server.server_close()


SCREEN = """
  const [columns, rows, text] = arguments;
  const {Screen} = await import('/screen.js');
  const told = [];
  const screen = new Screen(columns, rows, (each) => told.push(each));
  for (const piece of text) screen.write(piece);
  return [screen.lines.map((_, y) => screen.textOf(y)), screen.x, screen.y, told.join(''), screen.scrolled.length];"""


@pytest.mark.parametrize("name,printed,lines,cursor", [
    ("lines and a wrap", ["ab\r\ncdefghijklm"], ["ab", "cdefghij", "klm"], (3, 2)),
    ("the last column waits", ["12345678\r\nx"], ["12345678", "x"], (1, 1)),
    ("what leaves by the top", ["1\r\n2\r\n3\r\n4\r\n5"], ["2", "3", "4", "5"], (1, 3)),
    ("places and erasing", ["abcdef\x1b[1;3Hxy\x1b[K\x1b[3;1Hz"], ["abxy", "", "z"], (1, 2)),
    ("a sequence in pieces", ["a\x1b", "[", "2", ";5Hb"], ["a", "    b"], (5, 1)),
    ("a title is no text", ["\x1b]0;title\x07a\x1b]2;x\x1b\\b"], ["ab"], (2, 0)),
    ("insert, delete, erase", ["abcdef\x1b[1;2H\x1b[2@\x1b[1;1H\x1b[P\x1b[1;6H\x1b[9X"], ["  bcd"], (5, 0)),
    ("a region scrolls alone", ["1\r\n2\r\n3\r\n4\x1b[2;3r\x1b[3;1H\n\x1b[r"], ["1", "3", "", "4"], (0, 0)),
    ("lines in and out", ["1\r\n2\r\n3\x1b[2;1H\x1b[L\x1b[1;1H\x1b[M"], ["", "2", "3"], (0, 0)),
    ("the other screen", ["main\x1b[?1049hother\x1b[?1049l!"], ["main!"], (5, 0)),
    ("wide, combined, drawn", ["\u6f22e\u0301\x1b(0qx\x1b(B"], ["\u6f22e\u0301\u2500\u2502"], (5, 0)),
    ("answers", ["ab\x1b[6n\x1b[c"], ["ab"], (2, 0)),
    ("numbers without end", ["\x1b[99999999999999999999Ca\x1b[65535bz\x1b[99999Bx"], None, None),
])
def test_a_terminal(scripts, name, printed, lines, cursor):
    shown, x, y, told, scrolled = scripts.evaluate_with(SCREEN, 8, 4, printed)
    if lines is not None:
        assert shown == lines + [""] * (4 - len(lines)), name
        assert (x, y) == cursor, name
    assert told == ("\x1b[1;3R\x1b[?6c" if name == "answers" else "")
    assert scrolled == (1 if name == "what leaves by the top" else 0 if lines else scrolled)


def test_progress_curves_and_where_the_time_went(cluster, page):
    cluster.submit("learns", script(cluster, "learns.py", """
import time
for i in range(1, 400):
    print(f'step {i}/400 loss {2 / i:.4f}', flush=True)
    time.sleep(0.05)
"""))
    page.wait("return /step \\d+|\\d+%/.test(document.querySelector('tbody')?.innerText)")
    show(page, "job/default/learns")
    page.wait("return document.querySelector('[aria-label=Curves] canvas')?.getAttribute('aria-label')?.startsWith('loss')")
    first = page.evaluate("return document.querySelector('[aria-label=Curves] canvas').getAttribute('aria-label')")
    page.wait(f"return document.querySelector('[aria-label=Curves] canvas').getAttribute('aria-label') !== {json.dumps(first)}")
    page.wait("return document.querySelector('[aria-label=\"Where the time went\"]')?.innerText.includes('steps')")


def test_how_far_a_job_is_and_by_which_source(cluster, page):
    """On the list and on the screen of the job; of two sources that disagree, both."""
    folder = cluster.path("home", "far")
    os.makedirs(folder)
    with open(os.path.join(folder, "far.py"), "w") as file:
        file.write(f"""
import os, sys, time
sys.path.insert(0, {os.path.join(ROOT, "examples", "mnist-pytorch")!r})
from events import EventWriter
writer = EventWriter(os.environ["MUSTER_RUN_DIR"] + "/tb")
writer.scalar("accuracy", 0.9, 100)
print("step 900/1000 loss 0.25", flush=True)
time.sleep(120)
""")
    cluster.run("run", "-d", "--name=far", "far.py", cwd=folder)
    page.wait("return /90% or step 100|step 100 or 90%/.test(document.querySelector('tbody')?.innerText)")
    show(page, "job/default/far")
    page.wait("return document.querySelectorAll('[aria-label=Progress] > div').length === 2")
    told = text_of(page, "[aria-label=Progress]")
    for words in ("step 900/1000 (90%)", "loss 0.25", "log of far-master-0", "step 100", "event files"):
        assert words in told, (words, told)
    page.wait("return document.querySelector('[aria-label=Curves]').innerText.includes('log of far-master-0')")


def test_how_busy_the_ranks_of_a_job_are(cluster, page):
    cluster.submit("busy", script(cluster, "busy.py", "while True: pass"))
    page.wait(r"return /CPU \d\d+%/.test(document.querySelector('tbody')?.innerText)")
    cell = "[...document.querySelectorAll('tbody td')].find((each) => each.innerText.startsWith('CPU '))"
    assert page.evaluate(f"return {cell}.title").startswith("a rank, on average: used ")
    cluster.run("suspend", "busy")
    page.wait("return !document.querySelector('tbody').innerText.includes('CPU ')")


def code_folder(cluster, name, text):
    """A folder with a program."""
    folder = cluster.path("home", "code")
    os.makedirs(folder)
    with open(os.path.join(folder, name), "w") as file:
        file.write(text)
    return folder


def test_the_code_that_a_commit_does_not_have(cluster, page):
    folder = code_folder(cluster, "train.py", "print('step 1')\n")
    for words in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "first"]):
        subprocess.run(["git", "-c", "user.name=t", "-c", "user.email=t@localhost", *words], cwd=folder, check=True)
    cluster.run("run", "--name=clean", "train.py", cwd=folder)
    with open(os.path.join(folder, "train.py"), "w") as file:
        file.write(f"print('step 2')  # {MARKUP}\n")
    cluster.run("run", "--name=changed", "train.py", cwd=folder)
    show(page, "job/default/changed")
    page.wait("return document.querySelector('dl')?.innerText.includes('1 file changed since')")
    page.evaluate("document.querySelector('[aria-label=\"Code that the commit does not have\"] summary').click()")
    page.wait("return document.querySelector('.diff')")
    shown = page.evaluate("return document.querySelector('.diff').textContent")
    assert shown.strip() == cluster.run("code", "changed", "--diff").stdout.strip()
    assert page.evaluate("return [...document.querySelectorAll('.diff [data-kind=more]')].map((each) => each.textContent)") == [
        f"+print('step 2')  # {MARKUP}\n"]
    assert page.evaluate("return window.pwned === undefined && !document.querySelector('.diff img')")
    # A new job of its name has its own, in which a secret is not shown.
    with open(os.path.join(folder, "train.py"), "w") as file:
        file.write('DB_PASSWORD = "hunter2"\n')
    cluster.run("delete", "changed")
    cluster.run("run", "--name=changed", "train.py", cwd=folder)
    page.wait("""
      const part = document.querySelector('[aria-label="Code that the commit does not have"]');
      if (part && !part.open) part.querySelector('summary').click();
      return part?.innerText.includes('+DB_PASSWORD = "***"') && part.innerText.includes('is shown as ***');""")
    show(page, "job/default/clean")
    page.wait("return document.querySelector('.screen[aria-label=\"Job clean\"] dl')?.innerText.includes('commit ')")
    assert not page.evaluate("return document.body.innerText.includes('Code that the commit does not have')")


def test_the_ranks_over_time_show_who_held_the_others_up(cluster, page):
    show_running(cluster, page, "waits", script(cluster, "waits.py", WAITS), "--workers=2")
    strip = "document.querySelector('[aria-label=\"Ranks over time\"]')"
    page.wait(f"return !{strip}.hidden && {strip}.querySelector('canvas').getAttribute('aria-label').startsWith('2 ranks over ')")
    said = f"{strip}.querySelector('[role=status]').textContent"
    tell = "const strip = %s.querySelector('canvas'); strip.focus(); strip.dispatchEvent(new KeyboardEvent('keydown', {key: '%s', bubbles: true}));"
    page.evaluate(tell % (strip, "ArrowRight"))  # the last look at rank 0
    first = page.wait(f"return {said}")
    # It grows by what the stream of events tells.
    label = f"{strip}.querySelector('canvas').getAttribute('aria-label')"
    lasted = page.evaluate(f"return {label}")
    page.wait(f"return {label} !== {json.dumps(lasted)}")
    assert page.evaluate("return performance.getEntriesByType('resource').every((each) => !each.name.includes('/api/strip/'))")
    assert re.match(r"rank 0, .*: runs, CPU \d+%, .* MiB, I/O .*/s, quiet for \d+s", first), first
    page.evaluate(tell % (strip, "ArrowDown"))
    page.wait(f"return {said}.startsWith('rank 1, ')")
    # One half of a processor against one that sleeps: the picture is not of one colour.
    drawn = f"""
      const canvas = {strip}.querySelector('canvas'), pen = canvas.getContext('2d');
      const at = (row) => [...pen.getImageData(canvas.width - 4, (row * 14 + 6) * (window.devicePixelRatio || 1), 1, 1).data].join();
      return [at(0), at(1)];"""
    busy, idle = page.evaluate(drawn)
    assert busy != idle
    cluster.run("delete", "waits")
    run = page.wait("return fetch('/api/history').then((each) => each.json()).then(({runs}) => runs.find((run) => run.deleted)?.id)")
    show(page, f"run/default/{run}")
    page.wait(f"return document.querySelector('.screen[aria-label=\"Job {run}\"]') && !{strip}.hidden")


def test_a_rank_that_holds_the_others_up_is_told_everywhere(cluster, page):
    """On the list and the screen of the job, as `get` and `list -o json` tell it; the page counts the seconds itself."""
    show_running(cluster, page, "stuck", "sleep 100")
    since = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() - 60))
    Api(cluster).call("PATCH", f"{JOBS}/stuck", {"metadata": {"annotations": {
        "muster.dev/stall": f"stalled {since} rank 1 has not entered all_reduce (train.py:8)"}}})
    told = r"stalled (1m \d+s|\d+ s): rank 1 has not entered all_reduce \(train.py:8\)"
    page.wait("return document.querySelector('.why').innerText.includes('stalled 1m ')")
    assert re.fullmatch(told, text_of(page, ".why"))
    seen = text_of(page, ".why")
    page.wait(f"return document.querySelector('.why').innerText !== {json.dumps(seen)}")
    show(page, "jobs")
    page.wait("return document.querySelector('tbody').innerText.includes('rank 1 has not entered all_reduce')")
    assert re.fullmatch(told, cluster.get("stuck")["reason"])
    listed, = json.loads(cluster.run("list", "-o", "json").stdout)
    assert re.fullmatch(told, listed["reason"])


def test_the_history_is_in_the_order_in_which_runs_were_submitted(cluster, page):
    """Also of runs of one second."""
    for number in range(5):
        cluster.submit(f"run-{number}", "true")
    show(page, "history")
    page.wait("return document.querySelectorAll('tbody tr:not(.spacer)').length === 5")
    names = page.evaluate("return [...document.querySelectorAll('tbody tr:not(.spacer) a')].map((each) => each.textContent)")
    assert names == [f"run-{number}" for number in reversed(range(5))]


def test_the_ledger_of_all_runs_by_user_and_label(cluster, page):
    for name, team in (("seen", "vision"), ("heard", "speech"), ("said", "speech")):
        cluster.submit(name, "echo step 1; sleep 1; echo step 2", f"--label=team={team}")
    for name in ("seen", "heard", "said"):
        cluster.wait(name, "SUCCEEDED")
    show(page, "history")
    click(page, "Where the time went")
    rows = "return [...document.querySelectorAll('table[aria-label=Ledger] tbody tr')].map((each) => [...each.children].slice(0, 2).map((cell) => cell.textContent))"
    page.wait("return document.querySelector('[aria-label=Ledger] tbody')")
    assert page.evaluate(rows) == [["tester", "3"], ["all", "3"]]
    assert "muster report --since 7d --by user" in text_of(page)
    page.evaluate("""
      const by = document.querySelector('select[aria-label=By]'); by.value = 'label='; by.dispatchEvent(new Event('change'));""")
    page.wait("return document.querySelector('[aria-label=\"Name of the label\"]')?.offsetParent")
    page.evaluate("""
      const key = document.querySelector('[aria-label="Name of the label"]'); key.value = 'team'; key.dispatchEvent(new Event('change'));""")
    page.wait("return document.querySelector('[aria-label=Ledger] tbody')?.innerText.includes('vision')")
    assert sorted(page.evaluate(rows)) == [["all", "3"], ["speech", "2"], ["vision", "1"]]
    assert "muster report --since 7d --by label=team" in text_of(page)
    assert page.evaluate("return document.querySelector('.shares [role=img]').getAttribute('aria-label')").startswith("mostly ")
    assert "steps whose result was kept" in text_of(page, "[aria-label=Buckets]")  # the key of its colours
    show(page, "ledger/7d/nobody")
    page.wait("return document.querySelector('main').innerText.includes('give user, queue or label=KEY')")
    press(page, "Escape")
    page.wait("return location.hash === '#/history'")


def test_the_trials_of_sweeps_are_parallel_lines(cluster, page):
    folder = code_folder(cluster, "trial.py", "import sys\nprint('step 1 loss', float(sys.argv[1]) * float(sys.argv[2]))\n")
    for name, scale in (("small", 1), ("large", 10)):
        cluster.run("run", f"--name={name}", "--sweep=lr=0.1,0.01,0.001", "--sweep=act=relu,gelu", "trial.py", "{lr}", str(scale),
                    cwd=folder)
    show(page, "job/default/small")
    page.wait("return document.querySelectorAll('.parallel polyline').length === 6")
    names = page.evaluate("return [...document.querySelectorAll('.parallel text')].map((each) => each.textContent)")
    assert [name for name in names if name in ("lr", "act", "loss")] == ["lr", "act", "loss"]
    assert "relu" in names and "gelu" in names and "0.001" in names and "0.1" in names
    move = """const picture = document.querySelector('.parallel');
      picture.dispatchEvent(new KeyboardEvent('keydown', {key: 'ArrowUp', bubbles: true}));
      return document.querySelector('[aria-label=Trials] [role=status]').textContent;"""
    assert "lr 0.001" in page.evaluate(move)  # the least loss first
    assert page.evaluate("return document.querySelectorAll('.parallel polyline.chosen').length") == 1
    show(page, "history")
    page.wait("return document.querySelectorAll('tbody tr:not(.spacer)').length === 2")
    press(page, "j", "x", "j", "x", "c")
    page.wait("return document.querySelectorAll('[aria-label=Trials] .parallel polyline').length === 12")
    kinds = page.evaluate("return [...new Set([...document.querySelectorAll('.parallel polyline')].map((each) => each.dataset.kind))].length")
    assert kinds == 2
    assert "large" in text_of(page, ".parallel") or page.evaluate(
        "return [...document.querySelectorAll('.parallel text')].some((each) => each.textContent === 'large')")


def test_suspend_and_resume(cluster, page):
    show_running(cluster, page, "base", "sleep 300")
    click(page, "Suspend", ".acts")
    assert page.wait("return document.querySelector('dialog pre')?.textContent") == (
        "muster suspend base --wait=false --namespace=default")
    click(page, "Suspend", "dialog")
    cluster.wait("base", "SUSPENDED")
    page.wait("return document.querySelector('.job-head .state').textContent === 'Suspended'")
    click(page, "Resume", ".job-head")
    cluster.wait("base", "RUNNING")
    page.wait("return document.getElementById('toasts').innerText.includes('muster resume base')")


def test_delete_and_undo(cluster, page):
    cluster.submit("base", "echo hello; sleep 300")
    cluster.wait("base", "RUNNING")
    page.wait("return document.querySelector('tbody')?.innerText.includes('base')")
    press(page, "j", "d")
    page.wait("return document.querySelector('dialog[open]')")
    click(page, "Cancel", "dialog")
    assert cluster.get("base")["status"] == "RUNNING"
    press(page, "d")
    click(page, "Delete", "dialog")
    page.wait("return document.getElementById('toasts').innerText.includes('base is deleted')")
    click(page, "Undo: run it again", "#toasts")
    page.wait("return document.querySelector('tbody').innerText.includes('base-2')")
    cluster.wait("base-2", "RUNNING")
    press(page, "2")
    page.wait("return /Deleted[^]*base\\b/.test(document.querySelector('tbody')?.innerText)")


def test_an_action_is_for_the_job_that_was_meant(cluster, dash):
    dash.enter()
    cluster.submit("base", "sleep 300")
    action = {"verb": "delete", "namespace": "default", "run": "base", "uid": "of-another"}
    status, _, content = dash.ask("/api/action", "POST", action)
    assert status == 409 and "is a different job by now" in json.loads(content)["error"]
    assert cluster.get("base")["name"] == "base"


def test_the_history_keeps_and_compares(cluster, page):
    for name, rate in (("base", "0.1"), ("big", "0.2")):
        cluster.submit(name, f"echo rate {rate}", f"--env=RATE={rate}", "--env=API_TOKEN=abcd1234")
        cluster.wait(name, "SUCCEEDED")
    cluster.run("delete", "base")
    show(page, "history")
    page.wait("return document.querySelectorAll('tbody tr:not(.spacer)').length === 2")
    press(page, "j", "x", "j", "x", "c")
    page.wait("return document.querySelector('[aria-label=\"What differs\"]')")
    table = text_of(page)
    assert "env RATE" in table and "0.1" in table and "0.2" in table
    assert "abcd1234" not in table
    press(page, "Escape")
    page.wait("return document.querySelector('tbody a[href^=\"#/run/\"]')")
    page.evaluate("document.querySelector('tbody a[href^=\"#/run/\"]').click()")
    page.wait("return document.querySelector('.log-lines')?.innerText.includes('rate 0.1')")
    page.wait("return document.querySelector('dl')?.innerText.includes('echo rate 0.1')")
    assert "abcd1234" not in page.evaluate("return document.body.textContent")


def test_the_machine_and_who_holds_it(cluster, page):
    cluster.submit("holds", "sleep 300", "--cpu=1", "--memory=64Mi")
    cluster.wait("holds", "RUNNING")
    show(page, "machine")
    page.wait("return document.querySelector('.cards')?.innerText.includes('master-0')")
    assert page.evaluate("return document.querySelector('[title=holds-master-0]').parentElement.innerText").startswith("holds\t")
    assert "1 of " in text_of(page, ".cards")
    page.wait("return document.body.innerText.includes('No job waits')")
    press(page, "?")
    page.wait("return document.querySelector('dialog[open]')?.innerText.includes('Jobs, History, Machine')")


def test_an_attempt_of_which_only_the_number_is_known_did_not_wait(cluster, page):
    """Of restarts in place, the cluster knows how the last one ended."""
    cluster.submit("again", f"echo x >>{cluster.path('home', 'starts')}; sleep 1; [ $(wc -l <{cluster.path('home', 'starts')}) -ge 3 ]",
                   "--retry=5", "--restart-policy=OnFailure")
    cluster.wait("again", "SUCCEEDED", timeout=120)
    show(page, "job/default/again")
    page.wait("return document.querySelector('[aria-label=Attempts] svg rect')")
    kinds = page.evaluate("return [...document.querySelectorAll('[aria-label=Attempts] svg rect')].map((each) => each.dataset.kind)")
    assert kinds == ["off", "bad", "waiting", "good"]


def test_when_a_waiting_job_will_start(chromium):
    """In the queue of the machine, and on the screen of the job, as `get` says it."""
    cluster = Cluster()
    cluster.show_gpus("2")
    cluster.run("up")
    dash = Dash(cluster)
    try:
        await_words("0/2 (0%)", lambda: cluster.run("top", "node").stdout)
        cluster.submit("long", "sleep 600", "--gpus=2", "--running-timeout=300s")
        cluster.wait("long", "RUNNING")
        cluster.submit("next", "true", "--gpus=1")
        starts = re.compile(r"about \d\d:\d\d \(in [45]m( \d+s)?\), by \d\d:\d\d in nine of ten cases")
        await_true(lambda: starts.search(cluster.run("get", "next").stdout))
        with chromium.window() as page:
            page.open(dash.link)
            show(page, "machine")
            page.wait("return document.querySelector('[aria-label=\"Waiting jobs\"]')?.innerText.includes('in nine of ten cases')")
            assert starts.search(text_of(page, '[aria-label="Waiting jobs"]'))
            show(page, "job/default/next")
            page.wait("return document.querySelector('.why')?.innerText.includes('starts about ')")
            assert starts.search(text_of(page, ".why"))
    finally:
        dash.end()
        cluster.close()


# --- when something ends


def test_the_daemon_is_killed_and_comes_back(cluster, page):
    cluster.submit("before", "sleep 300")
    page.wait("return document.querySelector('tbody')?.innerText.includes('before')")
    cluster.kill_daemon()
    cluster.submit("after", "sleep 300")
    page.wait("return document.querySelector('tbody').innerText.includes('after')")
    page.wait("return document.getElementById('link-state').textContent === 'live' && document.getElementById('banner').hidden")


def test_the_page_says_that_muster_dash_has_ended(dash, page):
    assert dash.end() == 130
    page.wait("return !document.getElementById('banner').hidden && document.getElementById('banner').textContent.includes('does not answer')")


def test_a_tab_that_was_not_seen_is_right_when_it_is(cluster, page):
    page.evaluate("Object.defineProperty(document, 'hidden', {value: true, configurable: true}); document.dispatchEvent(new Event('visibilitychange'))")
    cluster.submit("unseen", "sleep 300")
    cluster.wait("unseen", "RUNNING")
    assert "unseen" not in text_of(page)
    page.evaluate("Object.defineProperty(document, 'hidden', {value: false, configurable: true}); document.dispatchEvent(new Event('visibilitychange'))")
    page.wait("return document.querySelector('tbody')?.innerText.includes('unseen')")


def test_a_browser_without_the_link_sees_how_to_get_in(dash, chromium):
    dash.enter()
    with chromium.window() as made:
        made.open(dash.link)
        assert made.wait("return document.querySelector('.empty')?.innerText.includes('was used')")
        made.open(dash.base + "/")
        made.wait("return document.querySelector('.empty')?.innerText.includes('muster dash')")


# --- for everybody


def luminance(colour):
    parts = [int(colour[i:i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one, other):
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def test_every_text_has_the_contrast_of_wcag_aa():
    with open(os.path.join(ROOT, "web", "app.css")) as file:
        css = file.read()
    colours = {name: pair for name, *pair in re.findall(r"--([\w-]+): light-dark\((#\w{6}), (#\w{6})\)", css)}
    texts = ("text", "muted", "accent", "running", "good", "bad", "waiting", "off")
    poor = []
    for theme in (0, 1):
        for ground in ("page", "surface", "raised", "selected"):
            poor += [(theme, name, ground) for name in texts if contrast(colours[name][theme], colours[ground][theme]) < 4.5]
        for name in ("accent", "bad"):
            poor += [(theme, "on-accent", name) for _ in [0] if contrast(colours["on-accent"][theme], colours[name][theme]) < 4.5]
        poor += [(theme, "text", "mark") for _ in [0] if contrast(colours["text"][theme], colours["mark"][theme]) < 4.5]
    assert not poor


NAMELESS = """
  const nameOf = (each) => each.getAttribute('aria-label') || each.labels?.[0]?.innerText || each.innerText?.trim() || each.title;
  const bad = [...document.querySelectorAll('button, input, select, a[href], [role=img], [role=meter], table')]
    .filter((each) => each.offsetParent && !nameOf(each)).map((each) => each.outerHTML);
  const ids = [...document.querySelectorAll('[id]')].map((each) => each.id);
  if (new Set(ids).size !== ids.length) bad.push('two of one id');
  if (!document.documentElement.lang || !document.title || !document.querySelector('main')) bad.push('no language, title or main');
  const small = [...document.querySelectorAll('button')].filter((each) => each.offsetParent && each.getBoundingClientRect().height < 18);
  return bad.concat(small.map((each) => 'small: ' + each.outerHTML));
"""


def test_everything_has_a_name_and_no_screen_is_wider_than_a_phone(cluster, page):
    failed_job(cluster)
    page.resize(500, 800)
    for screen in ("#/jobs", "#/job/default/base", "#/history", "#/machine"):
        page.evaluate(f"location.hash = '{screen}'")
        page.wait("return document.querySelector('main').innerText.includes('base') || document.querySelector('.cards .card')")
        assert page.evaluate(NAMELESS) == []
        assert page.evaluate("return document.documentElement.scrollWidth - window.innerWidth") <= 0
