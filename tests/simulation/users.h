// Whoever uses the machine's cluster: submits, looks, patches, suspends, deletes, and holds the
// cluster to every word that it has said.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "cluster/client.h"
#include "machine.h"

namespace simulation {

// What pods of a job refer to: a ConfigMap or a Secret.
struct Setting {
  const api::Resource* resource = nullptr;
  std::string name;
};

// One user's jobs, which nobody else touches.
class User {
 public:
  User(Machine& machine, int number);

  // Commands, one after another, until `end`.
  void Work(Nanos end);
  // Once nothing goes wrong any more: every job is resumed and comes to its end; then what was said
  // is checked.
  void SeeToTheEnd();
  // Everything is deleted, and gone.
  void DeleteAll();

 private:
  struct Job {
    std::string uid;            // "" : not known
    bool is_there = false;      // acknowledged, and no deletion asked for
    bool may_be_there = false;  // the answer to its creation, or deletion, was lost
    int touched = 0;            // acknowledged
    int touches = 0;            // asked for
    bool is_suspended = false;  // as last asked
    bool is_deleted = false;    // its deletion was acknowledged
    bool may_serve = false;     // until it is deleted: it does not end by itself
  };

  void Submit();
  // Unless the last bearer of the name is still there.
  void SubmitAs(const std::string& name);
  void SubmitWithTakenName(const std::string& name);
  std::vector<Setting> NewSettings();
  void Make(const Setting& setting);
  void MakeNext();
  void CheckNobodyWaits();
  void Touch(const std::string& name, Job& job);
  void Suspend(const std::string& name, Job& job);
  void Look(const std::string& name, Job& job);
  void CheckLedger(const text::Json& job);
  void Delete(const std::string& name, Job& job);
  void DeletePod();
  void ReadLog();
  void CheckHalf(const std::string& name);
  Job* Any(std::string& name);
  template <typename Command>
  auto Timed(const char* what, const Command& command);

  Machine& machine_;
  const std::string prefix_;
  cluster::Client client_;
  int last_ = 0;
  int last_taken_ = 0;
  std::set<std::string> taken_;  // names of ConfigMaps that were there before their jobs
  int last_setting_ = 0;
  std::vector<Setting> settings_;  // perhaps made
  std::vector<Setting> wanted_;    // by jobs, and not known to be made
  std::map<std::string, Job> jobs_;
};

}  // namespace simulation
