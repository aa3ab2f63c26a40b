#include "dashboard/progress.h"

#include <set>
#include <utility>
#include <vector>

#include "runs/progress/source_progress.h"

namespace dashboard {
namespace {

std::string ToObject(const std::map<std::string, std::string, std::less<>>& members) {
  std::string json = "{";
  for (const auto& [uid, progress] : members) {
    if (json.size() > 1) json += ',';
    json += text::ToJson(text::Json(uid)) + ":" + progress;
  }
  return json + "}";
}

}  // namespace

text::Json NewestOf(const text::Array& sources) {
  text::Json newest = sources.front();
  if (sources.size() < 2 || !newest.is_object()) return newest;
  std::vector<runs::SourceProgress> all;
  for (const text::Json& source : sources) all.push_back(runs::ProgressFromJson(source));
  text::Array others;
  for (const runs::SourceProgress& other : runs::Disagreeing(all)) {
    others.push_back(runs::ProgressToJson(other));
  }
  if (!others.empty()) newest.as_object()["others"] = std::move(others);
  return newest;
}

void Progress::Note(const std::string& uid, const text::Array& sources, ByUid& changed) {
  std::string json = text::ToJson(NewestOf(sources));
  std::string& known = jobs_[uid];
  if (known == json) return;
  known = json;
  changed[uid] = std::move(json);
}

std::string Progress::Take(const text::Json& answer) {
  ByUid changed;
  std::set<std::string, std::less<>> seen;
  const text::Array* items = text::FindArray(answer, {"items"});
  for (const text::Json& item : items != nullptr ? *items : text::Array()) {
    const std::string uid(text::GetString(item, {"uid"}));
    const text::Array* sources = text::FindArray(item, {"sources"});
    if (uid.empty() || sources == nullptr || sources->empty()) continue;
    seen.insert(uid);
    Note(uid, *sources, changed);
  }
  std::erase_if(jobs_, [&](const auto& job) { return !seen.contains(job.first); });
  return changed.empty() ? "" : ToObject(changed);
}

std::string Progress::Change(const std::vector<JobProgress>& changes) {
  ByUid changed;
  for (const auto& [uid, sources] : changes) {
    if (sources.empty()) {
      jobs_.erase(uid);
      changed.erase(uid);
    } else {
      Note(uid, sources, changed);
    }
  }
  return changed.empty() ? "" : ToObject(changed);
}

std::string Progress::All() const { return ToObject(jobs_); }

}  // namespace dashboard
