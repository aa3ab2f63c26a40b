"""The embedded cluster's own API, over its socket."""
import http.client
import json
import os
import socket


class Api(http.client.HTTPConnection):
    def __init__(self, cluster, is_up=False):
        super().__init__("localhost")
        if not is_up:
            cluster.run("up")
        self.path = next(os.path.join(folder, name)
                         for folder, _, names in os.walk(cluster.path("run"))
                         for name in names if name.endswith(".sock"))

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.connect(self.path)

    def call(self, method, path, body=None):
        headers = {"Content-Type": "application/merge-patch+json"} if method == "PATCH" else {}
        self.request(method, path, None if body is None else json.dumps(body), headers)
        answer = self.getresponse()
        text = answer.read()
        assert answer.status < 300, text
        return json.loads(text)
