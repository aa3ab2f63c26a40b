#!/usr/bin/env python3
"""A mock of the services of Oracle's cloud that opctl uses (compat/opctl.md 5.7), on one port of
127.0.0.1: Data Science jobs and runs, Logging, Object Storage, subnets, secrets.

It verifies what the real ones verify: signature, date, digest of the body. Tests drive the runs'
states and inject faults; `oci_mock.py --home DIR` serves by hand, with a profile in DIR/.oci/config,
until it is interrupted, and moves runs on by itself.
"""
import argparse
import base64
import email.utils
import hashlib
import http.server
import json
import os
import re
import subprocess
import threading
import time
import urllib.parse
import uuid

TERMINAL = ("SUCCEEDED", "FAILED", "CANCELED", "DELETED")
SUMMARY_OF_RUN = ("id", "timeAccepted", "timeStarted", "timeFinished", "createdBy", "projectId", "compartmentId", "jobId",
                  "displayName", "lifecycleState", "lifecycleDetails", "freeformTags", "definedTags")
TENANCY = "ocid1.tenancy.oc1..mock"
USER = "ocid1.user.oc1..mock"
SIGNED = ["date", "(request-target)", "host"]
SIGNED_WITH_BODY = SIGNED + ["content-length", "content-type", "x-content-sha256"]
SIGNED_BY_INSTANCE = ["date", "(request-target)", "content-length", "content-type", "x-content-sha256"]
# DER of DigestInfo with SHA-256 (RFC 8017, 9.2)
DIGEST_INFO = bytes.fromhex("3031300d060960864801650304020105000420")
UPLOADS = [("PUT", r"/n/"), ("POST", r"/20190101/jobs/[^/]+/artifact")]


def openssl(*args):
    return subprocess.run(["openssl", *args], check=True, capture_output=True).stdout


class Key:
    """An RSA key as a user has it: a file, perhaps encrypted."""

    def __init__(self, path, pass_phrase=None):
        self.path, self.pass_phrase = path, pass_phrase
        cipher = ["-aes256", "-passout", f"pass:{pass_phrase}"] if pass_phrase else []
        openssl("genrsa", "-out", path, *cipher, "2048")
        os.chmod(path, 0o600)
        source = ["-in", path, *(["-passin", f"pass:{pass_phrase}"] if pass_phrase else [])]
        modulus = openssl("rsa", *source, "-modulus", "-noout").decode()
        self.modulus = int(modulus.split("=")[1], 16)
        der = openssl("rsa", *source, "-pubout", "-outform", "DER")
        digest = hashlib.md5(der).hexdigest()
        self.fingerprint = ":".join(digest[i:i + 2] for i in range(0, 32, 2))

    def verifies(self, signature, text):
        size = (self.modulus.bit_length() + 7) // 8
        found = pow(int.from_bytes(signature, "big"), 65537, self.modulus).to_bytes(size, "big")
        end = DIGEST_INFO + hashlib.sha256(text.encode()).digest()
        return found == b"\0\1" + b"\xff" * (size - len(end) - 3) + b"\0" + end


class PublicKey(Key):
    """What is known of somebody's key: base64 of its SubjectPublicKeyInfo."""

    def __init__(self, text):
        done = subprocess.run(["openssl", "rsa", "-pubin", "-inform", "DER", "-modulus", "-noout"],
                              input=base64.b64decode(text), check=True, capture_output=True)
        self.modulus = int(done.stdout.decode().split("=")[1], 16)


class Instance:
    """What the metadata service tells a compute instance, and the key behind it."""

    def __init__(self, folder, tenancy=TENANCY, region="iad"):
        self.key, self.region = Key(os.path.join(folder, "instance.pem")), region
        path = os.path.join(folder, "instance.crt")
        subject = f"/CN=ocid1.instance.oc1.iad.i/OU=opc-certtype:instance/OU=opc-tenant:{tenancy}"
        openssl("req", "-x509", "-new", "-key", self.key.path, "-subj", subject, "-days", "1", "-out", path)
        with open(path) as file:
            self.certificate = file.read()
        with open(self.key.path) as file:
            self.key_pem = file.read()
        der = openssl("x509", "-in", path, "-outform", "DER")
        self.certificate_base64 = base64.b64encode(der).decode()
        digest = hashlib.sha1(der).hexdigest().upper()
        fingerprint = ":".join(digest[i:i + 2] for i in range(0, 40, 2))
        self.key_id = f"{tenancy}/fed-x509/{fingerprint}"


def make_token(lifetime, claims=None):
    """A JWT that nobody has signed; the mock knows it by its text."""
    def part(value):
        return base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")
    body = {"exp": int(time.time()) + lifetime, "jti": uuid.uuid4().hex, **(claims or {})}
    return f"{part({'alg': 'RS256'})}.{part(body)}.{part('signature')}"


def now_text(offset=0.0):
    at = time.time() + offset
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(at)) + f".{int(at % 1 * 1000):03d}Z"


def parse_time(text):
    whole = text.replace("Z", "+00:00")
    from datetime import datetime
    return datetime.fromisoformat(whole).timestamp()


class Refused(Exception):
    def __init__(self, status, code, message, headers=None):
        super().__init__(message)
        self.status, self.code, self.message, self.headers = status, code, message, headers or {}


NOT_FOUND = (404, "NotAuthorizedOrNotFound", "Authorization failed or requested resource not found.")


class Fault:
    def __init__(self, method, path, action, times, after, headers, code):
        self.method, self.path, self.action, self.times = method, re.compile(path), action, times
        self.after, self.headers, self.code = after, headers, code


class Reply:
    def __init__(self, status=200, body=None, headers=None):
        self.status = status
        self.body = body if isinstance(body, bytes) else (
            b"" if body is None else json.dumps(body).encode())
        self.headers = headers or {}


class _Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 256  # clients open many connections at once

    def handle_error(self, request, client_address):
        pass  # a client that went away while it was answered


class OciMock:
    """Serves from construction until close(). Every public attribute may be changed by the test."""

    def __init__(self, port=0):
        self.lock = threading.RLock()
        self.keys = {}           # keyId -> Key
        self.clock_offset = 0.0  # seconds that the service's clock is ahead
        self.requests = []       # of every request: method, path, headers, body, status
        self.jobs, self.runs = {}, {}
        self.page_size = 100
        self.cancel_looks = 0    # how often a run is seen CANCELING
        self.cancel_refusals = 0  # a run is not cancelled before it was tried so often: 409
        self.unlisted = 0        # the newest run is missing in so many lists
        self.is_away = False     # connections break before their request is looked at
        self.moves_by_itself = False
        self.lines = {}          # run -> [(visible at, record)]
        self.max_lines = 1000
        self.log_compartment = "ocid1.compartment.oc1..mock"
        self.log_groups = {}     # group -> [logs]
        self.subnets, self.security_lists, self.secrets = {}, {}, {}
        self.namespace = "my-namespace"
        self.objects = {}        # (namespace, bucket) -> {name: (bytes, etag, time)}
        self.uploads = {}
        self.has_buckets = None  # None: every bucket is there; else a set of names
        self.instance = None     # an Instance: who asks from there
        self.token_lifetime = 1200
        self.faults = []
        self.retry_tokens = {}
        self._count = 0
        self._server = None
        self._listen(port)
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"

    def _listen(self, port):
        self._server = _Server(("127.0.0.1", port), _handler_of(self))
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def close(self):
        if self._server:
            self._server.shutdown()
            self._server.server_close()

    def go_away(self):
        """The network is down: nobody listens, and connections that were open break."""
        self.is_away = True
        self.close()
        self.port, self._server = self._server.server_address[1], None

    def come_back(self):
        self.is_away = False
        self._listen(self.port)

    # What tests say.

    def trust(self, key, tenancy=TENANCY, user=USER):
        key_id = f"{tenancy}/{user}/{key.fingerprint}"
        self.keys[key_id] = key
        return key_id

    def trust_token(self, token, key):
        self.keys["ST$" + token] = key

    def fail(self, method, path, action, times=1, after=0, headers=None, code="InternalError"):
        """The next `times` such requests, `after` some: a status, "reset" before the answer or
        "cut" in the middle of its body. A status below 500 says that nothing was done; "reset" and
        "cut" come after it was. Bytes are the body of an answer 200 that somebody else gives."""
        self.faults.append(Fault(method, path, action, times, after, headers or {}, code))

    def hold(self, method, path, is_done, after=0):
        """The next such request, `after` some, is answered when the event that this gives is set;
        `is_done`: it is done before, else after that."""
        event = threading.Event()
        self.faults.append(Fault(method, path, (event, is_done), 1, after, {}, ""))
        return event

    def move(self, run_id, state, details=None):
        with self.lock:
            run = self.runs[run_id]
            run["lifecycleState"] = state
            if details is not None:
                run["lifecycleDetails"] = details
            if state == "IN_PROGRESS" and run["timeStarted"] is None:
                run["timeStarted"] = now_text(self.clock_offset)
            if state in TERMINAL:
                run["timeFinished"] = now_text(self.clock_offset)

    def log(self, run_id, message, at=None, delay=0.0):
        record = {"id": uuid.uuid4().hex, "time": at or now_text(), "data": {"message": message}}
        with self.lock:
            self.lines.setdefault(run_id, []).append((time.monotonic() + delay, record))

    def run_named(self, name):
        with self.lock:
            return next(run for run in self.runs.values() if run["displayName"] == name)

    def seen(self, method, pattern=""):
        with self.lock:
            return [request for request in self.requests
                    if request["method"] == method and re.search(pattern, request["path"])]

    def object(self, bucket, name):
        with self.lock:
            for (_, held), objects in self.objects.items():
                if held == bucket and name in objects:
                    return objects[name][0]
        return None

    def put_object(self, namespace, bucket, name, content):
        etag = uuid.uuid4().hex
        with self.lock:
            self.objects.setdefault((namespace, bucket), {})[name] = (content, etag, time.time())
        return etag

    # One request.

    def serve(self, method, target, headers, body):
        path, _, query_text = target.partition("?")
        query = dict(urllib.parse.parse_qsl(query_text, keep_blank_values=True))
        if path.startswith("/opc/v2/"):
            return self._metadata(method, path, headers)
        if path == "/v1/x509":
            return self._federate(method, target, headers, body)
        self._verify(method, target, headers, body)
        token = headers.get("opc-retry-token")
        with self.lock:
            if token and (target, token) in self.retry_tokens:
                return self.retry_tokens[(target, token)]
            reply = self._route(method, path, query, headers, body)
            if token:
                self.retry_tokens[(target, token)] = reply
            return reply

    # A compute instance: its metadata service, and tokens for who has its certificate.

    def _metadata(self, method, path, headers):
        if self.instance is None or method != "GET":
            raise Refused(404, "NotFound", "no instance")
        if headers.get("authorization") != "Bearer Oracle":
            raise Refused(404, "NotFound", "only with Authorization: Bearer Oracle")
        texts = {"/opc/v2/instance/region": self.instance.region + "\n",
                 "/opc/v2/identity/cert.pem": self.instance.certificate,
                 "/opc/v2/identity/intermediate.pem": self.instance.certificate,
                 "/opc/v2/identity/key.pem": self.instance.key_pem}
        if path not in texts:
            raise Refused(404, "NotFound", path)
        return Reply(200, texts[path].encode(), {"content-type": "text/plain"})

    def _federate(self, method, target, headers, body):
        self._verify(method, target, headers, body, SIGNED_BY_INSTANCE)
        asked = json.loads(body)
        own = self.instance.certificate_base64
        if asked["certificate"] != own or asked["intermediateCertificates"] != [own]:
            raise Refused(401, "NotAuthenticated", "The certificate is not the instance's.")
        token = make_token(self.token_lifetime)
        self.trust_token(token, PublicKey(asked["publicKey"]))
        return Reply(200, {"token": token})

    def _verify(self, method, target, headers, body, wanted=None):
        def refuse(why):
            raise Refused(401, "NotAuthenticated", why)

        found = re.fullmatch(
            r'Signature algorithm="rsa-sha256",headers="([^"]*)",keyId="([^"]*)",'
            r'signature="([^"]*)",version="1"', headers.get("authorization", ""))
        if not found:
            refuse("The required information to complete authentication was not provided.")
        names, key_id, signature = found[1].split(" "), found[2], found[3]
        has_body = method in ("POST", "PUT", "PATCH")
        is_upload = any(method == one and re.match(pattern, target) for one, pattern in UPLOADS)
        if wanted is not None:
            is_right = names == wanted
        else:
            is_right = names == SIGNED_WITH_BODY or names == SIGNED and (not has_body or is_upload)
        if not is_right:
            refuse(f"The headers {found[1]} are not those that have to be signed.")
        date = email.utils.parsedate_to_datetime(headers["date"]).timestamp()
        if abs(date - time.time() - self.clock_offset) > 300:
            refuse("The date is too far from the server's.")
        key = self.keys.get(key_id)
        if wanted is not None and self.instance is not None and key_id == self.instance.key_id:
            key = self.instance.key
        if key is None:
            refuse("The required information to complete authentication was not provided or was "
                   "incorrect.")
        if "x-content-sha256" in names:
            digest = base64.b64encode(hashlib.sha256(body).digest()).decode()
            if headers.get("x-content-sha256") != digest:
                refuse("The digest of the body is wrong.")
        values = {"(request-target)": f"{method.lower()} {target}"}
        text = "\n".join(f"{name}: {values.get(name, headers.get(name, ''))}" for name in names)
        if not key.verifies(base64.b64decode(signature), text):
            refuse("Failed to verify the HTTP(S) Signature")

    def _route(self, method, path, query, headers, body):
        for one, pattern, handle in _ROUTES:
            match = re.fullmatch(pattern, path)
            if one == method and match:
                parts = [urllib.parse.unquote(part) for part in match.groups()]
                return handle(self, *parts, query=query, headers=headers, body=body)
        raise Refused(404, "NotFound", f"no such address: {method} {path}")

    def _ocid(self, kind):
        self._count += 1
        return f"ocid1.{kind}.oc1.iad.mock{self._count}"

    def _page(self, items, query):
        first = int(query.get("page", "0"))
        headers = {}
        if first + self.page_size < len(items):
            headers["opc-next-page"] = str(first + self.page_size)
        return Reply(200, items[first:first + self.page_size], headers)

    def _known(self, of, name):
        if name not in of:
            raise Refused(*NOT_FOUND)
        return of[name]

    # Data Science.

    def create_job(self, query, headers, body):
        given = json.loads(body)
        for field in ("projectId", "compartmentId", "jobConfigurationDetails"):
            if not given.get(field):
                raise Refused(400, "InvalidParameter", f"{field} may not be null")
        job = {"id": self._ocid("datasciencejob"), "lifecycleState": "ACTIVE",
               "lifecycleDetails": None, "timeCreated": now_text(self.clock_offset),
               "createdBy": USER, "description": None, "freeformTags": {}, "definedTags": {},
               "jobLogConfigurationDetails": None, "jobStorageMountConfigurationDetailsList": [],
               **given}
        if "jobNodeConfigurationDetails" in given:
            job["jobInfrastructureConfigurationDetails"] = {"jobInfrastructureType": "EMPTY"}
        self.jobs[job["id"]] = job
        return Reply(200, job, {"etag": uuid.uuid4().hex})

    def get_job(self, job_id, query, headers, body):
        return Reply(200, self._known(self.jobs, job_id))

    def delete_job(self, job_id, query, headers, body):
        self._known(self.jobs, job_id)
        if any(run["jobId"] == job_id and run["lifecycleState"] != "DELETED"
               for run in self.runs.values()):
            raise Refused(409, "Conflict", "The job still has runs.")
        del self.jobs[job_id]
        return Reply(204)

    def put_artifact(self, job_id, query, headers, body):
        self._known(self.jobs, job_id)["artifact"] = len(body)
        return Reply(204)

    def head_artifact(self, job_id, query, headers, body):
        raise Refused(*NOT_FOUND)

    def create_run(self, query, headers, body):
        given = json.loads(body)
        job = self._known(self.jobs, given.get("jobId"))
        logs = job.get("jobLogConfigurationDetails") or {}
        details = None
        if logs.get("enableLogging"):
            details = {"logGroupId": logs.get("logGroupId"),
                       "logId": logs.get("logId") or self._ocid("log")}
        run = {"id": self._ocid("datasciencejobrun"), "lifecycleState": "ACCEPTED",
               "lifecycleDetails": None, "timeAccepted": now_text(self.clock_offset),
               "timeStarted": None, "timeFinished": None, "createdBy": USER, "logDetails": details,
               "jobInfrastructureConfigurationDetails":
                   job["jobInfrastructureConfigurationDetails"],
               "jobConfigurationOverrideDetails": None, "freeformTags": {}, "definedTags": {},
               **given}
        self.runs[run["id"]] = run
        return Reply(200, run, {"etag": uuid.uuid4().hex})

    def get_run(self, run_id, query, headers, body):
        run = self._known(self.runs, run_id)
        if run["lifecycleState"] == "CANCELING":
            if run.get("looks", 0) == self.cancel_looks:
                self.move(run_id, "CANCELED")
            run["looks"] = run.get("looks", 0) + 1
        shown = dict(run)
        if self.moves_by_itself and run["lifecycleState"] == "ACCEPTED":
            self.move(run_id, "IN_PROGRESS")
            self.log(run_id, f"{run['displayName']} has begun")
        elif self.moves_by_itself and run["lifecycleState"] == "IN_PROGRESS":
            self.move(run_id, "SUCCEEDED")
        return Reply(200, shown)

    def list_runs(self, query, headers, body):
        runs = [run for run in self.runs.values()
                if run["jobId"] == query.get("jobId", run["jobId"])
                and run["compartmentId"] == query.get("compartmentId")]
        if self.unlisted > 0 and runs:
            self.unlisted -= 1
            runs.pop()
        # JobRunSummary: without environment and logs.
        shown = [{key: value for key, value in run.items() if key in SUMMARY_OF_RUN} for run in runs]
        return self._page(sorted(shown, key=lambda run: run["timeAccepted"], reverse=True), query)

    def cancel_run(self, run_id, query, headers, body):
        run = self._known(self.runs, run_id)
        run["cancels"] = run.get("cancels", 0) + 1
        if run["cancels"] <= self.cancel_refusals:
            raise Refused(409, "IncorrectState", "The job run cannot be cancelled in this state.")
        if run["lifecycleState"] in TERMINAL:
            raise Refused(409, "IncorrectState" if run["lifecycleState"] == "DELETED" else
                          "InvalidState", f"The job run is {run['lifecycleState']}.")
        run["lifecycleState"] = "CANCELING"
        return Reply(204)

    def delete_run(self, run_id, query, headers, body):
        run = self._known(self.runs, run_id)
        if run["lifecycleState"] not in TERMINAL:
            raise Refused(409, "InvalidState", f"The job run is {run['lifecycleState']}.")
        self.move(run_id, "DELETED")
        return Reply(204)

    # Logging.

    def search(self, query, headers, body):
        asked = json.loads(body)
        found = re.fullmatch(
            r'SEARCH "([^/"]+)/([^/"]*)/([^/"]*)" \| WHERE source = \'\*([^\']+)\' \| '
            r'SORT BY datetime DESC', asked["searchQuery"])
        if not found:
            raise Refused(400, "InvalidParameter", "the query cannot be parsed")
        first, last = parse_time(asked["timeStart"]), parse_time(asked["timeEnd"])
        if last - first > 14 * 86400 + 1:
            raise Refused(400, "InvalidParameter", "the window is longer than 14 days")
        hits = [record for at, record in self.lines.get(found[4], [])
                if at <= time.monotonic() and first <= parse_time(record["time"]) <= last]
        if len(hits) > 2 * self.max_lines:
            raise Refused(400, "InvalidParameter", "search result is too large")
        hits.sort(key=lambda record: record["time"], reverse=True)
        limit = min(int(query.get("limit", "50")), self.max_lines)
        results = [{"data": {"datetime": parse_time(record["time"]) * 1000, "logContent": record}}
                   for record in hits[:limit]]
        return Reply(200, {"results": results, "summary": {"resultCount": len(results)}})

    def list_log_groups(self, query, headers, body):
        return self._page([{"id": group, "compartmentId": self.log_compartment}
                           for group in self.log_groups], query)

    def get_log(self, group, log, query, headers, body):
        if self.log_groups and log not in self.log_groups.get(group, []):
            raise Refused(*NOT_FOUND)
        return Reply(200, {"id": log, "logGroupId": group, "compartmentId": self.log_compartment})

    # Network and vault.

    def get_subnet(self, subnet, query, headers, body):
        return Reply(200, self._known(self.subnets, subnet))

    def get_security_list(self, one, query, headers, body):
        return Reply(200, self._known(self.security_lists, one))

    def get_secret(self, secret, query, headers, body):
        content = base64.b64encode(self._known(self.secrets, secret)).decode()
        return Reply(200, {"secretId": secret, "secretBundleContent":
                           {"contentType": "BASE64", "content": content}})

    # Object Storage.

    def get_namespace(self, query, headers, body):
        return Reply(200, self.namespace)

    def _bucket(self, namespace, bucket):
        if self.has_buckets is not None and bucket not in self.has_buckets:
            raise Refused(404, "BucketNotFound", f"The bucket '{bucket}' does not exist")
        return self.objects.setdefault((namespace, bucket), {})

    def _object_headers(self, content, etag, at):
        return {"etag": etag, "last-modified": email.utils.formatdate(at, usegmt=True),
                "accept-ranges": "bytes", "version-id": etag, "storage-tier": "Standard",
                "content-md5": base64.b64encode(hashlib.md5(content).digest()).decode()}

    def put_one(self, namespace, bucket, name, query, headers, body):
        self._bucket(namespace, bucket)
        digest = base64.b64encode(hashlib.md5(body).digest()).decode()
        if headers.get("content-md5", digest) != digest:
            raise Refused(400, "UnmatchedContentMD5", "The computed MD5 does not match")
        etag = self.put_object(namespace, bucket, name, body)
        return Reply(200, None, {"etag": etag, "opc-content-md5": digest})

    def _held(self, namespace, bucket, name):
        objects = self._bucket(namespace, bucket)
        if name not in objects:
            raise Refused(404, "ObjectNotFound", f"The object '{name}' does not exist")
        return objects[name]

    def get_one(self, namespace, bucket, name, query, headers, body):
        content, etag, at = self._held(namespace, bucket, name)
        about = self._object_headers(content, etag, at)
        if headers.get("if-match", etag) != etag:
            raise Refused(412, "IfMatchFailed", "The If-Match header does not match")
        ranges = re.fullmatch(r"bytes=(\d+)-(\d+)", headers.get("range", ""))
        if not ranges:
            return Reply(200, content, about)
        first, last = int(ranges[1]), min(int(ranges[2]), len(content) - 1)
        about["content-range"] = f"bytes {first}-{last}/{len(content)}"
        return Reply(206, content[first:last + 1], about)

    def delete_one(self, namespace, bucket, name, query, headers, body):
        self._held(namespace, bucket, name)
        del self._bucket(namespace, bucket)[name]
        return Reply(204)

    def list_objects(self, namespace, bucket, query, headers, body):
        objects, prefixes, following = [], [], None
        prefix, delimiter = query.get("prefix", ""), query.get("delimiter")
        limit = min(int(query.get("limit", "1000")), self.page_size)
        for name in sorted(self._bucket(namespace, bucket)):
            if not name.startswith(prefix) or name < query.get("start", ""):
                continue
            if len(objects) == limit:
                following = name
                break
            rest = name[len(prefix):]
            if delimiter and delimiter in rest:
                folder = prefix + rest.split(delimiter)[0] + delimiter
                if folder not in prefixes:
                    prefixes.append(folder)
                continue
            content, etag, _ = self.objects[(namespace, bucket)][name]
            objects.append({"name": name, "size": len(content), "etag": etag,
                            "md5": base64.b64encode(hashlib.md5(content).digest()).decode(),
                            "timeCreated": now_text(), "timeModified": now_text(),
                            "storageTier": "Standard", "archivalState": None})
        return Reply(200, {"objects": objects, "prefixes": prefixes, "nextStartWith": following})

    def create_upload(self, namespace, bucket, query, headers, body):
        self._bucket(namespace, bucket)
        upload = uuid.uuid4().hex
        self.uploads[upload] = {"name": json.loads(body)["object"], "parts": {}}
        return Reply(200, {"namespace": namespace, "bucket": bucket, "uploadId": upload,
                           "object": self.uploads[upload]["name"], "timeCreated": now_text()})

    def _upload(self, name, query):
        upload = self.uploads.get(query.get("uploadId"))
        if upload is None or upload["name"] != name:
            raise Refused(404, "NoSuchUpload", "There is no such upload")
        return upload

    def put_part(self, namespace, bucket, name, query, headers, body):
        digest = base64.b64encode(hashlib.md5(body).digest()).decode()
        if headers.get("content-md5", digest) != digest:
            raise Refused(400, "UnmatchedContentMD5", "The computed MD5 does not match")
        etag = uuid.uuid4().hex
        self._upload(name, query)["parts"][int(query["uploadPartNum"])] = (body, etag)
        return Reply(200, None, {"etag": etag, "opc-content-md5": digest})

    def commit_upload(self, namespace, bucket, name, query, headers, body):
        parts = self._upload(name, query)["parts"]
        pieces = []
        for part in json.loads(body)["partsToCommit"]:
            content, etag = parts.get(part["partNum"], (None, None))
            if content is None or etag != part["etag"]:
                raise Refused(400, "InvalidUploadPart", f"part {part['partNum']}")
            pieces.append(content)
        del self.uploads[query["uploadId"]]
        return Reply(200, None, {"etag": self.put_object(namespace, bucket, name, b"".join(pieces))})

    def abort_upload(self, namespace, bucket, name, query, headers, body):
        self._upload(name, query)
        del self.uploads[query["uploadId"]]
        return Reply(204)


_ROUTES = [
    ("POST", "/20190101/jobs", OciMock.create_job),
    ("GET", "/20190101/jobs/([^/]+)", OciMock.get_job),
    ("DELETE", "/20190101/jobs/([^/]+)", OciMock.delete_job),
    ("POST", "/20190101/jobs/([^/]+)/artifact", OciMock.put_artifact),
    ("HEAD", "/20190101/jobs/([^/]+)/artifact/content", OciMock.head_artifact),
    ("POST", "/20190101/jobRuns", OciMock.create_run),
    ("GET", "/20190101/jobRuns", OciMock.list_runs),
    ("GET", "/20190101/jobRuns/([^/]+)", OciMock.get_run),
    ("POST", "/20190101/jobRuns/([^/]+)/actions/cancelJobRun", OciMock.cancel_run),
    ("DELETE", "/20190101/jobRuns/([^/]+)", OciMock.delete_run),
    ("POST", "/20190909/search", OciMock.search),
    ("GET", "/20200531/logGroups", OciMock.list_log_groups),
    ("GET", "/20200531/logGroups/([^/]+)/logs/([^/]+)", OciMock.get_log),
    ("GET", "/20160918/subnets/([^/]+)", OciMock.get_subnet),
    ("GET", "/20160918/securityLists/([^/]+)", OciMock.get_security_list),
    ("GET", "/20190301/secretbundles/([^/]+)", OciMock.get_secret),
    ("GET", "/n/", OciMock.get_namespace),
    ("PUT", "/n/([^/]+)/b/([^/]+)/o/([^/]+)", OciMock.put_one),
    ("GET", "/n/([^/]+)/b/([^/]+)/o/([^/]+)", OciMock.get_one),
    ("HEAD", "/n/([^/]+)/b/([^/]+)/o/([^/]+)", OciMock.get_one),
    ("DELETE", "/n/([^/]+)/b/([^/]+)/o/([^/]+)", OciMock.delete_one),
    ("GET", "/n/([^/]+)/b/([^/]+)/o", OciMock.list_objects),
    ("POST", "/n/([^/]+)/b/([^/]+)/u", OciMock.create_upload),
    ("PUT", "/n/([^/]+)/b/([^/]+)/u/([^/]+)", OciMock.put_part),
    ("POST", "/n/([^/]+)/b/([^/]+)/u/([^/]+)", OciMock.commit_upload),
    ("DELETE", "/n/([^/]+)/b/([^/]+)/u/([^/]+)", OciMock.abort_upload),
]


def _handler_of(mock):
    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def log_message(self, *_):
            pass

        def date_time_string(self, timestamp=None):
            at = time.time() if timestamp is None else timestamp
            return email.utils.formatdate(at + mock.clock_offset, usegmt=True)

        def _answer(self):
            length = int(self.headers.get("content-length", "0"))
            body = self.rfile.read(length)
            headers = {name.lower(): value for name, value in self.headers.items()}
            record = {"method": self.command, "path": self.path, "headers": headers, "body": body}
            if mock.is_away:
                self.close_connection = True
                return
            with mock.lock:
                mock.requests.append(record)
                fault = self._fault()
            action = fault.action if fault else None
            event, is_done = action if isinstance(action, tuple) else (None, True)
            if not is_done:
                event.wait()
            reply = self._serve(fault, headers, body)
            if event and is_done:
                event.wait()
            record["status"] = reply.status
            if action == "reset":
                self.close_connection = True
                return
            self._write(reply, is_cut=action == "cut")

        def _serve(self, fault, headers, body):
            action = fault.action if fault else None
            try:
                if isinstance(action, int):
                    raise Refused(action, fault.code, "an injected fault", fault.headers)
                if isinstance(action, bytes):
                    return Reply(200, action, fault.headers)
                return mock.serve(self.command, self.path, headers, body)
            except Refused as refused:
                return Reply(refused.status, {"code": refused.code, "message": refused.message},
                             refused.headers)

        def _fault(self):
            for fault in mock.faults:
                if fault.method == self.command and fault.path.search(self.path):
                    if fault.after > 0:
                        fault.after -= 1
                        continue
                    if fault.times > 0:
                        fault.times -= 1
                        return fault
            return None

        def _write(self, reply, is_cut):
            self.send_response(reply.status)
            self.send_header("opc-request-id", self.headers.get("opc-request-id", "none"))
            if reply.status != 204:
                self.send_header("content-length", str(len(reply.body)))
            if "etag" not in reply.headers or reply.status >= 400:
                self.send_header("content-type", "application/json")
            for name, value in reply.headers.items():
                self.send_header(name, value)
            self.end_headers()
            if self.command == "HEAD" or reply.status == 204:
                return
            if is_cut:
                self.wfile.write(reply.body[:len(reply.body) // 2])
                self.close_connection = True
                return
            self.wfile.write(reply.body)

        do_GET = do_HEAD = do_POST = do_PUT = do_DELETE = _answer

    return Handler


def write_profile(home, key, name="DEFAULT", user=USER, region="us-ashburn-1", more=""):
    """Adds a profile with this key to HOME/.oci/config."""
    folder = os.path.join(home, ".oci")
    os.makedirs(folder, mode=0o700, exist_ok=True)
    with open(os.path.join(folder, "config"), "a") as file:
        file.write(f"[{name}]\nuser={user}\ntenancy={TENANCY}\nfingerprint={key.fingerprint}\n"
                   f"key_file={key.path}\nregion={region}\n{more}")
        if key.pass_phrase:
            file.write(f"pass_phrase={key.pass_phrase}\n")
    return os.path.join(folder, "config")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--home", required=True, help="where .oci/config and its key are written")
    parser.add_argument("--port", type=int, default=0)
    flags = parser.parse_args()
    mock = OciMock(flags.port)
    mock.moves_by_itself = True
    os.makedirs(flags.home, exist_ok=True)
    key = Key(os.path.join(flags.home, "mock-key.pem"))
    mock.trust(key)
    config = os.path.join(flags.home, ".oci", "config")
    if os.path.exists(config):  # of a mock before this one
        os.remove(config)
    write_profile(flags.home, key)
    print(f"HOME={flags.home} MUSTER_OCI_ENDPOINT={mock.url}", flush=True)
    try:
        threading.Event().wait()
    except KeyboardInterrupt:
        mock.close()


if __name__ == "__main__":
    main()
