// Waits for something to happen to any job of a namespace.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "cluster/client.h"
#include "cluster/reflector.h"

namespace arena {

class JobNews {
 public:
  // "" for every namespace. Borrows the client. `on_problem`, if there is one, is called on a
  // thread of its own with the reason why the server does not answer, and with "" when it does
  // again.
  JobNews(cluster::Client& client, const std::string& namespace_name,
          const std::function<void(const std::string& problem)>& on_problem = {});

  // Blocks until a job was created, changed or deleted since the last call, with a minimum interval
  // between returns, and if given a maximum one, after which it returns without news. The first
  // call returns once the jobs are listed. An error if the server refuses.
  base::Status Await(std::chrono::milliseconds at_least,
                     std::optional<std::chrono::milliseconds> at_most = std::nullopt);

 private:
  void Notify(std::optional<base::Error> refusal);

  std::mutex mutex_;
  std::condition_variable changed_;
  bool has_news_ = false;
  std::optional<base::Error> refusal_;
  std::chrono::steady_clock::time_point last_{};
  // The last member, so that its thread ends first.
  std::unique_ptr<cluster::Reflector> reflector_;
};

}  // namespace arena
