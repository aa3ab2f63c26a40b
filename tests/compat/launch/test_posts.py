"""Ranks that report to Kubeflow Trainer, as transformers 5 does, report to the launcher."""
import json
import os
import stat

from test_status_line import Terminal

POST = """
import json, os, sys, time, urllib.error, urllib.request
def post(status, token=None, data=None):
    token = token or open(os.environ["KUBEFLOW_TRAINER_SERVER_TOKEN"], encoding="utf-8").read().strip()
    body = data or json.dumps({"trainerStatus": {"lastUpdatedTime": "2026-11-24T10:00:00Z", **status}}).encode()
    request = urllib.request.Request(os.environ["KUBEFLOW_TRAINER_SERVER_URL"], data=body, method="POST",
                                     headers={"Authorization": f"Bearer {token}", "Content-Type": "application/json"})
    try:
        with urllib.request.urlopen(request, timeout=5) as answer:
            return answer.status, json.load(answer)
    except urllib.error.HTTPError as refusal:
        return refusal.code, json.load(refusal)
def step(n):
    return {"progressPercentage": n // 10, "estimatedRemainingSeconds": 90,
            "metrics": [{"name": "current_step", "value": str(n)}, {"name": "total_steps", "value": "1000"},
                        {"name": "loss", "value": "0.5"}]}
"""
SHOW = "import os\nprint({name: value for name, value in os.environ.items() if name.startswith('KUBEFLOW_TRAINER')})\n"


def test_the_status_line_says_how_far_it_is(launch):
    script = launch.script(POST + """
if os.environ["RANK"] == "0": post(step(120))
while not os.path.exists("go"): time.sleep(0.01)
""")
    terminal = Terminal(launch, "--nproc-per-node=2", script)
    terminal.until(r"muster: 2 of 2 ranks running, step 120/1000 \(12%\), 90 s left, loss 0.5")
    open(launch.path("go"), "w").close()
    assert terminal.finish() == 0
    assert os.listdir(launch.path("tmp")) == []


def test_a_failure_says_how_far_it_was(launch):
    script = launch.script(POST + "post(step(250)); sys.exit(3)\n")
    done = launch.run("--nproc-per-node=1", script, code=3)
    assert "muster-launch: step 250/1000 (25%), 90 s left, loss 0.5, as posted " in done.err, done.err


def test_answers_are_those_of_kubeflow_trainer_and_the_token_is_private(launch):
    script = launch.script(POST + """
answers = [post(step(7)), post({}, token="x"), post({}, data=b"{}{}"), post({}, data=b"x" * (65 << 10))]
info = os.stat(os.environ["KUBEFLOW_TRAINER_SERVER_TOKEN"])
folder = os.stat(os.path.dirname(os.environ["KUBEFLOW_TRAINER_SERVER_TOKEN"]))
secret = open(os.environ["KUBEFLOW_TRAINER_SERVER_TOKEN"]).read().strip()
def told(pid):
    try:
        return secret.encode() in open(f"/proc/{pid}/cmdline", "rb").read()
    except OSError:
        return False
print(json.dumps([answers, info.st_mode, folder.st_mode, any(map(told, filter(str.isdigit, os.listdir("/proc"))))]))
""")
    answers, mode, folder, is_in_argv = json.loads(launch.run("--nproc-per-node=1", script).out)
    assert [status for status, _ in answers] == [200, 403, 422, 413]
    assert answers[0][1]["trainerStatus"]["metrics"][2] == {"name": "loss", "value": "0.5"}
    assert [body["message"] for _, body in answers[1:]] == ["Forbidden", "Invalid payload", "Payload too large"]
    assert (stat.S_IMODE(mode), stat.S_IMODE(folder), is_in_argv) == (0o600, 0o700, False)


def test_who_reports_elsewhere_keeps_it_and_a_flag_turns_it_off(launch):
    script = launch.script(SHOW)
    elsewhere = {"KUBEFLOW_TRAINER_SERVER_URL": "https://other/x"}
    assert eval(launch.run("--nproc-per-node=1", script, env=elsewhere).out) == elsewhere
    for flags, env in (["--progress=off"], {}), ([], {"PET_PROGRESS": "off"}):
        assert eval(launch.run(*flags, "--nproc-per-node=1", script, env=env).out) == {}
    assert len(eval(launch.run("--nproc-per-node=1", script).out)) == 3
