// The loop that feeds the reconciler and applies its plans: the same on Kubernetes and in the
// embedded cluster.
#pragma once

#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "cluster/client.h"
#include "cluster/reflector.h"
#include "controller/loop/event_recorder.h"
#include "controller/loop/job_worker.h"

namespace controller {

class Controller {
 public:
  // Starts its threads. `client` and `clock` outlive it.
  Controller(cluster::Client& client, base::Clock& clock, Options options);
  ~Controller();  // stops and joins; unwritten decisions are made again after the next start

  // OK once the first lists are complete and jobs are worked on; otherwise the error that prevents
  // it.
  base::Status IsReady() const;
  const JobWorker& worker() const { return worker_; }
  const EventRecorder& events() const { return events_; }

 private:
  void Work();
  std::unique_ptr<cluster::Reflector> Reflect(const api::Resource& resource,
                                              cluster::ListOptions list,
                                              cluster::ReflectorHandler handler);
  void ReflectJobs();
  void ReflectChildren(ChildKind kind);
  void ReflectPriorities();
  void ReflectNodes();  // once, when the first job needs it
  void ListIsComplete();
  void SayTrouble(const api::Resource& resource, const std::string& trouble);

  cluster::Client& client_;
  Options options_;
  EventRecorder events_;
  JobWorker worker_;

  // The first lists: reconciling on half of them would create objects that exist.
  mutable std::mutex lists_mutex_;
  std::condition_variable lists_changed_;
  int lists_missing_ = 0;
  std::once_flag prepared_;
  bool is_stopping_ = false;
  std::map<std::string, std::string> troubles_;  // by plural: why it cannot be listed
  std::vector<std::unique_ptr<cluster::Reflector>> reflectors_;
  std::unique_ptr<cluster::Reflector> nodes_;
  std::vector<std::thread> threads_;
};

}  // namespace controller
