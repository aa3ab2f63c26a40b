"""A webhook that a running operator serves, in a cluster of real_kubernetes."""
import base64

from running_operator import Operator


class Webhook:
    """A Service, a Secret and a configuration of a webhook in a namespace of its own, for the jobs of
    another one, or of all where that is None."""

    def __init__(self, cluster, jobs, port, policy="Fail", service="hook"):
        self.cluster, self.jobs, self.port = cluster, jobs, port
        self.place = cluster.new_namespace("hook")
        self.name = f"hook-{self.place}"
        selector = {}
        if jobs:
            cluster.kubectl("label", "namespace", jobs, f"hook={self.place}")
            selector = {"namespaceSelector": {"matchLabels": {"hook": self.place}}}
        # The API server asks for the Service's name and connects to this machine.
        cluster.apply(
            {"apiVersion": "v1", "kind": "Service", "metadata": {"name": service, "namespace": self.place},
             "spec": {"type": "ExternalName", "externalName": "localhost"}},
            {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "cert", "namespace": self.place}},
            {"apiVersion": "admissionregistration.k8s.io/v1",
             "kind": "ValidatingWebhookConfiguration", "metadata": {"name": self.name},
             "webhooks": [{
                 "name": "validator.pytorchjob.training-operator.kubeflow.org",
                 "admissionReviewVersions": ["v1"], "sideEffects": "None", "failurePolicy": policy,
                 "timeoutSeconds": 30,
                 **selector,
                 "clientConfig": {"service": {
                     "name": service, "namespace": self.place, "port": port,
                     "path": "/validate-kubeflow-org-v1-pytorchjob"}},
                 "rules": [{"apiGroups": ["kubeflow.org"], "apiVersions": ["v1"],
                            "operations": ["CREATE", "UPDATE"], "resources": ["pytorchjobs"]}]}]})

    def flags(self):
        return [f"--namespace={self.jobs or self.place}", f"--webhook-server-port={self.port}",
                "--webhook-service-name=hook", "--webhook-secret-name=cert",
                f"--webhook-configuration-name={self.name}"]

    def start(self, **options):
        return Operator(self.cluster.kubeconfig, *self.flags(), env={"MY_POD_NAMESPACE": self.place},
                        **options)

    def secret(self):
        data = self.cluster.get("secret", "cert", "-n", self.place).get("data", {})
        return {key: base64.b64decode(value).decode() for key, value in data.items()}

    def bundle(self):
        made = self.cluster.get("validatingwebhookconfiguration", self.name)
        return base64.b64decode(made["webhooks"][0]["clientConfig"].get("caBundle", "")).decode()

    def close(self):
        self.cluster.kubectl("delete", "validatingwebhookconfiguration", self.name, code=None)
