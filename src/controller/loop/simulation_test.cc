// Whole lives of the loop against a simulated cluster: watches come late, twice, out of order
// between kinds, or are cut; writes conflict; the operator crashes at any write; two operators work
// at once. One seed is one life, and always the same one.
//   MUSTER_SIMULATIONS=100000 MUSTER_SEED=1 muster_controller_test --gtest_filter=Simulation*
#include <fmt/format.h>

#include <iostream>
#include <optional>
#include <random>

#include "base/environment.h"
#include "base/log.h"
#include "base/strings.h"
#include "controller/loop/job_worker.h"
#include "controller/loop/projection.h"
#include "controller/testing/simulated_cluster.h"

namespace controller {
namespace {

using std::chrono::seconds;

// What may go wrong in a life. Each is counted, to prove that it happens.
enum class Fault {
  kLateWatch,       // reconciling on superseded state
  kDoubledEvent,    // the same event twice
  kReorderedKinds,  // an event after younger ones of another kind
  kCutWatch,        // events that were lost: a list replaced them
  kConflict,        // a write on a version that is no longer current
  kAlreadyExists,
  kLostRequest,  // not done, and the operator lives on
  kLostAnswer,   // done, but the operator does not know
  kCrashBeforeCreate,
  kCrashAfterCreate,
  kCrashBeforeDelete,
  kCrashAfterDelete,
  kCrashBeforePatch,
  kCrashAfterPatch,
  kSecondWrites,  // a write while another operator is at work too
  kCount
};
constexpr std::array<const char*, static_cast<size_t>(Fault::kCount)> kFaultNames = {
    "late watch", "doubled event", "reordered kinds", "cut watch", "conflict",
    "exists",     "lost request",  "lost answer",     "crash-C",   "C-crash",
    "crash-D",    "D-crash",       "crash-P",         "P-crash",   "second writes"};

class FaultCounts {
 public:
  void Add(Fault fault) { ++counts_[static_cast<size_t>(fault)]; }
  int64_t Of(Fault fault) const { return counts_[static_cast<size_t>(fault)]; }

 private:
  std::array<int64_t, static_cast<size_t>(Fault::kCount)> counts_{};
};

constexpr unsigned kSimulations = 120;
// In so many lives every fault occurs.
constexpr unsigned kEnoughSimulations = 100;
constexpr int kWritesOfALife = 150;
constexpr int kMovesOfALife = 2'000;
constexpr int kCalmRounds = 300;

// One operator's connection to the server; it breaks, for good, at one of the writes.
class SimulatedLink final : public cluster::Transport {
 public:
  struct Nature {
    std::optional<int> writes_left{};
    bool is_last_done = false;
    bool is_second = false;                         // another operator is at work too
    std::function<int()> dice = [] { return 50; };  // 0 to 99 for each write
  };

  SimulatedLink(SimulatedServer& server, FaultCounts& faults, Nature nature)
      : server_(server), faults_(faults), nature_(std::move(nature)) {}

  base::Result<net::HttpResponse> Send(const net::HttpRequest& request) override {
    if (request.method == "GET") return server_.Handle(request);
    if (nature_.writes_left) {
      if (*nature_.writes_left <= 0) return Crashed();
      if (--*nature_.writes_left == 0) {
        CountCrash(request.method);
        if (nature_.is_last_done) server_.Handle(request);
        return Crashed();
      }
    }
    const int fate = nature_.dice();
    if (fate == 0) {
      faults_.Add(Fault::kLostRequest);
      return base::Fail(base::Code::kUnavailable, "the request was lost");
    }
    net::HttpResponse answer = server_.Handle(request);
    if (fate == 1) {
      faults_.Add(Fault::kLostAnswer);
      return base::Fail(base::Code::kUnavailable, "the answer was lost");
    }
    Count(answer);
    return answer;
  }
  base::Result<std::unique_ptr<net::BodyStream>> Open(const net::HttpRequest&) override {
    return base::Fail(base::Code::kInternal, "watches are told by hand");
  }
  bool has_crashed() const { return nature_.writes_left && *nature_.writes_left <= 0; }

 private:
  static tl::unexpected<base::Error> Crashed() {
    return base::Fail(base::Code::kUnavailable, "crashed");
  }
  void CountCrash(std::string_view method) {
    const bool is_done = nature_.is_last_done;
    if (method == "POST") {
      faults_.Add(is_done ? Fault::kCrashAfterCreate : Fault::kCrashBeforeCreate);
    } else if (method == "DELETE") {
      faults_.Add(is_done ? Fault::kCrashAfterDelete : Fault::kCrashBeforeDelete);
    } else {
      faults_.Add(is_done ? Fault::kCrashAfterPatch : Fault::kCrashBeforePatch);
    }
  }
  void Count(const net::HttpResponse& answer) {
    if (answer.status == 409) {
      faults_.Add(answer.body.find("AlreadyExists") != std::string::npos ? Fault::kAlreadyExists
                                                                         : Fault::kConflict);
    } else if (answer.status < 300 && nature_.is_second) {
      faults_.Add(Fault::kSecondWrites);
    }
  }

  SimulatedServer& server_;
  FaultCounts& faults_;
  Nature nature_;
};

// An operator that gets its watch events when the test says so.
class SimulatedOperator {
 public:
  SimulatedOperator(SimulatedServer& server, base::Clock& clock, const Options& options,
                    FaultCounts& faults, SimulatedLink::Nature nature)
      : server_(server),
        faults_(faults),
        link_(new SimulatedLink(server, faults, std::move(nature))),
        client_(std::unique_ptr<cluster::Transport>(link_)),
        worker_(client_, clock, options, [](const text::Json&, const reconcile::Event&) {}) {
    for (const SimKind kind : kSimKinds) Relist(kind);
    has_listed_ = true;
  }

  bool has_crashed() const { return link_->has_crashed(); }
  bool Work() {
    bool is_late = false;
    for (const SimKind kind : kSimKinds) is_late |= IsBehind(kind);
    const bool has_worked = worker_.WorkOneNow();
    if (has_worked && is_late) faults_.Add(Fault::kLateWatch);
    return has_worked;
  }

  void Relist(SimKind kind) {
    std::vector<text::Json> keys;
    for (const auto& [name, object] : server_.Of(kind)) keys.push_back(Put(kind, object));
    if (has_listed_ && IsBehind(kind)) faults_.Add(Fault::kCutWatch);
    CursorOf(kind) = server_.LogOf(kind).size();
    if (kind == SimKind::kJob) return worker_.KeepJobs(keys);
    worker_.KeepChildren(ChildOf(kind), keys);
  }
  // Returns its key.
  text::Json Put(SimKind kind, const text::Json& object) {
    text::Json projected = Projected(kind, object);
    text::Json key(kind == SimKind::kJob ? JobKey(projected) : ChildKey(ChildOf(kind), projected));
    if (kind == SimKind::kJob) {
      worker_.PutJob(std::move(projected));
    } else {
      worker_.PutChild(ChildOf(kind), std::move(projected));
    }
    return key;
  }
  // Delivers the next event of the watch; false when there is none.
  bool Hear(SimKind kind) {
    size_t& cursor = CursorOf(kind);
    if (cursor >= server_.LogOf(kind).size()) return false;
    const cluster::WatchEvent& event = server_.LogOf(kind)[cursor++];
    const auto version =
        base::ParseInt(text::GetString(event.object, {"metadata", "resourceVersion"}));
    if (version && *version < newest_heard_) faults_.Add(Fault::kReorderedKinds);
    newest_heard_ = std::max(newest_heard_, version.value_or(0));
    Publish(kind, event);
    return true;
  }
  void HearAgain(SimKind kind) {
    const size_t cursor = CursorOf(kind);
    if (cursor == 0) return;
    faults_.Add(Fault::kDoubledEvent);
    Publish(kind, server_.LogOf(kind)[cursor - 1]);
  }

 private:
  static ChildKind ChildOf(SimKind kind) {
    return kind == SimKind::kPod ? ChildKind::kPod : ChildKind::kService;
  }
  static text::Json Projected(SimKind kind, text::Json object) {
    if (kind == SimKind::kJob) ProjectJob(object);
    if (kind == SimKind::kPod) ProjectPod(object);
    if (kind == SimKind::kService) ProjectService(object);
    return object;
  }
  void Publish(SimKind kind, cluster::WatchEvent event) {
    event.object = Projected(kind, std::move(event.object));
    if (kind == SimKind::kJob) return worker_.TakeJob(std::move(event));
    worker_.TakeChild(ChildOf(kind), std::move(event));
  }
  size_t& CursorOf(SimKind kind) { return cursors_[static_cast<size_t>(kind)]; }
  bool IsBehind(SimKind kind) { return CursorOf(kind) < server_.LogOf(kind).size(); }

  SimulatedServer& server_;
  FaultCounts& faults_;
  bool has_listed_ = false;
  int64_t newest_heard_ = 0;
  SimulatedLink* link_;  // client_ owns it
  cluster::Client client_;
  std::array<size_t, 3> cursors_{};
  JobWorker worker_;
};

class Lifetime {
 public:
  Lifetime(unsigned seed, FaultCounts& faults) : random_(seed), faults_(faults), server_(clock_) {
    options_.is_operator = true;
    options_.reconcile.reports_first_failure = Chance(50);
    options_.reconcile.ends_pods_in_place = Chance(30);
    server_.is_graceful = [this] { return Chance(50); };
    const int jobs = 1 + Below(3);
    for (int i = 0; i < jobs; ++i) server_.CreateJob(RandomJob("j" + std::to_string(i)));
  }

  void Run() {
    Restart();
    for (int i = 0; i < kMovesOfALife && server_.writes() < kWritesOfALife; ++i) {
      Move();
      if (testing::Test::HasFailure()) return;
    }
    CalmDown();
  }

 private:
  int Below(int limit) { return static_cast<int>(random_() % static_cast<unsigned>(limit)); }
  bool Chance(int percent) { return Below(100) < percent; }
  const char* Pick(std::initializer_list<const char*> choices) {
    return *(choices.begin() + Below(static_cast<int>(choices.size())));
  }

  text::Json RandomJob(const std::string& name) {
    const auto replica = [this](int count) {
      return text::Object{
          {"replicas", count},
          {"restartPolicy", Pick({"OnFailure", "Always", "Never", "ExitCode"})},
          {"template",
           text::Object{
               {"spec", text::Object{{"containers", text::Array{text::Object{{"name", "pytorch"},
                                                                             {"image", "i"}}}}}}}}};
    };
    text::Json job = text::Object{{"apiVersion", "kubeflow.org/v1"},
                                  {"kind", "PyTorchJob"},
                                  {"metadata", text::Object{{"name", name}}}};
    const bool has_master = Chance(70);
    if (has_master) text::Set(job, {"spec", "pytorchReplicaSpecs", "Master"}, replica(1));
    if (!has_master || Chance(80)) {
      text::Set(job, {"spec", "pytorchReplicaSpecs", "Worker"}, replica(1 + Below(3)));
    }
    text::Object run{{"cleanPodPolicy", Pick({"None", "Running", "All"})}, {"suspend", Chance(15)}};
    if (Chance(30)) run["backoffLimit"] = Below(4);
    if (Chance(15)) run["ttlSecondsAfterFinished"] = Below(20);
    if (Chance(15)) run["activeDeadlineSeconds"] = 10 + Below(100);
    text::Set(job, {"spec", "runPolicy"}, std::move(run));
    if (Chance(30)) {
      text::Set(job, {"metadata", "annotations", api::kRestartScopeAnnotation},
                text::Json(Pick({"pod", "replica", "job"})));
    }
    return job;
  }

  void Restart() {
    SimulatedLink::Nature nature = Careless();
    if (Chance(60)) nature.writes_left = 1 + Below(25);
    nature.is_last_done = Chance(50);
    operators_[0].emplace(server_, clock_, options_, faults_, std::move(nature));
  }
  // A connection that loses a request now and then.
  SimulatedLink::Nature Careless() {
    SimulatedLink::Nature nature;
    nature.dice = [this] { return Below(100); };
    return nature;
  }

  std::string Any(SimKind kind) {
    auto object = server_.Of(kind).begin();
    std::advance(object, Below(static_cast<int>(server_.Of(kind).size())));
    return object->first;
  }

  void MovePod() {
    if (server_.Of(SimKind::kPod).empty()) return;
    const std::string pod = Any(SimKind::kPod);
    const text::Json& object = server_.Of(SimKind::kPod).at(pod);
    const bool has_ended = api::IsPodFinished(object);
    const int what = Below(20);
    if (api::IsDeleting(object) && what < 10) return server_.Remove(SimKind::kPod, pod);
    // The kubelet's last request, or the eviction's first.
    if (api::IsDeleting(object) && what < 14) return server_.AskForDeletion(pod);
    if (what == 18 && !has_ended && Chance(50)) return server_.Evict(pod);
    if (what == 19 && Chance(30)) return server_.Remove(SimKind::kPod, pod);
    if (has_ended) return;
    if (what < 12) return server_.SetPhase(pod, "Running", 0);
    if (what < 16) return server_.SetPhase(pod, "Succeeded", 0);
    if (what < 19) server_.SetPhase(pod, "Failed", Chance(50) ? 137 : 1);
  }

  void MoveUser() {
    if (server_.Of(SimKind::kJob).empty()) return;
    const std::string job = Any(SimKind::kJob);
    text::Json patch = text::Object();
    switch (Below(8)) {
      case 0:
        text::Set(patch, {"spec", "runPolicy", "suspend"}, text::Json(Chance(50)));
        break;
      case 1:
        if (text::Find(server_.Of(SimKind::kJob).at(job),
                       {"spec", "pytorchReplicaSpecs", "Worker"}) == nullptr) {
          return;
        }
        text::Set(patch, {"spec", "pytorchReplicaSpecs", "Worker", "replicas"}, 1 + Below(3));
        break;
      case 2:
        if (Chance(20)) {
          server_.Remove(SimKind::kJob, job);
          if (Chance(50)) server_.CreateJob(RandomJob(job));
        }
        return;
      default:
        text::Set(patch, {"metadata", "labels", "touched"},
                  text::Json(std::to_string(server_.writes())));
        break;
    }
    server_.Patch(SimKind::kJob, job, patch);
  }

  void MoveOperator(std::optional<SimulatedOperator>& one) {
    if (!one) return;
    const SimKind kind = kSimKinds[static_cast<size_t>(Below(3))];
    const int what = Below(100);
    if (what < 50) {
      for (int i = Below(4); i >= 0; --i) one->Hear(kind);
    } else if (what < 55) {
      one->HearAgain(kind);
    } else if (what < 58) {
      one->Relist(kind);
    } else {
      one->Work();
    }
  }

  void Move() {
    const int what = Below(100);
    if (what < 60) {
      MoveOperator(operators_[0]);
    } else if (what < 66) {
      MoveOperator(operators_[1]);
    } else if (what < 86) {
      MovePod();
    } else if (what < 90) {
      MoveUser();
    } else if (what < 92) {
      server_.CollectGarbage();
    } else if (what < 98) {
      clock_.Advance(std::chrono::milliseconds(Below(3'000)));
    } else if (what == 98) {
      // A second operator starts, or ends.
      if (operators_[1]) {
        operators_[1].reset();
      } else {
        SimulatedLink::Nature nature = Careless();
        nature.is_second = true;
        operators_[1].emplace(server_, clock_, options_, faults_, std::move(nature));
      }
    } else if (Chance(20)) {
      Restart();
    }
    if (operators_[0]->has_crashed()) Restart();
  }

  // Nothing goes wrong any more: every job has to end.
  void CalmDown() {
    operators_[1].reset();
    operators_[0].emplace(server_, clock_, options_, faults_, SimulatedLink::Nature{});
    for (int round = 0; round < kCalmRounds && !testing::Test::HasFailure(); ++round) {
      const int before = server_.writes();
      for (const SimKind kind : kSimKinds) {
        while (operators_[0]->Hear(kind)) {
        }
      }
      while (operators_[0]->Work()) {
      }
      RunPods(round);
      ResumeAll();
      server_.CollectGarbage();
      clock_.Advance(seconds(1));
      if (server_.writes() == before && round > 100) break;
    }
    CheckEnd();
  }

  void RunPods(int round) {
    std::vector<std::string> names;
    for (const auto& [name, pod] : server_.Of(SimKind::kPod)) names.push_back(name);
    for (const std::string& name : names) {
      const text::Json& pod = server_.Of(SimKind::kPod).at(name);
      if (api::IsDeleting(pod)) {
        server_.Remove(SimKind::kPod, name);
      } else if (!api::IsPodFinished(pod) && !api::Annotation(pod, api::kEndAnnotation).empty()) {
        server_.SetPhase(name, "Failed", 143);
      } else if (api::Phase(pod) == "Pending") {
        server_.SetPhase(name, "Running", 0);
      } else if (api::Phase(pod) == "Running" && round % 4 == 3) {
        server_.SetPhase(name, "Succeeded", 0);
      }
    }
  }

  void ResumeAll() {
    std::vector<std::string> suspended;
    for (const auto& [name, job] : server_.Of(SimKind::kJob)) {
      if (text::GetBool(job, {"spec", "runPolicy", "suspend"}).value_or(false)) {
        suspended.push_back(name);
      }
    }
    text::Json patch = text::Object();
    text::Set(patch, {"spec", "runPolicy", "suspend"}, text::Json(false));
    for (const std::string& name : suspended) server_.Patch(SimKind::kJob, name, patch);
  }

  void CheckEnd() {
    for (const auto& [name, job] : server_.Of(SimKind::kJob)) {
      const text::Json* const stored = text::Find(job, {"status"});
      ASSERT_NE(stored, nullptr) << text::ToJson(job);
      const auto status = api::ParseJobStatus(*stored);
      ASSERT_TRUE(status && status->IsFinished()) << text::ToJson(job);
      EXPECT_TRUE(status->completion_time) << text::ToJson(job);
      std::string_view policy = text::GetString(job, {"spec", "runPolicy", "cleanPodPolicy"});
      // All pods of a failed job stay, and none runs.
      if (options_.reconcile.ends_pods_in_place && status->Is("Failed")) policy = "Running";
      for (const auto& [pod_name, pod] : server_.Of(SimKind::kPod)) {
        if (api::ControllerUid(pod) != api::Uid(job)) continue;
        EXPECT_NE(policy, "All") << pod_name << " is left of " << text::ToJson(job);
        if (policy == "Running") {
          EXPECT_TRUE(api::IsPodFinished(pod)) << pod_name << " of " << text::ToJson(job);
        }
      }
    }
  }

  std::mt19937 random_;
  FaultCounts& faults_;
  base::FakeClock clock_{*base::ParseRfc3339("2026-07-30T10:00:00Z")};
  Options options_;
  SimulatedServer server_;
  std::array<std::optional<SimulatedOperator>, 2> operators_;
};

unsigned FromEnvironment(const char* name, unsigned otherwise) {
  const auto value = base::Environment::OfProcess().Get(name);
  const auto number = value ? base::ParseInt(*value) : std::nullopt;
  return number ? static_cast<unsigned>(*number) : otherwise;
}

TEST(Simulation, EveryJobEndsRightWhateverHappens) {
  base::SetLogLevel(base::LogLevel::kError);
  const unsigned first = FromEnvironment("MUSTER_SEED", 1);
  const unsigned count = FromEnvironment("MUSTER_SIMULATIONS", kSimulations);
  FaultCounts faults;
  for (unsigned seed = first; seed < first + count; ++seed) {
    SCOPED_TRACE(fmt::format("MUSTER_SEED={} MUSTER_SIMULATIONS=1", seed));
    Lifetime(seed, faults).Run();
    if (testing::Test::HasFailure()) return;
  }
  for (size_t i = 0; i < kFaultNames.size(); ++i) {
    const int64_t times = faults.Of(static_cast<Fault>(i));
    RecordProperty(kFaultNames[i], std::to_string(times));
    std::cout << kFaultNames[i] << ": " << times << "\n";
    if (count >= kEnoughSimulations) {
      EXPECT_GT(times, 0) << kFaultNames[i];
    }
  }
}

}  // namespace
}  // namespace controller
