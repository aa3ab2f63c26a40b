#include "ads/node/meeting.h"

#include <fmt/format.h>

#include <algorithm>

#include "ads/oci/service_error.h"
#include "process/pidfd.h"
#include "text/json.h"

namespace ads {
namespace {

constexpr const char* kMainConfig = "MAIN_config.json";
constexpr const char* kStop = "stop";
constexpr std::string_view kFailedPrefix = "FAILED_";
// Allows for the difference between the storage's clock and ours, and for a job that soon follows
// another with its id.
constexpr std::chrono::seconds kClockMargin{60};
constexpr std::chrono::milliseconds kPollInterval{1000};
// A node may fail before the others have started. The service's jobs are not restarted within this
// time; jobs in a folder are, with the same id.
constexpr std::chrono::minutes kServiceStart{15};
constexpr std::chrono::seconds kFolderStart{2};

std::string TimeText(base::Time time) { return std::to_string(time.time_since_epoch().count()); }

std::optional<base::Error> UnlessNotFound(const base::Error& error) {
  if (error.code == base::Code::kNotFound) return std::nullopt;
  return error;
}

}  // namespace

std::string Meeting::Failure::Describe() const {
  if (exit_code.empty()) return fmt::format("the node of rank {} was killed", rank);
  return fmt::format("the node of rank {} failed with exit code {}", rank, exit_code);
}

Meeting::Meeting(const EntrySettings& settings, ObjectStorage& storage, base::Clock& clock,
                 LocalNodes* nodes)
    : settings_(settings), storage_(storage), clock_(clock), nodes_(nodes), started_(clock.Now()) {}

int Meeting::ChangesFd() {
  if (changes_fd_) return *changes_fd_;
  changes_fd_ = storage_.ChangesFd();
  if (nodes_ != nullptr && *changes_fd_ >= 0) {
    changes_fd_ = nodes_->AlsoWatch(*changes_fd_) ? nodes_->fd() : -1;
  }
  return *changes_fd_;
}

std::string Meeting::MainUri() const { return storage_.UriOf(kMainConfig); }

base::Result<Meeting::Written> Meeting::Announce(const std::string& address) {
  std::string name = kMainConfig;
  std::string key = "MASTER_ADDR";
  if (settings_.IsMain()) {
    TRY(RemoveLeftovers());
  } else {
    name = fmt::format("WORKER_{}_config.json", settings_.job_run_ocid);
    key = "OCI__WORKER_IP";
  }
  TRY(storage_.Put(name, fmt::format("{{\"{}\": \"{}\"}}", key, address)));
  return Written{storage_.UriOf(name), fmt::format("{{'{}': '{}'}}", key, address)};
}

base::Status Meeting::RemoveLeftovers() {
  TRY(storage_.Remove(kStop));
  TRY_ASSIGN(const auto markers, storage_.List(std::string(kFailedPrefix)));
  for (const std::string& name : markers) {
    const auto at = storage_.ModifiedAt(name);
    const auto content = storage_.Get(name);
    const auto parsed = content ? text::ParseJson(*content) : base::Result<text::Json>(nullptr);
    // A failure that names a main node belongs to an earlier one, because this one has not been
    // announced.
    const bool is_early = parsed && text::GetString(*parsed, {"MAIN"}).empty();
    if (!is_early || !at || !IsOfThisStart("", *at)) TRY(storage_.Remove(name));
  }
  return {};
}

bool Meeting::IsOfThisStart(const std::string& generation, base::Time at) const {
  if (!generation.empty() && generation == generation_) return true;
  const base::Duration slack = settings_.IsOnService() && generation.empty()
                                   ? base::Duration(kServiceStart)
                                   : base::Duration(kFolderStart);
  return at + slack >= started_;
}

base::Result<std::optional<std::string>> Meeting::FreshMainConfig() {
  const auto config = storage_.Get(kMainConfig);
  if (!config) {
    if (const auto error = UnlessNotFound(config.error())) return base::Fail(*error);
    return std::optional<std::string>();
  }
  if (settings_.IsMain()) return std::optional(*config);
  const auto stopped = storage_.ModifiedAt(kStop);
  if (!stopped) {
    if (const auto error = UnlessNotFound(stopped.error())) return base::Fail(*error);
    return std::optional(*config);
  }
  if (*stopped + kClockMargin < started_) return std::optional<std::string>();
  return std::optional(*config);
}

base::Status Meeting::AwaitChange(std::chrono::steady_clock::time_point deadline) {
  auto wait = std::max(std::chrono::ceil<std::chrono::milliseconds>(deadline - clock_.Steady()),
                       std::chrono::milliseconds(0));
  const int fd = ChangesFd();
  if (fd < 0) wait = std::min(wait, kPollInterval);
  const base::Status woken = process::WaitReadable(fd, wait);
  DrainChanges();
  if (!woken && woken.error().code != base::Code::kTimeout) return woken;
  return {};
}

base::Result<std::map<std::string, std::string>> Meeting::AwaitMain() {
  const auto deadline = clock_.Steady() + settings_.timeout;
  (void)ChangesFd();  // from here on no change is missed
  while (true) {
    const auto config = FreshMainConfig();
    if (!config && !oci::IsPassing(config.error())) return base::Fail(config.error());
    if (config && *config) {
      TRY_ASSIGN(const text::Json parsed, text::ParseJson(**config));
      std::map<std::string, std::string> values;
      if (const text::Object* object = parsed.if_object()) {
        for (const auto& member : *object) {
          if (const auto* text = member.value().if_string()) values[member.key()] = text->c_str();
        }
      }
      if (const auto at = storage_.ModifiedAt(kMainConfig)) generation_ = TimeText(*at);
      if (values.contains("MASTER_ADDR")) return values;
      return base::Fail(base::Code::kInvalidArgument,
                        fmt::format("{} has no MASTER_ADDR: {}", MainUri(), **config));
    }
    const auto failure = FindFailure();
    if (!failure && !oci::IsPassing(failure.error())) return base::Fail(failure.error());
    if (failure && *failure) {
      return base::Fail(base::Code::kCancelled, "RuntimeError: " + (*failure)->Describe());
    }
    if (clock_.Steady() >= deadline) {
      if (!config) return base::Fail(config.error());
      break;
    }
    TRY(AwaitChange(deadline));
  }
  return base::Fail(base::Code::kTimeout,
                    fmt::format("Exception: Timed out waiting to be in ready status. Likely cause "
                                "configuration is missing in the `WORK_DIR`: no {} after {} s "
                                "(OCI__TIMEOUT)",
                                MainUri(), settings_.timeout.count()));
}

base::Result<std::optional<Meeting::Failure>> Meeting::FindFailure() {
  TRY_ASSIGN(const auto markers, storage_.List(std::string(kFailedPrefix)));
  for (const std::string& name : markers) {
    if (name == fmt::format("{}{}.json", kFailedPrefix, settings_.job_run_ocid)) continue;
    const auto at = storage_.ModifiedAt(name);
    const auto content = storage_.Get(name);
    if (!at || !content) continue;
    const auto parsed = text::ParseJson(*content);
    if (!parsed || !IsOfThisStart(std::string(text::GetString(*parsed, {"MAIN"})), *at)) continue;
    return std::optional(Failure{std::string(text::GetString(*parsed, {"RANK"})),
                                 std::string(text::GetString(*parsed, {"EXIT_CODE"}))});
  }
  if (nodes_ != nullptr) {
    TRY_ASSIGN(const LocalNodes::State nodes, nodes_->Look());
    if (!nodes.lost.empty()) {
      return std::optional(Failure{std::to_string(*nodes.lost.begin()), ""});
    }
  }
  return std::optional<Failure>();
}

base::Status Meeting::ReportFailure(int exit_code) {
  return storage_.Put(fmt::format("{}{}.json", kFailedPrefix, settings_.job_run_ocid),
                      fmt::format("{{\"RANK\": \"{}\", \"EXIT_CODE\": \"{}\", \"MAIN\": \"{}\"}}",
                                  settings_.rank, exit_code, generation_));
}

base::Result<bool> Meeting::Stop() {
  const auto there = storage_.ModifiedAt(kStop);
  if (there) return true;
  if (const auto error = UnlessNotFound(there.error())) return base::Fail(*error);
  TRY(storage_.Put(kStop, "stop"));
  return false;
}

}  // namespace ads
