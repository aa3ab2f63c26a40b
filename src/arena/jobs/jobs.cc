#include "arena/jobs/jobs.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <boost/json/monotonic_resource.hpp>
#include <cmath>
#include <ctime>
#include <map>
#include <span>
#include <utility>

#include "api/kinds.h"
#include "api/names.h"
#include "api/object.h"
#include "arena/app/ownership.h"
#include "arena/app/program_name.h"
#include "arena/app/services.h"
#include "arena/jobs/broken_submission.h"
#include "arena/jobs/listed_pods.h"
#include "arena/jobs/tensorboard.h"
#include "base/log.h"
#include "base/shared_work.h"

namespace arena {
namespace {

using base::Code;
using base::Fail;

// Fewer are not worth the start of a thread.
constexpr size_t kJobsAtATime = 500;
// Enough for the pods of most jobs: they are parsed without an allocation for each value.
constexpr size_t kPodsBlock = 256 << 10;

std::string_view Label(const text::Json& object, std::string_view label) {
  return text::GetString(object, {"metadata", "labels", label});
}

std::string Url(std::string_view host, int64_t port) {
  const bool is_v6 = host.find(':') != std::string_view::npos;
  return is_v6 ? fmt::format("http://[{}]:{}", host, port)
               : fmt::format("http://{}:{}", host, port);
}

// "" if it cannot be reached. `node_address` is looked up once, when it is first needed.
std::string UrlOfService(cluster::Client& client, const text::Json& service,
                         std::optional<std::string>& node_address) {
  if (const std::string host = IngressHost(service); !host.empty()) {
    return Url(host, kTensorboardPort);
  }
  const int64_t port = FirstPort(service, "nodePort");
  if (port == 0) return "";
  if (!node_address) node_address = ReadyNodeAddress(client);
  return node_address->empty() ? "" : Url(*node_address, port);
}

// Shared among the processors if there are many: reading their pods takes most of a list's time.
base::Status SummarizeAll(std::span<TrainingJob> jobs, const ListedPods& pods,
                          const Context& context) {
  return base::ShareWork(jobs.size(), kJobsAtATime, [&](size_t from, size_t count) -> base::Status {
    std::vector<unsigned char> block(kPodsBlock);
    for (TrainingJob& job : jobs.subspan(from, count)) {
      boost::json::monotonic_resource memory(block.data(), block.size());
      TRY_ASSIGN(const std::vector<text::Json> own, pods.Of(job.job, &memory));
      job.summary = api::Summarize(job.job, Pointers(own), context.clock.Now());
      UseProgramsWords(context, job.summary);
    }
    return {};
  });
}

// Whether some of the listed jobs are Arena's and have no pods with Kubeflow's label: the operator
// before Kubeflow's common one for all kinds, which Arena can install, labels pods in its own way.
bool MayHaveOlderPods(const std::vector<text::Json>& jobs, const ListedPods& pods) {
  return std::any_of(jobs.begin(), jobs.end(), [&pods](const text::Json& job) {
    return Label(job, "app") == "pytorchjob" && !pods.HasAny(job);
  });
}

// Whether the user may not list pods, of which he is told once.
bool IsForbidden(const base::Error& of_pods) {
  if (of_pods.code != Code::kPermissionDenied) return false;
  static std::atomic_flag is_told;
  if (!is_told.test_and_set()) base::LogWarn("the instances are not known: {}", of_pods.message);
  return true;
}

}  // namespace

std::vector<const text::Json*> Pointers(const std::vector<text::Json>& values) {
  std::vector<const text::Json*> pointers;
  pointers.reserve(values.size());
  for (const text::Json& value : values) pointers.push_back(&value);
  return pointers;
}

std::string_view ListedJobs(const Context& context) {
  return context.program == "arena" ? kJobSelector : std::string_view();
}

void UseProgramsWords(const Context& context, api::TrainingSummary& summary) {
  summary.reason = UseProgramName(context, std::move(summary.reason));
  if (context.program != "arena") return;
  if (api::IsWaiting(summary.status)) summary.status = "PENDING";
  std::sort(summary.instances.begin(), summary.instances.end(),
            [](const auto& a, const auto& b) { return a.name < b.name; });
}

void MoveReasonToStderr(const Context& context, api::TrainingSummary& summary) {
  if (context.program != "arena" || summary.reason.empty()) return;
  base::LogInfo("{}: {}", summary.name, std::exchange(summary.reason, ""));
}

std::string ReadyNodeAddress(cluster::Client& client) {
  const auto nodes = client.List(api::kNodes, {});
  if (!nodes) return "";
  for (const text::Json& node : nodes->items) {
    const std::string_view address = api::NodeAddress(node, "InternalIP");
    if (api::IsNodeReady(node) && !address.empty()) return std::string(address);
  }
  return "";
}

const text::Json* TrainingJob::Pod(std::string_view name) const {
  for (const text::Json& pod : pods) {
    if (text::GetString(pod, {"metadata", "name"}) == name) return &pod;
  }
  return nullptr;
}

std::string PodSelector(const text::Json& job) {
  const std::string_view name = text::GetString(job, {"metadata", "name"});
  // Arena's labels hold for both operators, but only jobs that Arena made carry them.
  if (Label(job, "release") == name && Label(job, "app") == "pytorchjob") {
    return fmt::format("release={},app=pytorchjob", name);
  }
  return fmt::format("{}={}", api::kJobNameLabel, name);
}

base::Result<TrainingJob> FindJob(cluster::Client& client, const Context& context,
                                  const std::string& namespace_name, const std::string& name,
                                  Pods pods) {
  TrainingJob found;
  auto job = client.Get(api::kPyTorchJobs, namespace_name, name);
  if (!job) {
    if (job.error().code == Code::kNotFound) {
      TRY(CheckNamespace(client, context, namespace_name));
      return Fail(NotFoundJob(context, namespace_name, name));
    }
    return Fail(GetError(std::move(job.error()), namespace_name));
  }
  found.job = std::move(*job);
  if (TakeBackIfBrokenOff(client, context, found.job)) {
    return Fail(NotFoundJob(context, namespace_name, name));
  }
  TRY(CheckOwner(client, context, found.job, Admins::kMay));
  cluster::ListOptions options;
  options.namespace_name = namespace_name;
  options.label_selector = PodSelector(found.job);
  auto listed = client.List(api::kPods, options);
  if (listed) return WithPods(context, std::move(found.job), std::move(listed->items));
  if (pods == Pods::kNeeded || !IsForbidden(listed.error())) return Fail(listed.error());
  found = WithPods(context, std::move(found.job), {});
  found.hidden_pods = std::move(listed.error());
  return found;
}

TrainingJob WithPods(const Context& context, text::Json job, std::vector<text::Json> pods) {
  TrainingJob found;
  found.job = std::move(job);
  found.pods = std::move(pods);
  std::erase_if(found.pods,
                [&](const text::Json& pod) { return !api::IsPodOfJob(pod, found.job); });
  found.summary = api::Summarize(found.job, Pointers(found.pods), context.clock.Now());
  UseProgramsWords(context, found.summary);
  return found;
}

base::Result<std::vector<TrainingJob>> ListJobs(cluster::Client& client, const Context& context,
                                                const std::string& namespace_name) {
  TRY_ASSIGN(const std::string selector, VisibleSelector(client, context, kJobSelector));
  return ListSelectedJobs(client, context, namespace_name, selector);
}

base::Result<std::vector<TrainingJob>> ListSelectedJobs(cluster::Client& client,
                                                        const Context& context,
                                                        const std::string& namespace_name,
                                                        const std::string& selector) {
  cluster::ListOptions options;
  options.namespace_name = namespace_name;
  options.label_selector = selector;
  options.form = api::kSummaryForm;
  options.read = [](std::string_view job) {
    return text::ParsePart(job, api::SummarizedJobParts());
  };
  auto jobs = client.List(api::kPyTorchJobs, options);
  if (!jobs) return Fail(ListError(std::move(jobs.error()), namespace_name));
  std::erase_if(jobs->items,
                [&](const text::Json& job) { return TakeBackIfBrokenOff(client, context, job); });
  std::vector<TrainingJob> result;
  if (jobs->items.empty()) return result;
  ListedPods pods;
  options.read_listed = [&pods](std::string_view pod) { return pods.Take(pod); };
  const bool lists_all = ListedJobs(context).empty();
  options.label_selector = lists_all ? std::string(api::kJobNameLabel) : "app=pytorchjob";
  const auto listed = client.List(api::kPods, options);
  if (!listed && !IsForbidden(listed.error())) return Fail(listed.error());
  if (listed && lists_all && !context.cluster_is_this_machine &&
      MayHaveOlderPods(jobs->items, pods)) {
    options.label_selector = fmt::format("app=pytorchjob,!{}", api::kJobNameLabel);
    TRY(client.List(api::kPods, options));
  }

  for (text::Json& job : jobs->items) result.emplace_back().job = std::move(job);
  TRY(SummarizeAll(result, pods, context));
  SortNewestFirst(result);
  return result;
}

void SortNewestFirst(std::vector<TrainingJob>& jobs) {
  std::stable_sort(jobs.begin(), jobs.end(), [](const TrainingJob& a, const TrainingJob& b) {
    return a.summary.created > b.summary.created;
  });
}

std::optional<std::string> TensorboardUrl(cluster::Client& client, const TrainingJob& job) {
  // Only Arena's submit makes one, and says so by its label.
  if (Label(job.job, "release") != job.summary.name) return std::nullopt;
  cluster::ListOptions options;
  options.namespace_name = job.summary.namespace_name;
  options.label_selector = fmt::format("release={},role=tensorboard", job.summary.name);
  const auto services = client.List(api::kServices, options);
  if (!services || services->items.empty()) return std::nullopt;
  std::optional<std::string> node_address;
  const std::string url = UrlOfService(client, services->items[0], node_address);
  return url.empty() ? std::nullopt : std::optional(url);
}

std::map<std::string, std::string> TensorboardUrls(cluster::Client& client,
                                                   const std::string& namespace_name) {
  std::map<std::string, std::string> urls;
  cluster::ListOptions options;
  options.namespace_name = namespace_name;
  options.label_selector = "release,role=tensorboard";
  const auto services = client.List(api::kServices, options);
  if (!services) return urls;
  std::optional<std::string> node_address;
  for (const text::Json& service : services->items) {
    std::string url = UrlOfService(client, service, node_address);
    const std::string key =
        fmt::format("{}/{}", api::Namespace(service), Label(service, "release"));
    if (!url.empty()) urls.emplace(key, std::move(url));
  }
  return urls;
}

std::string MeantJob(std::string_view program, std::string_view name) {
  if (program == "arena") return {};
  if (const size_t slash = name.rfind('/'); slash != std::string_view::npos) {
    const std::string_view rest = name.substr(slash + 1);
    return rest.empty() ? std::string() : fmt::format(" (did you mean {}?)", rest);
  }
  const std::string_view stem = name.substr(0, name.find_last_not_of("0123456789") + 1);
  for (const std::string_view type : {"-master-", "-worker-"}) {
    if (stem.size() == name.size() || stem.size() <= type.size() || !stem.ends_with(type)) continue;
    return fmt::format(" ({} is named like an instance of the job {})", name,
                       stem.substr(0, stem.size() - type.size()));
  }
  return {};
}

base::Error NotFoundJob(const Context& context, const std::string& namespace_name,
                        const std::string& name) {
  return {Code::kNotFound,
          fmt::format(
              "Not found training job {} in namespace {},please use '{} submit' to create it.{}",
              name, namespace_name, context.program, MeantJob(context.program, name)),
          0};
}

base::Error GetError(base::Error error, const std::string& namespace_name) {
  if (error.code != Code::kPermissionDenied) return error;
  error.message =
      fmt::format("the user has no privileges to get the training job in namespace {},reason: {}",
                  namespace_name, error.message);
  return error;
}

std::string KeyOf(const api::TrainingSummary& summary) {
  return fmt::format("{}/{}", summary.namespace_name, summary.name);
}

base::Error ListError(base::Error error, const std::string& namespace_name) {
  if (error.code != Code::kPermissionDenied) return error;
  error.message = fmt::format(
      "the user has no privileges to list the training jobs in {},reason: {}",
      namespace_name.empty() ? "all namespaces" : "namespace " + namespace_name, error.message);
  return error;
}

base::Error UnknownInstance(const Context& context, const std::string& instance,
                            const std::string& job) {
  return {
      Code::kNotFound,
      fmt::format(
          "invalid instance name {} in job {},please use '{} get {}' to make sure instance name",
          instance, job, context.program, job),
      0};
}

base::Status NeedJobName(cli::Invocation& call) {
  if (!call.args.empty() && !call.args[0].empty()) return {};
  if (!call.command.is_arena()) {
    return Fail(Code::kInvalidArgument, fmt::format("JOB is missing: {}", call.command.UseLine()));
  }
  TRY(call.out.Write(call.command.HelpText()));
  return Fail(Code::kInvalidArgument, "not set job name,please set it");
}

std::string Number(double value) {
  if (std::floor(value) == value && std::abs(value) < 1e15) {
    return fmt::format("{}", static_cast<int64_t>(value));
  }
  return fmt::format("{}", value);
}

std::string LocalTime(base::Time time) {
  const time_t seconds =
      std::chrono::duration_cast<std::chrono::seconds>(time.time_since_epoch()).count();
  tm parts{};
  ::localtime_r(&seconds, &parts);
  char text[32];
  const size_t size = std::strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S", &parts);
  return std::string(text, size);
}

std::string InLocalTime(std::string words) {
  constexpr size_t kLength = std::string_view("2026-07-30T08:00:00Z").size();
  for (size_t end = words.find('Z'); end != std::string::npos; end = words.find('Z', end + 1)) {
    if (end + 1 < kLength) continue;
    const size_t begin = end + 1 - kLength;
    const auto time = base::ParseRfc3339(std::string_view(words).substr(begin, kLength));
    if (!time) continue;
    const std::string local = LocalTime(*time);
    words.replace(begin, kLength, local);
    end = begin + local.size() - 1;
  }
  return words;
}

std::string ReasonToShow(const api::TrainingSummary& summary) {
  return api::IsWaiting(summary.status) ? InLocalTime(summary.reason) : summary.reason;
}

}  // namespace arena
