"""`attach`: commands in the instances of a job, with a terminal and without, and by other clients."""
import contextlib
import hashlib
import json
import os
import shutil
import signal
import subprocess

import pytest

from embedded_api import Api
from terminals import Terminal
from waiting import PATIENCE, await_true

HELLO = "Attached to the container pytorch of instance j-master-0\n"
NO_TTY = "Unable to use a TTY - input is not a terminal or the right kind of file\n"
USERS = pytest.mark.parametrize("user", ["cluster", "nobody_cluster"])


@pytest.fixture
def user_cluster(user, request):
    return request.getfixturevalue(user)


def submit(cluster, *flags, command="sleep 1000"):
    cluster.submit("j", command, *flags)
    cluster.wait("j", "RUNNING")


def attach(cluster, *args, data=b"", code=0):
    done = subprocess.run([cluster.binary, "attach", "j", *args], input=data, env=cluster.env,
                          cwd=cluster.path("home"), capture_output=True, timeout=PATIENCE,
                          **cluster._become())
    assert done.returncode == code, (done.returncode, done.stdout[-500:], done.stderr)
    return done


def count_processes(cluster, word):
    """Of the cluster's pods, with that word among their arguments."""
    found = 0
    for pid in cluster.pod_processes():
        with contextlib.suppress(OSError), open(f"/proc/{pid}/cmdline", "rb") as file:
            found += word.encode() in file.read().split(b"\0")
    return found


def await_count(cluster, word, wanted):
    await_true(lambda: count_processes(cluster, word) == wanted,
               lambda: f"{count_processes(cluster, word)} processes of {word}, not {wanted}")


def terminal(cluster, *args, **size):
    return Terminal([cluster.binary, *args], env=cluster.env, cwd=cluster.path("home"), **size,
                    **cluster._become())


@USERS
def test_without_a_terminal(user_cluster):
    cluster = user_cluster
    submit(cluster, "--env=WORD=a b")
    done = attach(cluster, "--", "sh", "-c", 'echo "$WORD $RANK"; echo bad >&2; exit 7', code=7)
    assert done.stdout == b"a b 0\n"
    assert done.stderr.decode() == HELLO + NO_TTY + "bad\n"
    # sh is the default, and reads what it is given.
    assert attach(cluster, data=b"echo from the pipe; kill -9 $$\n", code=137).stdout == \
        b"from the pipe\n"
    assert attach(cluster, "cat", "/proc/self/comm").stdout == b"cat\n"

    # The same program as in the job, as the same user, in the same place.
    same = "import os,sys; print(os.getuid(), os.getcwd(), sys.prefix, os.uname().nodename)"
    log = cluster.run("exec", "j", "--", "python", "-c", same).stdout.split()
    assert log[0] == str(cluster.uid) and log[1] == "/root" and log[3] == "j-master-0"
    assert cluster.run("exec", "j-master-0", "--", "hostname").stdout == "j-master-0\n"

    done = attach(cluster, "--", "no-such-program", code=1)
    assert 'exec: "no-such-program": executable file not found in $PATH' in done.stderr.decode()
    done = attach(cluster, "-c", "nginx", "--", "true", code=1)
    assert "container nginx is not valid for pod j-master-0" in done.stderr.decode()
    done = attach(cluster, "-i", "j-worker-9", "--", "true", code=1)
    assert ("invalid instance name j-worker-9 in job j,please use 'muster get j' to make sure "
            "instance name") in done.stderr.decode()


def test_pipes_lose_nothing(cluster):
    submit(cluster)
    data = os.urandom(1 << 20)
    assert attach(cluster, "--", "cat", data=data).stdout == data
    # Far more than anybody holds, to a reader who is late.
    size = 64 << 20
    late = subprocess.Popen(
        [cluster.binary, "attach", "j", "--", "sh", "-c", f"head -c {size} /dev/zero; echo end >&2"],
        env=cluster.env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    await_count(cluster, "head", 1)
    out, err = late.communicate(timeout=PATIENCE)
    assert len(out) == size and not out.strip(b"\0") and err.endswith(b"end\n")
    # A command that does not read what it is sent ends all the same.
    done = attach(cluster, "--", "true", data=os.urandom(8 << 20))
    assert done.stdout == b""


@USERS
def test_on_a_terminal(user_cluster):
    cluster = user_cluster
    submit(cluster)
    with terminal(cluster, "attach", "j", "bash", rows=50, columns=132) as window:
        window.expect(HELLO.strip())
        window.type("PS1=; stty size; tty; echo $TERM$COLUMNS-\n")
        window.expect("50 132\r\n/dev/pts/")
        window.resize(33, 77)
        window.type("until [ \"$(stty size)\" = '33 77' ]; do sleep 0.05; done; echo re''sized\n")
        window.expect("resized\r\n")
        window.type("echo go''ing; sleep 500; echo not reached\n")
        window.expect("going\r\n")
        await_count(cluster, "500", 1)
        window.type("\x03")
        window.type("echo $?-after\n")
        window.expect("130-after\r\n")
        window.type("exit 9\n")
        assert window.end() == 9
    await_count(cluster, "bash", 0)


def test_first_size_is_never_missed(cluster):
    submit(cluster)
    for _ in range(5):
        with terminal(cluster, "attach", "j", "--", "stty", "size", rows=41, columns=99) as window:
            window.expect("41 99\r\n")
            assert window.end() == 0


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_a_signal_gives_the_terminal_back(cluster, number):
    submit(cluster)
    with terminal(cluster, "attach", "j", "--", "sh", "-c", "echo r''eady; exec sleep 501") as window:
        window.expect("ready")
        window.process.send_signal(number)
        assert window.end() == 128 + number
    await_count(cluster, "501", 0)


@USERS
def test_commands_end_with_their_client(user_cluster):
    cluster = user_cluster
    submit(cluster)
    script = "trap '' HUP; sleep 502 & sleep 502; sleep 502"
    for on_terminal in (False, True):
        with contextlib.ExitStack() as stack:
            if on_terminal:
                client = stack.enter_context(
                    terminal(cluster, "attach", "j", "--", "sh", "-c", script)).process
            else:
                client = cluster.start("attach", "j", "--", "sh", "-c", script,
                                       stdin=subprocess.DEVNULL)
            await_count(cluster, "502", 2)
            client.kill()
            await_count(cluster, "502", 0)
            client.wait()
    assert cluster.get("j")["status"] == "RUNNING"


def test_commands_end_with_the_daemon(cluster):
    submit(cluster)
    client = cluster.start("attach", "j", "--", "sleep", "503", stdin=subprocess.DEVNULL)
    await_count(cluster, "503", 1)
    cluster.kill_daemon()
    _, err = client.communicate(timeout=20)
    assert client.returncode == 1 and "the server closed the connection" in err
    await_count(cluster, "503", 0)
    # The job runs on, and the next daemon reaches it.
    assert attach(cluster, "echo", "again").stdout == b"again\n"


def test_commands_end_with_the_job(cluster):
    submit(cluster, "--workers=2")
    clients = [cluster.start("attach", "j", "-i", instance, "--", "bash", "-c",
                             "trap '' TERM HUP; while :; do sleep 504; done",
                             stdin=subprocess.DEVNULL)
               for instance in ("j-master-0", "j-worker-0")]
    await_count(cluster, "504", 2)
    cluster.run("delete", "j")
    for client in clients:
        client.communicate(timeout=20)
        assert client.returncode in (1, 137)
    await_count(cluster, "504", 0)


def test_ended_and_unknown_instances(cluster):
    cluster.submit("j", "true")
    cluster.wait("j", "SUCCEEDED")
    done = cluster.run("attach", "j", code=1)
    assert ("cannot exec into a container in a completed Instance; current phase is Succeeded"
            in done.stderr)
    done = cluster.run("attach", "nobody-knows", code=1)
    assert "Not found training job nobody-knows in namespace default" in done.stderr
    done = cluster.run("attach", code=2)
    assert "JOB is missing: muster attach JOB [-- COMMAND [ARG...]]" in done.stderr


def test_under_arenas_name(cluster):
    submit(cluster)
    link = cluster.path("bin/arena")
    os.symlink("muster", link)
    done = subprocess.run([link, "attach", "j", "--", "sh", "-c", "exit 7"], env=cluster.env,
                          capture_output=True, timeout=PATIENCE, stdin=subprocess.DEVNULL)
    assert done.returncode == 1 and b"command terminated with exit code 7" in done.stderr
    done = subprocess.run([link, "attach", "j", "echo", "fine"], env=cluster.env, text=True,
                          capture_output=True, timeout=PATIENCE, stdin=subprocess.DEVNULL)
    assert (done.returncode, done.stdout) == (0, "fine\n")
    names = cluster.run("__complete", "attach", "-i", "j-m").stdout.splitlines()
    assert names[0] == "j-master-0"
    assert cluster.run("__complete", "exec", "").stdout.splitlines()[0] == "j"


@USERS
def test_sees_what_the_instance_sees(user_cluster, repository):
    cluster = user_cluster
    submit(cluster, "--sync-mode=git", f"--sync-source=file://{repository}")
    code = attach(cluster, "cat", "/root/code/mnist-pytorch/mnist.py").stdout
    with open(os.path.join(os.path.dirname(__file__), "../../examples/mnist-pytorch/mnist.py"),
              "rb") as file:
        assert code == file.read()
    attach(cluster, "touch", "/root/code/made")
    assert b"made\n" in attach(cluster, "ls", "/root/code").stdout


@pytest.fixture
def kubeconfig(cluster):
    """Of a cluster with a job that runs, over TLS with a token."""
    submit(cluster)
    cluster.run("up", "--listen")
    path = cluster.path("kubeconfig")
    with open(path, "w") as file:
        file.write(cluster.run("kubeconfig").stdout)
    os.chmod(path, 0o600)
    return path


def kubectl(kubeconfig, cluster, *args, data=b"", code=0):
    done = subprocess.run(["kubectl", "--kubeconfig", kubeconfig, "exec", *args], input=data,
                          env=cluster.env, capture_output=True, timeout=PATIENCE)
    assert done.returncode == code, (done.returncode, done.stdout[-500:], done.stderr)
    return done


@pytest.mark.skipif(shutil.which("kubectl") is None, reason="no kubectl on this machine")
def test_a_stock_kubectl(cluster, kubeconfig):
    done = kubectl(kubeconfig, cluster, "j-master-0", "--", "sh", "-c", "echo out; echo err >&2; exit 5",
                   code=5)
    assert done.stdout == b"out\n"
    assert done.stderr == b"err\ncommand terminated with exit code 5\n"
    data = os.urandom(1 << 20)
    assert kubectl(kubeconfig, cluster, "-i", "j-master-0", "--", "cat", data=data).stdout == data
    done = kubectl(kubeconfig, cluster, "j-master-0", "-c", "nginx", "--", "true", code=1)
    assert b"container nginx is not valid for pod j-master-0" in done.stderr
    done = kubectl(kubeconfig, cluster, "j-master-0", "--", "no-such-program", code=1)
    assert b'exec: "no-such-program": executable file not found in $PATH' in done.stderr


@pytest.mark.skipif(shutil.which("kubectl") is None, reason="no kubectl on this machine")
def test_a_stock_kubectl_on_a_terminal(cluster, kubeconfig):
    cluster.binary = shutil.which("kubectl")
    with terminal(cluster, "--kubeconfig", kubeconfig, "exec", "-it", "j-master-0", "--", "bash",
                  rows=31, columns=101) as window:
        # kubectl sends the size beside the shell's start, not before it.
        window.type("until stty size | grep '^31 101$'; do sleep 0.1; done; exit 4\n")
        window.expect("31 101\r\n")
        assert window.end() == 4
    cluster.binary = cluster.path("bin/muster")


def test_the_python_client_of_kubernetes(kubeconfig):
    from kubernetes import client, config
    from kubernetes.stream import stream
    api = client.CoreV1Api(config.new_client_from_config(kubeconfig))
    text = stream(api.connect_get_namespaced_pod_exec, "j-master-0", "default",
                  command=["sh", "-c", "echo out; echo err >&2"], stderr=True, stdin=False,
                  stdout=True, tty=False)
    assert sorted(text.split()) == ["err", "out"]

    shell = stream(api.connect_get_namespaced_pod_exec, "j-master-0", "default",
                   command=["sh"], stderr=True, stdin=True, stdout=True, tty=False,
                   _preload_content=False)
    shell.write_stdin("echo $((6 * 7))\n")
    assert shell.readline_stdout(timeout=20) == "42"
    shell.write_stdin("head -c 1000000 /dev/zero | tr '\\0' x | sha1sum; exit 3\n")
    assert shell.readline_stdout(timeout=20).split()[0] == \
        hashlib.sha1(b"x" * 1_000_000).hexdigest()
    shell.run_forever(timeout=20)
    assert shell.returncode == 3
    with pytest.raises(client.exceptions.ApiException) as refused:
        stream(api.connect_get_namespaced_pod_exec, "nobody", "default", command=["true"],
               stdout=True, stderr=True, stdin=False, tty=False)
    assert "404" in str(refused.value)


def test_requests_that_ask_for_no_websocket(cluster):
    submit(cluster)
    api = Api(cluster)

    def get(path, **headers):
        api.request("GET", f"/api/v1/namespaces/default/pods/{path}", headers=headers)
        answer = api.getresponse()
        return answer.status, json.loads(answer.read())["message"]
    assert get("j-master-0/exec?command=true&stdout=1") == (400, "Upgrade request required")
    assert get("j-master-0/exec?command=true") == (
        400, "you must specify at least 1 of stdin, stdout, stderr")
    assert get("j-master-0/exec?stdout=1") == (
        400, "you must specify at least one command for the container")
    assert get("nobody/exec?command=true&stdout=1") == (404, 'pods "nobody" not found')
    code, message = get("j-master-0/exec?command=true&stdout=1", Upgrade="SPDY/3.1")
    assert code == 400 and "kubectl 1.31" in message
    assert get("j-master-0/attach?stdout=1")[0] == 400
