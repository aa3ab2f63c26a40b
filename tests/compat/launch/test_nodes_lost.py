"""What a node says when it has lost the host."""
import os
import signal

from test_nodes import WAIT, ended, go, nodes, port  # noqa: F401 (fixtures)

CONF = "last_call_timeout=60,heartbeat_timeout=2,keep_alive_interval=0.3,join_timeout=2"


def test_a_rank_that_failed_before_the_host_was_lost_is_reported(launch, nodes):
    """The host does not hear of the failure any more."""
    script = launch.script(WAIT)
    started = [nodes.c10d(name, 2, script, conf=CONF) for name in (1, 2)]
    for rank in range(2):
        launch.await_file(f"up{rank}_2_0")
    agent = launch.agent(started[0])
    os.kill(agent, signal.SIGSTOP)
    go(launch, 1, 7)
    code, _, err = ended(started[1])
    os.kill(agent, signal.SIGCONT)
    assert code == 7 and "rank 1 of 2 failed first" in err, err
    assert "the rendezvous host 127.0.0.1 was lost" in err.splitlines()[-1]
    ended(started[0])
    launch.await_none_left()


def test_a_host_that_does_not_come_back_is_the_reason_of_the_end(launch, nodes):
    script = launch.script(WAIT)
    started = [nodes.c10d(name, "1:2", script, conf=CONF) for name in (1, 2)]
    for rank in range(2):
        launch.await_file(f"up{rank}_2_0")
    started[0].kill()
    code, _, err = ended(started[1])
    assert code == 1 and "start again" not in err, err
    assert "was lost: the other side closed the connection: the ranks here stop" in err or "the connection broke" in err
    assert "error: the host was lost (" in err.splitlines()[-1]
    launch.await_none_left()
