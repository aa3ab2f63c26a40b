#include "arena/history/bundle.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <map>
#include <set>

#include "api/object.h"
#include "api/resources.h"
#include "arena/history/mask.h"
#include "base/defer.h"
#include "base/file.h"
#include "base/machine/disk.h"
#include "base/strings.h"
#include "process/program_output.h"
#include "text/yaml.h"

namespace arena {
namespace {

using base::Code;
using base::Fail;

constexpr int64_t kBundledLines = 200'000;  // of each log

class Bundle {
 public:
  Bundle(std::string folder, Mask mask) : folder_(std::move(folder)), mask_(std::move(mask)) {}

  base::Status Add(const std::string& name, std::string_view text) const {
    return base::WriteFileAtomic(folder_ + "/" + name, mask_.Of(text), 0600,
                                 base::Durability::kNone);
  }

 private:
  const std::string folder_;
  const Mask mask_;
};

base::Status AddLogs(const Bundle& bundle, cluster::Client& client, const RunRecord& run) {
  std::map<std::string, int> attempts;
  for (const PodOfRun& of : PodsOf(run)) {
    const std::string name(api::Name(*of.pod));
    const int attempt = ++attempts[name];
    const auto log = EndOfLog(client, run, *of.pod, of.is_gone, kBundledLines);
    if (!log) continue;
    TRY(bundle.Add(
        fmt::format("logs/{}{}.log", name, attempt > 1 ? fmt::format(".{}", attempt) : ""), *log));
  }
  return {};
}

// By the name of a Secret, the keys whose values a container takes under a secret's name. Those of
// envFrom keep their names.
using SecretKeys = std::map<std::string, std::set<std::string>>;

void FindSecrets(const text::Json& value, SecretKeys& found) {
  if (const text::Array* const array = value.if_array()) {
    for (const text::Json& item : *array) FindSecrets(item, found);
  }
  const text::Object* const object = value.if_object();
  if (object == nullptr) return;
  if (const std::string all(text::GetString(value, {"secretRef", "name"})); !all.empty()) {
    found.try_emplace(all);
  }
  if (const text::Json* const one = text::Find(value, {"valueFrom", "secretKeyRef"})) {
    std::set<std::string>& keys = found[std::string(text::GetString(*one, {"name"}))];
    if (IsSecretName(text::GetString(value, {"name"}))) {
      keys.emplace(text::GetString(*one, {"key"}));
    }
  }
  for (const auto& [key, member] : *object) FindSecrets(member, found);
}

// A Secret that cannot be read teaches nothing.
void LearnSecrets(cluster::Client& client, const text::Json& job, Mask& mask) {
  SecretKeys found;
  FindSecrets(job, found);
  for (const auto& [name, keys] : found) {
    const auto secret = client.Get(api::kSecrets, api::Namespace(job), name);
    const text::Json* const data = secret ? text::Find(*secret, {"data"}) : nullptr;
    if (data == nullptr || !data->is_object()) continue;
    for (const auto& [key, encoded] : data->get_object()) {
      const bool is_secret = IsSecretName(key) || keys.contains(std::string(key));
      const auto value = is_secret && encoded.is_string()
                             ? base::Base64Decode(std::string_view(encoded.get_string()))
                             : std::nullopt;
      if (value) mask.LearnValue(*value);
    }
  }
}

std::string EventLines(const answers::Evidence& evidence) {
  std::string lines;
  for (const answers::Event& event : evidence.events) {
    lines += fmt::format("{} {} {}: {}\n", event.time ? base::FormatRfc3339(*event.time) : "-",
                         event.object, event.reason, event.message);
  }
  return lines;
}

text::Json ListOfPods(const RunRecord& run) {
  text::Array pods;
  for (const PodOfRun& of : PodsOf(run)) pods.push_back(*of.pod);
  return text::Object{{"apiVersion", "v1"}, {"kind", "List"}, {"items", std::move(pods)}};
}

}  // namespace

base::Status WriteBundle(cluster::Client& client, const Context& context, const RunRecord& run,
                         const answers::Evidence& evidence, const text::Json& verdict,
                         const std::string& screen, const std::string& path) {
  struct stat there{};
  if (::lstat(path.c_str(), &there) == 0) {
    return Fail(Code::kAlreadyExists,
                fmt::format("--bundle \"{}\": there is a file of that name; give another", path));
  }
  std::string root = context.environment.Get("TMPDIR").value_or("/tmp");
  root += "/muster-bundle-XXXXXX";
  if (::mkdtemp(root.data()) == nullptr) {
    return Fail(base::WriteErrno(errno, "make directory", root));
  }
  const base::Defer remove([&root] { (void)base::RemoveTree(root); });
  const std::string name = fmt::format("{}-{}", run.job.summary.name, run.id());
  TRY(base::MakeDirs(root + "/" + name + "/logs"));

  Mask mask;
  mask.Learn(run.job.job);
  LearnSecrets(client, run.job.job, mask);
  const text::Json pods = ListOfPods(run);
  mask.Learn(pods);
  const Bundle bundle(root + "/" + name, std::move(mask));
  TRY(bundle.Add("explain.txt", screen));
  TRY(bundle.Add("explain.json", text::ToJson(verdict) + "\n"));
  TRY(bundle.Add("job.yaml", text::ToYaml(run.job.job)));
  TRY(bundle.Add("pods.yaml", text::ToYaml(pods)));
  TRY(bundle.Add("warnings.txt", EventLines(evidence)));
  TRY(bundle.Add("about.txt", fmt::format("muster {}\nmade {}\n", MUSTER_VERSION,
                                          base::FormatRfc3339(context.clock.Now()))));
  TRY(AddLogs(bundle, client, run));
  TRY_ASSIGN(const process::ProgramOutput packed,
             process::OutputOf({"tar", "-C", root, "--owner=0", "--group=0", "--numeric-owner",
                                "-czf", "-", name},
                               context.environment));
  if (packed.exit_code != 0) {
    return Fail(Code::kInternal, fmt::format("tar: {}", base::Trim(packed.err)));
  }
  return base::WriteFileAtomic(path, packed.out, 0600, base::Durability::kSync);
}

}  // namespace arena
