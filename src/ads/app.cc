#include "ads/app.h"

#include <fmt/format.h>

#include <memory>

#include "ads/run/job_backend.h"
#include "ads/storage/oci_cloud.h"
#include "ads/verbs.h"

namespace ads {
namespace {

// Fills in what the context lacks: the cloud, the job backend, and runs of an existing job.
void ConnectToOci(Context& context) {
  if (!context.oci) {
    context.oci = [&context](const LoginFlags& login) -> std::unique_ptr<OciServices> {
      return std::make_unique<OciCloud>(context, login);
    };
  }
  if (!context.job_backend) {
    context.job_backend = [&context](const LoginFlags& login) {
      return MakeJobBackend(context, login);
    };
  }
  if (!context.run_existing_job) {
    context.run_existing_job = [&context](const ExistingJobRequest& request, cli::Output& out,
                                          cli::Output& err) {
      return RunExistingJob(context, request, out, err);
    };
  }
}

}  // namespace

void AddOpctl(cli::Command& root, Context& context) {
  ConnectToOci(context);
  cli::Command& opctl = root.Add("opctl", "Distributed training in OCI Data Science's terms");
  opctl.ClickStyle().Help("ads/opctl", context.program);
  opctl.AddLater("", [&context](cli::Command& parent) {
    AddRun(parent, context);
    AddPublish(parent, context);
    AddEntry(parent, context);
    AddConfigure(parent, context);
    AddCheck(parent, context);
    AddWatch(parent, context);
    AddCancel(parent, context);
    AddDelete(parent, context);
    AddModelVerbs(parent);
    cli::Command& training =
        parent.Add("distributed-training", "The image and the cluster of a distributed training.");
    AddInit(training, context);
    AddShowConfig(training, context);
    AddBuildImage(training, context);
    AddPublishImage(training, context);
    AddClusterCancel(training, context);
  });
}

void AddJobs(cli::Command& root, Context& context) {
  cli::Command& jobs = root.Add("jobs", "The older names of `opctl run`, `watch` and `delete`.");
  jobs.ClickStyle();
  AddRun(jobs, context);
  AddWatch(jobs, context);
  AddDelete(jobs, context);
}

}  // namespace ads
