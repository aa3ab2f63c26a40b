// For tests: an ApiServer over a temporary directory, a responder that records what it is given,
// and a clock and timers that the test moves.
#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>

#include <atomic>
#include <condition_variable>
#include <functional>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "base/file.h"
#include "local/server/routing/api_server.h"
#include "text/json.h"

namespace local::server {

// The path of an object or of its subresource.
inline std::string Path(const char* collection, std::string_view rest) {
  return std::string(collection) + "/" + std::string(rest);
}

class FakeResponder : public net::Responder {
 public:
  void Send(net::HttpResponse response) override {
    {
      const std::lock_guard lock(mutex_);
      EXPECT_FALSE(is_complete_) << "answered twice";
      response_ = std::move(response);
    }
    Complete();
  }
  void Start(int status, net::Headers headers) override {
    const std::lock_guard lock(mutex_);
    response_ = {status, std::move(headers), ""};
    is_started_ = true;
    changed_.notify_all();
  }
  void Write(std::string chunk) override {
    const std::lock_guard lock(mutex_);
    EXPECT_TRUE(is_started_);
    if (is_complete_) return;
    response_.body += chunk;
    changed_.notify_all();
  }
  void Finish() override { Complete(); }
  void CutShort(std::string last) override {
    Write(std::move(last));
    pending_bytes = 0;
    Complete();
    CallWhenTaken();
  }
  void Upgrade(net::Headers headers, std::function<void(std::string_view)> receive) override {
    Start(101, std::move(headers));
    const std::lock_guard lock(mutex_);
    receive_ = std::move(receive);
  }
  void Used(size_t bytes) override { used_bytes += bytes; }
  void WhenTaken(size_t limit, std::function<void()> callback) override {
    if (pending_bytes <= limit || IsClosed()) return callback();
    const std::lock_guard lock(mutex_);
    when_taken = std::move(callback);
    changed_.notify_all();
  }
  bool TakesParsed() const override { return takes_parsed; }
  void WriteLines(std::string chunk, std::vector<net::ParsedLine> parsed) override {
    {
      const std::lock_guard lock(mutex_);
      parsed_.insert(parsed_.end(), parsed.begin(), parsed.end());
    }
    Write(std::move(chunk));
  }
  size_t PendingBytes() const override { return pending_bytes; }
  bool IsClosed() const override {
    const std::lock_guard lock(mutex_);
    return is_complete_;
  }
  void OnClose(std::function<void()> callback) override {
    {
      const std::lock_guard lock(mutex_);
      if (!is_complete_) {
        on_close_ = std::move(callback);
        return;
      }
    }
    callback();
  }

  // As if the peer had disconnected.
  void Close() {
    Complete();
    CallWhenTaken();
  }
  // As if the peer had read everything.
  void TakeAll() {
    pending_bytes = 0;
    CallWhenTaken();
  }
  // Whether the server waits for the peer to read more.
  bool HasWaiter() const {
    const std::lock_guard lock(mutex_);
    return static_cast<bool>(when_taken);
  }
  // Waits until an answer has begun; returns its status.
  int WaitStarted() {
    std::unique_lock lock(mutex_);
    const bool has_begun = changed_.wait_for(lock, std::chrono::seconds(30),
                                             [this] { return is_started_ || is_complete_; });
    EXPECT_TRUE(has_begun) << "no answer";
    return response_.status;
  }
  // As if the peer had sent these bytes, after an upgrade.
  void Receive(std::string_view bytes) { receive_(bytes); }
  // The answer so far.
  net::HttpResponse Now() {
    const std::lock_guard lock(mutex_);
    return response_;
  }
  net::HttpResponse Wait() {
    std::unique_lock lock(mutex_);
    const bool is_answered =
        changed_.wait_for(lock, std::chrono::seconds(30), [this] { return is_complete_; });
    EXPECT_TRUE(is_answered) << "no answer";
    return response_;
  }
  // Waits for `count` lines of a stream.
  std::vector<text::Json> Lines(size_t count) {
    std::unique_lock lock(mutex_);
    const bool are_there =
        changed_.wait_for(lock, std::chrono::seconds(30), [&] { return CountLines() >= count; });
    EXPECT_TRUE(are_there) << response_.body;
    std::vector<text::Json> lines;
    size_t at = 0;
    for (size_t end = 0; (end = response_.body.find('\n', at)) != std::string::npos; at = end + 1) {
      auto json = text::ParseJson(std::string_view(response_.body).substr(at, end - at));
      EXPECT_TRUE(json);
      if (json) lines.push_back(std::move(*json));
    }
    return lines;
  }

  std::vector<net::ParsedLine> Parsed() {
    const std::lock_guard lock(mutex_);
    return parsed_;
  }

  std::atomic<bool> takes_parsed = false;
  std::atomic<size_t> pending_bytes = 0;
  std::atomic<size_t> used_bytes = 0;
  std::function<void()> when_taken;

 private:
  size_t CountLines() const {
    return static_cast<size_t>(std::count(response_.body.begin(), response_.body.end(), '\n'));
  }
  void CallWhenTaken() {
    std::function<void()> callback;
    {
      const std::lock_guard lock(mutex_);
      callback = std::exchange(when_taken, {});
    }
    if (callback) callback();
  }
  void Complete() {
    std::function<void()> callback;
    {
      const std::lock_guard lock(mutex_);
      is_complete_ = true;
      callback = std::move(on_close_);
      on_close_ = {};
      changed_.notify_all();
    }
    if (callback) callback();
  }

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  net::HttpResponse response_;
  std::vector<net::ParsedLine> parsed_;
  bool is_started_ = false;
  bool is_complete_ = false;
  std::function<void()> on_close_;
  std::function<void(std::string_view)> receive_;
};

// Tasks run when the test says so.
class FakeTimers : public Timers {
 public:
  Id After(std::chrono::milliseconds wait, std::function<void()> task) override {
    const std::lock_guard lock(mutex_);
    tasks_.emplace(++last_, std::pair(wait, std::move(task)));
    changed_.notify_all();
    return last_;
  }
  void Cancel(Id id) override {
    const std::lock_guard lock(mutex_);
    tasks_.erase(id);
  }
  size_t Count() {
    const std::lock_guard lock(mutex_);
    return tasks_.size();
  }
  // Waits until a task with exactly this `wait` is set, and runs it.
  void Fire(std::chrono::milliseconds wait) {
    std::function<void()> task;
    {
      std::unique_lock lock(mutex_);
      const auto find = [&] {
        return std::find_if(tasks_.begin(), tasks_.end(),
                            [&](const auto& entry) { return entry.second.first == wait; });
      };
      const bool is_set =
          changed_.wait_for(lock, std::chrono::seconds(30), [&] { return find() != tasks_.end(); });
      ASSERT_TRUE(is_set) << "no timer of " << wait.count() << " ms";
      const auto found = find();
      task = std::move(found->second.second);
      tasks_.erase(found);
    }
    task();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<Id, std::pair<std::chrono::milliseconds, std::function<void()>>> tasks_;
  Id last_ = 0;
};

// A FakeClock behind a lock: the writer thread reads it while the test moves it.
class SteppedClock : public base::Clock {
 public:
  base::Time Now() override { return base::Time(base::Duration(now_.load())); }
  std::chrono::steady_clock::time_point Steady() override { return {}; }
  void Advance(base::Duration by) { now_ += by.count(); }

 private:
  // 2026-07-30T10:00:00Z
  std::atomic<int64_t> now_ = 1'785'405'600'000'000;
};

class TestServer {
 public:
  explicit TestServer(ApiServer::Options options = {}) {
    char path[] = "/tmp/muster-server-XXXXXX";
    directory_ = ::mkdtemp(path);
    options_ = std::move(options);
    options_.clock = &clock;
    options_.timers = timers;
    Restart();
  }
  ~TestServer() {
    server_.reset();
    (void)base::RemoveTree(directory_);
  }

  void Restart() {
    server_.reset();
    auto server = ApiServer::Open(directory_ + "/state.db", options_);
    EXPECT_TRUE(server) << server.error().message;
    if (server) server_ = std::move(*server);
    timers->Fire(std::chrono::milliseconds(1));  // reads the summaries
  }

  std::shared_ptr<FakeResponder> Open(std::string method, std::string target, std::string body = "",
                                      net::Headers headers = {}) {
    auto responder = std::make_shared<FakeResponder>();
    server_->Handle({std::move(method), std::move(target), std::move(headers), std::move(body)},
                    responder);
    return responder;
  }
  void Handle(std::string method, std::string target, std::shared_ptr<net::Responder> responder) {
    server_->Handle({std::move(method), std::move(target), {}, ""}, std::move(responder));
  }
  net::HttpResponse Send(std::string method, std::string target, std::string body = "",
                         net::Headers headers = {}) {
    return Open(std::move(method), std::move(target), std::move(body), std::move(headers))->Wait();
  }
  // Sends a request, expects that status, and returns the body.
  text::Json Expect(int status, std::string method, std::string target,
                    const text::Json& body = nullptr, net::Headers headers = {}) {
    const auto response = Send(method, target, body.is_null() ? "" : text::ToJson(body), headers);
    EXPECT_EQ(response.status, status) << method << " " << target << "\n" << response.body;
    auto json = text::ParseJson(response.body);
    EXPECT_TRUE(json) << response.body;
    return json ? std::move(*json) : text::Json();
  }
  text::Json Patch(int status, std::string target, const text::Json& patch,
                   std::string type = "application/merge-patch+json") {
    return Expect(status, "PATCH", std::move(target), patch, {{"Content-Type", std::move(type)}});
  }
  text::Json Table(std::string target) {
    return Expect(200, "GET", std::move(target), nullptr,
                  {{"Accept", "application/json;as=Table;v=v1;g=meta.k8s.io,application/json"}});
  }

  // Changes a stored object past the server's rules, as an earlier version may have stored it.
  void ChangeStored(store::Key key, const std::function<void(text::Json&)>& change) {
    store::Mutation mutation;
    mutation.key = std::move(key);
    mutation.apply = [&](store::View&,
                         std::optional<store::Record> current) -> base::Result<store::Next> {
      if (!current) return base::Fail(base::Code::kNotFound, "there is no such object");
      change(current->object);
      return store::Next{store::Next::Action::kPut, std::move(current->object), {}};
    };
    std::promise<bool> done;
    server_->store().Submit(std::move(mutation),
                            [&](const auto& stored) { done.set_value(stored.has_value()); });
    EXPECT_TRUE(done.get_future().get());
  }

  SteppedClock clock;
  std::shared_ptr<FakeTimers> timers = std::make_shared<FakeTimers>();

 private:
  std::string directory_;
  ApiServer::Options options_;
  std::unique_ptr<ApiServer> server_;
};

inline text::Json PodObject(const std::string& name,
                            const std::string& namespace_name = "default") {
  return text::Object{
      {"apiVersion", "v1"},
      {"kind", "Pod"},
      {"metadata", text::Object{{"name", name}, {"namespace", namespace_name}}},
      {"spec", text::Object{{"containers",
                             text::Array{text::Object{{"name", "pytorch"}, {"image", "torch"}}}}}}};
}

inline text::Json JobObject(const std::string& name) {
  const text::Object replica{
      {"replicas", 1}, {"template", text::Object{{"spec", *text::Find(PodObject("x"), {"spec"})}}}};
  return text::Object{
      {"apiVersion", "kubeflow.org/v1"},
      {"kind", "PyTorchJob"},
      {"metadata", text::Object{{"name", name}, {"namespace", "default"}}},
      {"spec", text::Object{{"pytorchReplicaSpecs",
                             text::Object{{"Master", replica}, {"Worker", replica}}}}}};
}

inline text::Json OwnerReference(const text::Json& owner) {
  return text::Object{{"apiVersion", text::GetString(owner, {"apiVersion"})},
                      {"kind", text::GetString(owner, {"kind"})},
                      {"name", text::GetString(owner, {"metadata", "name"})},
                      {"uid", text::GetString(owner, {"metadata", "uid"})},
                      {"controller", true},
                      {"blockOwnerDeletion", true}};
}

inline const char* const kPodsPath = "/api/v1/namespaces/default/pods";
inline const char* const kJobsPath = "/apis/kubeflow.org/v1/namespaces/default/pytorchjobs";

}  // namespace local::server
