// FakeCluster: an API server in memory for the verbs' tests. Objects are stored as they are sent;
// selectors, watches, tables and log streams work, controllers are what a test does by hand.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "api/object.h"
#include "api/resources.h"
#include "api/selector.h"
#include "cluster/rest_path.h"
#include "cluster/transport.h"
#include "text/json.h"
#include "text/patch.h"

namespace arena {

// What one request for a log is answered with.
struct FakeLog {
  int status = 200;
  std::string body;  // of a stream that succeeds: its text; else the error's message
  bool breaks = false;
  bool stays_open = false;               // after its text, until it is cancelled
  std::function<void()> at_end = [] {};  // runs once the text has been read
};

class FakeCluster : public cluster::Transport {
 public:
  // A request that a test refuses: the HTTP status and reason to answer with; status 0: the
  // connection breaks before the server has it.
  struct Refusal {
    int status;
    std::string reason;
    std::string message;
  };
  std::function<std::optional<Refusal>(const net::HttpRequest&)> refuse = [](const auto&) {
    return std::nullopt;
  };
  // Requests that are carried out, and whose answer is lost with the connection.
  std::function<bool(const net::HttpRequest&)> loses_answer = [](const auto&) { return false; };
  // What a server does to an object that is created.
  std::function<void(text::Json&)> admit = [](auto&) {};
  std::function<FakeLog(const net::Target&)> on_log = [](const auto&) { return FakeLog{}; };
  std::function<net::WebSocketAnswer(const net::HttpRequest&)> on_exec = [](const auto&) {
    return net::WebSocketAnswer{};
  };
  // Runs after each write, outside the lock, with the object's path: a controller.
  std::function<void(const std::string& verb, const std::string& path)> after_write =
      [](const auto&, const auto&) {};
  std::optional<text::Json> table;  // answers a list that asks for one
  std::string gpu_metrics;          // answers /metrics/gpus
  std::function<std::string(const net::HttpRequest&)> on_progress;  // answers /muster/progress
  // Answers what is passed on to services.
  std::function<net::HttpResponse(const net::HttpRequest&)> on_service;
  std::vector<std::string> other_kinds;  // of kubeflow.org/v1 that it serves too: "tfjobs"

  // By collection path: "/apis/kubeflow.org/v1/namespaces/default/pytorchjobs".
  void Put(const std::string& collection, text::Json object) {
    const std::lock_guard lock(mutex_);
    Store(collection, std::move(object));
  }
  void Remove(const std::string& collection, const std::string& name) {
    const std::lock_guard lock(mutex_);
    Erase(collection, name);
  }
  std::optional<text::Json> Find(const std::string& collection, const std::string& name) {
    const std::lock_guard lock(mutex_);
    const auto it = objects_.find({collection, name});
    return it == objects_.end() ? std::nullopt : std::optional(it->second);
  }
  size_t ObjectCount() {
    const std::lock_guard lock(mutex_);
    return objects_.size();
  }
  static bool IsDry(const net::HttpRequest& request) {
    return request.target.find("dryRun=All") != std::string::npos;
  }
  // "POST /api/v1/...", in order, without queries and dry runs.
  std::vector<std::string> Writes() {
    const std::lock_guard lock(mutex_);
    return writes_;
  }

  base::Result<net::HttpResponse> Send(const net::HttpRequest& request) override {
    if (const auto refusal = refuse(request)) {
      if (refusal->status == 0) return ConnectionLost();
      return Failure(refusal->status, refusal->reason, refusal->message);
    }
    const std::string path = request.target.substr(0, request.target.find('?'));
    if (on_service && path.find("/proxy/") != std::string::npos) return on_service(request);
    if (path == "/version") return net::HttpResponse{200, {}, R"({"gitVersion": "v1.33.0"})"};
    net::HttpResponse response;
    {
      const std::lock_guard lock(mutex_);
      if (request.method != "GET" && !IsDry(request)) {
        writes_.push_back(request.method + " " + path);
      }
      response = Answer(request, path);
    }
    if (request.method != "GET" && response.status < 300) after_write(request.method, path);
    if (loses_answer(request)) return ConnectionLost();
    return response;
  }

  base::Result<net::WebSocketAnswer> OpenWebSocket(const net::HttpRequest& request,
                                                   const std::vector<std::string>&) override {
    return on_exec(request);
  }

  base::Result<std::unique_ptr<net::BodyStream>> Open(const net::HttpRequest& request) override {
    const net::Target target = *net::ParseTarget(request.target);
    if (!target.segments.empty() && target.segments.back() == "log") {
      return std::make_unique<LogStream>(on_log(target));
    }
    auto queue = std::make_shared<Queue>();
    queue->collection = request.target.substr(0, request.target.find('?'));
    queue->labels = *api::LabelSelector::Parse(target.Query("labelSelector"));
    queue->fields = *api::FieldSelector::Parse(target.Query("fieldSelector"));
    const std::lock_guard lock(mutex_);
    queues_.push_back(queue);
    // What was written since the list that the watch goes on from.
    const std::string since(target.Query("resourceVersion"));
    for (const auto& [version, collection, line, object] : history_) {
      if (version > std::stoll(since) && collection == queue->collection)
        queue->Offer(object, line);
    }
    return std::make_unique<WatchStream>(queue);
  }

 private:
  static base::Result<net::HttpResponse> ConnectionLost() {
    return base::Fail(base::Code::kUnavailable, "the connection broke");
  }

  struct Queue {
    std::string collection;
    api::LabelSelector labels;
    api::FieldSelector fields;
    std::mutex mutex;
    std::condition_variable changed;
    std::deque<std::string> lines;
    bool is_cancelled = false;

    void Offer(const text::Json& object, const std::string& line) {
      if (!labels.Matches(object) || !fields.Matches(object)) return;
      const std::lock_guard lock(mutex);
      lines.push_back(line);
      changed.notify_all();
    }
  };

  class WatchStream : public net::BodyStream {
   public:
    explicit WatchStream(std::shared_ptr<Queue> queue) : queue_(std::move(queue)) {}
    int status() const override { return 200; }
    const net::Headers& headers() const override { return headers_; }
    base::Result<std::optional<std::string>> Read() override {
      std::unique_lock lock(queue_->mutex);
      queue_->changed.wait(lock, [&] { return queue_->is_cancelled || !queue_->lines.empty(); });
      if (queue_->is_cancelled) return base::Fail(base::Code::kCancelled, "cancelled");
      std::string line = std::move(queue_->lines.front());
      queue_->lines.pop_front();
      return std::optional(std::move(line));
    }
    void Cancel() override {
      const std::lock_guard lock(queue_->mutex);
      queue_->is_cancelled = true;
      queue_->changed.notify_all();
    }

   private:
    std::shared_ptr<Queue> queue_;
    net::Headers headers_;
  };

  class LogStream : public net::BodyStream {
   public:
    explicit LogStream(FakeLog log) : log_(std::move(log)) {
      if (log_.status >= 300) log_.body = StatusBody(log_.status, "BadRequest", log_.body);
    }
    int status() const override { return log_.status; }
    const net::Headers& headers() const override { return headers_; }
    base::Result<std::optional<std::string>> Read() override {
      if (!log_.body.empty()) return std::optional(std::exchange(log_.body, ""));
      std::exchange(log_.at_end, [] {})();
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [&] { return !log_.stays_open || is_cancelled_; });
      if (is_cancelled_) return base::Fail(base::Code::kCancelled, "cancelled");
      if (log_.breaks) return base::Fail(base::Code::kUnavailable, "connection reset");
      return std::optional<std::string>();
    }
    void Cancel() override {
      const std::lock_guard lock(mutex_);
      is_cancelled_ = true;
      changed_.notify_all();
    }

   private:
    std::mutex mutex_;
    std::condition_variable changed_;
    bool is_cancelled_ = false;
    FakeLog log_;
    net::Headers headers_;
  };

  static std::string StatusBody(int code, const std::string& reason, const std::string& message) {
    return text::ToJson(text::Object{{"kind", "Status"},
                                     {"apiVersion", "v1"},
                                     {"status", "Failure"},
                                     {"message", message},
                                     {"reason", reason},
                                     {"code", code}});
  }
  static net::HttpResponse Failure(int code, const std::string& reason,
                                   const std::string& message) {
    return {code, {{"Content-Type", "application/json"}}, StatusBody(code, reason, message)};
  }
  static net::HttpResponse Success(const text::Json& body) {
    return {200, {{"Content-Type", "application/json"}}, text::ToJson(body)};
  }

  void Publish(const std::string& collection, const char* type, const text::Json& object) {
    const std::string line = text::ToJson(text::Object{{"type", type}, {"object", object}}) + "\n";
    history_.push_back({version_, collection, line, object});
    for (const auto& queue : queues_) {
      if (queue->collection == collection) queue->Offer(object, line);
    }
  }

  const text::Json& Store(const std::string& collection, text::Json object) {
    const std::string name(text::GetString(object, {"metadata", "name"}));
    text::Set(object, {"metadata", "resourceVersion"}, text::Json(std::to_string(++version_)));
    if (text::GetString(object, {"metadata", "uid"}).empty()) {
      text::Set(object, {"metadata", "uid"}, text::Json("uid-" + name));
    }
    const bool is_new = !objects_.contains({collection, name});
    text::Json& stored = objects_[{collection, name}] = std::move(object);
    Publish(collection, is_new ? "ADDED" : "MODIFIED", stored);
    return stored;
  }
  void Erase(const std::string& collection, const std::string& name) {
    const auto it = objects_.find({collection, name});
    if (it == objects_.end()) return;
    ++version_;
    text::Json object = std::move(it->second);
    objects_.erase(it);
    Publish(collection, "DELETED", object);
  }

  // A collection of one namespace, or the same of all.
  static bool IsIn(const std::string& asked, const std::string& collection) {
    if (asked == collection) return true;
    const size_t at = collection.find("/namespaces/");
    if (at == std::string::npos) return false;
    const size_t end = collection.find('/', at + std::string_view("/namespaces/").size());
    return collection.substr(0, at) + collection.substr(end) == asked;
  }

  net::HttpResponse List(const net::HttpRequest& request, const std::string& path) {
    const net::Target target = *net::ParseTarget(request.target);
    if (net::FindHeader(request.headers, "Accept").find("as=Table") != std::string_view::npos &&
        table) {
      return Success(*table);
    }
    const api::LabelSelector labels = *api::LabelSelector::Parse(target.Query("labelSelector"));
    const api::FieldSelector fields = *api::FieldSelector::Parse(target.Query("fieldSelector"));
    text::Array items;
    for (const auto& [key, object] : objects_) {
      if (IsIn(path, key.first) && labels.Matches(object) && fields.Matches(object)) {
        items.push_back(object);
      }
    }
    return Success(
        text::Object{{"kind", "List"},
                     {"metadata", text::Object{{"resourceVersion", std::to_string(version_)}}},
                     {"items", std::move(items)}});
  }

  static bool IsCollection(const std::string& path) {
    static const char* const kPlurals[] = {
        "pods",   "services", "configmaps",  "secrets",     "persistentvolumeclaims",
        "nodes",  "events",   "pytorchjobs", "deployments", "priorityclasses",
        "tfjobs", "mpijobs",  "namespaces"};
    const std::string last = path.substr(path.rfind('/') + 1);
    for (const char* plural : kPlurals) {
      if (last == plural) return true;
    }
    return path == "/apis/muster.dev/v1/progress";
  }

  // "/api/v1", "/apis/apps/v1": the kinds of muster's own that are there.
  std::optional<net::HttpResponse> Discovery(const std::string& path) {
    text::Array resources;
    for (const std::string& plural : other_kinds) {
      if (path == "/apis/kubeflow.org/v1") resources.push_back(text::Object{{"name", plural}});
    }
    for (const api::Resource* resource : api::AllResources()) {
      const std::string root = resource->group.empty() ? "/api/" : "/apis/";
      if (path != root + std::string(resource->api_version())) continue;
      resources.push_back(text::Object{{"name", resource->plural},
                                       {"kind", resource->kind},
                                       {"namespaced", resource->namespaced}});
      if (!resource->has_status) continue;
      resources.push_back(text::Object{{"name", std::string(resource->plural) + "/status"},
                                       {"kind", resource->kind}});
    }
    if (resources.empty()) return std::nullopt;
    return Success(text::Object{{"kind", "APIResourceList"}, {"resources", std::move(resources)}});
  }

  // Server-side apply without managers: what is sent is merged into what is there.
  net::HttpResponse Apply(const net::HttpRequest& request, const std::string& collection,
                          const std::string& name) {
    const auto it = objects_.find({collection, name});
    text::Json object = it == objects_.end() ? text::Json(text::Object{}) : it->second;
    text::MergePatch(object, *text::ParseJson(request.body));
    if (IsDry(request) || (it != objects_.end() && object == it->second)) return Success(object);
    return Success(Store(collection, std::move(object)));
  }

  // As the embedded server does it: all or none.
  net::HttpResponse CreateWithOwned(const net::HttpRequest& request) {
    const text::Json body = *text::ParseJson(request.body);
    std::vector<std::pair<std::string, text::Json>> made;
    for (const text::Json& item : *text::FindArray(body, {"items"})) {
      const api::Resource& resource = *api::FindResourceByKind(
          text::GetString(item, {"apiVersion"}), text::GetString(item, {"kind"}));
      const std::string name(text::GetString(item, {"metadata", "name"}));
      const std::string collection = cluster::CollectionPath(resource, "default");
      if (objects_.contains({collection, name})) {
        return Failure(409, "AlreadyExists",
                       std::string(resource.plural) + " \"" + name + "\" already exists");
      }
      made.emplace_back(collection, item);
      admit(made.back().second);
    }
    const text::Json owner = Store(made[0].first, made[0].second);
    const text::Json reference = api::MakeControllerReference(api::kPyTorchJobs, owner);
    for (size_t i = 1; i < made.size(); ++i) {
      text::Set(made[i].second, {"metadata", "ownerReferences"}, text::Array{reference});
      Store(made[i].first, std::move(made[i].second));
    }
    return Success(owner);
  }

  net::HttpResponse Answer(const net::HttpRequest& request, const std::string& path) {
    if (const auto kinds = Discovery(path)) return *kinds;
    if (IsCollection(path)) {
      if (request.method == "GET") return List(request, path);
      if (request.target.ends_with("?withOwned=true")) return CreateWithOwned(request);
      text::Json object = *text::ParseJson(request.body);
      const std::string name(text::GetString(object, {"metadata", "name"}));
      if (objects_.contains({path, name})) {
        return Failure(409, "AlreadyExists", "\"" + name + "\" already exists");
      }
      admit(object);
      return IsDry(request) ? Success(object) : Success(Store(path, std::move(object)));
    }
    const size_t slash = path.rfind('/');
    const std::string collection = path.substr(0, slash);
    const std::string name = path.substr(slash + 1);
    if (net::FindHeader(request.headers, "Content-Type") == "application/apply-patch+yaml") {
      return Apply(request, collection, name);
    }
    if (path == "/metrics/gpus") return {200, {{"Content-Type", "text/plain"}}, gpu_metrics};
    if (path == "/muster/progress" && on_progress) {
      return {200, {{"Content-Type", "application/json"}}, on_progress(request)};
    }
    const auto it = objects_.find({collection, name});
    if (it == objects_.end() && path == "/api/v1/namespaces/default") {
      return Success(text::Object{{"kind", "Namespace"}, {"metadata", {{"name", "default"}}}});
    }
    if (it == objects_.end()) return Failure(404, "NotFound", "\"" + name + "\" not found");
    if (request.method == "GET") return Success(it->second);
    if (request.method == "DELETE") {
      Erase(collection, name);
      return Success(text::Object{{"kind", "Status"}, {"status", "Success"}});
    }
    text::Json object = *text::ParseJson(request.body);
    if (request.method == "PATCH") {
      text::Json merged = it->second;
      text::MergePatch(merged, object);
      object = std::move(merged);
    }
    return Success(Store(collection, std::move(object)));
  }

  struct Change {
    int64_t version;
    std::string collection;
    std::string line;
    text::Json object;
  };

  std::mutex mutex_;
  int64_t version_ = 0;
  std::map<std::pair<std::string, std::string>, text::Json> objects_;
  std::vector<Change> history_;
  std::vector<std::shared_ptr<Queue>> queues_;
  std::vector<std::string> writes_;
};

}  // namespace arena
