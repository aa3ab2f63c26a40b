#include "local/daemon/forecaster.h"

#include <fmt/format.h>

#include "api/job/command.h"
#include "api/object.h"
#include "api/resources.h"
#include "base/strings.h"
#include "local/daemon/scheduling/past_jobs.h"
#include "local/scheduler/messages.h"
#include "local/server/request/api_error.h"

namespace local::daemon {
namespace {

using scheduler::Forecast;
using scheduler::Likeness;
using std::chrono::duration_cast;
using std::chrono::seconds;

constexpr std::string_view kForecastPath = "/muster/forecast";
constexpr const char* kHypothetical = "?";  // no job has this key
constexpr size_t kMostMeasured = 20;
constexpr int64_t kMostReplicas = 1'000;

std::string_view NameOf(Forecast::Kind kind) {
  switch (kind) {
    case Forecast::Kind::kNow:
      return "now";
    case Forecast::Kind::kLater:
      return "later";
    case Forecast::Kind::kNever:
      return "never";
    case Forecast::Kind::kExpires:
      return "expires";
    case Forecast::Kind::kUnknown:
      break;
  }
  return "unknown";
}

std::string_view NameOf(Likeness likeness) {
  switch (likeness) {
    case Likeness::kCommand:
      return "command";
    case Likeness::kProgram:
      return "program";
    case Likeness::kAny:
      return "any";
    case Likeness::kNone:
      break;
  }
  return "age";
}

text::Json Describe(const scheduler::Ending& ending, const ForecastQuestion& question,
                    const scheduler::Expected& expected) {
  text::Object json{{"job", ending.gang},
                    {"at", base::FormatRfc3339(ending.at)},
                    {"like", NameOf(expected.likeness)},
                    {"runs", expected.durations.size()}};
  for (const scheduler::Gang& gang : question.gangs) {
    if (gang.key != ending.gang || !gang.active_deadline) continue;
    if (gang.active_since && ending.at == *gang.active_since + *gang.active_deadline) {
      json["like"] = "deadline";
    }
  }
  return json;
}

std::optional<int64_t> NumberOf(const net::Target& target, std::string_view name,
                                int64_t otherwise) {
  const std::string_view text = target.Query(name);
  return text.empty() ? otherwise : base::ParseInt(text);
}

// The gang of the job that would be submitted.
base::Result<scheduler::Gang> Hypothetical(const net::Target& target, int32_t priority,
                                           base::Time now) {
  const auto gpus = NumberOf(target, "gpus", 0);
  const auto nodes = NumberOf(target, "nodes", 1);
  const auto deadline = NumberOf(target, "deadline", 0);
  if (!gpus || !nodes || !deadline || *gpus < 0 || *gpus > kMostReplicas || *nodes < 1 ||
      *nodes > kMostReplicas || *deadline < 0) {
    return base::Fail(
        base::Code::kInvalidArgument,
        fmt::format("gpus, nodes and deadline are numbers, at most {}, nodes at least 1",
                    kMostReplicas));
  }
  scheduler::Gang gang;
  gang.key = kHypothetical;
  gang.created = now;
  gang.active_since = now;
  gang.priority = priority;
  if (*deadline > 0) gang.active_deadline = seconds(*deadline);
  for (int64_t i = 0; i < *nodes; ++i) {
    scheduler::Pod pod;
    pod.uid = fmt::format("?/{}", i);
    pod.requests.gpus = *gpus;
    gang.pods.push_back(std::move(pod));
  }
  return gang;
}

}  // namespace

bool IsForecastRequest(const net::HttpRequest& request) {
  return request.method == "GET" &&
         std::string_view(request.target).substr(0, request.target.find('?')) == kForecastPath;
}

text::Json AnswerForecast(const ForecastQuestion& question, base::Time now) {
  scheduler::Durations durations;
  std::map<std::string, scheduler::Expected> expected;
  for (const scheduler::Gang& gang : question.gangs) {
    const auto command = question.commands.find(gang.key);
    expected[gang.key] = scheduler::ExpectedOf(
        command == question.commands.end() ? "" : command->second, question.past);
    durations[gang.key] = expected[gang.key].durations;
  }
  const Forecast forecast = scheduler::Foresee(question.node, question.gangs, question.policy, now,
                                               durations, question.target);
  text::Object json{{"kind", NameOf(forecast.kind)}};
  int64_t wish = 0;
  for (const scheduler::Gang& gang : question.gangs) {
    if (gang.key != question.target) continue;
    for (const scheduler::Pod& pod : gang.pods) wish += pod.requests.gpus;
  }
  std::string why = scheduler::WhyWithoutGpus(wish, question.node, question.policy);
  if (!why.empty()) json["gpus"] = std::move(why);
  if (forecast.kind == Forecast::Kind::kNow || forecast.kind == Forecast::Kind::kLater) {
    json["start"] = base::FormatRfc3339(forecast.median);
    if (forecast.late) json["late"] = base::FormatRfc3339(*forecast.late);
  }
  text::Array endings;
  for (const scheduler::Ending& ending : forecast.endings) {
    endings.push_back(Describe(ending, question, expected[ending.gang]));
  }
  json["endings"] = std::move(endings);
  const scheduler::Accuracy& accuracy = question.accuracy;
  json["accuracy"] =
      text::Object{{"runs", accuracy.runs},
                   {"medianSeconds", duration_cast<seconds>(accuracy.median).count()},
                   {"p90Seconds", duration_cast<seconds>(accuracy.p90).count()},
                   {"byLate", accuracy.by_late}};
  return json;
}

Forecaster::Forecaster(cluster::Client& client, store::Store& store, const Scheduling& scheduling,
                       base::Clock& clock)
    : scheduling_(scheduling), clock_(clock), runs_(client, store) {
  thread_ = std::thread([this] { Run(); });
}

Forecaster::~Forecaster() {
  {
    const std::lock_guard lock(mutex_);
    is_stopped_ = true;
  }
  wake_.notify_one();
  thread_.join();
}

void Forecaster::Handle(net::HttpRequest request, std::shared_ptr<net::Responder> responder) {
  {
    const std::lock_guard lock(mutex_);
    asked_.emplace_back(std::move(request), std::move(responder));
  }
  wake_.notify_one();
}

void Forecaster::Run() {
  std::unique_lock lock(mutex_);
  while (true) {
    wake_.wait(lock, [this] { return is_stopped_ || !asked_.empty(); });
    if (is_stopped_) return;
    auto [request, responder] = std::move(asked_.front());
    asked_.pop_front();
    lock.unlock();
    responder->Send(Answer(request));
    lock.lock();
  }
}

net::HttpResponse Forecaster::Answer(const net::HttpRequest& request) {
  const auto target = net::ParseTarget(request.target);
  if (!target) return server::ToResponse(server::BadRequest("the query is malformed"));
  if (const auto refreshed = runs_.Refresh(); !refreshed) {
    return server::ToResponse(server::FromError(refreshed.error()));
  }
  const std::vector<scheduler::PastRun>& past = runs_.past();
  ForecastQuestion question{.past = past, .commands = runs_.commands()};
  Scheduling::Snapshot snapshot = scheduling_.Look(std::string(target->Query("priority")));
  question.node = std::move(snapshot.node);
  question.gangs = std::move(snapshot.gangs);
  question.policy = snapshot.policy;
  const std::pair known(past.size(), past.empty() ? base::Time() : past.back().ended);
  if (known != measured_by_) {
    scheduler::Node node = question.node;
    node.is_cordoned = false;  // it was not when these ran
    accuracy_ = scheduler::MeasureForecasts(node, past, question.policy, kMostMeasured);
    measured_by_ = known;
  }
  question.accuracy = accuracy_;
  const std::string_view name = target->Query("name");
  if (name.empty()) {
    auto gang = Hypothetical(*target, snapshot.priority, clock_.Now());
    if (!gang) return server::ToResponse(server::FromError(gang.error()));
    question.target = gang->key;
    question.commands[gang->key] = target->Query("command");
    question.gangs.push_back(std::move(*gang));
  } else {
    question.target = fmt::format("{}/{}", target->Query("namespace"), name);
  }
  return server::JsonResponse(200, text::ToJson(AnswerForecast(question, clock_.Now())));
}

}  // namespace local::daemon
