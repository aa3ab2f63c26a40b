"""The train.yaml of the tests, once."""

# The documentation's, with an image as compat/opctl.md 4.1 has it.
TRAIN = """\
kind: distributed
apiVersion: v1.0
spec:
  infrastructure:
    kind: infrastructure
    type: dataScienceJob
    apiVersion: v1.0
    spec:
      projectId: oci.xxxx.<project_ocid>
      compartmentId: oci.xxxx.<compartment_ocid>
      displayName: PyTorch-Distributed
      logGroupId: oci.xxxx.<log_group_ocid>
      logId: oci.xxx.<log_ocid>
      subnetId: oci.xxxx.<subnet-ocid>
      shapeName: VM.GPU2.1
      blockStorageSize: 50
  cluster:
    kind: pytorch
    apiVersion: v1.0
    spec:
      image: iad.ocir.io/my-tenancy/image-name:latest
      workDir: "oci://my-bucket@my-namespace/pytorch/distributed"
      config:
        env:
          - name: NCCL_ASYNC_ERROR_HANDLING
            value: '1'
      main:
        name: PyTorch-Distributed-main
        replicas: 1
      worker:
        name: PyTorch-Distributed-worker
        replicas: 3
  runtime:
    kind: python
    apiVersion: v1.0
    spec:
      entryPoint: "train.py"
      args:
        - --data-dir
        - /home/datascience/data
        - --output-dir
        - /home/datascience/outputs
        - --backend
        - gloo
        - --timeout
        - 5
"""

_PLACEHOLDERS = {
    "oci.xxxx.<project_ocid>": "ocid1.datascienceproject.oc1.iad.p",
    "oci.xxxx.<compartment_ocid>": "ocid1.compartment.oc1..c",
    "oci.xxxx.<log_group_ocid>": "ocid1.loggroup.oc1.iad.g",
    "oci.xxx.<log_ocid>": "ocid1.log.oc1.iad.l",
    "oci.xxxx.<subnet-ocid>": "ocid1.subnet.oc1.iad.s",
}


def _of_an_account():
    text = TRAIN
    for placeholder, own in _PLACEHOLDERS.items():
        assert placeholder in text
        text = text.replace(placeholder, own)
    # Nobody reads the versions within, and two arguments are enough.
    head, nested = text.split("apiVersion: v1.0\n", 1)
    lines = [line for line in nested.splitlines(True) if "apiVersion" not in line]
    first = lines.index("        - --data-dir\n")
    del lines[first:lines.index("        - --timeout\n")]
    return head + "apiVersion: v1.0\n" + "".join(lines)


# The same of somebody who has an account: of the mock.
TRAIN_OF_ACCOUNT = _of_an_account()
