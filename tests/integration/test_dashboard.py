"""The Grafana dashboard asks for what the operator shows."""
import json
import os
import re

from real_kubernetes import ROOT
from running_operator import Operator

DASHBOARD = os.path.join(ROOT, "deploy", "monitoring", "grafana-dashboard.json")
# Words of PromQL, and labels.
NO_METRICS = {"sum", "by", "rate", "increase", "histogram_quantile", "le", "pod", "name", "result", "method",
              "code", "job", "job_namespace", "namespace", "__rate_interval"}


def test_every_metric_of_the_dashboard_is_shown(real_cluster, namespace):
    with open(DASHBOARD) as file:
        dashboard = json.load(file)
    asked = set()
    for panel in dashboard["panels"]:
        for target in panel["targets"]:
            asked |= set(re.findall(r"[a-z_]{2,}", target["expr"])) - NO_METRICS
    asked |= {re.search(r"label_values\((\w+),", variable["query"]["query"]).group(1)
              for variable in dashboard["templating"]["list"] if variable["type"] == "query"}
    assert len(asked) > 15
    operator = Operator(real_cluster.kubeconfig, f"--namespace={namespace}", "--webhook-server-port=0")
    try:
        text = operator._read(operator.metrics_port, "/metrics")
    finally:
        assert operator.stop() == 0, operator.log()
    shown = set(re.findall(r"^# TYPE (\w+)", text, re.M)) | set(re.findall(r"^(\w+)[{ ]", text, re.M))
    # A histogram has buckets from its first observation on, and its type from the start.
    assert {name.removesuffix("_bucket") for name in asked} - shown == set()
