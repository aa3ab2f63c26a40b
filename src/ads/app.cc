#include "ads/app.h"

#include <fmt/format.h>

#include "ads/oci_cloud.h"
#include "ads/verbs.h"

namespace ads {

void AddOpctl(cli::Command& root, Context& context) {
  ConnectToOci(context);
  cli::Command& opctl = root.Add("opctl", "Distributed training in OCI Data Science's terms");
  opctl.ClickStyle().Long(fmt::format(
      "Runs the same train.yaml on OCI Data Science, on this machine and on Kubernetes.\n\n"
      "Begin with `{0} opctl distributed-training init --framework pytorch`, then `{0} opctl run "
      "-f train.yaml -b local`.",
      context.program));
  AddRun(opctl, context);
  AddPublish(opctl, context);
  AddEntry(opctl, context);
  AddConfigure(opctl, context);
  AddCheck(opctl, context);
  AddWatch(opctl, context);
  AddCancel(opctl, context);
  AddDelete(opctl, context);
  cli::Command& training =
      opctl.Add("distributed-training", "The image and the cluster of a distributed training.");
  AddInit(training, context);
  AddShowConfig(training, context);
  AddBuildImage(training, context);
  AddPublishImage(training, context);
  AddClusterCancel(training, context);
}

}  // namespace ads
