#include "arena/submit_options.h"

namespace arena {
namespace {

void DeclareResources(SubmitFlags& flags, cli::FlagSet& set) {
  set.Int(&flags.gpus, "gpus", 0, "GPUs of each replica");
  set.StringArray(
      &flags.devices, "device",
      "`NAME=COUNT` of another extended resource for each replica, as amd.com/gpu=1; repeatable");
  set.Int(&flags.workers, "workers", 1, "replicas in all, the master among them");
  set.String(&flags.cpu, "cpu", "", "CPU of each replica, request and limit: 2, 500m");
  set.String(&flags.memory, "memory", "", "memory of each replica, request and limit: 4Gi");
  set.String(&flags.share_memory, "share-memory", "2Gi",
             "size of /dev/shm in each replica; empty leaves it as it is");
  set.String(&flags.nproc_per_node, "nproc-per-node", "",
             "processes in each replica: auto, cpu, gpu or a number")
      .Choices({"auto", "cpu", "gpu"});
  set.Bool(&flags.rdma, "rdma", false, "ask for an RDMA device");
}

void DeclareData(SubmitFlags& flags, cli::FlagSet& set) {
  set.StringArray(&flags.data, "data", "`CLAIM:PATH[:ro]`: mount a data volume; repeatable")
      .Short('d');
  set.StringArray(&flags.data_dirs, "data-dir",
                  "`HOSTPATH[:PATH][:ro]`: mount a directory of the node; repeatable")
      .OldName("dataDir");
  set.StringArray(&flags.config_files, "config-file",
                  "`FILE[:PATH]`: put a file of this machine into the replicas; repeatable");
  set.String(&flags.sync_mode, "sync-mode", "", "how the code gets there: git or rsync")
      .OldName("syncMode")
      .Choices({"git", "rsync"});
  set.String(&flags.sync_source, "sync-source", "", "the git URL or rsync source of the code")
      .OldName("syncSource");
  set.String(&flags.sync_image, "sync-image", "", "image of the container that fetches the code")
      .OldName("syncImage");
  set.Bool(&flags.tensorboard, "tensorboard", false, "run a TensorBoard beside the job");
  set.String(&flags.tensorboard_image, "tensorboard-image", "", "image of the TensorBoard")
      .OldName("tensorboardImage");
  set.String(&flags.logdir, "logdir", "/training_logs",
             "where the training writes its TensorBoard events");
}

void DeclareScheduling(SubmitFlags& flags, cli::FlagSet& set) {
  set.Bool(&flags.gang, "gang", false, "start all replicas together or none");
  set.String(&flags.priority, "priority", "", "priority class of the replicas").Short('p');
  set.Bool(&flags.queue, "queue", false, "hand the job to a queue that starts it later");
  set.StringArray(&flags.tolerations, "toleration",
                  "`KEY=VALUE:EFFECT,OPERATOR` or all: taints to tolerate; repeatable");
  set.StringArray(&flags.selectors, "selector",
                  "`KEY=VALUE`: label of the nodes to run on; repeatable");
  set.String(&flags.scheduler, "scheduler", "", "name of the scheduler to use");
  set.String(&flags.clean_task_policy, "clean-task-policy", "Running",
             "which replicas are removed when the job ends: None, Running or All")
      .Choices({"None", "Running", "All"});
  set.Int(&flags.retry, "retry", 0, "how often replicas may be restarted before the job fails");
  set.Duration(&flags.running_timeout, "running-timeout", std::chrono::nanoseconds(0),
               "stop the job when it has been active for that long: 90s, 2h30m");
  set.Duration(&flags.ttl_after_finished, "ttl-after-finished", std::chrono::nanoseconds(0),
               "remove the job that long after its end: 90s, 2h30m");
}

}  // namespace

void SubmitFlags::Declare(cli::FlagSet& set) {
  set.String(&name, "name", "", "name of the job").Required();
  set.String(&image, "image", "", "image of the replicas");
  set.String(&worker_image, "worker-image", "", "image of the workers when it is not --image");
  set.String(&working_dir, "working-dir", "/root",
             "directory that the command runs in; synchronised code is in its code/")
      .OldName("workingDir");
  set.StringArray(&env, "env", "`KEY=VALUE`: environment variable; repeatable").Short('e');
  set.StringArray(&annotations, "annotation", "`KEY=VALUE` on the job and its pods; repeatable")
      .Short('a');
  set.StringArray(&labels, "label", "`KEY=VALUE` on the job and its pods; repeatable").Short('l');
  set.StringArray(&image_pull_secrets, "image-pull-secret",
                  "name of a secret for a private registry; repeatable");
  set.String(&image_pull_policy, "image-pull-policy", "Always", "Always, IfNotPresent or Never")
      .Choices({"Always", "IfNotPresent", "Never"});
  set.String(&shell, "shell", "sh", "shell that runs the command");
  set.Bool(&host_network, "hostNetwork", false, "use the network of the node");
  set.Bool(&host_ipc, "hostIPC", false, "use the IPC namespace of the node");
  set.Bool(&host_pid, "hostPID", false, "use the process namespace of the node");
  set.String(&model_name, "model-name", "", "name of the model that the job makes");
  set.String(&model_source, "model-source", "", "where that model will lie");
  DeclareResources(*this, set);
  DeclareData(*this, set);
  DeclareScheduling(*this, set);
  set.String(&dry_run, "dry-run", "none",
             "none, client (print what would be created) or server (let the server check it)")
      .Choices({"none", "client", "server"});
  set.String(&output, "output", "yaml", "format of --dry-run=client: yaml or json")
      .Short('o')
      .Choices({"yaml", "json"});
}

}  // namespace arena
