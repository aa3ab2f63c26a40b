"""muster run --notify: who is told when a job ends."""
import http.server
import json
import os
import threading

from waiting import await_file, await_words


def await_notice(cluster, name, words):
    await_words(words, lambda: cluster.run("show", name).stdout)


def test_a_program_reads_what_became_of_the_job(cluster):
    told = cluster.path("home", "told")
    cluster.run("run", "--name=bad", f"--notify=cat >{told}", "--notify-on=fail", "echo why; exit 7", code=7)
    notice = json.loads(await_file(told))
    assert (notice["job"], notice["event"], notice["status"]) == ("bad", "end", "FAILED")
    assert "exited with code 7: why" in notice["reason"] and notice["text"].startswith("bad failed: rank 0")
    assert notice["command"] == "echo why; exit 7" and notice["seconds"] >= 0
    await_notice(cluster, "bad", "end: told at ")
    cluster.run("run", "--name=good", f"--notify=cat >{told}.2", "--notify-on=fail", "true")
    # The command stands in the folder that was run, and is told the last line of a success too.
    os.makedirs(cluster.path("home", "work"))
    cluster.start("run", "--name=fine", "--notify=cat >here", "-C", "work", "echo first; echo loss 0.5", umask=0o002).wait(60)
    here = cluster.path("home", "work", "here")
    assert json.loads(await_file(here))["lastLine"] == "loss 0.5"
    # Its files are as the caller's own: the daemon's umask would hide them from everybody else.
    assert os.stat(here).st_mode & 0o777 == 0o664
    cluster.run("run", "--name=begun", f'--notify=echo "$MUSTER_NOTICE_EVENT $MUSTER_NOTICE_JOB" >{told}.3',
                "--notify-on=start", "true")
    assert await_file(told + ".3") == "start begun\n"
    assert not os.path.exists(told + ".2")


class Receiver(http.server.BaseHTTPRequestHandler):
    bodies, refusals = [], 1000

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        Receiver.refusals -= 1
        if Receiver.refusals < 0:
            Receiver.bodies.append(json.loads(body))
        self.send_response(503 if Receiver.refusals >= 0 else 200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_):
        pass


def test_a_url_that_fails_is_asked_again(cluster):
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Receiver)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    url = f"http://127.0.0.1:{server.server_port}/hook/secret"
    cluster.run("run", "--name=web", f"--notify={url}", "true")
    await_notice(cluster, "web", "end: not told yet: 127.0.0.1: it answered with status 503; it is tried until ")
    assert "secret" not in cluster.run("show", "web").stdout.split("Notice:")[1].splitlines()[0]
    Receiver.refusals = 1
    await_notice(cluster, "web", "end: told at ")
    assert [(body["job"], body["status"]) for body in Receiver.bodies] == [("web", "SUCCEEDED")]
    server.shutdown()


def test_what_ended_while_no_daemon_ran_is_told_by_the_next(cluster):
    told, go = cluster.path("home", "told"), cluster.path("home", "go")
    cluster.run("run", "-d", "--name=late", f"--notify=cat >{told}", f"while ! test -e {go}; do sleep 0.05; done")
    cluster.wait("late", "RUNNING")
    cluster.kill_daemon()
    open(go, "w").close()
    cluster.await_no_process()
    cluster.wait("late", "SUCCEEDED")
    assert json.loads(await_file(told))["job"] == "late"


def test_a_program_that_fails_is_named_and_bad_values_are_refused(cluster):
    cluster.run("run", "--name=broken", "--notify=echo no such thing >&2; exit 3", "true")
    await_notice(cluster, "broken", "end: not told: the program exited with code 3: no such thing")
    for flags, why in ((["--notify="], "--notify is invalid"), (["--notify=http://"], "--notify is invalid"), (["--notify=true", "--notify-on=never"], "--notify-on")):
        refused = cluster.run("run", *flags, "true", code=2).stderr
        assert why in refused and len(refused.splitlines()) == 1


def test_the_configuration_says_who_is_told_of_every_job(cluster):
    told = cluster.path("home", "told")
    with open(cluster.path("config", "muster", "config.yaml"), "a") as file:
        file.write(f"notify: echo \"$MUSTER_NOTICE_JOB $MUSTER_NOTICE_STATUS\" >>{told}\n")
    cluster.submit("sent", "true", "--wait")
    await_notice(cluster, "sent", "end: told at ")
    cluster.run("run", "--name=own", f"--notify=cat >{told}.own", "true")
    assert json.loads(await_file(told + ".own"))["job"] == "own"
    cluster.run("run", "--name=early", "--notify-on=start", "true")
    await_notice(cluster, "early", "start: told at ")
    with open(told) as file:
        assert [line.split()[0] for line in file] == ["sent", "early"]


def test_a_job_that_is_deleted_the_moment_it_ends_is_told_of(cluster):
    told = cluster.path("home", "told")
    cluster.run("run", "--name=brief", f"--notify=cat >{told}", "echo bye; exit 3", code=3)
    cluster.run("delete", "brief")
    notice = json.loads(await_file(told))
    assert (notice["job"], notice["status"], notice["lastLine"]) == ("brief", "FAILED", "bye")


def test_nobody_waits_for_another_who_cannot_be_told(cluster):
    told = cluster.path("home", "told")
    cluster.run("run", "--name=web", "--notify=http://127.0.0.1:1/hook", f"--notify=cat >{told}", "true")
    assert json.loads(await_file(told))["job"] == "web"
    await_notice(cluster, "web", "end: not told yet: 127.0.0.1: connect to 127.0.0.1:1: Connection refused")


def test_programs_are_those_of_who_submitted_the_job_and_the_desktop_too(cluster):
    # The daemon was started without a session, and with another PATH.
    cluster.run("up")
    told, tools = cluster.path("home", "told"), cluster.path("home", "tools")
    os.makedirs(tools)
    with open(os.path.join(tools, "notify-send"), "w") as file:
        file.write(f'#!/bin/sh\n[ "$DBUS_SESSION_BUS_ADDRESS" = unix:path=/mine ] || exit 1\necho "$2" >{told}.$1\n')
    os.chmod(file.name, 0o755)
    session = {"PATH": tools + ":" + cluster.env["PATH"], "DBUS_SESSION_BUS_ADDRESS": "unix:path=/mine"}
    cluster.run("run", "--name=bad", "--notify=desktop", f"--notify=notify-send own 'by hand' && cp {told}.own {told}.own2 || "
                f"command -v notify-send >{told}.path", "exit 3", code=3, env=session)
    assert await_file(told + ".--app-name=muster").startswith("bad failed: rank 0")
    assert await_file(told + ".path") == os.path.join(tools, "notify-send") + "\n"
    await_notice(cluster, "bad", "end: told at ")
    # Without the program it is said before the job begins.
    assert "notify-send is not installed" in cluster.run("run", "--name=none", "--notify=desktop", "true").stderr
    await_notice(cluster, "none", "end: not told: ")
