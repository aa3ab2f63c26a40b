"""What the Tab key gives in real shells: the scripts of `completion`, sourced as their help says."""
import os
import re
import subprocess

import pytest

from embedded_api import Api
from terminals import Terminal
from waiting import PATIENCE

JOBS = "/apis/kubeflow.org/v1/namespaces/default/pytorchjobs"
PROMPT = "READY> "
START = {
    "bash": (["bash", "--norc", "-i"], "bind 'set show-all-if-ambiguous on'"),
    "zsh": (["zsh", "-f", "-i"], "autoload -U compinit; compinit -u -D; unsetopt list_beep"),
}
CASES = [
    # typed, what the line is then: `$` is its end, a blank where the word is whole
    ("{0} ge", "{0} get $"),
    ("{0} get mnist-a -o j", "{0} get mnist-a -o json $"),
    ("{0} list --output=j", "{0} list --output=json $"),
    ("{0} -n default get --output=json be", "{0} -n default get --output=json bert $"),
    ("{0} submit pytorch --data=training-data:/x --sync-mode=g",
     "{0} submit pytorch --data=training-data:/x --sync-mode=git $"),
    ("{0} logs bert -i bert-", "{0} logs bert -i bert-master-0 $"),
    ("{0} get -n kube-s", "{0} get -n kube-system $"),
    ("{0} submit pytorch --data tr", "{0} submit pytorch --data training-data $"),
    ("{0} delete mnist-a mnist-", "{0} delete mnist-a mnist-b $"),
    ("{0} get ap", "{0} get applied $"),  # made by nobody's submit
    ("{0} help subm", "{0} help submit $"),
    ("{0} apply -f $FOLDER/some-j", "{0} apply -f $FOLDER/some-job.yaml $"),
    ("{0} submit pytorch --git-ssh-key=$FOLDER/some-k", "{0} submit pytorch --git-ssh-key=$FOLDER/some-key $"),
]


@pytest.fixture(scope="module")
def busy():
    from embedded_muster import Cluster
    made = Cluster()
    for name in ("mnist-a", "mnist-b", "bert"):
        made.submit(name, "true")
        made.wait(name, "SUCCEEDED")
    made.run("data", "create", "training-data", "--path", made.path("tmp"))
    container = {"name": "pytorch", "image": "x", "command": ["true"]}
    Api(made).call("POST", JOBS, {"metadata": {"name": "applied"}, "spec": {"pytorchReplicaSpecs": {
        "Master": {"replicas": 1, "template": {"spec": {"containers": [container]}}}}}})
    for name in ("some-job.yaml", "some-key"):
        with open(made.path("tmp", name), "w"):
            pass
    os.symlink(made.binary, made.path("bin", "arena"))
    made.env.update(PATH=made.path("bin") + ":" + made.env["PATH"], TERM="dumb", FOLDER=made.path("tmp"))
    yield made
    made.close()


@pytest.mark.parametrize("program", ["muster", "arena"])
@pytest.mark.parametrize("shell", list(START))
def test_the_tab_key_completes_the_line(busy, shell, program):
    command, settings = START[shell]
    with Terminal(command, busy.env, busy.path("home"), rows=60, columns=250) as terminal:
        # In two parts, so that the shell's echo is not its prompt.
        terminal.type(f"PS1='REA''DY> '; {settings}; bind 'set enable-bracketed-paste off' 2>/dev/null\n")
        terminal.expect(PROMPT)
        terminal.type(f"unset zle_bracketed_paste; source <({program} completion {shell})\n")
        terminal.expect(PROMPT)
        for typed, line in CASES:
            line = line.format(program).replace("$FOLDER", busy.path("tmp"))
            terminal.type(typed.format(program).replace("$FOLDER", busy.path("tmp")) + "\t")
            before = terminal.expect(line.rstrip("$")[-12:])
            shown = re.sub(r"\x1b\[[0-9?;]*[a-zA-Z]|[\x07\r]", "", before + line.rstrip("$")[-12:])
            assert shown.endswith(line.rstrip("$")), (typed, shown)
            terminal.type("\x15\n")  # the line is dropped, a new one begins
            terminal.expect(PROMPT)


def test_fish_asks_for_the_same(busy):
    def complete(line):
        done = subprocess.run(["fish", "--no-config", "-c", f"muster completion fish | source; complete -C '{line}'"],
                              env=busy.env, cwd=busy.path("home"), text=True, capture_output=True, timeout=PATIENCE)
        assert done.returncode == 0, done.stderr
        return [word.split("\t")[0] for word in done.stdout.splitlines()]
    assert complete("muster ge") == ["get"]
    assert complete("muster get mn") == ["mnist-a", "mnist-b"]
    assert complete("muster list --output=j") == ["--output=json"]
    assert complete("muster logs bert -i ") == ["applied-master-0", "bert-master-0", "mnist-a-master-0",
                                                "mnist-b-master-0"]
    assert complete(f"muster apply -f {busy.path('tmp')}/some-j") == [busy.path("tmp", "some-job.yaml")]


def test_words_that_end_and_words_that_go_on(busy):
    def ask(*words):
        return busy.run("__complete", *words).stdout.splitlines()
    assert ask("get", "bert", "") == [":0"]
    assert ask("top", "job", "mnist") == ["mnist-a", "mnist-b", ":4"]
    assert ask("delete", "bert", "-n", "default", "") == ["applied", "mnist-a", "mnist-b", ":4"]
    assert ask("get", "-n", "nowhere", "") == [":0"]
    assert "submit\tSubmit a training job" in ask("help", "")
