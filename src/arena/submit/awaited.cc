#include "arena/submit/awaited.h"

#include <fmt/format.h>

#include <algorithm>

#include "api/object.h"
#include "arena/listing/records.h"
#include "base/log.h"

namespace arena {
namespace {

using base::Code;
using base::Fail;

}  // namespace

base::Result<std::vector<api::AwaitedJob>> FindAwaited(cluster::Client& client,
                                                       const Context& context,
                                                       const SubmitFlags& flags) {
  std::vector<api::AwaitedJob> awaited;
  for (const std::string& name : flags.wait_for) {
    auto run = FindRun(client, context, name);
    if (!run) return Fail(run.error().Wrap(fmt::format("--wait-for \"{}\" is invalid", name)));
    const std::string& status = run->job.summary.status;
    if (status == "SUCCEEDED") continue;
    if (status == "FAILED" || run->deleted) {
      return Fail(Code::kInvalidArgument,
                  fmt::format("--wait-for \"{}\" is invalid: that job {}, so {} would never start",
                              name, status == "FAILED" ? "has failed" : "was deleted", flags.name));
    }
    api::AwaitedJob job{run->job.summary.name, std::string(api::Uid(run->job.job))};
    if (std::find(awaited.begin(), awaited.end(), job) == awaited.end()) {
      awaited.push_back(std::move(job));
    }
  }
  if (!awaited.empty() && !context.cluster_is_this_machine) {
    base::LogInfo(
        "{0} is suspended until then: muster's operator will start it, others will not (`{1} "
        "resume {0}` does)",
        flags.name, context.program);
  }
  return awaited;
}

}  // namespace arena
