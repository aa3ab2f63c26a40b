#include "arena/jobs/forecast.h"

#include <fmt/format.h>

#include "arena/jobs/jobs.h"
#include "arena/jobs/room.h"
#include "net/http/types.h"

namespace arena {
namespace {

using base::Code;
using base::Fail;

constexpr const char* kForecastPath = "/muster/forecast";
// In words; all are in the document.
constexpr size_t kMostEndings = 5;

base::Result<text::Json> Ask(cluster::Client& client, const Context& context, std::string path) {
  auto answer = context.cluster_is_this_machine
                    ? client.Ask("GET", std::move(path))
                    : base::Result<text::Json>(Fail(Code::kNotFound, ""));
  if (answer || answer.error().code != Code::kNotFound) return answer;
  return Fail(Code::kNotFound,
              context.cluster_is_this_machine
                  ? "the daemon is of an older version, which predicts nothing: run `muster down`, "
                    "and try again"
                  : "only the embedded cluster predicts starts: Kubernetes' schedulers do not say "
                    "what they will do");
}

std::optional<base::Time> TimeOf(const text::Json& json, std::string_view field) {
  const auto time = base::ParseRfc3339(text::GetString(json, {field}));
  return time ? std::optional(*time) : std::nullopt;
}

// "about 14:05 (in 12m)"; with the day when it is another.
std::string Clock(base::Time at, base::Time now) {
  const std::string text = LocalTime(at);  // "2026-11-24 14:05:00"
  const bool is_today = text.substr(0, 10) == LocalTime(now).substr(0, 10);
  return is_today ? text.substr(11, 5) : text.substr(0, 16);
}

std::string In(base::Time at, base::Time now) {
  return base::ShortDuration(std::max(base::Duration(0), at - now));
}

std::string WhyThen(const text::Json& ending) {
  const std::string_view like = text::GetString(ending, {"like"});
  const int64_t runs = text::GetInt(ending, {"runs"}).value_or(0);
  const std::string count = runs == 1 ? "a run" : fmt::format("{} runs", runs);
  if (like == "deadline") return "its deadline";
  if (like == "command") return fmt::format("like {} of its command", count);
  if (like == "program") return fmt::format("like {} of its program with other arguments", count);
  if (like == "any") return fmt::format("like {} of other commands: no such run is known", count);
  return "guessed from how long it has run: no earlier run is known";
}

std::string Off(const text::Json& forecast, const char* field) {
  return base::ShortDuration(
      std::chrono::seconds(text::GetInt(forecast, {"accuracy", field}).value_or(0)));
}

std::string Accuracy(const text::Json& forecast) {
  const int64_t runs = text::GetInt(forecast, {"accuracy", "runs"}).value_or(0);
  if (runs == 0)
    return "No job has waited here before, so it is not known how good such forecasts are.\n";
  return fmt::format(
      "For the last {} that waited, half of the forecasts were off by at most {}, nine of ten by "
      "at most {}.\n",
      runs, Off(forecast, "medianSeconds"), Off(forecast, "p90Seconds"));
}

}  // namespace

base::Result<text::Json> AskForecast(cluster::Client& client, const Context& context,
                                     const std::string& namespace_name, const std::string& name) {
  return Ask(client, context,
             fmt::format("{}?namespace={}&name={}", kForecastPath,
                         net::PercentEncode(namespace_name), net::PercentEncode(name)));
}

base::Result<text::Json> AskForecast(cluster::Client& client, const Context& context,
                                     const WouldBe& job) {
  if (!context.cluster_is_this_machine) return AskRoom(client, context.Namespace(), job);
  return Ask(client, context,
             fmt::format("{}?gpus={}&nodes={}&deadline={}&priority={}&command={}", kForecastPath,
                         job.gpus, job.nodes, job.deadline, net::PercentEncode(job.priority),
                         net::PercentEncode(job.command)));
}

std::string ShortForecast(const text::Json& forecast, base::Time now) {
  const auto start = TimeOf(forecast, "start");
  if (text::GetString(forecast, {"kind"}) != "later" || !start) return "";
  std::string text = fmt::format("about {} (in {})", Clock(*start, now), In(*start, now));
  if (const auto late = TimeOf(forecast, "late")) {
    text += fmt::format(", by {} in nine of ten cases", Clock(*late, now));
  }
  return text;
}

std::string StartsLine(const text::Json& forecast, base::Time now) {
  if (text::GetString(forecast, {"kind"}) == "expires") {
    return "probably never: its deadline, which counts from its submission, ends it first";
  }
  const std::string when = ShortForecast(forecast, now);
  const int64_t runs = text::GetInt(forecast, {"accuracy", "runs"}).value_or(0);
  if (when.empty() || runs == 0) return when;
  return fmt::format("{}; such forecasts were off by {} (half of {}), {} (nine of ten)", when,
                     Off(forecast, "medianSeconds"), runs, Off(forecast, "p90Seconds"));
}

std::string RenderForecast(const text::Json& forecast, base::Time now) {
  if (text::Find(forecast, {"nodes"}) != nullptr) return RenderRoom(forecast);
  const std::string_view kind = text::GetString(forecast, {"kind"});
  if (kind == "now") return "It fits, and starts at once.\n";
  if (kind == "expires") {
    return "It does not fit now, and probably never starts: its deadline, which counts from its "
           "submission, ends it first.\n";
  }
  if (kind == "never") return "It never starts: this machine has fewer GPUs than it requests.\n";
  if (kind != "later") {
    return "It does not fit now. Its start cannot be predicted: it depends on a program of unknown "
           "duration.\n";
  }
  std::string text = fmt::format("It does not fit now. It starts {}, when these have ended:\n",
                                 ShortForecast(forecast, now));
  size_t shown = 0;
  for (const text::Json& ending : text::Items(forecast, {"endings"})) {
    if (++shown > kMostEndings) continue;
    const base::Time at = TimeOf(ending, "at").value_or(now);
    text += fmt::format("  {}  about {} (in {}), {}\n", text::GetString(ending, {"job"}),
                        Clock(at, now), In(at, now), WhyThen(ending));
  }
  if (shown > kMostEndings) text += fmt::format("  and {} more\n", shown - kMostEndings);
  return text + Accuracy(forecast);
}

}  // namespace arena
