#include "ads/config/init_artifacts.h"

namespace ads {
namespace {

constexpr std::string_view kDockerfile =
    R"(# The image of a distributed PyTorch training: the code, PyTorch, and muster as its entry point.
# Built from the folder that holds oci_dist_training_artifacts, by
#   ads opctl distributed-training build-image -t TAG -reg REGISTRY/NAME \
#       -df oci_dist_training_artifacts/pytorch/v1/Dockerfile
# The name is whole: podman and buildah know no registry of short ones.
ARG BASE_IMAGE=docker.io/pytorch/pytorch:2.5.1-cuda12.4-cudnn9-runtime
FROM ${BASE_IMAGE}

# git: code from a repository, through socat with ssh_proxy; libcurl: object storage and the service's
# own interfaces.
RUN apt-get update \
 && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends \
      ca-certificates git libcurl4 openssh-client socat \
 && rm -rf /var/lib/apt/lists/*

ENV HOME=/home/oci_dist_training
RUN mkdir -p "$HOME" /etc/datascience /opt/ml && chmod 0777 "$HOME" /opt/ml
# What a training writes here is copied to object storage, with SYNC_ARTIFACTS=1.
ENV OCI__SYNC_DIR=/opt/ml
ENV PYTHONUNBUFFERED=1

ARG ARTIFACT_DIR=oci_dist_training_artifacts/pytorch/v1
COPY ${ARTIFACT_DIR}/requirements.txt /etc/datascience/requirements.txt
RUN python -m pip install --no-cache-dir -r /etc/datascience/requirements.txt

# Nsight Systems for PROFILE_CMD="nsys profile ...", by the name of its package:
# --build-arg NSYS_PACKAGE=nsight-systems is Ubuntu's own.
ARG NSYS_PACKAGE=
RUN if [ -n "$NSYS_PACKAGE" ]; then \
      apt-get update \
      && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "$NSYS_PACKAGE" \
      && rm -rf /var/lib/apt/lists/* \
      && nsys --version; \
    fi

# Oracle's command line as $HOME/bin/oci, apart from the training's packages: --build-arg WITH_OCI_CLI=1
ARG WITH_OCI_CLI=
RUN if [ -n "$WITH_OCI_CLI" ]; then \
      python -m venv /opt/oci-cli \
      && /opt/oci-cli/bin/python -m pip install --no-cache-dir oci-cli \
      && mkdir -p "$HOME/bin" \
      && ln -s /opt/oci-cli/bin/oci "$HOME/bin/oci" \
      && "$HOME/bin/oci" --version; \
    fi

COPY ${ARTIFACT_DIR}/muster ${ARTIFACT_DIR}/entrypoint.sh /etc/datascience/
# `ads opctl check` runs this module, which is muster too.
RUN folder=$(python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/ads/opctl \
 && mkdir -p "$folder" \
 && printf '%s\n' 'import os' \
      'os.execv("/etc/datascience/muster", ["muster", "opctl", "diagnose"])' \
      > "$folder/diagnostics.py"
WORKDIR /etc/datascience

# Last, for it changes most.
ARG CODE_DIR=.
COPY ${CODE_DIR} /code

ENTRYPOINT ["/etc/datascience/entrypoint.sh"]
)";

constexpr std::string_view kEntrypoint = R"(#!/bin/sh
# One node of a training: meets the others in OCI__WORK_DIR and runs OCI__ENTRY_SCRIPT.
exec /etc/datascience/muster opctl entry "$@"
)";

constexpr std::string_view kRequirements =
    R"(# What the training wants beside the base image, as pip reads it.
)";

constexpr std::string_view kReadme = R"(# A distributed PyTorch training

| file | what it is |
|---|---|
| `Dockerfile` | the image: PyTorch, `requirements.txt`, the code as `/code` |
| `requirements.txt` | Python packages beside the base image's |
| `entrypoint.sh`, `muster` | the entry point: `muster opctl entry` |

## Build

In the folder that holds `oci_dist_training_artifacts` and the code:

    ads opctl distributed-training build-image \
        -t 1.0 -reg iad.ocir.io/my-tenancy/image-name \
        -df oci_dist_training_artifacts/pytorch/v1/Dockerfile

`-s FOLDER` takes the code of that folder, `-p` pushes, `--dry-run` prints the command. What was
given is kept in `./config.ini`, but for `--build-arg`; the `muster` here is for x86_64 Linux with
glibc 2.35 or later (Ubuntu 22.04, Debian 12).

| `--build-arg` | |
|---|---|
| `BASE_IMAGE=NAME` | another image with PyTorch, by its whole name (`docker.io/...`) |
| `NSYS_PACKAGE=nsight-systems` | Nsight Systems, for `PROFILE_CMD`; for newer CUDA take a base image that has NVIDIA's packages (`...-devel`) and name its package (`cuda-nsight-systems-12-4`) |
| `WITH_OCI_CLI=1` | Oracle's command line, as `$HOME/bin/oci` |

## Run

    ads opctl run -f train.yaml --dry-run     # what would be created
    ads opctl run -f train.yaml -b local      # main and workers on this machine
    ads opctl run -f train.yaml               # on OCI Data Science
    ads opctl run -f train.yaml -b kubernetes # as a PyTorchJob

## In the container

`MASTER_ADDR`, `MASTER_PORT` (29400), `WORLD_SIZE`, `RANK` and `LOCAL_RANK` are set for the script,
which runs once for each GPU in the folder of the code. The exit code is the script's; when one node
fails, the others are ended.

| variable | meaning |
|---|---|
| `SYNC_ARTIFACTS=1` | copy `$OCI__SYNC_DIR` to `<workDir>/sync/<job>/<run>/` as the training runs |
| `WORKSPACE`, `WORKSPACE_PREFIX` | another bucket and prefix for that |
| `SYNC_SLEEP` | seconds between two copies (60) |
| `PROFILE=1`, `PROFILE_CMD` | words before `python`; `%q{RANK}` is the rank |
| `OCI__TIMEOUT` | seconds to wait for the main node (600) |
| `ssh_proxy` | the proxy through which git reaches a repository over ssh, `http://host:port` |
| `OCI__NODE_IP` | this node's address, where it cannot be found out |
)";

constexpr InitFile kPyTorchFiles[] = {{"Dockerfile", kDockerfile, 0644},
                                      {"entrypoint.sh", kEntrypoint, 0755},
                                      {"requirements.txt", kRequirements, 0644},
                                      {"README.md", kReadme, 0644}};

}  // namespace

std::span<const InitFile> PyTorchInitFiles() { return kPyTorchFiles; }

}  // namespace ads
