#include "local/store/writer.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <deque>
#include <iterator>

#include "api/names.h"
#include "api/object.h"
#include "base/clock.h"
#include "local/store/kept.h"
#include "local/store/reserve.h"
#include "text/document.h"

namespace local::store {
namespace {

// The attempts for one mutation on a full disk: one for each step of the reserve, and one without.
constexpr int kMaxTriesInRoom = 2 + static_cast<int>(kLastReserve / kReserveStep);

// How often a failing disk is asked to take one page.
constexpr int kMaxTriesToUndo = 10;

constexpr std::string_view kColumns = "resource, namespace, name, uid, version, owner, json";

std::string OwnerOf(const text::Json& object) {
  const text::Array* owners = text::FindArray(object, {"metadata", "ownerReferences"});
  if (owners == nullptr || owners->empty()) return {};
  for (const text::Json& owner : *owners) {
    if (text::GetBool(owner, {"controller"}).value_or(false)) {
      return std::string(text::GetString(owner, {"uid"}));
    }
  }
  return std::string(text::GetString(owners->front(), {"uid"}));
}

std::string JobOf(const text::Json& object) {
  std::string_view job = text::GetString(object, {"metadata", "labels", api::kJobNameLabel});
  if (job.empty()) job = text::GetString(object, {"metadata", "labels", "release"});
  return std::string(job);
}

bool IsAscii(std::string_view text) {
  uint64_t all = 0;
  for (; text.size() >= sizeof all; text.remove_prefix(sizeof all)) {
    uint64_t bytes = 0;
    std::memcpy(&bytes, text.data(), sizeof bytes);
    all |= bytes;
  }
  for (const char byte : text) all |= static_cast<unsigned char>(byte);
  return (all & 0x8080808080808080) == 0;
}

// Whether objects of the kind have a folder of their own on the machine.
bool HasFolder(std::string_view resource) {
  return resource == "pods" || resource == "pytorchjobs.kubeflow.org" ||
         resource == "deployments.apps";
}

int64_t CreatedOf(const text::Json& object) {
  const auto time = api::CreationTime(object);
  return time ? time->time_since_epoch().count() : 0;
}

// Whether a reader of its text gets this value again, and not 1 for 1.0, or a replaced byte.
bool IsAsItsText(const text::Json& value) {
  if (const text::Object* const object = value.if_object()) {
    return std::all_of(object->begin(), object->end(), [](const auto& member) {
      return IsAscii(member.key()) && IsAsItsText(member.value());
    });
  }
  if (const text::Array* const array = value.if_array()) {
    return std::all_of(array->begin(), array->end(), IsAsItsText);
  }
  if (value.is_string()) return IsAscii(value.get_string());
  return !value.is_double() && !value.is_uint64();
}

}  // namespace

class Writer::Session : public View {
 public:
  Session(Database database, int64_t version, std::string reserve)
      : database_(std::move(database)),
        reserve_(std::move(reserve)),
        durable_version_(version),
        version_(version) {
    const std::string select = "SELECT " + std::string(kColumns) + " FROM objects WHERE ";
    const std::string keys = "SELECT resource, namespace, name FROM objects WHERE ";
    get_ = database_.Later(select + "resource=? AND namespace=? AND name=?");
    get_by_uid_ = database_.Later(select + "uid=?");
    owned_by_ = database_.Later(keys + "owner=? AND owner<>'' ORDER BY id");
    in_namespace_ = database_.Later(keys + "namespace=? AND resource>='' ORDER BY id");
    owns_any_ = database_.Later("SELECT 1 FROM objects WHERE owner=? AND owner<>'' LIMIT 1");
    holds_any_ =
        database_.Later("SELECT 1 FROM objects WHERE namespace=? AND resource>='' LIMIT 1");
    insert_ = database_.Later(
        "INSERT INTO objects(resource, namespace, name, uid, version, owner, job, release,"
        " created, json) VALUES (?,?,?,?,?,?,?,?,?,?)");
    update_ = database_.Later(
        "UPDATE objects SET uid=?, version=?, owner=?, job=?, release=?, created=?, json=?"
        " WHERE resource=? AND namespace=? AND name=?");
    delete_ = database_.Later("DELETE FROM objects WHERE resource=? AND namespace=? AND name=?");
    bury_ = database_.Later("INSERT OR IGNORE INTO deleted(uid) VALUES (?)");
    keep_ = database_.Later(
        "INSERT OR REPLACE INTO kept(uid, run, resource, namespace, name, created, deleted,"
        " json) VALUES (?,?,?,?,?,?,?,?)");
    revise_ = database_.Later("UPDATE revision SET version=?");
    recall_ = database_.Later("SELECT action, version, json FROM writes WHERE write=?");
    remember_ =
        database_.Later("INSERT INTO writes(write, action, version, json) VALUES (?,?,?,?)");
    forget_ = database_.Later("DELETE FROM writes WHERE id <= (SELECT max(id) FROM writes) - ?");
    savepoint_ = database_.Later("SAVEPOINT mutation");
    undo_ = database_.Later("ROLLBACK TO mutation");
    release_ = database_.Later("RELEASE mutation");
  }

  base::Result<std::optional<Record>> Get(const Key& key) override {
    return One(get_.Query(key.resource, key.namespace_name, key.name));
  }
  base::Result<std::optional<Record>> GetByUid(std::string_view uid) override {
    return One(get_by_uid_.Query(uid));
  }
  base::Result<std::vector<Key>> OwnedBy(std::string_view uid) override {
    return Keys(owned_by_.Query(uid));
  }
  base::Result<std::vector<Key>> InNamespace(std::string_view namespace_name) override {
    return Keys(in_namespace_.Query(namespace_name));
  }
  base::Result<bool> OwnsAny(std::string_view uid) override { return owns_any_.Query(uid).Next(); }
  base::Result<bool> HoldsAny(std::string_view namespace_name) override {
    return holds_any_.Query(namespace_name).Next();
  }

  base::Result<Transaction> Begin() {
    events_.clear();
    objects_.clear();
    version_ = durable_version_;
    is_lost_ = false;
    is_short_ = reserve_.IsShort();
    return Transaction::Begin(database_);
  }

  // Runs one mutation of several. After an error of the mutation itself the transaction is still
  // valid unless IsLost().
  base::Result<Outcome> Carry(const Mutation& mutation) {
    const size_t events_before = events_.size();
    const int64_t version_before = version_;
    TRY(savepoint_.Run());
    is_lost_ = true;  // until the savepoint is released
    auto outcome = mutation.dry_run ? Try(mutation) : ApplyOnce(mutation);
    if (database_.IsIdle()) return outcome;
    if (!outcome || mutation.dry_run) {
      TRY(undo_.Run());
      events_.resize(events_before);
      objects_.resize(events_before);
      version_ = version_before;
    }
    TRY(release_.Run());
    is_lost_ = false;
    return outcome;
  }
  // The same without a savepoint, for which SQLite would copy each page that the mutation changes:
  // unless it succeeds, the transaction is not to be committed.
  base::Result<Outcome> CarryAlone(const Mutation& mutation) {
    return mutation.dry_run ? Try(mutation) : ApplyOnce(mutation);
  }
  // The disk is full: releases some of the reserve; returns whether there was any.
  bool MakeRoom() {
    const bool is_released = reserve_.Release();
    // The log then restarts, in the space that its file has already.
    (void)database_.Execute("PRAGMA wal_checkpoint(PASSIVE)");
    return is_released;
  }
  // Whether the transaction can no longer be committed.
  bool IsLost() const { return is_lost_ || database_.IsIdle(); }

  base::Status Commit(Transaction& transaction) {
    if (version_ != durable_version_) TRY(revise_.Run(version_));
    is_in_doubt_ = true;
    TRY(transaction.Commit());
    is_in_doubt_ = false;
    durable_version_ = version_;
    return {};
  }
  // A commit whose sync failed is in the log, where the next daemon would read it as one that
  // succeeded, although it was answered with an error: puts one in its place that changes nothing.
  void UndoFailedCommit() {
    for (int tries = 0; is_in_doubt_ && tries < kMaxTriesToUndo; ++tries) {
      is_in_doubt_ = !database_.Execute("PRAGMA application_id=0");
    }
  }
  std::vector<EventPtr> TakeEvents() { return std::exchange(events_, {}); }
  std::vector<std::shared_ptr<const text::Json>> TakeObjects() {
    return std::exchange(objects_, {});
  }
  int64_t version() const { return durable_version_; }

 private:
  static base::Result<std::optional<Record>> One(Rows rows) {
    TRY_ASSIGN(const bool has_row, rows.Next());
    if (!has_row) return std::nullopt;
    Record record;
    record.key = {std::string(rows.Text(0)), std::string(rows.Text(1)), std::string(rows.Text(2))};
    record.uid = rows.Text(3);
    record.version = rows.Int(4);
    record.owner = rows.Text(5);
    record.json = std::make_shared<const std::string>(rows.Text(6));
    TRY_ASSIGN(record.object, text::ParseJson(*record.json));
    return record;
  }

  static base::Result<std::vector<Key>> Keys(Rows rows) {
    std::vector<Key> keys;
    while (true) {
      TRY_ASSIGN(const bool has_row, rows.Next());
      if (!has_row) return keys;
      keys.push_back(
          {std::string(rows.Text(0)), std::string(rows.Text(1)), std::string(rows.Text(2))});
    }
  }

  // Like Apply, unless the mutation was carried out before and only its answer was lost.
  base::Result<Outcome> ApplyOnce(const Mutation& mutation) {
    if (mutation.id.empty()) return Apply(mutation);
    TRY_ASSIGN(auto before, Recall(mutation));
    if (before) return std::move(*before);
    TRY_ASSIGN(Outcome outcome, Apply(mutation));
    const bool is_short = outcome.json && outcome.json->size() <= kMaxRememberedBytes;
    TRY(remember_.Run(mutation.id, static_cast<int64_t>(outcome.action), outcome.version,
                      is_short ? std::string_view(*outcome.json) : ""));
    TRY(forget_.Run(kRememberedWrites));
    return outcome;
  }

  base::Result<std::optional<Outcome>> Recall(const Mutation& mutation) {
    Outcome outcome;
    {
      Rows rows = recall_.Query(mutation.id);
      TRY_ASSIGN(const bool has_row, rows.Next());
      if (!has_row) return std::nullopt;
      outcome.action = static_cast<Next::Action>(rows.Int(0));
      outcome.version = rows.Int(1);
      if (!rows.Text(2).empty()) outcome.json = std::make_shared<const std::string>(rows.Text(2));
    }
    if (outcome.json) return outcome;
    TRY_ASSIGN(auto current, Get(mutation.key));
    if (current) outcome.json = current->json;
    return outcome;
  }

  // Applies the mutation and all that follow from it.
  base::Result<Outcome> Apply(const Mutation& mutation) {
    std::deque<Mutation> following;
    TRY_ASSIGN(Outcome outcome, ApplyOne(mutation, following));
    while (!following.empty()) {
      const Mutation next = std::move(following.front());
      following.pop_front();
      TRY(ApplyOne(next, following));
    }
    return outcome;
  }

  // A dry run has no version of its own: an existing object keeps the one it has and a new one has
  // none (as in kube-apiserver, for `kubectl diff`, which compares them).
  base::Result<Outcome> Try(const Mutation& mutation) {
    TRY_ASSIGN(const auto current, Get(mutation.key));
    TRY_ASSIGN(Outcome outcome, Apply(mutation));
    if (outcome.action == Next::Action::kNothing) return outcome;
    TRY_ASSIGN(text::Json object, text::ParseJson(*outcome.json));
    const text::Path path = {"metadata", "resourceVersion"};
    if (current) {
      text::Set(object, path, text::Json(std::to_string(current->version)));
    } else {
      text::Erase(object, path);
    }
    outcome.version = current ? current->version : 0;
    outcome.json = std::make_shared<const std::string>(text::ToJson(object));
    outcome.object = std::make_shared<const text::Json>(std::move(object));
    return outcome;
  }

  base::Result<Outcome> ApplyOne(const Mutation& mutation, std::deque<Mutation>& following) {
    TRY_ASSIGN(auto current, Get(mutation.key));
    std::optional<std::string> previous;
    Outcome outcome;
    if (current) {
      previous = text::PartToJson(current->object, SelectableParts());
      outcome.version = current->version;
      outcome.json = current->json;
    }
    TRY_ASSIGN(Next next, mutation.apply(*this, std::move(current)));
    std::move(next.then.begin(), next.then.end(), std::back_inserter(following));
    switch (next.action) {
      case Next::Action::kNothing:
        return outcome;
      case Next::Action::kPut:
        return Put(mutation.key, std::move(next.object), std::move(previous));
      case Next::Action::kDelete:
        break;
    }
    if (!previous) return base::Fail(base::Code::kInternal, "the object to delete does not exist");
    if (next.object.is_null()) {
      TRY_ASSIGN(next.object, text::ParseJson(*outcome.json));
    }
    return Delete(mutation.key, std::move(next.object));
  }

  base::Result<Outcome> Put(const Key& key, text::Json object,
                            std::optional<std::string> previous) {
    auto event = Stamp(key, object);
    event->type = previous ? Event::Type::kModified : Event::Type::kAdded;
    const std::string uid(text::GetString(object, {"metadata", "uid"}));
    const std::string owner = OwnerOf(object);
    const std::string job = JobOf(object);
    const std::string release(text::GetString(object, {"metadata", "labels", "release"}));
    const int64_t created = CreatedOf(object);
    if (previous) {
      TRY(update_.Run(uid, version_, owner, job, release, created, *event->json, key.resource,
                      key.namespace_name, key.name));
    } else {
      if (is_short_) return base::Fail(NoRoom(database_.path()));
      TRY(insert_.Run(key.resource, key.namespace_name, key.name, uid, version_, owner, job,
                      release, created, *event->json));
    }
    if (previous) event->selectable_before = std::move(*previous);
    return Emit(Next::Action::kPut, std::move(event), std::move(object));
  }

  base::Result<Outcome> Delete(const Key& key, text::Json object) {
    auto event = Stamp(key, object);
    event->type = Event::Type::kDeleted;
    TRY(delete_.Run(key.resource, key.namespace_name, key.name));
    if (HasFolder(key.resource)) {
      TRY(bury_.Run(text::GetString(object, {"metadata", "uid"})));
      TRY(KeepRun(key, object));
    }
    return Emit(Next::Action::kDelete, std::move(event), std::move(object));
  }

  // Skipped on a full disk, where a deletion has to make room.
  base::Status KeepRun(const Key& key, const text::Json& object) {
    if (is_short_) return {};
    const int64_t now = base::SystemClock().Now().time_since_epoch().count();
    const std::optional<Kept> kept = ToKeep(key, object, CreatedOf(object), now);
    if (!kept) return {};
    return keep_.Run(kept->uid, kept->run, kept->resource, kept->namespace_name, kept->name,
                     kept->created, kept->deleted, kept->json);
  }

  // Assigns the next version.
  std::shared_ptr<Event> Stamp(const Key& key, text::Json& object) {
    text::Set(object, {"metadata", "resourceVersion"}, text::Json(std::to_string(++version_)));
    auto event = std::make_shared<Event>();
    event->key = key;
    event->version = version_;
    event->json = std::make_shared<const std::string>(text::ToJson(object));
    event->selectable = text::PartToJson(object, SelectableParts());
    return event;
  }

  base::Result<Outcome> Emit(Next::Action action, std::shared_ptr<Event> event, text::Json object) {
    Outcome outcome{action, event->version, event->json};
    if (IsAsItsText(object)) {
      outcome.object = std::make_shared<const text::Json>(std::move(object));
    } else {
      TRY_ASSIGN(text::Json read, text::ParseJson(*event->json));
      outcome.object = std::make_shared<const text::Json>(std::move(read));
    }
    event->object = outcome.object;
    objects_.push_back(outcome.object);
    events_.push_back(std::move(event));
    return outcome;
  }

  Database database_;
  Reserve reserve_;
  Statement get_, get_by_uid_, owned_by_, in_namespace_, owns_any_, holds_any_, insert_, update_,
      delete_, bury_, keep_, revise_, recall_, remember_, forget_, savepoint_, undo_, release_;
  int64_t durable_version_;
  int64_t version_;  // of the current transaction
  bool is_lost_ = false;
  bool is_in_doubt_ = false;  // the last commit failed
  bool is_short_ = false;     // disk space is short: nothing new is created
  std::vector<EventPtr> events_;
  std::vector<std::shared_ptr<const text::Json>> objects_;  // of the events
};

Writer::Writer(History& history, Store::Options options)
    : history_(history), options_(std::move(options)) {}

base::Result<std::unique_ptr<Writer>> Writer::Start(Database database, int64_t version,
                                                    History& history, Store::Options options) {
  std::unique_ptr<Writer> writer(new Writer(history, std::move(options)));
  writer->session_ =
      std::make_unique<Session>(std::move(database), version, writer->options_.reserve);
  writer->thread_ = std::thread([raw = writer.get()] { raw->Run(); });
  return writer;
}

Writer::~Writer() {
  {
    const std::lock_guard lock(mutex_);
    is_stopping_ = true;
  }
  wake_.notify_one();
  if (thread_.joinable()) thread_.join();
}

void Writer::Submit(std::vector<Job> jobs) {
  {
    const std::lock_guard lock(mutex_);
    if (!is_stopping_ && queue_.size() + jobs.size() <= kMaxQueuedMutations) {
      std::move(jobs.begin(), jobs.end(), std::back_inserter(queue_));
      jobs.clear();
    }
  }
  wake_.notify_one();
  for (Job& job : jobs) {
    job.second(base::Fail(base::Code::kUnavailable, "too many writes are waiting: try again"));
  }
}

void Writer::Run() {
  while (true) {
    std::vector<Job> jobs;
    {
      std::unique_lock lock(mutex_);
      wake_.wait(lock, [this] { return is_stopping_ || !queue_.empty(); });
      if (queue_.empty()) return;
      jobs.swap(queue_);
    }
    for (size_t first = 0; first < jobs.size(); first += kMaxGroup) {
      const size_t last = std::min(jobs.size(), first + kMaxGroup);
      std::vector<Job> group(std::make_move_iterator(jobs.begin() + static_cast<long>(first)),
                             std::make_move_iterator(jobs.begin() + static_cast<long>(last)));
      Carry(group);
    }
  }
}

void Writer::Carry(std::vector<Job>& group) {
  auto committed = CommitInRoom(group, 0, group.size());
  if (committed) return Announce(group, 0, std::move(*committed));
  if (group.size() == 1) return group.front().second(base::Fail(std::move(committed.error())));
  // The whole transaction failed, for example on a full disk: tries its mutations one by one.
  for (size_t i = 0; i < group.size(); ++i) {
    auto single = CommitInRoom(group, i, 1);
    if (single) {
      Announce(group, i, std::move(*single));
    } else {
      group[i].second(base::Fail(std::move(single.error())));
    }
  }
}

base::Result<Writer::Committed> Writer::CommitInRoom(const std::vector<Job>& group, size_t first,
                                                     size_t count) {
  auto committed = TryCommit(group, first, count);
  // The last of the reserve is for mutations that are tried one by one.
  const int max_tries = count == 1 ? kMaxTriesInRoom : 1;
  bool has_room = true;
  for (int tries = 0; tries < max_tries && has_room; ++tries) {
    if (committed || committed.error().code != base::Code::kExhausted) break;
    has_room = session_->MakeRoom();
    committed = TryCommit(group, first, count);
  }
  session_->UndoFailedCommit();
  return committed;
}

base::Result<Writer::Committed> Writer::TryCommit(const std::vector<Job>& group, size_t first,
                                                  size_t count) {
  TRY_ASSIGN(Transaction transaction, session_->Begin());
  Committed committed;
  for (size_t i = first; i < first + count; ++i) {
    const Mutation& mutation = group[i].first;
    committed.outcomes.push_back(count == 1 ? session_->CarryAlone(mutation)
                                            : session_->Carry(mutation));
    if (session_->IsLost()) {
      auto& outcome = committed.outcomes.back();
      if (!outcome) return base::Fail(std::move(outcome.error()));
      return base::Fail(base::Code::kInternal, "the transaction was lost");
    }
  }
  if (count == 1 && (!committed.outcomes.front() || group[first].first.dry_run)) {
    committed.version = session_->version();
    return committed;
  }
  TRY(session_->Commit(transaction));
  committed.events = session_->TakeEvents();
  committed.objects = session_->TakeObjects();
  committed.version = session_->version();
  return committed;
}

void Writer::Announce(std::vector<Job>& group, size_t first, Committed committed) {
  if (options_.on_commit && !committed.events.empty()) {
    options_.on_commit(committed.events, committed.version);
  }
  for (size_t i = 0; i < committed.outcomes.size(); ++i) {
    group[first + i].second(std::move(committed.outcomes[i]));
  }
  if (!committed.events.empty()) history_.Publish(std::move(committed.events), committed.version);
}

}  // namespace local::store
