#include "api/job/pytorch_job.h"
#include "api/on_stall.h"
#include "arena/submit/job/options.h"

namespace arena {
namespace {

void DeclareReplicas(SubmitFlags& flags, cli::FlagSet& set) {
  set.BeginGroup("Replicas, and what each of them gets");
  set.Int(&flags.workers, "workers", 1, "number of replicas, including the master");
  set.String(&flags.elastic, "elastic", "",
             "torchrun may run with `MIN:MAX` workers; there is no master then, and --workers is\n"
             "the number to start with (MIN)");
  set.Int(&flags.gpus, "gpus", 0, "GPUs of each replica");
  set.StringArray(&flags.devices, "device",
                  "request `NAME=COUNT` of an extended resource for each replica: amd.com/gpu=1;\n"
                  "repeatable");
  set.String(&flags.cpu, "cpu", "", "CPU of each replica, request and limit: 2, 500m");
  set.String(&flags.memory, "memory", "", "memory of each replica, request and limit: 4Gi");
  set.String(&flags.share_memory, "share-memory", "2Gi",
             "size of /dev/shm in each replica; empty leaves it as it is");
  set.String(&flags.nproc_per_node, "nproc-per-node", "",
             "processes that torchrun starts in each replica: auto, cpu, gpu or a number")
      .Choices({"auto", "cpu", "gpu"});
  set.Bool(&flags.rdma, "rdma", false, "request an RDMA device");
  set.StringArray(
         &flags.env, "env",
         "set the environment variable `KEY=VALUE`; KEY alone takes your value, which is kept in\n"
         "a Secret; repeatable")
      .Short('e');
  set.StringArray(
      &flags.env_files, "env-file",
      "read variables from a `FILE` of NAME=VALUE lines, in docker's format; their values are\n"
      "kept in a Secret of the job; --env wins; repeatable");
  set.StringArray(
      &flags.secret_env, "env-from-secret",
      "set an environment variable from a key of a Secret, `NAME=SECRET:KEY`, or one for\n"
      "each of its keys, SECRET; repeatable");
  set.Bool(&flags.host_network, "hostNetwork", false, "use the network of the node");
  set.Bool(&flags.host_ipc, "hostIPC", false, "use the IPC namespace of the node");
  set.Bool(&flags.host_pid, "hostPID", false, "use the process namespace of the node");
}

void DeclareImages(SubmitFlags& flags, cli::FlagSet& set) {
  set.BeginGroup("Images");
  set.String(&flags.master_image, "master-image", "", "image of the master, if it is not --image");
  set.String(&flags.worker_image, "worker-image", "", "image of the workers, if it is not --image");
  set.StringArray(&flags.image_pull_secrets, "image-pull-secret",
                  "name of a secret for a private registry; repeatable");
  set.String(&flags.image_pull_policy, "image-pull-policy", "Always",
             "Always, IfNotPresent or Never")
      .Choices({"Always", "IfNotPresent", "Never"});
}

void DeclareCode(SubmitFlags& flags, cli::FlagSet& set) {
  set.BeginGroup("Code, which is at WORKING-DIR/code/PROJECT in each replica");
  set.String(&flags.sync_mode, "sync-mode", "",
             "how the code gets there: local (a copy of a folder), git or rsync")
      .OldName("syncMode")
      .Choices({"git", "local", "rsync"});
  set.String(&flags.sync_source, "sync-source", "",
             "local: the folder (.); git: https://host/team/project.git, or\n"
             "git@host:team/project.git; rsync: host::module/path, rsync://user@host/module")
      .OldName("syncSource");
  flags.code.Declare(set);
  set.String(&flags.sync_image, "sync-image", "", "image of the container that fetches the code")
      .OldName("syncImage");
  set.String(&flags.git_branch, "git-branch", "", "branch or tag; by default the repository's own");
  set.String(&flags.git_revision, "git-revision", "", "commit or tag to check out");
  set.Int(&flags.git_depth, "git-depth", 0, "fetch only this many commits; 0 for all");
  set.String(
      &flags.git_credentials, "git-credentials", "",
      "`FILE` with the user and password of a repository over http: username= and password=\n"
      "lines, or git's own store (~/.git-credentials); kept as a Secret");
  set.String(&flags.git_ssh_key, "git-ssh-key", "",
             "`FILE` with the private key for a repository over ssh; kept as a Secret");
  set.String(&flags.git_known_hosts, "git-known-hosts", "",
             "`FILE` with the host keys to trust, as ~/.ssh/known_hosts has them;\n"
             "--env=GIT_KNOWN_HOSTS=false trusts any");
}

void DeclareData(SubmitFlags& flags, cli::FlagSet& set) {
  set.BeginGroup("Data and results");
  set.StringArray(&flags.data, "data", "mount a data volume, `CLAIM:PATH[:ro]`; repeatable")
      .Short('d');
  set.StringArray(&flags.data_dirs, "data-dir",
                  "mount a directory of the node, `HOSTPATH[:PATH][:ro]`; repeatable")
      .OldName("dataDir");
  set.StringArray(&flags.config_files, "config-file",
                  "copy a file of this machine into the replicas, `FILE[:PATH]`; repeatable");
  set.Bool(&flags.tensorboard, "tensorboard", false, "run a TensorBoard for the job");
  set.String(&flags.tensorboard_image, "tensorboard-image", "", "image of the TensorBoard")
      .OldName("tensorboardImage");
  set.String(&flags.logdir, "logdir", "/training_logs",
             "where the training writes its TensorBoard events");
  set.String(&flags.model_name, "model-name", "",
             "register the job's result as a version of this model in MLflow\n"
             "(MLFLOW_TRACKING_URI, MLFLOW_TRACKING_USERNAME, MLFLOW_TRACKING_PASSWORD)");
  set.String(&flags.model_source, "model-source", "", "where the model will be stored");
}

void DeclareScheduling(SubmitFlags& flags, cli::FlagSet& set) {
  set.BeginGroup("Where and when it runs");
  set.Bool(&flags.gang, "gang", false, "start all replicas together or none");
  set.String(&flags.priority, "priority", "", "priority class of the replicas").Short('p');
  set.Bool(&flags.queue, "queue", false, "put the job into a queue that starts it later");
  set.StringArray(
      &flags.wait_for, "wait-for",
      "start after the `JOB` has succeeded; if it fails or is deleted, this job fails,\n"
      "too; repeatable");
  set.StringArray(&flags.tolerations, "toleration",
                  "taints to tolerate, `KEY=VALUE:EFFECT,OPERATOR` or all; repeatable");
  set.StringArray(&flags.selectors, "selector",
                  "label of the nodes to run on, `KEY=VALUE`; repeatable");
  set.String(&flags.scheduler, "scheduler", "", "name of the scheduler to use");
}

void DeclareEnd(SubmitFlags& flags, cli::FlagSet& set) {
  set.BeginGroup("Failures and the end");
  set.Int(&flags.retry, "retry", 0, "how often replicas may be restarted before the job fails");
  set.String(&flags.restart_policy, "restart-policy", "",
             "when replicas are restarted: Always, OnFailure, Never or ExitCode (only\n"
             "after 128 and above); by default Never for the master and OnFailure for workers")
      .Choices({api::kRestartPolicies.begin(), api::kRestartPolicies.end()});
  set.Duration(
      &flags.running_timeout, "running-timeout", std::chrono::nanoseconds(0),
      "stop the job after it has been active for this long, its wait included: 90s, 2h30m");
  set.String(&flags.on_stall, "on-stall", "report",
             "what to do when a rank holds the others up: off, report, stacks (also print all\n"
             "stacks, where a pod runs several ranks), restart (kill that rank, which then\n"
             "restarts as after any failure) or stop (the job fails)")
      .Choices({api::kOnStallChoices.begin(), api::kOnStallChoices.end()});
  set.Int(&flags.stall_after, "stall-after", api::kUsualStallAfter.count(),
          "how many `SECONDS` a rank has to stand still before it is examined");
  set.Bool(&flags.stop_on_nan, "stop-on-nan", false,
           "stop the job when a rank prints a loss that is NaN or infinite");
  set.String(&flags.clean_task_policy, "clean-task-policy", "Running",
             "which replicas are removed at the end of the job: None, Running or All")
      .Choices({"None", "Running", "All"});
  set.Duration(&flags.ttl_after_finished, "ttl-after-finished", std::chrono::nanoseconds(0),
               "delete the job this long after its end: 90s, 2h30m");
}

void DeclareCommand(SubmitFlags& flags, cli::FlagSet& set) {
  set.BeginGroup("This command");
  set.Bool(&flags.follow, "follow", false,
           "print the log of the master (of the first worker of an elastic job) until the job\n"
           "ends; exit code 0 if it succeeded, else 1. Ctrl-C leaves the job running");
  set.Bool(&flags.wait, "wait", false,
           "wait until the job has ended; exit code 0 if it succeeded, else 1. Ctrl-C leaves\n"
           "the job running");
  set.String(&flags.dry_run, "dry-run", "none",
             "none, client (print what would be created, without a cluster), server (have\n"
             "the cluster check it) or schedule (predict when it would start); nothing is changed")
      .Choices({"none", "client", "server", "schedule"});
  set.String(
         &flags.output, "output", "yaml",
         "format of a dry run's objects: yaml or json; by default --dry-run=server prints names")
      .Short('o')
      .Choices({"yaml", "json"});
}

}  // namespace

void SubmitFlags::Declare(cli::FlagSet& set) {
  set.String(&name, "name", "", "name of the job").Required();
  set.String(&image, "image", "",
             "image of the replicas; needed on a cluster, not on this machine");
  set.String(&working_dir, "working-dir", "/root",
             "directory that the command runs in; synchronised code is in its code/")
      .OldName("workingDir");
  set.String(&shell, "shell", "sh", "shell that runs the command");
  set.StringArray(&annotations, "annotation",
                  "annotate the job and its pods with `KEY=VALUE`; repeatable")
      .Short('a');
  set.StringArray(&labels, "label", "label the job and its pods with `KEY=VALUE`; repeatable")
      .Short('l');
  DeclareReplicas(*this, set);
  DeclareImages(*this, set);
  DeclareCode(*this, set);
  DeclareData(*this, set);
  DeclareScheduling(*this, set);
  DeclareEnd(*this, set);
  DeclareCommand(*this, set);
  set.BeginGroup("");
}

void SubmitFlags::NoteGiven(const std::function<bool(std::string_view)>& was_given) {
  are_workers_given = was_given("workers");
  is_output_given = was_given("output");
  is_on_stall_given = was_given("on-stall");
}

}  // namespace arena
