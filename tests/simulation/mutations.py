"""Faults to be put into a copy of the product, which the simulation has to find (scripts/mutate).

Each takes the place of a text that is in a file once; MUTATED in it is whether this one is switched on, so that all of
them are built at once.
"""

SQLITE = "src/local/store/sqlite.cc"
WRITER = "src/local/store/writer.cc"
HISTORY = "src/local/store/history.cc"
DELETION = "src/local/server/routing/deletion.cc"
PENDING = "src/local/server/routing/pending_write.cc"
PODS = "src/local/node/agent/pods.cc"
ORPHANS = "src/local/node/agent/orphans.cc"
STATUS_WRITER = "src/local/node/agent/writer.cc"
SHIM = "src/local/node/shim/shim_client.cc"
REFLECTOR = "src/cluster/reflector.cc"

MUTATIONS = [
    ("commits are not synchronised (synchronous=OFF)", SQLITE,
     "  return database;\n}\n\nbase::Result<Database> Database::OpenReader",
     "  if (MUTATED) TRY(database.Execute(\"PRAGMA synchronous=OFF\"));\n"
     "  return database;\n}\n\nbase::Result<Database> Database::OpenReader"),
    ("the folder of a new store is not synchronised", SQLITE,
     "if (!parent || ::fsync(parent.get()) != 0) {",
     "if (!parent || (!MUTATED && ::fsync(parent.get()) != 0)) {"),
    ("a write is acknowledged before its transaction is committed", WRITER,
     "  TRY(session_->Commit(transaction));\n  committed.events",
     "  if (MUTATED) {\n"
     "    for (size_t i = 0; i < count; ++i) {\n"
     "      if (auto& done = const_cast<Job&>(group[first + i]).second) {\n"
     "        std::exchange(done, [](base::Result<Outcome>) {})(committed.outcomes[i]);\n"
     "      }\n"
     "    }\n"
     "  }\n"
     "  TRY(session_->Commit(transaction));\n  committed.events"),
    ("watchers are told before the transaction is committed", WRITER,
     "  TRY(session_->Commit(transaction));\n",
     "  if (MUTATED && session_->IsChanged()) {\n"
     "    history_.Publish(session_->LookAtEvents(), session_->next_version());\n"
     "  }\n"
     "  TRY(session_->Commit(transaction));\n"),
    ("a transaction that failed keeps the versions that it took", WRITER,
     "    version_ = durable_version_;\n    is_lost_ = false;",
     "    if (!MUTATED) version_ = durable_version_;\n    is_lost_ = false;"),
    ("what belongs to a mutation that failed is not undone", WRITER,
     "      TRY(undo_.Run());", "      if (!MUTATED) TRY(undo_.Run());"),
    ("a write that comes twice is carried out twice", WRITER,
     "    if (mutation.id.empty()) return Apply(mutation);",
     "    if (MUTATED || mutation.id.empty()) return Apply(mutation);"),
    ("what is deleted is not remembered", WRITER,
     "      TRY(bury_.Run(text::GetString(object, {\"metadata\", \"uid\"})));",
     "      if (!MUTATED) TRY(bury_.Run(text::GetString(object, {\"metadata\", \"uid\"})));"),
    ("off by one in the watch history: the first event is left out", HISTORY,
     "return event->version > from_version; });",
     "return event->version > from_version + (MUTATED ? 1 : 0); });"),
    ("a watcher's lock is taken late: what happens meanwhile comes first", HISTORY,
     "  const auto watcher_lock = watcher->Lock();\n",
     "  auto watcher_lock = watcher->Lock();\n  if (MUTATED) watcher_lock.unlock();\n"),
    ("a watcher that resumes is not told what it has missed", HISTORY,
     "  if (newest > from_version) watcher->Deliver(replay, newest);",
     "  if (!MUTATED && newest > from_version) watcher->Deliver(replay, newest);"),
    ("what is made for an owner that is gone stays", DELETION,
     "  if (!has_owner) {", "  if (!MUTATED && !has_owner) {"),
    ("what is made for an owner that waits to go stays", DELETION,
     "    if (record && HasFinalizer(record->object, kForegroundFinalizer)) {",
     "    if (!MUTATED && record && HasFinalizer(record->object, kForegroundFinalizer)) {"),
    ("a shim that was started is not looked for", PODS,
     "  if (parts_.shims.WasStarted(DirectoryOf(pod))) return Recover(pod);",
     "  if (!MUTATED && parts_.shims.WasStarted(DirectoryOf(pod))) return Recover(pod);"),
    ("the end of a shim that was adopted is not waited for", PODS,
     "  ArmDeadline(pod);\n  ReadReport(pod);",
     "  if (MUTATED) parts_.loop.Unwatch(pod.shim->pidfd());\n  ArmDeadline(pod);\n  ReadReport(pod);"),
    ("a pod whose object went while it started runs on", PODS,
     "  if (pod.is_object_gone) return Terminate(pod, 0);",
     "  if (!MUTATED && pod.is_object_gone) return Terminate(pod, 0);"),
    ("what was deleted while no daemon ran is not cleared away", ORPHANS,
     "    if (!pods_.contains(uid)) SettleOrphan(uid);",
     "    if (!MUTATED && !pods_.contains(uid)) SettleOrphan(uid);"),
    ("a status that could not be written is not written again", STATUS_WRITER,
     "      return IsTransient(result.error());", "      return !MUTATED && IsTransient(result.error());"),
    ("a shim is adopted by its number alone", SHIM,
     "  if (!stat || stat->start_ticks != identity->start_ticks) return std::optional<ShimHandle>();",
     "  if (!stat || (!MUTATED && stat->start_ticks != identity->start_ticks)) {\n"
     "    return std::optional<ShimHandle>();\n  }"),
    ("a shim whose file a power cut has emptied is asked about for ever", SHIM,
     "    if (lock && *lock) return std::optional<ShimHandle>();\n    return base::Fail(identity.error());",
     "    if (!MUTATED && lock && *lock) return std::optional<ShimHandle>();\n"
     "    return base::Fail(identity.error());"),
    ("a watch that has expired is not followed by a list", REFLECTOR,
     "      if (is_expired) break;", "      if (is_expired && !MUTATED) break;"),
    ("a job that could not be worked on is not looked at again", "src/controller/loop/job_worker.cc",
     "    queue_.AddWithBackoff(key);", "    if (!MUTATED) queue_.AddWithBackoff(key);"),
    ("news of a job that is being worked on is forgotten", "src/controller/loop/work_queue.cc",
     "  if (!dirty_.contains(key)) return;", "  if (MUTATED) dirty_.erase(key);\n  if (!dirty_.contains(key)) return;"),
    ("a binding that could not be written is not tried again", "src/local/daemon/scheduling/scheduling.cc",
     "    if (!has_failed) {", "    if (MUTATED || !has_failed) {"),
    ("the node is called as the host is called now", "src/local/daemon/node_name.cc",
     "    if (!name.empty()) return name;", "    if (!MUTATED && !name.empty()) return name;"),
    ("a torn record of a log stays where the disk was full", "src/local/node/logs/writer.cc",
     "      if (kept != written && ::ftruncate(", "      if (!MUTATED && kept != written && ::ftruncate("),
    ("a report's content is not synchronised", "src/base/file.cc",
     "durability == Durability::kSync && fdatasync(fd.get()) != 0",
     "durability == Durability::kSync && !MUTATED && fdatasync(fd.get()) != 0"),
]

# What the mutations call that the product has no use for.
ADDITIONS = [
    (WRITER, "  int64_t version() const { return durable_version_; }\n",
     "  int64_t version() const { return durable_version_; }\n"
     "  bool IsChanged() const { return !events_.empty(); }\n"
     "  std::vector<EventPtr> LookAtEvents() const { return events_; }\n"
     "  int64_t next_version() const { return version_; }\n"),
]
