"""What can go wrong between muster and a Kubernetes API server: each is one clear line."""
import collections
import json
import os
import shutil
import socket
import threading

import pytest

from fake_servers import CannedServer, FakeKubelet, Proxy
from ports import free_ports
from real_kubernetes import Authority
from running_operator import wait_until
from test_client import (exec_user, one_line, play_operator, submit, write_program)
from waiting import PATIENCE


@pytest.fixture
def canned(real_cluster):
    """canned(…): the kubeconfig of a CannedServer."""
    made = []
    cert, key = real_cluster.authority.issue("canned", "canned", names=("IP:127.0.0.1",))

    def make(**answer):
        made.append(CannedServer(cert, key, **answer))
        return made[-1], real_cluster.write_kubeconfig("canned", {"token": "t"},
                                                       cluster={"server": made[-1].url})
    yield make
    for server in made:
        server.close()


@pytest.fixture(scope="module")
def kubelet(real_cluster):
    made = FakeKubelet(real_cluster, "node-1")
    yield made
    made.close()


def refused_at(real_cluster, muster_as, server):
    path = real_cluster.write_kubeconfig("elsewhere", {"token": "t"}, cluster={"server": server})
    return one_line(muster_as(path).run("list", code=1))


def test_a_server_that_is_not_there(real_cluster, muster_as):
    port, = free_ports(1)
    line = refused_at(real_cluster, muster_as, f"https://127.0.0.1:{port}")
    assert f"nothing listens at 127.0.0.1:{port}" in line, line
    line = refused_at(real_cluster, muster_as, "https://no-such-host.invalid:6443")
    assert "no address is known of no-such-host.invalid" in line, line
    line = refused_at(real_cluster, muster_as, "localhost:6443")
    assert '"localhost:6443" is not a URL: begin with https://' in line, line


@pytest.mark.parametrize("path", ["/k8s/clusters/c-1", "/api"])
def test_a_wrong_path_in_the_servers_url(real_cluster, namespace, muster_as, path):
    muster = muster_as(real_cluster.write_kubeconfig(
        "path", {"client-certificate": real_cluster.admin_cert, "client-key": real_cluster.admin_key}, namespace,
        cluster={"server": real_cluster.url + path}))
    for words in (("list",), ("get", "x"), ("logs", "x"), ("delete", "x"), ("top", "node"), ("cluster",),
                  ("submit", "pytorch", "--name=a", "--image=i", "python x.py")):
        done = muster.run(*words, code=1)
        assert "is the path in its URL right?" in done.stderr, (words, done.stderr)


def test_a_server_that_does_not_speak_tls(real_cluster, muster_as):
    listener = socket.create_server(("127.0.0.1", 0))

    def answer():
        peer, _ = listener.accept()
        peer.recv(65536)
        peer.sendall(b"HTTP/1.0 400 Bad Request\r\n\r\nClient sent an HTTP request\n")
        peer.close()
    thread = threading.Thread(target=answer, daemon=True)
    thread.start()
    line = refused_at(real_cluster, muster_as, f"https://127.0.0.1:{listener.getsockname()[1]}")
    assert "does not speak TLS" in line, line
    thread.join()
    listener.close()


def test_a_server_whose_certificate_has_expired(real_cluster, muster_as):
    cert, key = real_cluster.authority.issue("late", "late", names=("IP:127.0.0.1",), days=-1)
    server = CannedServer(cert, key, body=b"{}")
    line = refused_at(real_cluster, muster_as, server.url)
    assert "is not trusted: it has expired" in line, line
    server.close()


def test_a_web_page_instead_of_an_answer(canned, muster_as):
    for status in (200, 403, 404, 502):
        _, path = canned(status=status, headers=[("Content-Type", "text/html")],
                         body=b"<html><head><title>Please\nlog in</title></head></html>")
        line = one_line(muster_as(path).run("list", code=1))
        assert f'a web page came back instead of an answer (HTTP {status}, "Please log in")' in line
    _, path = canned(status=302, headers=[("Location", "https://login.example.test/")])
    line = one_line(muster_as(path).run("list", code=1))
    assert "a redirect to https://login.example.test/ (HTTP 302)" in line, line


def test_garbage_and_endless_errors(canned, muster_as):
    _, path = canned(body=b'{"kind": "PyTorchJobList", "items": [')
    line = one_line(muster_as(path).run("list", code=1))
    assert "GET /api/v1/namespaces/default: the answer is not JSON: JSON 1:38: incomplete" in line
    _, path = canned(status=500, body=b"x\ny" * (5 << 20))
    assert len(one_line(muster_as(path).run("list", code=1))) < 3000
    status = {"kind": "Status", "reason": "InternalError", "message": "very " * (2 << 20)}
    _, path = canned(status=500, body=json.dumps(status).encode())
    assert len(one_line(muster_as(path).run("list", code=1))) < 3000
    _, path = canned(body=None)
    assert "the connection to 127.0.0.1:" in one_line(muster_as(path).run("list", code=1))


def test_too_many_requests_are_asked_again_when_the_server_says_so(canned, muster_as):
    body = b'{"kind": "Status", "reason": "TooManyRequests", "message": "not now"}'
    server, path = canned(status=429, headers=[("Retry-After", "0")], body=body)
    line = one_line(muster_as(path).run("list", code=1))
    assert "the server has too much to do (HTTP 429): try again in 0 s: not now" in line, line
    assert len(server.requests) == 5
    # What is not idempotent is sent once.
    server, path = canned(status=503, headers=[("Retry-After", "0")], body=body)
    muster_as(path).run("submit", "pytorch", "--name=x", "--image=x", "true", code=1)
    creates = [line for line in server.requests if line.endswith("/pytorchjobs")]
    assert len([line for line in creates if line.startswith("POST")]) <= 1


def test_a_proxy_is_used_where_the_kubeconfig_or_the_environment_says(real_cluster, muster_as):
    admin = {"client-certificate": real_cluster.admin_cert, "client-key": real_cluster.admin_key}
    proxy = Proxy()
    path = real_cluster.write_kubeconfig("proxied", admin, cluster={"proxy-url": proxy.url})
    muster_as(path).run("list")
    assert proxy.asked == [f"127.0.0.1:{real_cluster.port}"]
    # Its name is known to the proxy alone.
    path = real_cluster.write_kubeconfig("far", admin, cluster={
        "server": f"https://far.cluster.invalid:{real_cluster.port}",
        "tls-server-name": "kubernetes.default.svc"})
    far = muster_as(path)
    far.run("list", env={"HTTPS_PROXY": proxy.url})
    assert proxy.asked[1:] == [f"far.cluster.invalid:{real_cluster.port}"]
    line = one_line(far.run("list", env={"HTTPS_PROXY": proxy.url, "NO_PROXY": ".cluster.invalid"},
                            code=1))
    assert "no address is known of far.cluster.invalid" in line, line
    proxy.close()
    refusing = Proxy(refuse=True)
    line = one_line(far.run("list", env={"HTTPS_PROXY": refusing.url}, code=1))
    assert f"the proxy {refusing.url[7:]} refused to connect" in line, line
    refusing.close()


def test_exec_credentials_are_renewed_when_the_server_refuses_them(real_cluster, muster_as):
    count = real_cluster.path("plugin-count")
    program = write_program(real_cluster.path("plugin-renews"), f"""
echo run >>{count}
token=stale
[ "$(wc -l <{count})" -ge 2 ] && token=token-one
echo '{{"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential",'\
'"status":{{"token":"'$token'","expirationTimestamp":"2099-01-01T00:00:00Z"}}}}'
""")
    user = muster_as(real_cluster.write_kubeconfig("exec-renews", exec_user(program)))
    assert json.loads(user.run("whoami").stdout)["Name"] == "tina"
    with open(count) as file:
        assert len(file.readlines()) == 2


def test_a_token_file_is_read_by_every_command(real_cluster, muster_as):
    token = real_cluster.path("token")
    user = muster_as(real_cluster.write_kubeconfig("from-file", {"tokenFile": token}))
    line = one_line(user.run("whoami", code=1))
    assert token in line and "No such file" in line, line
    with open(token, "w") as file:
        file.write("outdated\n")
    assert f"does not accept the token in {token}" in one_line(user.run("list", code=1))
    with open(token, "w") as file:
        file.write("token-two\n")
    assert json.loads(user.run("whoami").stdout)["Name"] == "tina"


def test_logs_are_read_through_the_api_server(real_cluster, kubelet, muster, namespace):
    submit(muster, "log", namespace)
    play_operator(real_cluster, namespace, "log")
    kubelet.write(namespace, "log-master-0", "pytorch", "one", "two", "three")
    kubelet.end(namespace, "log-master-0", "pytorch")
    assert muster.run("logs", "log", "-n", namespace).stdout == "one\ntwo\nthree\n"
    kubelet.write(namespace, "log-worker-0", "pytorch", "of the worker")
    assert muster.run("logs", "log", "-i", "log-worker-0",
                      "-n", namespace).stdout == "of the worker\n"


def test_following_says_which_log_cannot_be_read(real_cluster, kubelet, muster, namespace):
    """As of a pod that was evicted, or whose node is gone: the kubelet knows no log of it. One that runs may have one again."""
    submit(muster, "back", namespace)
    play_operator(real_cluster, namespace, "back")
    following = muster.start("logs", "-f", "back", "-n", namespace)
    line = following.stderr.readline()
    assert "the log of instance back-master-0 cannot be read: " in line and line.endswith("; trying on\n"), line
    kubelet.write(namespace, "back-master-0", "pytorch", "here again")
    assert following.stdout.readline() == "here again\n"
    following.terminate()
    following.communicate()
    submit(muster, "lost", namespace)
    play_operator(real_cluster, namespace, "lost", phase="Failed")
    done = muster.run("logs", "-f", "lost", "-n", namespace)
    assert "the log of instance lost-master-0 cannot be read: " in done.stderr, done.stderr


def test_following_a_log_survives_a_restart_of_the_api_server(real_cluster, kubelet, muster,
                                                              namespace):
    submit(muster, "long", namespace)
    play_operator(real_cluster, namespace, "long")
    where = (namespace, "long-master-0", "pytorch")
    kubelet.write(*where, *[f"line {n}" for n in range(100)])
    following = muster.start("logs", "-f", "long", "-n", namespace)
    lines = [following.stdout.readline() for _ in range(100)]
    real_cluster.stop_api_server(kill=True)
    kubelet.write(*where, *[f"line {n}" for n in range(100, 200)])
    real_cluster.start_api_server()
    lines += [following.stdout.readline() for _ in range(100)]
    kubelet.write(*where, "the end")
    kubelet.end(*where)
    real_cluster.patch_status("pod", "long-master-0", namespace, {"phase": "Succeeded"})
    rest, errors = following.communicate(timeout=PATIENCE)
    assert following.returncode == 0, errors
    assert lines == [f"line {n}\n" for n in range(200)]
    assert rest == "the end\n"


def test_certificates_are_rotated_under_a_running_command(real_cluster, kubelet, muster, muster_as,
                                                          namespace):
    """Authority, server's and client's certificate are others after a restart: the files are read again."""
    folder = real_cluster.path("rotated")
    os.makedirs(folder)
    files = {name: os.path.join(folder, name) for name in ("ca", "crt", "key")}

    def write(authority, cert, key):
        for name, source in (("ca", authority.cert), ("crt", cert), ("key", key)):
            shutil.copy(source, files[name] + ".new")
            os.replace(files[name] + ".new", files[name])
    write(real_cluster.authority, real_cluster.admin_cert, real_cluster.admin_key)
    user = muster_as(real_cluster.write_kubeconfig(
        "rotated", {"client-certificate": files["crt"], "client-key": files["key"]}, namespace,
        cluster={"certificate-authority": files["ca"]}))
    submit(muster, "turns", namespace)
    play_operator(real_cluster, namespace, "turns")
    where = (namespace, "turns-master-0", "pytorch")
    kubelet.write(*where, "before")
    following = user.start("logs", "-f", "turns")
    assert following.stdout.readline() == "before\n"
    real_cluster.stop_api_server(kill=True)
    other = Authority(real_cluster.path("rotated-pki"), "rotated-ca")
    write(other, *other.issue("admin", "admin", ["system:masters"]))
    try:
        real_cluster.start_api_server(other)
        kubelet.write(*where, "after")
        assert following.stdout.readline() == "after\n"
        assert "turns" in user.run("list").stdout
        # Who still has the old files is told so.
        assert "is not trusted" in one_line(muster.run("list", "-n", namespace, code=1))
    finally:
        following.kill()
        following.communicate()
        real_cluster.stop_api_server(kill=True)
        real_cluster.start_api_server()


def test_one_connection_carries_a_command_and_all_its_watches(real_cluster, kubelet, muster_as, muster,
                                                              namespace):
    proxy = Proxy()
    path = real_cluster.write_kubeconfig(
        "counted", {"client-certificate": real_cluster.admin_cert,
                    "client-key": real_cluster.admin_key}, namespace, cluster={"proxy-url": proxy.url})
    submit(muster, "counted", namespace)
    play_operator(real_cluster, namespace, "counted")
    where = (namespace, "counted-master-0", "pytorch")
    kubelet.write(*where, "hello")
    following = muster_as(path).start("logs", "-f", "counted")
    assert following.stdout.readline() == "hello\n"
    kubelet.end(*where)
    real_cluster.patch_status("pod", "counted-master-0", namespace, {"phase": "Succeeded"})
    assert following.wait(timeout=PATIENCE) == 0
    assert len(proxy.asked) == 1
    proxy.close()


def test_following_without_the_right_to_watch_ends_and_says_so(real_cluster, kubelet, muster, muster_as,
                                                               namespace):
    group = "readers-of-" + namespace
    real_cluster.allow(namespace, group, [
        {"apiGroups": ["kubeflow.org"], "resources": ["pytorchjobs"], "verbs": ["get", "list", "create"]},
        {"apiGroups": [""], "resources": ["pods", "pods/log"], "verbs": ["get", "list"]},
        {"apiGroups": [""], "resources": ["configmaps"], "verbs": ["create"]}])
    submit(muster, "seen", namespace)
    reader = muster_as(real_cluster.user_kubeconfig("rita", [group], namespace))
    line = reader.run("logs", "-f", "seen", code=1).stderr.splitlines()[-1]
    assert 'User "rita" cannot watch resource' in line, line
    line = submit(reader, "made", namespace, "--wait", code=1).stderr.splitlines()[-1]
    assert 'the job made can no longer be followed' in line and 'cannot watch resource' in line, line


@pytest.mark.parametrize("flags, shown", [
    (("--all", "-f"), ["[0] this is wide-master-0\n", "[all but 0] this is wide-worker-0..4\n"]),
    (("-f",), ["this is wide-master-0\n"])], ids=["all", "one"])
def test_following_takes_one_watch_of_the_job_and_one_of_its_pods(real_cluster, kubelet, muster, muster_as, namespace, flags, shown):
    submit(muster, "wide", namespace, "--workers=6")
    play_operator(real_cluster, namespace, "wide")
    pods = ["wide-master-0", *(f"wide-worker-{number}" for number in range(5))]
    for pod in pods:
        kubelet.write(namespace, pod, "pytorch", f"this is {pod}")
    real_cluster.kubectl("create", "serviceaccount", "reader", "-n", namespace)
    real_cluster.kubectl("create", "rolebinding", "reader", "-n", namespace, "--clusterrole=cluster-admin",
                         f"--serviceaccount={namespace}:reader")
    reader = muster_as(real_cluster.account_kubeconfig(namespace, "reader"))
    following = reader.start("logs", "wide", "-n", namespace, *flags)
    try:
        assert [following.stdout.readline() for _ in shown] == shown
    finally:
        following.terminate()
        following.communicate(timeout=PATIENCE)

    def asked():
        found = collections.Counter(request[:2] for request in real_cluster.requests_of(namespace, "reader"))
        return found if found["watch", "pods"] else None
    found = wait_until("the watch's end is in the audit log", asked)
    assert found["watch", "pods"] == 1 and found["watch", "pytorchjobs.kubeflow.org"] <= 1, found
    assert found["list", "pods"] <= 2 and found["list", "pytorchjobs.kubeflow.org"] == 1, found
