"""A real etcd and kube-apiserver on loopback ports, with certificates made on the spot."""
import json
import os
import shutil
import ssl
import subprocess
import tempfile
import time
import urllib.error
import urllib.request

from places import ROOT
from ports import free_ports
from waiting import PATIENCE

START_SECONDS = 180  # a busy machine; some 4 s on an idle one
# Ends with the test run, however that ends.
BOUND = ["setpriv", "--pdeathsig", "KILL"]


def tools():
    """The folder that holds etcd, kube-apiserver and kubectl; made once, in minutes."""
    made = subprocess.run([os.path.join(ROOT, "scripts", "kubernetes-tools")], check=True, text=True,
                          stdout=subprocess.PIPE)
    return made.stdout.strip()


class Authority:
    """A certificate authority in a folder."""

    def __init__(self, folder, name="test-ca"):
        self.folder = folder
        os.makedirs(folder, exist_ok=True)
        self.cert, self._key = self._path("ca.crt"), self._path("ca.key")
        self._run("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1",
                  "-nodes", "-keyout", self._key, "-out", self.cert, "-days", "2",
                  "-subj", f"/CN={name}")

    def _path(self, name):
        return os.path.join(self.folder, name)

    @staticmethod
    def _run(*args):
        subprocess.run(["openssl", *args], check=True, capture_output=True)

    def issue(self, file, user, groups=(), names=(), days=1):
        """(certificate, key) files; `names` are DNS:… and IP:… of a server, `days` < 0: expired."""
        cert, key, request = (self._path(f"{file}.{end}") for end in ("crt", "key", "csr"))
        subject = "".join(f"/O={group}" for group in groups) + f"/CN={user}"
        self._run("req", "-new", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1",
                  "-nodes", "-keyout", key, "-out", request, "-subj", subject)
        extensions = self._path(f"{file}.ext")
        with open(extensions, "w") as out:
            out.write("keyUsage=digitalSignature\nextendedKeyUsage=clientAuth,serverAuth\n")
            if names:
                out.write("subjectAltName=" + ",".join(names) + "\n")
        self._run("x509", "-req", "-in", request, "-CA", self.cert, "-CAkey", self._key,
                  "-CAcreateserial", "-out", cert, "-days", str(days), "-extfile", extensions)
        return cert, key


    def issue_for_2099(self, file, names):
        """(certificate, key) files of a server, not valid for long."""
        folder = self._path(file)
        os.makedirs(folder)
        cert, key, request, config = (os.path.join(folder, name) for name in ("crt", "key", "csr", "conf"))
        for name, text in (("index", ""), ("serial", "01\n"), ("conf", f"""
[ca]
default_ca = a
[a]
database = {folder}/index
serial = {folder}/serial
new_certs_dir = {folder}
default_md = sha256
policy = p
x509_extensions = e
[p]
commonName = supplied
[e]
subjectAltName = {",".join(names)}
""")):
            with open(os.path.join(folder, name), "w") as out:
                out.write(text)
        self._run("req", "-new", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
                  "-keyout", key, "-out", request, "-subj", "/CN=early")
        self._run("ca", "-batch", "-config", config, "-in", request, "-out", cert, "-notext", "-cert",
                  self.cert, "-keyfile", self._key, "-startdate", "20990101000000Z", "-enddate",
                  "20991231000000Z")
        return cert, key


class Kubernetes:
    """etcd and kube-apiserver with RBAC and our CRD, and nothing else: no controller, no node."""

    def __init__(self):
        self.tools = tools()
        self.kubectl_path = os.path.join(self.tools, "kubectl")
        self.folder = tempfile.mkdtemp(prefix="muster-kube-", dir="/tmp")
        self.authority = Authority(os.path.join(self.folder, "pki"))
        self.port, self._etcd_port, self._etcd_peer = free_ports(3)
        self.url = f"https://127.0.0.1:{self.port}"
        self._etcd = self._api_server = None
        self._names = 0
        names = ("IP:127.0.0.1", "DNS:localhost", "DNS:kubernetes.default.svc")
        self._serving = self.authority.issue("server", "kube-apiserver", names=names)
        self.admin_cert, self.admin_key = self.authority.issue("admin", "admin", ["system:masters"])
        subprocess.run(["openssl", "genrsa", "-out", self.path("accounts.key"), "2048"], check=True,
                       capture_output=True)
        # Who was answered what: see requests_of().
        with open(self.path("audit.yaml"), "w") as file:
            json.dump({"apiVersion": "audit.k8s.io/v1", "kind": "Policy",
                       "omitStages": ["RequestReceived", "ResponseStarted"],
                       "rules": [{"level": "Metadata", "userGroups": ["system:serviceaccounts"]},
                                 {"level": "None"}]}, file)
        # token,user,uid,"group,group"
        with open(self.path("tokens.csv"), "w") as file:
            file.write('token-one,tina,1,"team"\ntoken-two,tina,1,"team"\n')
        self.kubeconfig = self.write_kubeconfig(
            "admin", {"client-certificate": self.admin_cert, "client-key": self.admin_key})
        try:
            self._start_etcd()
            self.start_api_server()
            self.kubectl("apply", "--server-side", "-f", os.path.join(ROOT, "deploy", "crd.yaml"))
            self.kubectl("wait", "--for=condition=Established", "--timeout=60s",
                         "crd/pytorchjobs.kubeflow.org")
        except BaseException:
            self.close()
            raise

    def path(self, *parts):
        return os.path.join(self.folder, *parts)

    def _start_etcd(self):
        client, peer = (f"http://127.0.0.1:{port}" for port in (self._etcd_port, self._etcd_peer))
        with open(self.path("etcd.log"), "w") as log:
            self._etcd = subprocess.Popen(
                [*BOUND, os.path.join(self.tools, "etcd"), "--data-dir", self.path("etcd"),
                 "--listen-client-urls", client, "--advertise-client-urls", client,
                 "--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer,
                 "--initial-cluster", f"default={peer}", "--unsafe-no-fsync"],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log)

    def start_api_server(self, authority=None):
        """Returns when it is ready. Another authority than ours: it shows and trusts only its own."""
        names = ("IP:127.0.0.1", "DNS:localhost")
        cert, key = (authority.issue("server", "kube-apiserver", names=names) if authority
                     else self._serving)
        authority = authority or self.authority
        with open(self.path("api-server.log"), "a") as log:
            self._api_server = subprocess.Popen(
                [*BOUND, os.path.join(self.tools, "kube-apiserver"),
                 f"--etcd-servers=http://127.0.0.1:{self._etcd_port}",
                 "--bind-address=127.0.0.1", "--advertise-address=127.0.0.1",
                 f"--secure-port={self.port}", f"--tls-cert-file={cert}",
                 f"--tls-private-key-file={key}", f"--client-ca-file={authority.cert}",
                 f"--token-auth-file={self.path('tokens.csv')}", "--authorization-mode=RBAC",
                 "--service-account-issuer=https://kubernetes.default.svc",
                 f"--service-account-key-file={self.path('accounts.key')}",
                 f"--service-account-signing-key-file={self.path('accounts.key')}",
                 f"--audit-policy-file={self.path('audit.yaml')}",
                 f"--audit-log-path={self.path('audit.log')}", "--audit-log-maxsize=1000",
                 "--service-cluster-ip-range=10.0.0.0/24", "--allow-privileged=true",
                 # Without a controller manager no default ServiceAccount exists.
                 "--disable-admission-plugins=ServiceAccount",
                 f"--cert-dir={self.path('generated')}"],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        deadline = time.monotonic() + START_SECONDS
        while not self._is_ready(authority):
            if self._api_server.poll() is not None or time.monotonic() > deadline:
                with open(self.path("api-server.log")) as log:
                    raise RuntimeError("kube-apiserver did not start:\n" + log.read()[-4000:])
            time.sleep(0.3)

    def _is_ready(self, authority):
        context = ssl.create_default_context(cafile=authority.cert)
        try:
            with urllib.request.urlopen(self.url + "/readyz", context=context, timeout=5) as answer:
                return answer.status == 200
        except OSError:
            return False

    def stop_api_server(self, kill=False):
        if self._api_server is not None:
            self._api_server.kill() if kill else self._api_server.terminate()
            self._api_server.wait(timeout=PATIENCE)
            self._api_server = None

    def _stop_etcd(self):
        if self._etcd is not None:
            self._etcd.kill()
            self._etcd.wait(timeout=30)
            self._etcd = None

    def copy_state(self, name):
        """Keeps a copy of all objects, for restore_state(); the API server is away meanwhile."""
        self.stop_api_server(kill=True)
        self._stop_etcd()
        shutil.copytree(self.path("etcd"), self.path(name))
        self._start_etcd()
        self.start_api_server()

    def restore_state(self, name):
        """All is as when the copy was made, resourceVersions too."""
        self.stop_api_server(kill=True)
        self._stop_etcd()
        shutil.rmtree(self.path("etcd"))
        shutil.copytree(self.path(name), self.path("etcd"))
        self._start_etcd()
        self.start_api_server()

    def close(self):
        self.stop_api_server(kill=True)
        self._stop_etcd()
        shutil.rmtree(self.folder, ignore_errors=True)

    def write_kubeconfig(self, name, user, namespace=None, cluster=None, context=None, file=None):
        """Writes a kubeconfig with one cluster, user and context, all called `name`; its path."""
        cluster = {"server": self.url, "certificate-authority": self.authority.cert,
                   **(cluster or {})}
        config = {
            "apiVersion": "v1", "kind": "Config", "current-context": name,
            "clusters": [{"name": name, "cluster": {k: v for k, v in cluster.items() if v is not None}}],
            "users": [{"name": name, "user": user}],
            "contexts": [{"name": name, "context": {
                "cluster": name, "user": name, **({"namespace": namespace} if namespace else {}),
                **(context or {})}}],
        }
        path = self.path(file or f"{name}.kubeconfig")
        with open(path, "w") as out:
            json.dump(config, out)
        os.chmod(path, 0o600)
        return path

    def user_kubeconfig(self, user, groups=(), namespace=None, days=1):
        """The kubeconfig of a user who has a client certificate and no rights of his own."""
        cert, key = self.authority.issue(f"user-{user}-{days}", user, groups, days=days)
        return self.write_kubeconfig(user, {"client-certificate": cert, "client-key": key}, namespace)

    def kubectl(self, *args, code=0, stdin=None, kubeconfig=None):
        """The finished process of kubectl as admin, or as `kubeconfig` says."""
        done = subprocess.run(
            [self.kubectl_path, "--kubeconfig", kubeconfig or self.kubeconfig,
             "--cache-dir", self.path("kubectl-cache"), *args],
            input=stdin, stdin=subprocess.DEVNULL if stdin is None else None, text=True,
            capture_output=True, timeout=120, env={"HOME": self.folder, "PATH": os.environ["PATH"]})
        if code is not None:
            assert done.returncode == code, f"kubectl {args}: {done.stdout}\n{done.stderr}"
        return done

    def get(self, *args):
        """`kubectl get … -o json`, parsed."""
        return json.loads(self.kubectl("get", *args, "-o", "json").stdout)

    def apply(self, *objects):
        self.kubectl("apply", "--server-side", "-f", "-",
                     stdin="\n---\n".join(json.dumps(item) for item in objects))

    def patch_status(self, kind, name, namespace, status):
        """No controller and no kubelet are here: the test plays them."""
        self.kubectl("patch", kind, name, "-n", namespace, "--subresource=status", "--type=merge",
                     "-p", json.dumps({"status": status}))

    def new_namespace(self, prefix="test"):
        self._names += 1
        name = f"{prefix}-{self._names}"
        # kubectl takes thirty times as long.
        context = ssl.create_default_context(cafile=self.authority.cert)
        context.load_cert_chain(self.admin_cert, self.admin_key)
        body = json.dumps({"metadata": {"name": name}}).encode()
        urllib.request.urlopen(urllib.request.Request(self.url + "/api/v1/namespaces", body, {"Content-Type": "application/json"}),
                               context=context, timeout=120).close()
        return name

    def allow(self, namespace, group, rules):
        """A Role of `rules` in the namespace, bound to a group."""
        self.apply(
            {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "Role",
             "metadata": {"name": group, "namespace": namespace}, "rules": rules},
            {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "RoleBinding",
             "metadata": {"name": group, "namespace": namespace},
             "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": group},
             "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "Group",
                           "name": group}]})

    def account_kubeconfig(self, namespace, name):
        """The kubeconfig of a ServiceAccount."""
        token = self.kubectl("create", "token", name, "-n", namespace, "--duration=2h").stdout.strip()
        return self.write_kubeconfig(f"{namespace}-{name}", {"token": token})

    def requests_of(self, namespace, name):
        """(verb, "resource/subresource.group", namespace, status) of a ServiceAccount's requests."""
        user = f"system:serviceaccount:{namespace}:{name}"
        found = []
        with open(self.path("audit.log")) as file:
            for line in file:
                entry = json.loads(line) if line.endswith("\n") else {}
                ref = entry.get("objectRef", {})
                if entry.get("user", {}).get("username") != user or "resource" not in ref:
                    continue
                resource = ref["resource"] + (f"/{ref['subresource']}" if "subresource" in ref else "")
                if ref.get("apiGroup"):
                    resource += "." + ref["apiGroup"]
                found.append((entry["verb"], resource, ref.get("namespace", ""),
                              entry.get("responseStatus", {}).get("code")))
        return found

    def paths_of(self, namespace, name):
        """What a ServiceAccount asked for beside objects: "/version"."""
        user = f"system:serviceaccount:{namespace}:{name}"
        with open(self.path("audit.log")) as file:
            entries = [json.loads(line) for line in file if line.endswith("\n")]
        return [entry["requestURI"] for entry in entries
                if entry.get("user", {}).get("username") == user and "objectRef" not in entry]
