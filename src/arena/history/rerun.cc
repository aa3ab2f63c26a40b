// `rerun`: starts a run once more, with the code that it had.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <functional>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <set>

#include "api/names.h"
#include "api/object.h"
#include "arena/app/complete_names.h"
#include "arena/folder/run_folder.h"
#include "arena/history/facts.h"
#include "arena/history/trials.h"
#include "arena/jobs/owned_names.h"
#include "arena/listing/records.h"
#include "arena/listing/seen_runs.h"
#include "arena/submit/creation.h"
#include "arena/submit/prepare.h"
#include "arena/verbs.h"
#include "base/file.h"
#include "base/strings.h"

namespace arena {
namespace {

using base::Code;
using base::Fail;

struct RerunFlags {
  std::vector<std::string> with;
  bool is_detached = false, only_failed = false;
};

// Returns "base" for base, base-2 and base-3.
std::string Stem(const std::string& name) {
  const size_t dash = name.rfind('-');
  if (dash == std::string::npos || dash == 0 || dash + 1 == name.size()) return name;
  const bool is_number = name.find_first_not_of("0123456789", dash + 1) == std::string::npos;
  return is_number ? name.substr(0, dash) : name;
}

base::Result<std::string> FreeName(cluster::Client& client, const Context& context,
                                   const std::string& name) {
  const std::string stem = Stem(name);
  for (int number = 2;; ++number) {
    std::string next = fmt::format("{}-{}", stem, number);
    const auto standing = client.Get(api::kPyTorchJobs, context.Namespace(), next);
    if (!standing && standing.error().code != Code::kNotFound) return Fail(standing.error());
    if (standing) continue;
    TRY_ASSIGN(const auto gone, FindGoneRun(client, context, next));
    if (!gone) return next;
  }
}

base::Result<std::vector<std::string>> WordsOf(const std::vector<std::string>& texts) {
  std::vector<std::string> words;
  for (const std::string& text : texts) {
    auto more = base::ShellWords(text);
    if (!more) {
      return Fail(Code::kInvalidArgument, fmt::format("--with has an unclosed quote: {}", text));
    }
    std::move(more->begin(), more->end(), std::back_inserter(words));
  }
  return words;
}

// If nothing is found, -n may have been meant as the number of ranks, as in `run`.
base::Result<RunRecord> FindEarlier(cluster::Client& client, const Context& context,
                                    const std::string& name) {
  auto run = FindRun(client, context, name);
  const std::string& where = context.flags.namespace_name;
  if (!run && run.error().code == Code::kNotFound && base::ParseInt(where)) {
    run.error().message = fmt::format(
        "no run {0} is known in the namespace {1}: -n is the namespace here, and ranks are given "
        "as "
        "--with '-n {1}'",
        name, where);
  }
  return run;
}

// Replaces this process by `run` with the earlier command line. Returns only if that fails.
base::Error BecomeRun(const std::vector<std::string>& words) {
  std::vector<char*> argv;
  for (const std::string& word : words) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  ::execv("/proc/self/exe", argv.data());
  return base::Errno(errno, "start muster again");
}

// Returns the file from which `run` reads the failed trials' values.
base::Result<std::string> KeepFailed(cluster::Client& client, const Context& context,
                                     const RunRecord& run, const std::string& folder) {
  TRY_ASSIGN(const std::vector<TrialRow> rows, TrialsOf(client, run, folder));
  TRY_ASSIGN(const std::string grid, FailedGrid(rows));
  if (folder.empty()) return SeenRuns(context).KeepGrid(api::Uid(run.job.job), grid);
  const std::string path = folder + "/failed.jsonl";
  TRY(base::WriteFileAtomic(path, grid, 0600, base::Durability::kNone));
  return path;
}

// `note` is the content of `note_path`. `failed` is the file that KeepFailed wrote; "" for all
// trials.
base::Result<std::vector<std::string>> RunAgain(const Context& context, const RunNote& note,
                                                const std::string& note_path,
                                                const RerunFlags& flags, const std::string& name,
                                                const std::vector<std::string>& more,
                                                const std::string& failed) {
  const bool is_submitted = note.verb == "submit";
  std::vector<std::string> words = {context.program};
  if (context.flags.local) words.emplace_back("--local");
  if (const std::string& path = context.flags.KubeconfigPath(); !path.empty()) {
    words.push_back("--kubeconfig=" + path);
  }
  if (!context.flags.context.empty()) words.push_back("--context=" + context.flags.context);
  if (is_submitted) {
    words.insert(words.end(), {"submit", "pytorchjob"});
  } else {
    words.emplace_back("run");
  }
  if (!context.flags.namespace_name.empty()) {
    words.push_back("--namespace=" + context.flags.namespace_name);
  }
  for (const std::string& flag : note.flags) {
    if (failed.empty() || !flag.starts_with("--sweep=")) words.push_back(flag);
  }
  if (!failed.empty()) words.push_back("--sweep=@" + failed);
  words.push_back("--name=" + name);
  if (flags.is_detached && !is_submitted) words.push_back("--detach");
  if (!note.snapshot.empty()) {
    if (!RunFolder::Snapshots(context.environment).Read(note.snapshot)) {
      return Fail(Code::kNotFound,
                  fmt::format("the code of {} is not kept any more (`{} prune` and local.keep_days "
                              "removed it): run it again in {}",
                              note.name, context.program, note.root));
    }
    words.push_back("--snapshot-of=" + note_path);
  } else {
    words.push_back("--directory=" +
                    (note.inside.empty() ? note.root : note.root + "/" + note.inside));
  }
  TRY_ASSIGN(std::vector<std::string> with, WordsOf(flags.with));
  std::move(with.begin(), with.end(), std::back_inserter(words));
  if (!note.module.empty()) words.push_back("--module=" + note.module);
  if (note.module.empty()) words.push_back("--");
  const bool is_line =
      note.args.size() == 1 && note.args[0].find_first_of(" \t\n") != std::string::npos;
  words.insert(words.end(), note.args.begin(), note.args.end());
  for (const std::string& word : more) {
    if (is_line) {  // it is a line for a shell
      words.back() += " " + base::ShellQuote(word);
    } else {
      words.push_back(word);
    }
  }
  return words;
}

void Rename(text::Json& object, const std::string& from, const std::string& to) {
  for (const text::Path& path : {text::Path{"metadata", "labels"}, {"metadata", "annotations"}}) {
    text::Json* values = text::Find(object, path);
    if (values == nullptr || !values->is_object()) continue;
    for (auto& pair : values->as_object()) {
      if (pair.value().is_string() && pair.value().as_string() == from) pair.value() = to;
    }
  }
}

// Returns the same object under another name.
text::Json ObjectAgain(const text::Json& job, const std::string& name) {
  const std::string old(api::Name(job));
  text::Object metadata{{"name", name}, {"namespace", api::Namespace(job)}};
  for (const char* field : {"labels", "annotations"}) {
    if (const text::Json* kept = text::Find(job, {"metadata", field})) metadata[field] = *kept;
  }
  text::Json again = text::Object{{"apiVersion", api::kPyTorchJobs.api_version()},
                                  {"kind", api::kPyTorchJobs.kind},
                                  {"metadata", std::move(metadata)}};
  if (const text::Json* spec = text::Find(job, {"spec"})) text::Set(again, {"spec"}, *spec);
  text::Erase(again, {"spec", "runPolicy", "suspend"});
  text::Erase(again,
              {"metadata", "annotations", "kubectl.kubernetes.io/last-applied-configuration"});
  Rename(again, old, name);
  if (text::Json* replicas = text::Find(again, {"spec", "pytorchReplicaSpecs"})) {
    for (auto& replica : replicas->as_object()) {
      if (text::Json* pod = text::Find(replica.value(), {"template"})) Rename(*pod, old, name);
    }
  }
  return again;
}

// A place where a pod names a Secret or a ConfigMap.
struct PartUse {
  const api::Resource* resource;
  text::Json* name;
  std::string key;  // the key that a container's variable takes; "" for all keys
  bool is_optional;
};

void AddUse(std::vector<PartUse>& uses, const api::Resource& resource, text::Json* source,
            std::string_view field) {
  text::Json* const name = source == nullptr ? nullptr : text::Find(*source, {field});
  if (name == nullptr || !name->is_string()) return;
  uses.push_back({&resource, name, std::string(text::GetString(*source, {"key"})),
                  text::GetBool(*source, {"optional"}).value_or(false)});
}

// `path` must lead to an array; otherwise nothing is visited.
void ForEach(text::Json& object, text::Path path, const std::function<void(text::Json&)>& visit) {
  text::Json* const all = text::Find(object, path);
  if (all == nullptr || !all->is_array()) return;
  for (text::Json& item : all->as_array()) visit(item);
}

void AddUsesOfPod(std::vector<PartUse>& uses, text::Json& spec) {
  const auto of_source = [&uses](text::Json& source) {
    AddUse(uses, api::kSecrets, text::Find(source, {"secretRef"}), "name");
    AddUse(uses, api::kConfigMaps, text::Find(source, {"configMapRef"}), "name");
    AddUse(uses, api::kSecrets, text::Find(source, {"valueFrom", "secretKeyRef"}), "name");
    AddUse(uses, api::kConfigMaps, text::Find(source, {"valueFrom", "configMapKeyRef"}), "name");
  };
  const auto of_container = [&of_source](text::Json& container) {
    ForEach(container, {"env"}, of_source);
    ForEach(container, {"envFrom"}, of_source);
  };
  ForEach(spec, {"initContainers"}, of_container);
  ForEach(spec, {"containers"}, of_container);
  ForEach(spec, {"volumes"}, [&uses](text::Json& volume) {
    AddUse(uses, api::kSecrets, text::Find(volume, {"secret"}), "secretName");
    AddUse(uses, api::kConfigMaps, text::Find(volume, {"configMap"}), "name");
    ForEach(volume, {"projected", "sources"}, [&uses](text::Json& source) {
      AddUse(uses, api::kSecrets, text::Find(source, {"secret"}), "name");
      AddUse(uses, api::kConfigMaps, text::Find(source, {"configMap"}), "name");
    });
  });
}

std::vector<PartUse> PartUsesOf(text::Json& job) {
  std::vector<PartUse> uses;
  text::Json* const replicas = text::Find(job, {"spec", "pytorchReplicaSpecs"});
  if (replicas == nullptr || !replicas->is_object()) return uses;
  for (auto& replica : replicas->as_object()) {
    text::Json* const spec = text::Find(replica.value(), {"template", "spec"});
    if (spec != nullptr) AddUsesOfPod(uses, *spec);
  }
  return uses;
}

// `uses` are those of the object `part`.
base::Error PartIsGone(const std::string& part, const std::vector<PartUse>& uses,
                       const std::string& job) {
  if (part != EnvironmentSecretName(job)) {
    return {Code::kNotFound,
            fmt::format("{} needs the {} {}, which was deleted with it: submit {} again", job,
                        uses.front().resource->kind, part, job),
            0};
  }
  std::set<std::string> names;
  for (const PartUse& use : uses) names.insert(use.key.empty() ? "its environment" : use.key);
  return {
      Code::kNotFound,
      fmt::format("the values of {} were in the Secret {}, which is gone: submit {} again, with "
                  "--env-file or --env",
                  fmt::join(names, ", "), part, job),
      0};
}

text::Json Copy(const text::Json& part, const api::Resource& resource, const std::string& old,
                const std::string& name) {
  const std::string own = name + std::string(api::Name(part)).substr(old.size());
  text::Json copy =
      text::Object{{"apiVersion", resource.api_version()},
                   {"kind", resource.kind},
                   {"metadata", text::Object{{"name", own}, {"namespace", api::Namespace(part)}}}};
  for (const text::Path& path :
       {text::Path{"metadata", "labels"}, {"type"}, {"data"}, {"binaryData"}}) {
    if (const text::Json* value = text::Find(part, path)) text::Set(copy, path, *value);
  }
  Rename(copy, old, name);
  return copy;
}

// Copies the old job's Secrets and ConfigMaps, which are deleted with it, under the new job's name,
// and makes the references in `again` lead to the copies.
base::Result<std::vector<text::Json>> PartsAgain(cluster::Client& client, const RunRecord& run,
                                                 text::Json& again, const std::string& name) {
  const std::string& old = run.job.summary.name;
  std::map<std::pair<const api::Resource*, std::string>, std::vector<PartUse>> uses;
  for (PartUse& use : PartUsesOf(again)) {
    std::string part(use.name->as_string());
    if (part.starts_with(old + "-")) uses[{use.resource, std::move(part)}].push_back(use);
  }
  std::vector<text::Json> copies;
  for (const auto& [key, own_uses] : uses) {
    const auto& [resource, part] = key;
    const auto kept = client.Get(*resource, api::Namespace(run.job.job), part);
    // If this user may not read the object, the new job refers to the same one as the old job did.
    if (!kept && kept.error().code == Code::kPermissionDenied &&
        part != EnvironmentSecretName(old)) {
      continue;
    }
    if (!kept && kept.error().code != Code::kNotFound) {
      return Fail(kept.error().Wrap(fmt::format("copy the {} {}", resource->kind, part)));
    }
    if (!kept && std::all_of(own_uses.begin(), own_uses.end(),
                             [](const PartUse& use) { return use.is_optional; })) {
      continue;
    }
    const text::Json* const owner = kept ? api::ControllerReference(*kept) : nullptr;
    const bool is_of_job =
        owner != nullptr && text::GetString(*owner, {"kind"}) == api::kPyTorchJobs.kind;
    if (kept && !is_of_job) continue;  // it belongs to the user rather than to the job
    // Another job of that name may have come later, with an object of its own.
    if (!kept || api::ControllerUid(*kept) != api::Uid(run.job.job))
      return Fail(PartIsGone(part, own_uses, old));
    copies.push_back(Copy(*kept, *resource, old, name));
    for (const PartUse& use : own_uses) *use.name = api::Name(copies.back());
  }
  return copies;
}

base::Result<int> RunRerun(Context& context, const RerunFlags& flags, cli::Invocation& call) {
  TRY_ASSIGN(cluster::Client * client, context.connect(context));
  const std::vector<std::string> more(call.args.begin() + 1, call.args.end());
  TRY_ASSIGN(const RunRecord run, FindEarlier(*client, context, call.args[0]));
  const std::string& old = run.job.summary.name;
  TRY_ASSIGN(const std::string name, FreeName(*client, context, old));
  const std::string folder = RunFolderOf(run.job.job, context.environment);
  if (flags.only_failed && !HasTrials(run, folder)) {
    return Fail(Code::kInvalidArgument,
                fmt::format("--failed is for a sweep, and {} is none", old));
  }
  const std::string note_path = NotePathOf(context, run.job.job);
  if (const auto note = NoteAt(note_path)) {
    std::string failed;
    if (flags.only_failed) {
      TRY_ASSIGN(failed, KeepFailed(*client, context, run, folder));
    }
    TRY_ASSIGN(const std::vector<std::string> words,
               RunAgain(context, *note, note_path, flags, name, more, failed));
    return Fail(BecomeRun(words));
  }
  if (!folder.empty()) {
    return Fail(Code::kNotFound, fmt::format("what {} was run with is not kept any more", old));
  }
  if (!more.empty() || !flags.with.empty() || flags.only_failed) {
    return Fail(Code::kInvalidArgument,
                fmt::format("{} was not created by `{} run` on this machine: it can only be run "
                            "again as it was, without --failed, --with and further arguments",
                            old, context.program));
  }
  text::Json again = ObjectAgain(run.job.job, name);
  TRY_ASSIGN(std::vector<text::Json> parts, PartsAgain(*client, run, again, name));
  if (!parts.empty()) {
    TRY(Creation(*client, context, std::move(again), std::move(parts),
                 IsOfAnother(*client, context))
            .Run());
  } else {
    TRY(client->Create(api::kPyTorchJobs, api::Namespace(run.job.job), again));
  }
  TRY(call.out.Write(fmt::format("{0} was created like {1}: `{2} logs {0} -f` follows it\n", name,
                                 old, context.program)));
  return 0;
}

}  // namespace

void AddRerun(cli::Command& root, Context& context) {
  cli::Command& verb =
      root.Add("rerun RUN [-- ARGS...]", "Run something again, with the code it had then")
          .Args(cli::MinArgs(1))
          .UnknownFlagHint("pass flags of `run` by --with: --with '--cpu 2'")
          .Help("arena/history/rerun", context.program);
  auto flags = std::make_shared<RerunFlags>();
  verb.flags().StringArray(&flags->with, "with",
                           "more `FLAGS` of run, written as in a shell; repeatable");
  verb.flags().Bool(&flags->only_failed, "failed", false, "for a sweep: only the failed trials");
  verb.flags()
      .Bool(&flags->is_detached, "detach", false, "return once the job is created")
      .Short('d');
  CompleteOneJob(verb, context);
  verb.Run([flags, &context](cli::Invocation& call) { return RunRerun(context, *flags, call); });
}

}  // namespace arena
