#include "local/daemon/progress/progress_news.h"

#include <algorithm>
#include <utility>

#include "base/strings.h"
#include "runs/progress/step_mark.h"

namespace local::daemon {
namespace {

constexpr std::string_view kNewsPath = "/apis/muster.dev/v1/progress";
const net::Headers kJsonHeaders = {{"Content-Type", "application/json"}};

text::Json OfHundredths(const std::optional<int64_t>& value) {
  return value ? text::Json(static_cast<double>(*value) / 100) : text::Json(nullptr);
}

void AddLooks(const runs::MeanUse& use, text::Object& object) {
  object["hasLooks"] = true;
  object["busy"] = text::Object{{"cpu", OfHundredths(use.cpu)}, {"gpu", OfHundredths(use.gpu)}};
}

}  // namespace

ProgressNews::ProgressNews(ProgressFiles& files, RankFiles& ranks, base::Clock& clock)
    : files_(files),
      ranks_(ranks),
      clock_(clock),
      version_(runs::ToMillis(clock.Now())),
      last_end_(version_) {}

// Under the mutex.
std::string ProgressNews::LineOf(std::string_view type, text::Object object) {
  object["metadata"] =
      text::Object{{"name", object["uid"]}, {"resourceVersion", std::to_string(version_)}};
  return text::ToJson(text::Object{{"type", type}, {"object", std::move(object)}}) + "\n";
}

bool ProgressNews::Handle(const net::HttpRequest& request,
                          const std::shared_ptr<net::Responder>& responder) {
  if (request.method != "GET" || !request.target.starts_with(kNewsPath)) return false;
  const auto target = net::ParseTarget(request.target);
  if (!target || request.target.substr(0, request.target.find('?')) != kNewsPath) return false;
  const std::lock_guard lock(mutex_);  // first, so that no news passes what is sent here
  text::Json running = files_.OfRunning();
  if (target->Query("watch").empty()) {
    text::Json list =
        text::Object{{"apiVersion", "muster.dev/v1"},
                     {"kind", "ProgressList"},
                     {"metadata", text::Object{{"resourceVersion", std::to_string(version_)}}},
                     {"items", std::move(running.as_object()["items"])}};
    responder->Send({200, kJsonHeaders, text::ToJson(list)});
    return true;
  }
  const auto from = base::ParseInt(target->Query("resourceVersion")).value_or(0);
  if (from > 0 && from < last_end_) {
    const text::Object status{
        {"kind", "Status"},    {"apiVersion", "v1"},
        {"status", "Failure"}, {"message", "a job has ended since: list again"},
        {"reason", "Expired"}, {"code", 410}};
    responder->Send({410, kJsonHeaders, text::ToJson(status)});
    return true;
  }
  responder->Start(200, kJsonHeaders);
  std::string all;
  for (text::Json& item : running.as_object()["items"].as_array()) {
    all += LineOf("MODIFIED", std::move(item.as_object()));
  }
  if (!all.empty()) responder->Write(std::move(all));
  std::erase_if(watches_, [](const auto& watch) { return watch->IsClosed(); });
  watches_.push_back(responder);
  return true;
}

void ProgressNews::Publish() {
  const std::lock_guard lock(mutex_);
  std::map<std::string, text::Array> changed = files_.TakeChanged();
  const std::map<std::string, runs::MeanUse> looked = ranks_.TakeLooked();
  std::erase_if(watches_, [](const auto& watch) { return watch->IsClosed(); });
  if (changed.empty() && looked.empty()) return;
  version_ = std::max(version_ + 1, runs::ToMillis(clock_.Now()));
  const bool has_end = std::any_of(changed.begin(), changed.end(),
                                   [](const auto& one) { return one.second.empty(); });
  if (has_end) last_end_ = version_;
  if (watches_.empty()) return;
  std::string news;
  for (auto& [uid, sources] : changed) {
    const bool runs_on = !sources.empty();
    text::Object object{{"uid", uid}, {"sources", std::move(sources)}};
    if (const auto look = looked.find(uid); look != looked.end()) AddLooks(look->second, object);
    news += LineOf(runs_on ? "MODIFIED" : "DELETED", std::move(object));
  }
  for (const auto& [uid, use] : looked) {
    if (changed.contains(uid)) continue;
    text::Object object{{"uid", uid}};
    AddLooks(use, object);
    news += LineOf("MODIFIED", std::move(object));
  }
  for (const auto& watch : watches_) {
    if (watch->PendingBytes() > kMostUnreadNews) {
      watch->CutShort("");
    } else {
      watch->Write(news);
    }
  }
}

}  // namespace local::daemon
