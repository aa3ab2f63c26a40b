#include "rendezvous/store/wait_explainer.h"

#include <gtest/gtest.h>

#include "base/strings.h"
#include "rendezvous/store/keys.h"

namespace rendezvous {
namespace {

// Four ranks: connection 10 + r is rank r; pid 100 + r.
class Scene {
 public:
  explicit Scene(int world = 4) {
    snapshot_.at = SteadyTime(std::chrono::seconds(1000));
    for (int rank = 0; rank < world; ++rank) {
      ranks_.push_back({rank, rank < 2 ? "a" : "b", 100 + rank, true, {}});
      Connect(rank);
    }
  }
  Scene& Connect(int rank) {
    snapshot_.clients.push_back(
        {IdOf(rank), {"127.0.0.1", 5000}, static_cast<uint32_t>(100 + rank), {}});
    return *this;
  }
  Scene& Disconnect(int rank) {
    std::erase_if(snapshot_.clients,
                  [&](const StoreClient& client) { return client.id == IdOf(rank); });
    return *this;
  }
  Scene& Key(const std::string& key, const std::vector<int>& writers) {
    std::vector<StoreClientId> ids;
    for (const int rank : writers) ids.push_back(IdOf(rank));
    snapshot_.keys.push_back({key, std::to_string(writers.size()), 1, ids});
    return *this;
  }
  Scene& Waits(int rank, const std::string& key, int waited, int64_t barrier = 0,
               bool is_polling = false) {
    snapshot_.waiters.push_back(
        {IdOf(rank), {key}, snapshot_.at - std::chrono::seconds(waited), barrier, is_polling});
    return *this;
  }
  Scene& Polls(int rank, const std::string& key, int waited) {
    return Waits(rank, key, waited, 0, true);
  }
  RankInfo& rank(int rank) { return ranks_[static_cast<size_t>(rank)]; }
  std::string Explain() const {
    std::string text;
    for (const StuckWait& wait : ExplainWaits(
             snapshot_, ranks_, RanksOfClients(snapshot_, ranks_, {}), std::chrono::seconds(5))) {
      text += wait.text + "\n";
    }
    return text;
  }
  StoreSnapshot& snapshot() { return snapshot_; }
  const std::vector<RankInfo>& ranks() const { return ranks_; }

 private:
  static StoreClientId IdOf(int rank) { return static_cast<StoreClientId>(10 + rank); }
  StoreSnapshot snapshot_;
  std::vector<RankInfo> ranks_;
};

TEST(ExplainWaits, NamesTheRankThatHasNotComeToInit) {
  Scene scene;
  for (const int rank : {0, 1, 3}) {
    scene.Key("/default_pg/0//cpu//0/" + std::to_string(rank), {rank});
    scene.Waits(rank, "/default_pg/0//cpu//0/2", 10 - rank);
  }
  scene.rank(2).doing = "waiting in train.py:30 (load)";
  EXPECT_EQ(scene.Explain(),
            "barrier \"default_pg init\": 3/4 joined after 10 s; missing: rank 2 (host b, pid 102, "
            "alive, waiting in train.py:30 (load))\n");
}

TEST(ExplainWaits, SaysWhenTheMissingRankIsNotConnectedOrDead) {
  Scene scene;
  scene.Disconnect(2).Disconnect(3);
  scene.rank(3).is_alive = false;
  for (const int rank : {0, 1}) {
    scene.Key("/default_pg/0//cpu//0/" + std::to_string(rank), {rank});
    scene.Waits(rank, "/default_pg/0//cpu//0/2", 10);
  }
  EXPECT_EQ(scene.Explain(),
            "barrier \"default_pg init\": 2/4 joined after 10 s; missing: rank 2 (host b, pid 102, "
            "alive, not connected to the store), rank 3 (host b, pid 103, dead)\n");
}

TEST(ExplainWaits, KnowsTorchUpTo20) {
  Scene scene;
  const std::string base = "//worker/attempt_3/default_pg/";
  for (const int rank : {0, 1, 2, 3}) scene.Key(base + "0/0/" + std::to_string(rank), {rank});
  scene.Key(base + "store_based_barrier_key:1", {0, 1, 3});
  for (const int rank : {0, 1, 3}) scene.Polls(rank, base + "store_based_barrier_key:1", 20);
  EXPECT_EQ(scene.Explain(),
            "barrier \"default_pg init\": 3/4 joined after 20 s; missing: rank 2 (host b, pid 102, "
            "alive)\n");
}

TEST(ExplainWaits, KnowsTheBarrierWhoseLastArrivalSetsAKey) {
  Scene scene;
  const std::string key = "/default_pg/store_based_barrier_key:0";
  scene.Key(key, {1, 2});
  for (const int rank : {1, 2}) scene.Waits(rank, key + ":last_worker", 12);
  EXPECT_EQ(scene.Explain(),
            "barrier \"default_pg init\": 2/4 joined after 12 s; missing: rank 0 (host a, pid 100, "
            "alive), rank 3 (host b, pid 103, alive)\n");
}

TEST(ExplainWaits, ShowsRanksThatMadeDifferentGroupsFirst) {
  Scene scene;
  for (const int rank : {0, 1}) {
    scene.Key("/default_pg/0//1//cpu//0/" + std::to_string(rank), {rank});
    scene.Waits(rank, "/default_pg/0//1//cpu//0/2", 12);
  }
  scene.Key("/default_pg/0//2//cpu//0/3", {3});
  scene.Waits(3, "/default_pg/0//2//cpu//0/0", 11);
  EXPECT_EQ(scene.Explain(),
            "barrier \"process group 1\": 2 joined after 12 s; missing: rank 2 (host b, pid 102, "
            "alive), rank 3 (host b, pid 103, alive, waiting in \"process group 2\")\n"
            "barrier \"process group 2\": 1 joined after 11 s; missing: rank 0 (host a, pid 100, "
            "alive, waiting in \"process group 1\"), rank 1 (host a, pid 101, alive, waiting in "
            "\"process group 1\"), rank 2 (host b, pid 102, alive)\n");
}

TEST(ExplainWaits, RanksOfTwoVersionsOfTorchWaitForEachOther) {
  Scene scene;
  for (const int rank : {0, 1}) {
    scene.Key("//worker/attempt_0/default_pg/0/0/" + std::to_string(rank), {rank});
    scene.Waits(rank, "//worker/attempt_0/default_pg/0/0/2", 12);
  }
  for (const int rank : {2, 3}) {
    scene.Key("/default_pg/0//cpu//0/" + std::to_string(rank), {rank});
    scene.Waits(rank, "/default_pg/0//cpu//0/0", 11);
  }
  const std::string said = scene.Explain();
  EXPECT_EQ(base::Split(said, '\n').size(), 3u) << said;
  for (const std::string& line : base::Split(said, '\n')) {
    if (line.empty()) continue;
    EXPECT_TRUE(line.ends_with("; they wait for each other: is torch the same on every node?"))
        << line;
  }
}

TEST(ExplainWaits, KnowsWhoMakesTheNcclId) {
  Scene scene;
  for (const int rank : {1, 2, 3}) scene.Waits(rank, "/default_pg/0//cuda//0", 9);
  EXPECT_EQ(scene.Explain(),
            "barrier \"default_pg init\": 3 joined after 9 s; missing: rank 0 (host a, pid 100, "
            "alive)\n");
}

TEST(ExplainWaits, ExplainsABarrierRequestAndAUsersKey) {
  Scene scene;
  scene.Key("/mine", {0, 1, 2}).Waits(0, "/mine", 30, 4).Waits(1, "/mine", 30, 4);
  scene.Waits(2, "/mine", 29, 4).Waits(3, "/flag", 7);
  EXPECT_EQ(scene.Explain(),
            "barrier \"mine\": 3/4 joined after 30 s; missing: rank 3 (host b, pid 103, alive, "
            "waiting in \"flag\")\n"
            "key \"flag\": nobody has set it; rank 3 waits after 7 s; not there: rank 0 (host a, "
            "pid 100, alive, waiting in \"mine\"), rank 1 (host a, pid 101, alive, waiting in "
            "\"mine\"), rank 2 (host b, pid 102, alive, waiting in \"mine\")\n");
}

TEST(ExplainWaits, IsSilentAboutShortWaits) {
  Scene scene;
  scene.Waits(0, "/default_pg/0//cpu//0/2", 4);
  EXPECT_EQ(scene.Explain(), "");
}

TEST(RanksOfClients, TakesTheSocketsProcessBeforeThePingAndKeysLast) {
  Scene scene;
  StoreSnapshot& snapshot = scene.snapshot();
  snapshot.clients = {{1, {"127.0.0.1", 5001}, 103, {}},
                      {2, {"10.0.0.2", 5002}, 102, {}},
                      {3, {"10.0.0.2", 5003}, 0, {}},
                      {4, {"10.0.0.2", 5004}, 0, {}}};
  snapshot.keys = {{"/default_pg/0//cpu//0/1", "", 1, {3}}};
  const std::map<StoreClientId, int> expected = {{1, 0}, {2, 2}, {3, 1}};
  EXPECT_EQ(RanksOfClients(snapshot, scene.ranks(), {{5001, 100}}), expected);
}

TEST(RanksOfClients, APidOfTwoHostsSaysNothing) {
  Scene scene;
  scene.rank(3).pid = 102;
  const auto found = RanksOfClients(scene.snapshot(), scene.ranks(), {});
  EXPECT_EQ(found, (std::map<StoreClientId, int>{{10, 0}, {11, 1}}));
}

}  // namespace
}  // namespace rendezvous
