#include "arena/submit_options.h"

namespace arena {
namespace {

void DeclareResources(SubmitFlags& flags, cli::FlagSet& set) {
  set.Int(&flags.gpus, "gpus", 0, "the GPU count of each worker to run the training.");
  set.StringArray(&flags.devices, "device",
                  "the chip vendors and count that used for resources, such as amd.com/gpu=1 "
                  "gpu.intel.com/i915=1.");
  set.Int(&flags.workers, "workers", 1,
          "the worker number to run the distributed training, the master included.");
  set.String(&flags.cpu, "cpu", "", "the cpu resource to use for the training, like 1 for 1 core.");
  set.String(&flags.memory, "memory", "",
             "the memory resource to use for the training, like 1Gi.");
  set.String(&flags.share_memory, "share-memory", "2Gi",
             "the shared memory of each replica to run the job, like 1Gi.");
  set.String(&flags.nproc_per_node, "nproc-per-node", "",
             "the number of processes per node: auto, cpu, gpu or an int.")
      .Choices({"auto", "cpu", "gpu"});
  set.Bool(&flags.rdma, "rdma", false, "enable RDMA");
}

void DeclareData(SubmitFlags& flags, cli::FlagSet& set) {
  set.StringArray(&flags.data, "data",
                  "specify the datasource to mount to the job, like <name_of_datasource>:"
                  "<mount_point_on_job>")
      .Short('d');
  set.StringArray(&flags.data_dirs, "data-dir",
                  "the data dir. If you specify /data, it means mounting hostpath /data into "
                  "container path /data")
      .OldName("dataDir");
  set.StringArray(&flags.config_files, "config-file",
                  "giving configuration files when submitting jobs,usage:\"--config-file "
                  "<host_path_file>:<container_path_file>\"");
  set.String(&flags.sync_mode, "sync-mode", "", "syncMode: support rsync, git")
      .OldName("syncMode")
      .Choices({"git", "rsync"});
  set.String(&flags.sync_source, "sync-source", "",
             "sync-source: for rsync, it's like 10.88.29.56::backup/data/logoRecoTrain.zip; for "
             "git, it's like https://github.com/kubeflow/tf-operator.git")
      .OldName("syncSource");
  set.String(&flags.sync_image, "sync-image", "", "the docker image of syncImage")
      .OldName("syncImage");
  set.Bool(&flags.tensorboard, "tensorboard", false, "enable tensorboard");
  set.String(&flags.tensorboard_image, "tensorboard-image", "", "the docker image for tensorboard")
      .OldName("tensorboardImage");
  set.String(&flags.logdir, "logdir", "/training_logs", "the training logs dir");
}

void DeclareScheduling(SubmitFlags& flags, cli::FlagSet& set) {
  set.Bool(&flags.gang, "gang", false, "enable gang scheduling");
  set.String(&flags.priority, "priority", "", "assign the job with a priority class").Short('p');
  set.Bool(&flags.queue, "queue", false, "enable the feature to queue jobs after they are scheduled");
  set.StringArray(&flags.tolerations, "toleration",
                  "tolerate some k8s nodes with taints,usage: \"--toleration "
                  "key=value:effect,operator\" or \"--toleration all\"");
  set.StringArray(&flags.selectors, "selector",
                  "assigning jobs to some k8s particular nodes, usage: \"--selector=key=value\"");
  set.String(&flags.scheduler, "scheduler", "", "Specify a custom scheduler to use");
  set.String(&flags.clean_task_policy, "clean-task-policy", "Running",
             "How to clean tasks after Training is done, support Running, None and All.")
      .Choices({"None", "Running", "All"});
  set.Int(&flags.retry, "retry", 0, "retry times.");
  set.Duration(&flags.running_timeout, "running-timeout", std::chrono::nanoseconds(0),
               "Specifies the duration since startTime during which the job can remain active "
               "before it is terminated(e.g. '5s', '1m', '2h22m').");
  set.Duration(&flags.ttl_after_finished, "ttl-after-finished", std::chrono::nanoseconds(0),
               "Defines the TTL for cleaning up finished PytorchJobs(e.g. '5s', '1m', '2h22m').");
}

}  // namespace

void SubmitFlags::Declare(cli::FlagSet& set) {
  set.String(&name, "name", "", "override name").Required();
  set.String(&image, "image", "", "the docker image name of training job");
  set.String(&worker_image, "worker-image", "",
             "the docker image of the workers, by default that of --image");
  set.String(&working_dir, "working-dir", "/root",
             "working directory to extract the code. If using syncMode, the $workingDir/code "
             "contains the code")
      .OldName("workingDir");
  set.StringArray(&env, "env", "the environment variables, KEY=VALUE").Short('e');
  set.StringArray(&annotations, "annotation", "the annotations, usage: \"--annotation=key=value\"")
      .Short('a');
  set.StringArray(&labels, "label", "specify the label, usage: \"--label=key=value\"").Short('l');
  set.StringArray(&image_pull_secrets, "image-pull-secret",
                  "giving names of imagePullSecret when you want to use a private registry, "
                  "usage:\"--image-pull-secret <name1>\"");
  set.String(&image_pull_policy, "image-pull-policy", "Always",
             "Set a policy to pull images, one of Always, IfNotPresent, Never")
      .Choices({"Always", "IfNotPresent", "Never"});
  set.String(&shell, "shell", "sh", "linux shell type, bash or sh");
  set.Bool(&host_network, "hostNetwork", false, "enable host network");
  set.Bool(&host_ipc, "hostIPC", false, "enable host IPC");
  set.Bool(&host_pid, "hostPID", false, "enable host PID");
  set.String(&model_name, "model-name", "", "model name");
  set.String(&model_source, "model-source", "", "model source");
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
