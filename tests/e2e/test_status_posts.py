"""Programs that report to Kubeflow Trainer report to muster: what transformers 5 posts, told by `get`, over a restart of the daemon."""
import json
import os
import time

import pytest

from waiting import PATIENCE

# As transformers' callback does it; asks a file how far it is.
POSTER = """
import json, os, sys, time, urllib.error, urllib.request
from datetime import datetime, timezone
def post(body, token=None, url=os.environ["KUBEFLOW_TRAINER_SERVER_URL"]):
    token = token or open(os.environ["KUBEFLOW_TRAINER_SERVER_TOKEN"], encoding="utf-8").read().strip()
    request = urllib.request.Request(url, data=body.encode(), method="POST",
                                     headers={"Authorization": f"Bearer {token}", "Content-Type": "application/json"})
    try:
        with urllib.request.urlopen(request, timeout=5, context=None) as answer:
            return answer.status, json.load(answer)
    except urllib.error.HTTPError as refusal:
        return refusal.code, json.load(refusal)
    except OSError:
        return 0, {}
assert os.environ["KUBEFLOW_TRAINER_SERVER_CA_CERT"] == ""
folder, shown = sys.argv[1], set()
for turn in range(3000):
    step = int(open(os.path.join(folder, "step")).read())
    status = {"lastUpdatedTime": datetime.now(timezone.utc).isoformat(), "progressPercentage": step // 10,
              "estimatedRemainingSeconds": 90,
              "metrics": [{"name": "loss", "value": "0.5"}, {"name": "current_step", "value": str(step)},
                          {"name": "total_steps", "value": "1000"}]}
    answers = [post(json.dumps({"trainerStatus": status}))]
    if turn == 0:
        answers += [post("{}", token="x"), post("{}{}"), post("x" * (65 << 10)), post("{}", url=os.environ["KUBEFLOW_TRAINER_SERVER_URL"] + "x")]
        with open(os.path.join(folder, "answers.new"), "w") as file:
            json.dump(answers, file)
        os.rename(os.path.join(folder, "answers.new"), os.path.join(folder, "answers"))
    time.sleep(0.1)
"""


def write(folder, name, text):
    with open(os.path.join(folder, name + ".new"), "w") as file:
        file.write(text)
    os.rename(os.path.join(folder, name + ".new"), os.path.join(folder, name))


def await_step(cluster, step):
    until = time.monotonic() + PATIENCE
    while True:
        told = json.loads(cluster.run("get", "posts", "-o", "json").stdout)["progress"]
        if told and told[0]["step"] == step:
            return told[0]
        assert time.monotonic() < until, told
        time.sleep(0.2)


@pytest.fixture
def folder(cluster):
    made = cluster.path("home", "posts")
    os.mkdir(made)
    write(made, "step", "120")
    write(made, "post.py", POSTER)
    return made


def test_posts_are_a_source_of_progress_also_for_the_next_daemon(cluster, folder):
    cluster.run("submit", "pytorch", "--name=posts", f"python3 {folder}/post.py {folder}")
    told = await_step(cluster, 120)
    assert (told["source"], told["steps"], told["percent"], told["secondsLeft"]) == ("status posts", 1000, 12, 90)
    assert told["scalars"] == {"loss": 0.5}
    assert "Progress: step 120/1000 (12%), 90 s left, loss 0.5 (status posts)" in cluster.run("get", "posts").stdout
    cluster.kill_daemon()
    write(folder, "step", "250")
    assert await_step(cluster, 250)["percent"] == 25
    kept = json.loads(cluster.run("show", "posts", "-o", "json").stdout)["progress"]
    assert [series["name"] for series in kept["series"]] == ["loss"]


def test_answers_are_those_of_kubeflow_trainer_and_the_token_is_shown_nowhere(cluster, folder):
    cluster.run("submit", "pytorch", "--name=posts", f"python3 {folder}/post.py {folder}")
    await_step(cluster, 120)
    until = time.monotonic() + PATIENCE
    while not os.path.exists(os.path.join(folder, "answers")):  # the first post was seen before the others were sent
        assert time.monotonic() < until
        time.sleep(0.1)
    with open(os.path.join(folder, "answers")) as file:
        answers = json.load(file)
    assert [status for status, _ in answers] == [200, 403, 422, 413, 404]
    assert answers[0][1]["trainerStatus"]["metrics"][0] == {"name": "loss", "value": "0.5"}
    assert [body["message"] for _, body in answers[1:]] == ["Forbidden", "Invalid payload", "Payload too large", "Not found"]
    pod = json.loads(cluster.run("get", "posts", "-o", "json").stdout)
    tokens = []
    for place, _, names in os.walk(cluster.path("state", "muster", "pods")):
        tokens += [os.path.join(place, name) for name in names if name == "status-token"]
    assert len(tokens) == 1 and os.stat(tokens[0]).st_mode & 0o777 == 0o600, pod
    with open(tokens[0]) as file:
        secret = file.read().strip()
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/cmdline", "rb") as file:
                assert secret.encode() not in file.read()
        except (FileNotFoundError, ProcessLookupError):
            continue
    for command in (("logs", "posts"), ("cluster",), ("show", "posts", "-o", "json")):
        assert secret not in cluster.run(*command).stdout
    with open(cluster.path("state", "muster", "daemon.log")) as file:
        assert secret not in file.read()


def test_who_reports_elsewhere_keeps_it_and_the_configuration_turns_it_off(cluster):
    show = 'echo "url=$KUBEFLOW_TRAINER_SERVER_URL token=$KUBEFLOW_TRAINER_SERVER_TOKEN."'
    cluster.run("submit", "pytorch", "--name=own", "--env=KUBEFLOW_TRAINER_SERVER_URL=https://other/x", "--wait", show, timeout=120)
    assert "url=https://other/x token=." in cluster.run("logs", "own").stdout
    cluster.run("down")
    with open(cluster.path("config/muster/config.yaml"), "a") as file:
        file.write("  progress: false\n")
    cluster.run("submit", "pytorch", "--name=off", "--wait", show, timeout=120)
    assert "url= token=." in cluster.run("logs", "off").stdout
    # Launchers, in a job and without one, offer none of their own either.
    launch = ["--no-python", "--nproc-per-node=1", "env"]
    cluster.run("submit", "pytorch", "--name=launched", "--wait", "torchrun " + " ".join(launch), timeout=120)
    for shown in (cluster.run("logs", "launched"), cluster.run("launch", *launch)):
        assert "TORCHELASTIC_RUN_ID=" in shown.stdout and "KUBEFLOW_TRAINER" not in shown.stdout
