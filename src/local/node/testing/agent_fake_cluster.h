// For tests: a small in-memory API server. It models what the node agent and the scheduling loop
// rely on: versions, watches, merge patches, the status subresource, uid preconditions, and the
// graceful deletion of bound pods.
#pragma once

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "api/object.h"
#include "api/pod.h"
#include "api/resources.h"
#include "api/selector.h"
#include "base/uid.h"
#include "cluster/transport.h"
#include "local/node/agent/lost_and_found.h"
#include "net/http/types.h"
#include "text/json.h"
#include "text/patch.h"

namespace local::node {

class FakeCluster {
 public:
  using Key = std::pair<std::string, std::string>;  // collection ("v1/pods"), "ns/name"

  // A transport to this server; there may be several.
  std::unique_ptr<cluster::Transport> Connect() { return std::make_unique<Connection>(*this); }

  // Creates or replaces an object, as another client would.
  text::Json Put(const api::Resource& resource, text::Json object) {
    const std::lock_guard lock(mutex_);
    return Store(CollectionOf(resource), std::move(object));
  }
  void Remove(const api::Resource& resource, const std::string& ns, const std::string& name) {
    const std::lock_guard lock(mutex_);
    Erase({CollectionOf(resource), ns + "/" + name});
  }
  // Like a client's DELETE without options.
  void Delete(const api::Resource& resource, const std::string& ns, const std::string& name) {
    const std::lock_guard lock(mutex_);
    DeleteObject({CollectionOf(resource), ns + "/" + name}, std::nullopt);
  }
  std::optional<text::Json> Find(const api::Resource& resource, const std::string& ns,
                                 const std::string& name) {
    const std::lock_guard lock(mutex_);
    return FindLocked(resource, ns, name);
  }
  // Waits until the object satisfies the predicate; it is called with nullopt when the object is
  // absent. False after ten seconds.
  bool WaitFor(const api::Resource& resource, const std::string& ns, const std::string& name,
               const std::function<bool(const std::optional<text::Json>&)>& is_wanted) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, std::chrono::seconds(10),
                             [&] { return is_wanted(FindLocked(resource, ns, name)); });
  }
  // Waits until one of the objects satisfies the predicate.
  bool WaitForAny(const api::Resource& resource,
                  const std::function<bool(const text::Json&)>& is_wanted) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, std::chrono::seconds(10), [&] {
      return std::any_of(objects_.begin(), objects_.end(), [&](const auto& one) {
        return one.first.first == CollectionOf(resource) && is_wanted(one.second);
      });
    });
  }
  std::vector<text::Json> List(const api::Resource& resource) {
    const std::lock_guard lock(mutex_);
    std::vector<text::Json> found;
    for (const auto& [key, object] : objects_) {
      if (key.first == CollectionOf(resource)) found.push_back(object);
    }
    return found;
  }
  // The answer of the store.
  Fate FateOf(std::string_view uid) {
    const std::lock_guard lock(mutex_);
    if (deleted_.contains(uid)) return Fate::kDeleted;
    for (const auto& [key, object] : objects_) {
      if (api::Uid(object) == uid) return Fate::kStored;
    }
    return Fate::kUnknown;
  }
  // Loses an object without an event, as a damaged store does.
  void Forget(const api::Resource& resource, const std::string& ns, const std::string& name) {
    const std::lock_guard lock(mutex_);
    objects_.erase({CollectionOf(resource), ns + "/" + name});
  }
  // While set, answers 503 to everything.
  void SetAway(bool is_away) {
    const std::lock_guard lock(mutex_);
    is_away_ = is_away;
    refused_ = 0;
  }
  // Waits until a request gets a 503.
  bool WaitRefused() {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, std::chrono::seconds(10), [&] { return refused_ > 0; });
  }
  // Waits until the one client that watches has taken in all changes so far.
  bool WaitWatched() {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, std::chrono::seconds(10), [&] { return watched_ == version_; });
  }
  // Is called before a request for an object that is missing is answered.
  void OnMissing(std::function<void(const std::string& name)> on_missing) {
    const std::lock_guard lock(mutex_);
    on_missing_ = std::move(on_missing);
  }
  size_t writes() {
    const std::lock_guard lock(mutex_);
    return writes_;
  }

 private:
  struct Event {
    int64_t version;
    std::string collection;
    std::string type;
    text::Json object;
  };

  class Stream : public net::BodyStream {
   public:
    Stream(FakeCluster& cluster, std::string collection, api::FieldSelector selector,
           int64_t version)
        : cluster_(cluster),
          collection_(std::move(collection)),
          selector_(std::move(selector)),
          version_(version) {}
    int status() const override { return 200; }
    const net::Headers& headers() const override { return headers_; }
    base::Result<std::optional<std::string>> Read() override {
      std::unique_lock lock(cluster_.mutex_);
      while (!is_cancelled_) {
        for (const Event& event : cluster_.events_) {
          if (event.version <= version_) continue;
          version_ = event.version;
          if (event.collection != collection_ || !selector_.Matches(event.object)) continue;
          text::Object line{{"type", event.type}, {"object", event.object}};
          return std::optional(text::ToJson(line) + "\n");
        }
        // It asks for more once it has handled what it got.
        if (std::exchange(cluster_.watched_, cluster_.version_) != cluster_.version_) {
          cluster_.changed_.notify_all();
        }
        cluster_.changed_.wait(lock);
      }
      return base::Fail(base::Code::kCancelled, "cancelled");
    }
    void Cancel() override {
      const std::lock_guard lock(cluster_.mutex_);
      is_cancelled_ = true;
      cluster_.changed_.notify_all();
    }

   private:
    FakeCluster& cluster_;
    const std::string collection_;
    const api::FieldSelector selector_;
    int64_t version_;
    bool is_cancelled_ = false;
    net::Headers headers_;
  };

  class Connection : public cluster::Transport {
   public:
    explicit Connection(FakeCluster& cluster) : cluster_(cluster) {}
    base::Result<net::HttpResponse> Send(const net::HttpRequest& request) override {
      net::HttpResponse answer = cluster_.Answer(request);
      if (answer.status == 404 && request.method == "GET") cluster_.NoteMissing(request);
      return answer;
    }
    base::Result<std::unique_ptr<net::BodyStream>> Open(const net::HttpRequest& request) override {
      return cluster_.Watch(request);
    }

   private:
    FakeCluster& cluster_;
  };

  // The parts of "/api/v1/namespaces/ns/pods/name/status".
  struct Place {
    std::string collection;  // "v1/pods", "kubeflow.org/v1/pytorchjobs"
    std::string ns, name, subresource;
  };
  static Place PlaceOf(const net::Target& target) {
    std::vector<std::string> steps = target.segments;
    Place place;
    const size_t head = steps[0] == "api" ? 2 : 3;
    for (size_t i = 1; i < head; ++i) place.collection += steps[i] + "/";
    size_t at = head;
    if (steps[at] == "namespaces" && steps.size() > at + 2) {
      place.ns = steps[at + 1];
      at += 2;
    }
    place.collection += steps[at];
    if (steps.size() > at + 1) place.name = steps[at + 1];
    if (steps.size() > at + 2) place.subresource = steps[at + 2];
    return place;
  }
  static std::string CollectionOf(const api::Resource& resource) {
    return std::string(resource.api_version()) + "/" + std::string(resource.plural);
  }
  static Key KeyOf(const std::string& collection, const text::Json& object) {
    return {collection, std::string(api::Namespace(object)) + "/" + std::string(api::Name(object))};
  }

  std::optional<text::Json> FindLocked(const api::Resource& resource, const std::string& ns,
                                       const std::string& name) {
    const auto it = objects_.find({CollectionOf(resource), ns + "/" + name});
    if (it == objects_.end()) return std::nullopt;
    return it->second;
  }

  text::Json Store(const std::string& collection, text::Json object) {
    const Key key = KeyOf(collection, object);
    const bool is_new = !objects_.contains(key);
    text::Set(object, {"metadata", "resourceVersion"}, text::Json(std::to_string(++version_)));
    if (api::Uid(object).empty())
      text::Set(object, {"metadata", "uid"}, text::Json(base::NewUid()));
    objects_[key] = object;
    events_.push_back({version_, collection, is_new ? "ADDED" : "MODIFIED", object});
    changed_.notify_all();
    return object;
  }
  void Erase(const Key& key) {
    const auto it = objects_.find(key);
    if (it == objects_.end()) return;
    text::Json object = std::move(it->second);
    objects_.erase(it);
    deleted_.emplace(api::Uid(object));
    text::Set(object, {"metadata", "resourceVersion"}, text::Json(std::to_string(++version_)));
    events_.push_back({version_, key.first, "DELETED", std::move(object)});
    changed_.notify_all();
  }
  void DeleteObject(const Key& key, std::optional<int64_t> grace) {
    const auto it = objects_.find(key);
    if (it == objects_.end()) return;
    text::Json object = it->second;
    const bool is_graceful = key.first == "v1/pods" && !api::NodeName(object).empty() &&
                             !api::IsPodFinished(object) && grace.value_or(30) > 0;
    if (!is_graceful) return Erase(key);
    text::Set(object, {"metadata", "deletionTimestamp"}, "2026-01-01T00:00:30Z");
    text::Set(object, {"metadata", "deletionGracePeriodSeconds"},
              grace.value_or(
                  text::GetInt(object, {"spec", "terminationGracePeriodSeconds"}).value_or(30)));
    Store(key.first, std::move(object));
  }

  static net::HttpResponse Reply(int status, const text::Json& body) {
    return {status, {}, text::ToJson(body)};
  }
  static net::HttpResponse Refuse(int status, std::string_view reason) {
    return Reply(status, text::Object{{"kind", "Status"},
                                      {"status", "Failure"},
                                      {"reason", reason},
                                      {"message", reason},
                                      {"code", status}});
  }

  void NoteMissing(const net::HttpRequest& request) {
    std::function<void(const std::string&)> on_missing;
    {
      const std::lock_guard lock(mutex_);
      on_missing = on_missing_;
    }
    if (on_missing) on_missing(PlaceOf(*net::ParseTarget(request.target)).name);
  }

  net::HttpResponse Answer(const net::HttpRequest& request) {
    const std::lock_guard lock(mutex_);
    if (is_away_) {
      ++refused_;
      changed_.notify_all();
      return Refuse(503, "ServiceUnavailable");
    }
    const auto target = net::ParseTarget(request.target);
    const Place place = PlaceOf(*target);
    const Key key{place.collection, place.ns + "/" + place.name};
    if (request.method == "GET" && place.name.empty()) return AnswerList(*target, place);
    auto body = text::ParseJson(request.body.empty() ? "{}" : request.body);
    if (place.subresource == "binding") return Bind(key, *body);
    if (request.method == "POST") {
      ++writes_;
      text::Set(*body, {"metadata", "namespace"}, text::Json(place.ns));
      if (api::Name(*body).empty())
        text::Set(*body, {"metadata", "name"}, text::Json(base::NewUid()));
      if (objects_.contains(KeyOf(place.collection, *body))) return Refuse(409, "AlreadyExists");
      return Reply(201, Store(place.collection, *body));
    }
    const auto it = objects_.find(key);
    if (it == objects_.end()) return Refuse(404, "NotFound");
    if (request.method == "GET") return Reply(200, it->second);
    ++writes_;
    if (request.method == "DELETE") {
      const std::string_view uid = text::GetString(*body, {"preconditions", "uid"});
      if (!uid.empty() && uid != api::Uid(it->second)) return Refuse(409, "Conflict");
      const text::Json last = it->second;
      DeleteObject(key, text::GetInt(*body, {"gracePeriodSeconds"}));
      return Reply(200, last);
    }
    const std::string_view uid = api::Uid(*body);
    if (!uid.empty() && uid != api::Uid(it->second)) return Refuse(409, "Conflict");
    text::Json object = it->second;
    if (request.method == "PUT" && place.subresource == "status") {
      text::Set(object, {"status"}, *text::Find(*body, {"status"}));
    } else if (request.method == "PATCH") {
      text::MergePatch(object, *body);
    } else {
      object = *body;
    }
    return Reply(200, Store(place.collection, std::move(object)));
  }

  net::HttpResponse Bind(const Key& key, const text::Json& binding) {
    ++writes_;
    const auto it = objects_.find(key);
    if (it == objects_.end()) return Refuse(404, "NotFound");
    text::Json pod = it->second;
    const std::string_view uid = api::Uid(binding);
    if ((!uid.empty() && uid != api::Uid(pod)) || !api::NodeName(pod).empty()) {
      return Refuse(409, "Conflict");
    }
    text::Set(pod, {"spec", "nodeName"}, *text::Find(binding, {"target", "name"}));
    for (const auto& [name, value] : api::Annotations(binding)) {
      api::SetAnnotation(pod, name, value);
    }
    Store(key.first, std::move(pod));
    return Reply(201, text::Object{{"kind", "Status"}, {"status", "Success"}});
  }

  net::HttpResponse AnswerList(const net::Target& target, const Place& place) {
    const auto selector = api::FieldSelector::Parse(target.Query("fieldSelector"));
    text::Array items;
    for (const auto& [key, object] : objects_) {
      const bool is_in = key.first == place.collection &&
                         (place.ns.empty() || key.second.starts_with(place.ns + "/"));
      if (is_in && selector->Matches(object)) items.push_back(object);
    }
    return Reply(200, text::Object{{"kind", "List"},
                                   {"metadata", {{"resourceVersion", std::to_string(version_)}}},
                                   {"items", std::move(items)}});
  }

  base::Result<std::unique_ptr<net::BodyStream>> Watch(const net::HttpRequest& request) {
    const auto target = net::ParseTarget(request.target);
    auto selector = api::FieldSelector::Parse(target->Query("fieldSelector"));
    return std::make_unique<Stream>(*this, PlaceOf(*target).collection, std::move(*selector),
                                    std::stoll(std::string(target->Query("resourceVersion"))));
  }

  std::function<void(const std::string&)> on_missing_;
  std::mutex mutex_;
  std::condition_variable changed_;
  int64_t version_ = 0;
  int64_t watched_ = -1;
  size_t writes_ = 0;
  bool is_away_ = false;
  size_t refused_ = 0;  // while it answers 503
  std::map<Key, text::Json> objects_;
  std::set<std::string, std::less<>> deleted_;  // uids
  std::vector<Event> events_;
};

}  // namespace local::node
