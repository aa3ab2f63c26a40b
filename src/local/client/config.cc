#include "local/client/config.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <utility>
#include <vector>

#include "base/file.h"
#include "base/quantity.h"
#include "text/json.h"
#include "text/yaml.h"

namespace local::daemon {
namespace {

// Under `su -m` and `sudo -E`, HOME is the caller's.
constexpr std::string_view kAdviceOnHome =
    ": set HOME to your own folder (`sudo -H` does), or make the file readable";

constexpr auto kSettings = std::to_array<Setting>({
    {"cluster", "local, in-cluster or a context of the kubeconfig", "",
     "the cluster that commands use unless a flag or MUSTER_CLUSTER names another"},
    {"notify", "a URL, a shell command or desktop, or a list of them", "",
     "where to notify when a job of the embedded cluster ends, unless the job has its own "
     "--notify"},
    {"notify_on", "end, fail, hang or start", "end", "when to notify"},
    {"local.python", "an absolute path", "the caller's python3",
     "the interpreter that pods run as python"},
    {"local.gpus", "auto, strict or optional", "auto",
     "strict: a job waits until enough GPUs are free; auto: it runs on the CPU if the machine "
     "has none; optional: also if it has too few"},
    {"local.images", "host or podman", "host",
     "podman: pods run in their images; host: in this machine's environment"},
    {"local.redirect_launch", "true or false", "true",
     "python -m torch.distributed.run in pods starts muster launch"},
    {"local.warm", "true or false", "false",
     "torchrun in pods starts muster launch --warm, and python script.py is forked from a warm "
     "interpreter"},
    {"local.progress", "true or false", "true",
     "programs of jobs that report to Kubeflow Trainer, as transformers 5 does, report here"},
    {"local.log_limit", "a size; 0: no limit", "100M",
     "how much of each rank's log is kept; the newest part stays"},
    {"local.keep_days", "a number; 0: no limit", "90",
     "jobs that ended longer ago are removed with their logs"},
    {"local.keep_jobs", "a number; 0: no limit", "10000",
     "when there are more finished jobs, the oldest are removed"},
    {"local.keep_size", "a size; 0: no limit", "20G",
     "when the logs and code of finished jobs take more, the oldest are removed"},
});

std::string KeysOfLocal() {
  std::vector<std::string_view> keys;
  for (const Setting& setting : kSettings) {
    if (setting.key.starts_with("local.")) keys.push_back(setting.key);
  }
  return fmt::format("{}", fmt::join(keys, ", "));
}

base::Result<std::string> StringOf(const text::Json& value, std::string_view key) {
  if (value.is_string()) return std::string(value.as_string());
  return base::Fail(base::Code::kInvalidArgument, fmt::format("{}: must be a string", key));
}

// The choice between true and false that the key makes; nullptr for other keys.
bool* ChoiceOf(Config& config, std::string_view key) {
  if (key == "redirect_launch") return &config.redirects_launch;
  if (key == "warm") return &config.is_warm;
  if (key == "progress") return &config.takes_status_posts;
  return nullptr;
}

// The number that the key sets; nullptr for other keys.
int64_t* NumberOf(Config& config, std::string_view key) {
  if (key == "log_limit") return &config.log_limit;
  if (key == "keep_days") return &config.keep.days;
  if (key == "keep_jobs") return &config.keep.jobs;
  if (key == "keep_size") return &config.keep.bytes;
  return nullptr;
}

base::Status ReadNumber(const text::Json& value, const std::string& name, int64_t& to) {
  const std::string text = value.is_string() ? std::string(value.as_string()) : text::ToJson(value);
  const auto milli = base::ParseQuantityMilli(text);
  if (!milli || *milli < 0 || *milli % 1000 != 0) {
    return base::Fail(base::Code::kInvalidArgument,
                      fmt::format("{}: {} must be a number such as 100, 500M or 20Gi", name, text));
  }
  to = *milli / 1000;
  return {};
}

std::string SizeText(int64_t bytes) {
  for (const auto& [unit, size] :
       {std::pair("G", int64_t{1'000'000'000}), std::pair("M", int64_t{1'000'000}),
        std::pair("k", int64_t{1'000})}) {
    if (bytes >= size && bytes % size == 0) return fmt::format("{}{}", bytes / size, unit);
  }
  return fmt::format("{} bytes", bytes);
}

base::Status ReadLocal(const text::Json& section, Config& config) {
  if (!section.is_object()) {
    return base::Fail(base::Code::kInvalidArgument, "local: must be a mapping");
  }
  for (const auto& [key, value] : section.as_object()) {
    const std::string name = fmt::format("local.{}", std::string_view(key));
    if (bool* const choice = ChoiceOf(config, key)) {
      if (!value.is_bool()) {
        return base::Fail(base::Code::kInvalidArgument, name + ": must be true or false");
      }
      *choice = value.as_bool();
      continue;
    }
    if (int64_t* const number = NumberOf(config, key)) {
      TRY(ReadNumber(value, name, *number));
      continue;
    }
    if (key != "python" && key != "gpus" && key != "images") {
      return base::Fail(base::Code::kInvalidArgument,
                        fmt::format("{}: unknown key; the keys are {}", name, KeysOfLocal()));
    }
    TRY_ASSIGN(const std::string text, StringOf(value, name));
    if (key == "python") {
      if (!text.starts_with('/')) {
        return base::Fail(base::Code::kInvalidArgument,
                          fmt::format("local.python: \"{}\" must be an absolute path", text));
      }
      config.python = text;
    } else if (key == "gpus") {
      if (text == "auto") {
        config.gpus = GpuMode::kAuto;
      } else if (text == "strict") {
        config.gpus = GpuMode::kStrict;
      } else if (text == "optional") {
        config.gpus = GpuMode::kOptional;
      } else {
        return base::Fail(base::Code::kInvalidArgument,
                          fmt::format("local.gpus: \"{}\" must be auto, strict or optional", text));
      }
    } else {
      if (text != "host" && text != "podman") {
        return base::Fail(base::Code::kInvalidArgument,
                          fmt::format("local.images: \"{}\" must be host or podman", text));
      }
      config.has_podman = text == "podman";
    }
  }
  return {};
}

base::Status ReadNotify(const text::Json& value, Config& config) {
  const text::Array one{value};
  for (const text::Json& target : value.is_array() ? value.get_array() : one) {
    const bool is_line = target.is_string() && !target.get_string().empty() &&
                         target.get_string().find('\n') == std::string::npos;
    if (!is_line) {
      return base::Fail(base::Code::kInvalidArgument,
                        "notify: must be a URL, a command on one line, or the word desktop, or a "
                        "list of them");
    }
    config.notify.emplace_back(target.get_string());
  }
  return {};
}

base::Status ReadNotifyOn(const text::Json& value, Config& config) {
  TRY_ASSIGN(config.notify_on, StringOf(value, "notify_on"));
  for (const std::string_view known : {"end", "fail", "hang", "start"}) {
    if (config.notify_on == known) return {};
  }
  return base::Fail(
      base::Code::kInvalidArgument,
      fmt::format("notify_on: \"{}\" must be end, fail, hang or start", config.notify_on));
}

base::Status Read(const text::Json& document, Config& config) {
  if (document.is_null()) return {};
  if (!document.is_object()) return base::Fail(base::Code::kInvalidArgument, "must be a mapping");
  for (const auto& [key, value] : document.as_object()) {
    if (key == "cluster") {
      TRY_ASSIGN(config.cluster, StringOf(value, "cluster"));
    } else if (key == "notify") {
      TRY(ReadNotify(value, config));
    } else if (key == "notify_on") {
      TRY(ReadNotifyOn(value, config));
    } else if (key == "local") {
      TRY(ReadLocal(value, config));
    } else {
      return base::Fail(
          base::Code::kInvalidArgument,
          fmt::format("{}: unknown key; the keys are cluster, local, notify, notify_on",
                      std::string_view(key)));
    }
  }
  return {};
}

}  // namespace

std::span<const Setting> Settings() { return kSettings; }

base::Result<Config> LoadConfig(const base::Environment& environment) {
  Config config;
  config.path = environment.ConfigDir() + "/config.yaml";
  const auto content = base::ReadFile(config.path, 1 << 20);
  if (!content) {
    if (content.error().code == base::Code::kNotFound) return config;
    base::Error error = content.error();
    if (error.code == base::Code::kPermissionDenied) error.message += kAdviceOnHome;
    return base::Fail(std::move(error));
  }
  const auto document = text::ParseYaml(*content);
  if (!document) return base::Fail(document.error().Wrap(config.path));
  if (base::Status read = Read(*document, config); !read) {
    return base::Fail(read.error().Wrap(config.path));
  }
  return config;
}

std::string DescribeKeep(const Config& config) {
  const Keep& keep = config.keep;
  std::string text = keep.days == 0 ? "finished jobs of any age"
                                    : fmt::format("finished jobs for {} days", keep.days);
  if (keep.jobs != 0) text += fmt::format(", {} of them", keep.jobs);
  if (keep.bytes != 0) text += fmt::format(", {} in all", SizeText(keep.bytes));
  if (config.log_limit == 0) return text + "; each rank's whole log";
  return text + fmt::format("; the newest {} of each rank's log", SizeText(config.log_limit));
}

}  // namespace local::daemon
