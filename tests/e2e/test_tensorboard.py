"""TensorBoard on the embedded cluster: the real program, the real page, in a real browser."""
import json
import os
import re
import signal
import socket
import subprocess
import time
import urllib.request

import pytest

from idx_files import write_small_mnist
from places import ONE_THREAD, ROOT
from waiting import PATIENCE, await_true, await_words

EVENTS = ("import sys; sys.path.insert(0, '/root/code/mnist-pytorch'); "
          "from events import EventWriter; w = EventWriter('{}'); "
          "[w.scalar('loss', 1.0 / (i + 1), i) for i in range(50)]")
# How many columns of a card's chart have something drawn in them.
DRAWN = """
  const cards = Array.from(document.querySelectorAll('scalar-card'));
  const card = cards.find(each => each.innerText.trim().startsWith('loss'));
  const chart = card && card.querySelector('.series-view canvas');
  if (!chart || !chart.width) return 0;
  card.scrollIntoView();
  const copy = document.createElement('canvas');
  copy.width = chart.width; copy.height = chart.height;
  const context = copy.getContext('2d', {willReadFrequently: true});
  context.drawImage(chart, 0, 0);
  const pixels = context.getImageData(0, 0, copy.width, copy.height).data;
  let columns = 0;
  for (let x = 0; x < copy.width; ++x) {
    for (let y = 0; y < copy.height; ++y) {
      if (pixels[4 * (y * copy.width + x) + 3] > 0) { ++columns; break; }
    }
  }
  return columns / copy.width;
"""


@pytest.fixture(scope="session")
def tensorboard_python():
    """An interpreter that has TensorBoard and PyTorch."""
    done = subprocess.run([os.path.join(ROOT, "scripts", "python-environment"), "tensorboard",
                           "tensorboard.main", "tensorboard"], text=True,
                          stdout=subprocess.PIPE, check=True)
    return os.path.join(done.stdout.splitlines()[-1], "bin", "python")


def use_python(cluster, python):
    with open(cluster.path("config/muster/config.yaml"), "w") as file:
        file.write(f"local:\n  python: {python}\n")


@pytest.fixture(params=["cluster", "nobody_cluster"])
def board_cluster(request, tensorboard_python):
    made = request.getfixturevalue(request.param)
    use_python(made, tensorboard_python)
    return made


def fetch(url, timeout=PATIENCE):
    """The body, once something answers there."""
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    deadline = time.monotonic() + timeout
    while True:
        try:
            with opener.open(url, timeout=10) as answer:
                return answer.read()
        except OSError:
            assert time.monotonic() < deadline, f"nothing answers at {url}"
            time.sleep(0.1)


def scalars(url, tag, least=1, timeout=PATIENCE):
    """Points of a tag over all runs, once there are as many: TensorBoard reads a file bit by bit."""
    deadline = time.monotonic() + timeout
    while True:
        tags = json.loads(fetch(url + "/data/plugin/scalars/tags"))
        points = []
        for run in (run for run, tagged in tags.items() if tag in tagged):
            points += json.loads(fetch(f"{url}/data/plugin/scalars/scalars?run={run}&tag={tag}"))
        if len(points) >= least:
            return points
        assert time.monotonic() < deadline, f"no {tag} at {url}: {tags}"
        time.sleep(0.1)


def url_of(cluster, name):
    match = re.search(r"\nYour tensorboard will be available on:\n(http://127\.0\.0\.1:(\d+))\n$",
                      cluster.run("get", name).stdout)
    assert match, cluster.run("get", name).stdout
    return match.group(1)


def listens(url):
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", int(url.rsplit(":", 1)[1]))) == 0


def delete(cluster, name, url):
    cluster.run("delete", name)
    assert not listens(url)
    cluster.await_no_process()


def board_pids(cluster, url):
    port = url.rsplit(":", 1)[1].encode()
    found = []
    for pid in cluster.pod_processes():
        with open(f"/proc/{pid}/cmdline", "rb") as file:
            words = file.read().split(b"\0")
        if b"tensorboard.main" in words and port in words:
            found.append(pid)
    return found


def test_the_page_shows_the_loss_curve(cluster, repository, tensorboard_python, chromium):
    use_python(cluster, tensorboard_python)
    data = cluster.path("data")
    os.makedirs(os.path.join(data, "pytorch_data"))
    cluster.run("data", "create", "training-data", "--path", data)
    name = "pytorch-dist"
    # The document's command line; the URL is ours, and a few digits, each step in the log, and one thread are enough.
    write_small_mnist(os.path.join(data, "pytorch_data"))
    done = cluster.run(
        "submit", "pytorch", f"--name={name}", "--gpus=1", "--workers=3", "--working-dir=/root",
        "--image=registry.cn-huhehaote.aliyuncs.com/lumo/"
        "pytorch-with-tensorboard:1.5.1-cuda10.1-cudnn7-runtime",
        "--sync-mode=git", f"--sync-source=file://{repository}",
        "--data=training-data:/mnist_data", "--tensorboard",
        "--logdir=/mnist_data/pytorch_data/logs", ONE_THREAD,
        "python /root/code/mnist-pytorch/mnist.py --epochs 4 --log-interval 1 --lr 0.05 --backend nccl "
        "--dir /mnist_data/pytorch_data/logs --data /mnist_data/pytorch_data/")
    assert (f"service/{name}-tensorboard created\n"
            f"deployment.apps/{name}-tensorboard created\n") in done.stdout
    url = url_of(cluster, name)
    assert cluster.get(name)["tensorboard"] == url
    cluster.wait(name, "SUCCEEDED", timeout=180)
    points = scalars(url, "loss", least=24)
    assert points[0][2] > points[-1][2]
    # An open page does not ask for new tags: the last one is there before it is opened.
    assert scalars(url, "accuracy")

    with chromium.window() as page:
        page.open(url)
        assert page.wait("return document.title") == "TensorBoard"
        cards = ("return Array.from(document.querySelectorAll('scalar-card'))"
                 ".map(card => card.innerText.trim().split('\\n')[0])")
        page.wait(f"const shown = (() => {{{cards}}})(); return shown.length > 1")
        assert sorted(page.evaluate(cards)) == ["accuracy", "loss"]
        # A line goes most of the way across; grid and axes are not drawn there.
        page.wait(f"const drawn = (() => {{{DRAWN}}})(); return drawn > 0.5")

    # Long after the job has ended, and as often as it is asked for.
    assert url_of(cluster, name) == url
    assert json.loads(cluster.run("tensorboard", name, "-o", "json").stdout)["url"] == url
    shown = cluster.run("tensorboard", name, env={"SSH_CONNECTION": "10.0.0.1 5 10.0.0.9 22"})
    port = url.rsplit(":", 1)[1]
    assert url in shown.stdout.splitlines()
    assert shown.stdout.endswith(f"\nssh -L {port}:127.0.0.1:{port} tester@10.0.0.9\n")
    refused = cluster.run("data", "delete", "training-data", code=1)
    assert f"is in use by job {name}" in refused.stderr
    delete(cluster, name, url)
    cluster.run("data", "delete", "training-data")
    assert os.listdir(os.path.join(data, "pytorch_data", "logs")) != []


def test_logs_outside_a_volume_lie_with_the_job(board_cluster, repository):
    cluster = board_cluster
    for name, flags in (("by-default", ()), ("inside", ("--logdir=/root/code/mnist-pytorch/logs",))):
        logs = "/training_logs" if name == "by-default" else "/root/code/mnist-pytorch/logs"
        cluster.submit(name, f'python -c "{EVENTS.format(logs)}"', "--sync-mode=git",
                       f"--sync-source=file://{repository}", "--tensorboard", *flags)
        url = url_of(cluster, name)
        cluster.wait(name, "SUCCEEDED")
        assert len(scalars(url, "loss", least=50)) == 50
        assert not os.path.exists("/training_logs") and not os.path.exists("/arena_logs")
        delete(cluster, name, url)
    await_true(lambda: not os.listdir(cluster.path("state/muster/jobs")))


def test_logs_on_a_directory_of_the_machine(board_cluster, repository):
    cluster = board_cluster
    data = cluster.path("data")
    os.makedirs(data)
    os.chown(data, cluster.uid, cluster.uid)
    cluster.submit("logs", f'python -c "{EVENTS.format("/d/logs")}"', "--sync-mode=git",
                   f"--sync-source=file://{repository}", "--tensorboard", "--logdir=/d/logs",
                   f"--data-dir={data}:/d")
    url = url_of(cluster, "logs")
    cluster.wait("logs", "SUCCEEDED")
    assert len(scalars(url, "loss", least=50)) == 50
    delete(cluster, "logs", url)
    assert len(os.listdir(os.path.join(data, "logs"))) == 1


def test_outlives_the_daemon_and_is_started_again(board_cluster):
    cluster = board_cluster
    cluster.submit("board", "true", "--tensorboard")
    url = url_of(cluster, "board")
    fetch(url)
    cluster.wait("board", "SUCCEEDED")
    before = board_pids(cluster, url)
    assert len(before) == 1
    cluster.kill_daemon()
    fetch(url)
    cluster.run("up")
    assert url_of(cluster, "board") == url
    assert board_pids(cluster, url) == before, "adopted, not started again"
    for pid in before:
        os.kill(pid, signal.SIGKILL)
    await_words("It is not running yet: it ended with exit code 137", lambda: cluster.run("get", "board").stdout)
    assert "does not run: it ended" in cluster.run("tensorboard", "board", code=1).stderr
    fetch(url)
    assert board_pids(cluster, url) != before
    delete(cluster, "board", url)


def test_down_ends_it_and_the_next_daemon_starts_it_again(board_cluster):
    cluster = board_cluster
    cluster.submit("board", "true", "--tensorboard")
    url = url_of(cluster, "board")
    fetch(url)
    cluster.wait("board", "SUCCEEDED")
    cluster.run("down")
    assert not listens(url) and cluster.pod_processes() == []
    assert url_of(cluster, "board") == url
    fetch(url)
    delete(cluster, "board", url)


def test_two_jobs_have_two_ports(board_cluster):
    cluster = board_cluster
    for name in ("one", "two"):
        cluster.submit(name, "sleep 600", "--tensorboard")
    urls = {name: url_of(cluster, name) for name in ("one", "two")}
    assert urls["one"] != urls["two"]
    for url in urls.values():
        fetch(url)
    delete_first = cluster.run("delete", "one", timeout=PATIENCE)
    assert "deleted successfully" in delete_first.stderr
    fetch(urls["two"])
    delete(cluster, "two", urls["two"])


def test_one_that_is_not_installed_says_how(cluster):
    python = cluster.path("bin/python3")
    with open(python, "w") as file:  # can run, and lacks TensorBoard
        file.write("#!/bin/sh\nexit 1\n")
    os.chmod(python, 0o755)
    use_python(cluster, python)
    done = cluster.submit("board", "sleep 600", "--tensorboard", env={"PATH": "/usr/bin:/bin"})
    advice = f"`{python} -m pip install tensorboard` installs it"
    assert advice in done.stderr
    cluster.wait("board", "RUNNING")
    await_words(advice, lambda: cluster.run("get", "board").stdout)
    assert advice in cluster.run("tensorboard", "board", code=1).stderr
    cluster.run("delete", "board")
    cluster.await_no_process()


def test_a_job_without_one_says_so(cluster):
    cluster.submit("plain", "true")
    done = cluster.run("tensorboard", "plain", code=1)
    assert "the training job plain has no tensorboard" in done.stderr and done.stdout == ""
    assert "tensorboard" not in cluster.run("get", "plain").stdout
    assert "Not found training job absent" in cluster.run("tensorboard", "absent", code=1).stderr
