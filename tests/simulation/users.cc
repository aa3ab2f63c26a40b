#include "users.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "api/job/pytorch_job.h"
#include "api/job/training_summary.h"
#include "api/object.h"
#include "api/pod.h"
#include "api/resources.h"
#include "base/clock.h"
#include "base/strings.h"
#include "runs/ledger/read_life.h"
#include "text/json.h"
#include "watcher.h"

namespace simulation {
namespace {

using base::Code;

constexpr Nanos kLongestCommand = 600 * kSecond;
constexpr Nanos kLongestCalm = 3'600 * kSecond;
// A start that failed for another reason, on a full disk say, is tried again within five minutes.
constexpr Nanos kLongestWait = 400 * kSecond;
constexpr const char* kNamespace = "default";
constexpr const char* kTouched = "touched";
// Of a thousand jobs, those whose programs run until they are asked to end.
constexpr unsigned kServers = 80;
// Of a thousand submits, those that find their ConfigMap's name taken.
constexpr unsigned kTakenNames = 60;
// Of a thousand jobs, those whose pods refer to ConfigMaps or Secrets.
constexpr unsigned kWithSettings = 25;
// From a job's submission to its first pod's program, mostly.
constexpr uint64_t kLongestStart = 10 * kMilli;

// Said by a server that has not done it; everything else may have been done.
bool IsRefusal(const base::Error& error) {
  return error.code == Code::kNotFound || error.code == Code::kAlreadyExists ||
         error.code == Code::kConflict || error.code == Code::kInvalidArgument;
}

const char* Pick(std::initializer_list<const char*> choices) {
  return *(choices.begin() + Below(choices.size()));
}

// As a variable, all variables of the object, or a volume.
void ReferTo(const std::vector<Setting>& settings, text::Json& template_spec) {
  text::Array variables{
      text::Object{{"name", kSettingCount}, {"value", std::to_string(settings.size())}}};
  text::Array sources, volumes, mounts;
  for (size_t i = 0; i < settings.size(); ++i) {
    const auto& [resource, name] = settings[i];
    const bool is_secret = resource == &api::kSecrets;
    const std::string id = std::to_string(i);
    switch (Below(3)) {
      case 0:
        variables.push_back(text::Object{
            {"name", kSetting + id},
            {"valueFrom", text::Object{{is_secret ? "secretKeyRef" : "configMapKeyRef",
                                        text::Object{{"name", name}, {"key", kSettingKey}}}}}});
        break;
      case 1:
        sources.push_back(
            text::Object{{"prefix", kSetting + id},
                         {is_secret ? "secretRef" : "configMapRef", text::Object{{"name", name}}}});
        break;
      default:
        volumes.push_back(text::Object{{"name", "s" + id},
                                       {is_secret ? "secret" : "configMap",
                                        text::Object{{is_secret ? "secretName" : "name", name}}}});
        mounts.push_back(text::Object{{"name", "s" + id}, {"mountPath", kSettings + id}});
    }
  }
  text::Object& container = template_spec.at("containers").at(0).as_object();
  container["env"] = std::move(variables);
  container["envFrom"] = std::move(sources);
  container["volumeMounts"] = std::move(mounts);
  template_spec.as_object()["volumes"] = std::move(volumes);
}

text::Json RandomJob(const std::string& name, bool is_server,
                     const std::vector<Setting>& settings) {
  const auto replica = [&](int count) {
    text::Json spec =
        text::Object{{"containers", text::Array{text::Object{
                                        {"name", "pytorch"},
                                        {"image", "i"},
                                        {"command", text::Array{is_server ? kServe : "run"}},
                                    }}}};
    if (!settings.empty()) ReferTo(settings, spec);
    return text::Object{{"replicas", count},
                        {"restartPolicy", Pick({"OnFailure", "Never", "ExitCode"})},
                        {"template", text::Object{{"spec", std::move(spec)}}}};
  };
  text::Json job =
      text::Object{{"apiVersion", "kubeflow.org/v1"},
                   {"kind", "PyTorchJob"},
                   {"metadata", text::Object{{"name", name},
                                             {"namespace", kNamespace},
                                             {"labels", text::Object{{kTouched, "0"}}}}}};
  text::Set(job, {"spec", "pytorchReplicaSpecs", "Master"}, replica(1));
  if (Chance(250)) {
    text::Set(job, {"spec", "pytorchReplicaSpecs", "Worker"},
              replica(1 + static_cast<int>(Below(2))));
  }
  text::Set(
      job, {"spec", "runPolicy"},
      text::Object{{"cleanPodPolicy", Pick({"None", "Running", "All"})}, {"suspend", Chance(100)}});
  if (Chance(400)) text::Set(job, {"spec", "runPolicy", "backoffLimit"}, text::Json(Below(3)));
  return job;
}

text::Json ConfigMap(const std::string& name) {
  return text::Object{{"apiVersion", "v1"},
                      {"kind", "ConfigMap"},
                      {"metadata", text::Object{{"name", name}, {"namespace", kNamespace}}},
                      {"data", text::Object{{kSettingKey, kSettingValue}}}};
}

text::Json Secret(const std::string& name) {
  return text::Object{{"apiVersion", "v1"},
                      {"kind", "Secret"},
                      {"metadata", text::Object{{"name", name}, {"namespace", kNamespace}}},
                      {"data", text::Object{{kSettingKey, base::Base64Encode(kSettingValue)}}}};
}

cluster::BatchWrite SubmitOf(const std::string& name, text::Json job) {
  cluster::BatchWrite write;
  write.verb = cluster::BatchWrite::Verb::kCreateWithOwned;
  write.resource = &api::kPyTorchJobs;
  write.namespace_name = kNamespace;
  write.object = text::Object{{"apiVersion", "v1"},
                              {"kind", "List"},
                              {"items", text::Array{std::move(job), ConfigMap(name)}}};
  return write;
}

int TouchedOf(const text::Json& job) {
  return static_cast<int>(base::ParseInt(api::Label(job, kTouched)).value_or(-1));
}

}  // namespace

User::User(Machine& machine, int number)
    : machine_(machine), prefix_(fmt::format("u{}-", number)), client_(CommandTransport(machine)) {}

template <typename Command>
auto User::Timed(const char* what, const Command& command) {
  const Nanos begin = Now();
  const bool may_fail = machine_.IsInTrouble();
  const int troubles = machine_.troubles();
  auto result = command();
  Trace(fmt::format("{}{}: {}", prefix_, what, result ? "done" : result.error().message));
  if (Now() - begin > kLongestCommand) {
    GoneWrong(fmt::format("{}{} took {} s", prefix_, what, (Now() - begin) / kSecond));
  }
  // A daemon that ends is no reason to.
  if (!result && !IsRefusal(result.error()) && !may_fail && troubles == machine_.troubles()) {
    GoneWrong(fmt::format("{}{} fails: {}", prefix_, what, result.error().message));
  }
  return result;
}

User::Job* User::Any(std::string& name) {
  if (jobs_.empty()) return nullptr;
  auto one = jobs_.begin();
  std::advance(one, static_cast<long>(Below(jobs_.size())));
  name = one->first;
  return &one->second;
}

void User::Work(Nanos end) {
  while (Now() < end) {
    std::string name;
    Job* const job = Any(name);
    const uint64_t what = Below(100);
    if (job == nullptr || what < 15) {
      if (jobs_.size() < 2) Submit();
    } else if (what < 35) {
      Touch(name, *job);
    } else if (what < 45) {
      Suspend(name, *job);
    } else if (what < 70) {
      Look(name, *job);
    } else if (what < 78) {
      Delete(name, *job);
    } else if (what < 83) {
      DeletePod();
    } else if (what < 90) {
      ReadLog();
    } else {
      MakeNext();
    }
    // Often the next command comes at once.
    if (Below(3) != 0) SleepFor(static_cast<Nanos>(Below(1'000)) * kMilli);
  }
}

void User::Submit() {
  // A name that was used may come again, also while what is left of its last bearer goes.
  const std::string name = fmt::format("{}j{}", prefix_, Below(3) == 0 ? last_ : ++last_);
  SubmitAs(name);
  if (Chance(kTakenNames)) SubmitWithTakenName(fmt::format("{}t{}", prefix_, ++last_taken_));
}

// Whoever is refused for a part of a submit has left nothing of the rest.
void User::SubmitWithTakenName(const std::string& name) {
  const auto map = Timed(("take " + name).c_str(), [&] {
    return client_.Create(api::kConfigMaps, kNamespace, ConfigMap(name));
  });
  taken_.insert(name);
  if (!map) return;
  const auto made = Timed(("submit " + name).c_str(), [&]() -> base::Result<text::Json> {
    return std::move(client_.Batch({SubmitOf(name, RandomJob(name, false, {}))})[0]);
  });
  if (made) GoneWrong(fmt::format("{} is made, although its ConfigMap was there", name));
  if (!IsRefusal(made.error())) return;
  const auto job = client_.Get(api::kPyTorchJobs, kNamespace, name);
  if (job) GoneWrong(fmt::format("{} was refused, and is there", name));
}

std::vector<Setting> User::NewSettings() {
  std::vector<Setting> settings;
  const api::Resource& resource = Below(2) == 0 ? api::kConfigMaps : api::kSecrets;
  const int last = last_setting_ + 2;
  while (last_setting_ < last) {
    settings.push_back({&resource, fmt::format("{}s{}", prefix_, ++last_setting_)});
  }
  return settings;
}

void User::Make(const Setting& setting) {
  settings_.push_back(setting);
  const bool is_secret = setting.resource == &api::kSecrets;
  const auto made = Timed(("make " + setting.name).c_str(), [&] {
    return client_.Create(*setting.resource, kNamespace,
                          is_secret ? Secret(setting.name) : ConfigMap(setting.name));
  });
  if (!made && made.error().code != Code::kAlreadyExists) wanted_.push_back(setting);
}

void User::MakeNext() {
  if (wanted_.empty()) return;
  const Setting next = wanted_.front();
  wanted_.erase(wanted_.begin());
  Make(next);
}

void User::SubmitAs(const std::string& name) {
  if (const auto last = jobs_.find(name); last != jobs_.end() && !last->second.is_deleted) return;
  std::vector<Setting> settings;
  if (Chance(kWithSettings)) settings = NewSettings();
  const bool is_server = Chance(settings.empty() ? kServers : 500);
  std::vector<Setting> late = settings;
  while (!late.empty() && Below(4) == 0) {
    Make(late.back());
    late.pop_back();
  }
  // The job's own comes with it.
  if (!settings.empty() && Chance(300)) settings.push_back({&api::kConfigMaps, name});
  text::Json job = RandomJob(name, is_server, settings);
  const bool is_suspended = text::GetBool(job, {"spec", "runPolicy", "suspend"}).value_or(false);
  const text::Json first = job;
  const cluster::BatchWrite write = SubmitOf(name, std::move(job));
  const auto submit = [&]() -> base::Result<text::Json> {
    if (!IsBroken("submit-at-once")) return std::move(client_.Batch({write})[0]);
    TRY_ASSIGN(text::Json made, client_.Create(api::kPyTorchJobs, kNamespace, first));
    TRY(client_.Create(api::kConfigMaps, kNamespace, ConfigMap(name)));
    return made;
  };
  auto made = Timed(("submit " + name).c_str(), submit);
  if (!made && IsRefusal(made.error())) return;  // of a name whose last bearer is not gone yet
  Job& mine = jobs_[name];
  // Without an answer it may still be the last bearer.
  const int touches = made ? 0 : mine.touches;
  const bool may_serve = is_server || (!made && mine.may_serve);
  mine = {};
  mine.touches = touches;
  mine.may_serve = may_serve;
  mine.is_suspended = is_suspended;
  mine.is_there = made.has_value();
  mine.may_be_there = true;
  if (made) mine.uid = api::Uid(*made);
  // Before its pods start, while they do, or once they wait.
  if (!late.empty()) SleepFor(static_cast<Nanos>(Below(kLongestStart)));
  for (const Setting& setting : late) {
    if (Below(8) == 0) {
      wanted_.push_back(setting);
    } else {
      Make(setting);
    }
  }
}

void User::Touch(const std::string& name, Job& job) {
  const int number = ++job.touches;
  const text::Json patch = text::Object{
      {"metadata", text::Object{{"labels", text::Object{{kTouched, std::to_string(number)}}}}}};
  const auto done = Timed(("touch " + name).c_str(), [&] {
    return client_.Patch(api::kPyTorchJobs, kNamespace, name, cluster::PatchType::kMerge, patch);
  });
  if (done) {
    job.touched = number;
    if (TouchedOf(*done) != number) GoneWrong("a patch says it has done something else");
  } else if (done.error().code == Code::kNotFound && job.is_there) {
    GoneWrong(fmt::format("{} was acknowledged, and is not found", name));
  }
}

void User::Suspend(const std::string& name, Job& job) {
  job.is_suspended = Chance(500);
  text::Json patch = text::Object();
  text::Set(patch, {"spec", "runPolicy", "suspend"}, text::Json(job.is_suspended));
  (void)Timed((job.is_suspended ? "suspend " + name : "resume " + name).c_str(), [&] {
    return client_.Patch(api::kPyTorchJobs, kNamespace, name, cluster::PatchType::kMerge, patch);
  });
}

void User::Look(const std::string& name, Job& job) {
  const auto seen = Timed(("get " + name).c_str(),
                          [&] { return client_.Get(api::kPyTorchJobs, kNamespace, name); });
  if (!seen) {
    if (seen.error().code != Code::kNotFound) return;
    if (job.is_there) GoneWrong(fmt::format("{} was acknowledged, and is not there", name));
    jobs_.erase(name);
    return;
  }
  const int touched = TouchedOf(*seen);
  if (touched < job.touched || touched > job.touches) {
    GoneWrong(fmt::format("{} says it was touched {} times: {} were acknowledged, {} asked for",
                          name, touched, job.touched, job.touches));
  }
  if (job.uid.empty()) {
    job.uid = api::Uid(*seen);
  } else if (job.is_there && job.uid != api::Uid(*seen)) {
    GoneWrong(fmt::format("{} is another than the one that was acknowledged", name));
  }
  CheckLedger(*seen);
}

// Every millisecond is in one bucket, whatever the clock and the daemons did.
void User::CheckLedger(const text::Json& job) {
  cluster::ListOptions options;
  options.namespace_name = kNamespace;
  const auto pods = client_.List(api::kPods, options);
  if (!pods) return;
  std::vector<runs::PodRecord> own;
  for (const text::Json& pod : pods->items) {
    if (api::IsPodOfJob(pod, job)) own.push_back({&pod, std::nullopt});
  }
  const runs::Ledger ledger =
      runs::LedgerOf(runs::LifeOf(job, own, std::nullopt, base::SystemClock().Now()));
  runs::Millis told = 0;
  for (const runs::Sum& sum : ledger.sums) told += sum.millis;
  runs::Millis at = ledger.begin;
  for (const runs::Segment& segment : ledger.segments) {
    if (segment.begin != at || segment.end <= at) GoneWrong("a ledger's segments have a gap");
    at = segment.end;
  }
  if (told != ledger.wall() || at != ledger.end) {
    GoneWrong(fmt::format("the ledger of {} tells of {} ms, which lasted {}", api::Name(job), told,
                          ledger.wall()));
  }
}

void User::Delete(const std::string& name, Job& job) {
  job.is_there = false;
  cluster::DeleteOptions options;
  if (Chance(300)) options.propagation = cluster::Propagation::kForeground;
  const auto done = Timed(("delete " + name).c_str(), [&]() -> base::Status {
    return client_.Delete(api::kPyTorchJobs, kNamespace, name, options);
  });
  job.is_deleted = done.has_value();
  if (Chance(400)) SubmitAs(name);
}

void User::DeletePod() {
  cluster::ListOptions options;
  options.namespace_name = kNamespace;
  const auto pods = client_.List(api::kPods, options);
  if (!pods || pods->items.empty()) return;
  const text::Json& pod = pods->items[Below(pods->items.size())];
  const std::string name(api::Name(pod));
  cluster::DeleteOptions how;
  const bool is_forced = Chance(500);
  if (is_forced) how.grace_period_seconds = 0;
  (void)Timed(("delete pod " + name).c_str(),
              [&]() -> base::Status { return client_.Delete(api::kPods, kNamespace, name, how); });
  // Its object is gone, and the agent may not have heard of it.
  if (is_forced && Chance(300)) machine_.KillDaemon();
}

// Each line of the program once, in order, but for those that a note says are lost; of the end some
// may not be there yet.
void User::ReadLog() {
  cluster::ListOptions options;
  options.namespace_name = kNamespace;
  const auto pods = client_.List(api::kPods, options);
  if (!pods || pods->items.empty()) return;
  const std::string name(api::Name(pods->items[Below(pods->items.size())]));
  auto log = client_.Logs(kNamespace, name, {});
  if (!log) return;
  std::string text;
  while (true) {
    auto more = (*log)->Read();
    if (!more || !*more) break;
    text += **more;
  }
  int64_t last = -1;
  std::string of;
  for (const std::string& line : base::Split(text, '\n')) {
    if (line.starts_with("muster: log truncated")) last = -1;
    const size_t middle = line.find(" of ");
    if (!line.starts_with("line ") || middle == std::string::npos) {
      if (!line.empty() && !line.starts_with("muster: ")) {
        GoneWrong(fmt::format("the log of {} has a torn line: {}", name, line));
      }
      continue;
    }
    const int64_t number = base::ParseInt(line.substr(5, middle - 5)).value_or(-1);
    if (!of.empty() && of != line.substr(middle)) {
      GoneWrong(fmt::format("the log of {} has another's line: {}", name, line));
    }
    of = line.substr(middle);
    if (last >= 0 && number != last + 1 && !machine_.HasLostPower()) {
      GoneWrong(fmt::format("in the log of {} line {} follows line {}", name, number, last));
    }
    last = number;
  }
  Trace(fmt::format("{}logs {}: up to {}", prefix_, name, last));
}

// All of a submit or nothing.
void User::CheckHalf(const std::string& name) {
  const auto job = client_.Get(api::kPyTorchJobs, kNamespace, name);
  const auto map = client_.Get(api::kConfigMaps, kNamespace, name);
  // A deletion in the foreground takes what is owned first.
  if (job && api::IsDeleting(*job)) return;
  if ((!job && job.error().code != Code::kNotFound) ||
      (!map && map.error().code != Code::kNotFound)) {
    return;
  }
  if (job.has_value() != map.has_value()) {
    GoneWrong(fmt::format("of {} a half is there: job {}, ConfigMap {}", name, job.has_value(),
                          map.has_value()));
  }
}

// All of its settings are there.
void User::CheckNobodyWaits() {
  const Nanos deadline = Now() + kLongestWait;
  while (true) {
    const auto pods = client_.List(api::kPods, {});
    if (!pods) GoneWrong("list: " + pods.error().message);
    const auto waiting = std::find_if(pods->items.begin(), pods->items.end(), [&](const auto& pod) {
      return api::Name(pod).starts_with(prefix_) && !api::IsDeleting(pod) &&
             text::ToJson(pod).find("CreateContainerConfigError") != std::string::npos;
    });
    if (waiting == pods->items.end()) return;
    if (Now() > deadline) {
      GoneWrong(fmt::format("pod {} waits for what is there: {}", api::Name(*waiting),
                            text::ToJson(*waiting)));
    }
    SleepFor(kSecond);
  }
}

void User::SeeToTheEnd() {
  const Nanos deadline = Now() + kLongestCalm;
  std::vector<std::string> names;
  for (const auto& [name, job] : jobs_) names.push_back(name);
  for (const std::string& name : names) {
    Look(name, jobs_[name]);
    if (!jobs_.contains(name)) continue;
    CheckHalf(name);
    text::Json patch = text::Object();
    text::Set(patch, {"spec", "runPolicy", "suspend"}, text::Json(false));
    (void)client_.Patch(api::kPyTorchJobs, kNamespace, name, cluster::PatchType::kMerge, patch);
  }
  for (size_t left = wanted_.size(); left > 0; --left) MakeNext();
  if (!settings_.empty()) CheckNobodyWaits();
  for (const std::string& name : names) {
    while (!jobs_[name].may_serve) {
      const auto job = client_.Get(api::kPyTorchJobs, kNamespace, name);
      if (!job && job.error().code == Code::kNotFound) break;
      if (job && !api::IsDeleting(*job)) {
        const auto status = StatusOf(*job);
        if (status && status->IsFinished()) break;
      }
      if (Now() > deadline) {
        std::string left = machine_.shims().Describe();
        for (const api::Resource* const resource :
             {&api::kPods, &api::kServices, &api::kConfigMaps}) {
          const auto list = client_.List(*resource, {});
          if (!list) continue;
          for (const text::Json& item : list->items) {
            const std::string text = text::ToJson(item);
            if (text.find(name) != std::string::npos) left += "  " + text + "\n";
          }
        }
        GoneWrong(fmt::format("{} does not come to its end: {}\n{}", name,
                              job ? text::ToJson(*job) : job.error().message, left));
      }
      SleepFor(2 * kSecond);
    }
  }
  ReadLog();
}

void User::DeleteAll() {
  for (const auto& [name, job] : jobs_) {
    const base::Status deleted = client_.Delete(api::kPyTorchJobs, kNamespace, name);
    if (!deleted && deleted.error().code != Code::kNotFound) {
      GoneWrong("delete " + name + ": " + deleted.error().message);
    }
  }
  for (const Setting& setting : settings_) {
    (void)client_.Delete(*setting.resource, kNamespace, setting.name);
  }
  for (const std::string& name : taken_) {
    (void)client_.Delete(api::kConfigMaps, kNamespace, name);
    (void)client_.Delete(api::kPyTorchJobs, kNamespace, name);
  }
}

}  // namespace simulation
