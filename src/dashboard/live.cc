#include "dashboard/live.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "api/names.h"
#include "api/progress_resource.h"
#include "arena/history/ranks.h"
#include "arena/jobs/pod_use.h"
#include "arena/logs/log_progress.h"
#include "dashboard/documents.h"
#include "text/projection.h"

namespace dashboard {
namespace {

// The most logs of a job on Kubernetes that one look reads.
constexpr size_t kLogsOfLook = 16;
// The most jobs whose ranks over time are kept, also while no tab shows them.
constexpr size_t kMostSeenJobs = 32;

// What ranks use is sent in these steps of one: finer ones would change each second.
constexpr double kBusySteps = 20;

// {"cpu", "gpu"} in steps.
text::Json InSteps(const text::Json& busy) {
  text::Object rounded;
  for (const char* const name : {"cpu", "gpu"}) {
    const text::Json* const value = text::Find(busy, {name});
    const bool is_known = value != nullptr && value->is_number();
    rounded[name] =
        is_known ? text::Json(std::round(value->to_number<double>() * kBusySteps) / kBusySteps)
                 : text::Json(nullptr);
  }
  return rounded;
}

// {"set": [rows...], "gone": [keys...]}
std::string RowsEvent(bool is_all, const std::vector<std::string_view>& set,
                      const std::vector<std::string>& gone) {
  std::string json = is_all ? R"({"all":true,"set":[)" : R"({"set":[)";
  for (const std::string_view row : set) {
    if (json.back() != '[') json += ',';
    json += row;
  }
  text::Array keys;
  for (const std::string& key : gone) keys.emplace_back(key);
  return json + R"(],"gone":)" + text::ToJson(keys) + "}";
}

}  // namespace

Live::Live(cluster::Client& client, const arena::Context& context, Scope scope)
    : client_(client), context_(context), board_(context) {
  Watch(scope);
  sender_ = std::jthread([this](const std::stop_token& stop) { Run(stop); });
  asker_ = std::jthread([this](const std::stop_token& stop) { AskWhileSeen(stop); });
}

Live::~Live() {
  jobs_.reset();
  pods_.reset();
  sender_.request_stop();
  asker_.request_stop();
  sender_.join();
  asker_.join();
  // Their threads need the lock.
  std::list<std::shared_ptr<Tab>> tabs;
  {
    const std::lock_guard lock(mutex_);
    tabs.swap(tabs_);
  }
}

void Live::HasNews() {
  {
    const std::lock_guard lock(news_mutex_);
    has_news_ = true;
  }
  changed_.notify_all();
}

void Live::SetHasTabs(bool has_tabs) {
  {
    const std::lock_guard lock(news_mutex_);
    has_tabs_ = has_tabs;
  }
  asking_.notify_all();
}

cluster::ReflectorHandler Live::HandlerFor(void (Board::*replace)(std::vector<text::Json>),
                                           void (Board::*apply)(cluster::WatchEvent::Type,
                                                                text::Json),
                                           bool& is_known) {
  const auto problem = [this](const base::Error& error) {
    {
      const std::lock_guard lock(mutex_);
      problem_ = error.message;
    }
    HasNews();
  };
  cluster::ReflectorHandler handler;
  handler.replace = [this, replace, &is_known](std::vector<text::Json> items) {
    {
      const std::lock_guard lock(mutex_);
      (board_.*replace)(std::move(items));
      is_known = true;
    }
    HasNews();
  };
  handler.apply = [this, apply](cluster::WatchEvent event) {
    {
      const std::lock_guard lock(mutex_);
      (board_.*apply)(event.type, std::move(event.object));
    }
    HasNews();
  };
  handler.refused = problem;
  handler.unreachable = problem;
  handler.recovered = [problem] { problem({base::Code::kUnavailable, "", 0}); };
  return handler;
}

void Live::Watch(const Scope& scope) {
  const auto reading = [](const text::Projection& parts) {
    return [&parts](std::string_view object) { return text::ParsePart(object, parts); };
  };
  cluster::ListOptions options;
  options.namespace_name = scope.namespace_name;
  options.label_selector = scope.job_selector;
  options.read = reading(Board::JobParts());
  jobs_ = std::make_unique<cluster::Reflector>(
      client_, api::kPyTorchJobs, options,
      HandlerFor(&Board::ReplaceJobs, &Board::Apply, are_jobs_known_));
  options.label_selector = api::kJobNameLabel;
  options.read = reading(Board::PodParts());
  pods_ = std::make_unique<cluster::Reflector>(
      client_, api::kPods, options,
      HandlerFor(&Board::ReplacePods, &Board::ApplyPod, are_pods_known_));
}

base::Status Live::Add(std::shared_ptr<net::Responder> responder, Wish wish) {
  const auto tab = std::make_shared<Tab>();
  {
    const std::lock_guard lock(mutex_);
    if (tabs_.size() >= kMostStreams) {
      return base::Fail(base::Code::kExhausted,
                        fmt::format("{} tabs are open: close some", kMostStreams));
    }
    tab->stream = EventStream::Begin(std::move(responder), [this] { HasNews(); });
    tab->wish = std::move(wish);
    tabs_.push_back(tab);
    SetHasTabs(true);
  }
  HasQuestion();
  if (tab->wish.log) {
    tab->log = std::jthread([this, stream = tab->stream, wish = tab->wish](
                                const std::stop_token& stop) { RunLog(*stream, wish, stop); });
  }
  HasNews();
  tab->stream->OnClose([this, weak = std::weak_ptr(tab)] {
    const auto closed = weak.lock();
    if (!closed) return;
    closed->log.request_stop();
    HasNews();
  });
  return {};
}

void Live::Run(const std::stop_token& stop) {
  for (;;) {
    {
      std::unique_lock lock(news_mutex_);
      if (!changed_.wait(lock, stop, [this] { return has_news_; })) return;
      has_news_ = false;
    }
    RemoveClosed();
    {
      const std::lock_guard lock(mutex_);
      SendAll();
    }
    // Waits, so that later changes are sent together.
    std::unique_lock lock(news_mutex_);
    changed_.wait_for(lock, stop, kSendInterval, [] { return false; });
  }
}

void Live::AskWhileSeen(const std::stop_token& stop) {
  std::unique_ptr<cluster::Reflector> progress;  // while a tab is open
  std::optional<base::Duration> due;
  while (!stop.stop_requested()) {
    bool has_tabs = false;
    {
      std::unique_lock lock(news_mutex_);
      const bool was_seen = progress != nullptr;
      const auto is_woken = [&] { return has_question_ || (was_seen && !has_tabs_); };
      if (due) {
        asking_.wait_for(lock, stop, *due, is_woken);
      } else {
        asking_.wait(lock, stop, is_woken);
      }
      has_question_ = false;
      has_tabs = has_tabs_;
    }
    due.reset();
    if (!has_tabs) {
      progress.reset();
      continue;
    }
    if (!progress && context_.cluster_is_this_machine) progress = WatchProgress();
    due = AskOfShownJobs();
  }
}

std::unique_ptr<cluster::Reflector> Live::WatchProgress() {
  cluster::ReflectorHandler handler;
  handler.replace = [this](std::vector<text::Json> items) {
    {
      const std::lock_guard lock(mutex_);
      text::Array list(std::make_move_iterator(items.begin()),
                       std::make_move_iterator(items.end()));
      busy_ = {};  // the next looks tell it
      if (!progress_.Note(progress_.latest.Take(text::Object{{"items", std::move(list)}}))) return;
    }
    HasNews();
  };
  handler.apply = [this](const cluster::WatchEvent& event) {
    TakeProgress(event.object, event.type == cluster::WatchEvent::Type::kDeleted);
  };
  return std::make_unique<cluster::Reflector>(client_, api::kProgress, cluster::ListOptions(),
                                              std::move(handler));
}

// Takes the progress of one job (local/daemon/progress/progress_news.h).
void Live::TakeProgress(const text::Json& progress, bool is_gone) {
  const std::string uid(text::GetString(progress, {"uid"}));
  const text::Array* sources = text::FindArray(progress, {"sources"});
  bool is_news = false, has_looks = false;
  {
    const std::lock_guard lock(mutex_);
    if (is_gone) {
      progress_.latest.Change({{uid, {}}});
      busy_.latest.Change({{uid, {}}});
    } else if (sources != nullptr) {
      is_news = progress_.Note(progress_.latest.Change({{uid, *sources}}));
    }
    if (const text::Json* const busy = text::Find(progress, {"busy"});
        busy != nullptr && !is_gone) {
      is_news |= busy_.Note(busy_.latest.Change({{uid, {InSteps(*busy)}}}));
    }
    if (text::GetBool(progress, {"hasLooks"}).value_or(false)) {
      for (auto& [key, shown] : shown_) {
        if (shown.uid == uid) shown.has_looks = has_looks = true;
      }
    }
  }
  if (is_news) HasNews();
  if (has_looks) HasQuestion();
}

void Live::HasQuestion() {
  {
    const std::lock_guard lock(news_mutex_);
    has_question_ = true;
  }
  asking_.notify_all();
}

bool Live::Tracked::Note(std::string changes) {
  if (changes.empty()) return false;
  unsent = unsent.empty() ? std::move(changes) : latest.All();
  return true;
}

// Asks about running jobs, and once about each job that has ended.
std::optional<base::Duration> Live::AskOfShownJobs() {
  struct Question {
    std::string key;
    bool has_ended;
    arena::TrainingJob job;
  };
  std::vector<Question> questions;
  std::optional<base::Duration> due;
  {
    const auto now = context_.clock.Steady();
    const std::lock_guard lock(mutex_);
    std::erase_if(shown_, [this](const auto& shown) {
      return std::none_of(tabs_.begin(), tabs_.end(),
                          [&](const auto& tab) { return tab->wish.job_key == shown.first; });
    });
    for (const auto& tab : tabs_) {
      const std::string& key = tab->wish.job_key;
      auto job = board_.JobOf(key, context_.clock.Now());
      if (!job) continue;
      const bool has_ended = api::IsFinished(job->summary.status);
      ShownJob& shown = shown_[key];
      const bool is_known = shown.uid == job->summary.uid;
      if (is_known && shown.is_final) continue;
      if (is_known && !has_ended) {
        if (context_.cluster_is_this_machine && !shown.has_looks) continue;
        const auto rest = std::chrono::ceil<base::Duration>(shown.asked + kShownInterval - now);
        if (rest > base::Duration(0)) {
          due = std::min(due.value_or(rest), rest);
          continue;
        }
      }
      if (!is_known) shown = {job->summary.uid, {}, shown.version, "", false, false, {}};
      shown.asked = now;
      shown.has_looks = false;
      if (!context_.cluster_is_this_machine && !has_ended) due = due.value_or(kShownInterval);
      questions.push_back({key, has_ended, *std::move(job)});
    }
  }
  for (auto& [key, has_ended, job] : questions) {
    const std::string& uid = job.summary.uid;
    if (context_.cluster_is_this_machine) {
      TakeStrip(key, uid, has_ended,
                arena::RanksOverTime(client_, context_, uid, kMostStripColumns));
    } else {
      LookAtDistantJob(key, has_ended, std::move(job));
    }
  }
  return due;
}

void Live::LookAtDistantJob(const std::string& key, bool has_ended, arena::TrainingJob job) {
  const std::string uid = job.summary.uid;
  if (!seen_.contains(uid) && seen_.size() >= kMostSeenJobs) {
    seen_.erase(std::min_element(seen_.begin(), seen_.end(), [](const auto& a, const auto& b) {
      return a.second.looked < b.second.looked;
    }));
  }
  SeenJob& seen = seen_[uid];
  seen.looked = context_.clock.Steady();
  TakeLog(key, uid, has_ended,
          arena::ProgressWithLog(client_, context_, job, 0, arena::Times::kLeftOut, &seen.events));
  if (has_ended) {
    TakeStrip(key, uid, true, seen.ranks.Grid(kMostStripColumns));
  } else {
    TakeStrip(key, uid, false, LookAtRanks(seen, job));
  }
}

text::Json Live::LookAtRanks(SeenJob& seen, arena::TrainingJob& job) {
  arena::LookAtRanks look;
  look.stacks = arena::RankLook::kWithoutStacks;
  look.most_logs = kLogsOfLook;
  auto uses = arena::UseOfPods(client_, job.summary.namespace_name, arena::PodSelector(job.job));
  if (uses) look.uses = *std::move(uses);
  std::vector<arena::RankState> ranks = arena::RanksOf(client_, context_, job, seen.logs, look);
  for (arena::RankState& rank : ranks) {
    if (!seen.logs.IsFresh(rank.instance)) rank.quiet.reset();
  }
  seen.ranks.Note(context_.clock.Now(), ranks);
  return seen.ranks.Grid(kMostStripColumns);
}

void Live::TakeStrip(const std::string& key, const std::string& uid, bool has_ended,
                     text::Json grid) {
  {
    const std::lock_guard lock(mutex_);
    const auto known = shown_.find(key);
    if (known == shown_.end() || known->second.uid != uid || !grid.is_object()) return;
    ShownJob& shown = known->second;
    shown.is_final = has_ended;
    std::string news = StripNews(key, shown.grid, grid);
    if (news.empty()) return;
    shown.news = std::move(news);
    shown.grid = std::move(grid);
    ++shown.version;
  }
  HasNews();
}

void Live::TakeLog(const std::string& key, const std::string& uid, bool has_ended,
                   const text::Json& progress) {
  {
    const std::lock_guard lock(mutex_);
    const auto known = shown_.find(key);
    if (known == shown_.end() || known->second.uid != uid) return;
    known->second.is_final = has_ended;
    const text::Array* sources = text::FindArray(progress, {"sources"});
    if (sources == nullptr || sources->empty()) return;
    if (!progress_.Note(progress_.latest.Change({{uid, *sources}}))) return;
  }
  HasNews();
}

void Live::RemoveClosed() {
  std::list<std::shared_ptr<Tab>>
      closed;  // destroyed after the lock is released, because their threads need it
  const std::lock_guard lock(mutex_);
  for (auto at = tabs_.begin(); at != tabs_.end();) {
    const auto next = std::next(at);
    if ((*at)->stream->IsClosed()) closed.splice(closed.end(), tabs_, at);
    at = next;
  }
  SetHasTabs(!tabs_.empty());
}

void Live::SendAll() {
  if (!are_jobs_known_ || !are_pods_known_) {
    if (problem_.empty()) return;
    for (const auto& tab : tabs_) Send(*tab, {});
    return;
  }
  const Board::Changes changes = board_.Take(context_.clock.Now());
  if (!changes.empty()) HasQuestion();
  // On Kubernetes there is nobody to ask.
  if (!context_.cluster_is_this_machine) progress_.Note(progress_.latest.Change(changes.annotated));
  News news;
  if (!changes.empty()) {
    news.rows = RowsEvent(false, {changes.set.begin(), changes.set.end()}, changes.gone);
  }
  const bool is_all_wanted =
      std::any_of(tabs_.begin(), tabs_.end(), [](const auto& tab) { return !tab->has_all; });
  if (is_all_wanted) {
    std::vector<std::string_view> rows;
    for (const auto& [key, row] : board_.rows()) rows.emplace_back(row);
    news.all_rows = RowsEvent(true, rows, {});
  }
  news.progress = std::exchange(progress_.unsent, "");
  news.busy = std::exchange(busy_.unsent, "");
  for (const auto& tab : tabs_) Send(*tab, news);
}

void Live::Send(Tab& tab, const News& news) {
  EventStream& stream = *tab.stream;
  if (stream.IsBehind()) {  // it gets all rows once it has caught up
    tab.has_all = false;
    tab.sent_job.clear();
    tab.sent_strip = 0;
    return;
  }
  std::string cluster = text::ToJson(text::Object{{"ok", problem_.empty()}, {"message", problem_}});
  if (cluster != tab.sent_cluster) {
    stream.Send("cluster", cluster);
    tab.sent_cluster = std::move(cluster);
  }
  if (!tab.has_all && !news.all_rows.empty()) {
    stream.Send("rows", news.all_rows);
    stream.Send("progress", progress_.latest.All());
    stream.Send("busy", busy_.latest.All());
    tab.has_all = true;
  } else if (tab.has_all && !news.rows.empty()) {
    stream.Send("rows", news.rows);
  }
  if (!news.progress.empty()) stream.Send("progress", news.progress);
  if (!news.busy.empty()) stream.Send("busy", news.busy);
  if (tab.wish.job_key.empty() || !tab.has_all) return;
  std::string job = text::ToJson(
      text::Object{{"key", tab.wish.job_key},
                   {"instances", board_.InstancesOf(tab.wish.job_key, context_.clock.Now())}});
  if (job != tab.sent_job) {
    stream.Send("job", job);
    tab.sent_job = std::move(job);
  }
  const auto found = shown_.find(tab.wish.job_key);
  if (found == shown_.end() || found->second.version == tab.sent_strip) return;
  const ShownJob& shown = found->second;
  const bool has_last = tab.sent_strip > 0 && tab.sent_strip + 1 == shown.version;
  stream.Send("strip", has_last ? shown.news : StripNews(tab.wish.job_key, {}, shown.grid));
  tab.sent_strip = shown.version;
}

void Live::RunLog(EventStream& stream, const Wish& wish, const std::stop_token& stop) {
  // Reads no more of the log than the tab does.
  const WriteLog write = [&](std::string_view text) {
    stream.Send("log", text::ToJson(text::Object{{"text", text}}));
    return stream.AwaitRead(stop);
  };
  const arena::Context in = InNamespace(context_, wish.job_key.substr(0, wish.job_key.find('/')));
  const base::Status status = FollowLog(client_, in, *wish.log, stop, write);
  stream.Send("logend",
              text::ToJson(text::Object{{"error", status ? "" : status.error().message}}));
}

}  // namespace dashboard
