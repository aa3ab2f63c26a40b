"""Faults that scripts/mutate puts into the product's code as it is in build/simulate_cluster, and the simulation has to find.

FORGET: a function does nothing. ALWAYS, NEVER: it answers true, false. TEXT: another text of the same length, as of SQL.
"""

FORGET, ALWAYS, NEVER, TEXT = "forget", "always", "never", "text"

MUTATIONS = [
    # what, how, and the function's name, or the text and the other one
    ("commits are not synchronised", TEXT, ("PRAGMA synchronous=FULL;", "PRAGMA synchronous=OFF ;")),
    ("no folder is synchronised: neither the store's nor a report's", FORGET, "simulation::Disk::SyncedFolder"),
    ("what belongs to a write that is refused is not undone", TEXT, ("ROLLBACK TO mutation", "SELECT 1            ")),
    ("a write that comes twice is carried out twice", TEXT, ("FROM writes WHERE write=?", "FROM writes WHERE id=-?  ")),
    ("the newest version is not stored: they begin again", TEXT, ("UPDATE revision SET version=?", "UPDATE revision SET version=1")),
    ("what is deleted is not remembered", TEXT, ("INTO deleted(uid) VALUES (?)", "INTO deleted(uid) VALUES (1)")),
    ("an owner's dependants are not found", TEXT, ("owner=? AND owner<>'' ORDER BY id", "owner=? AND owner= '' ORDER BY id")),
    ("a pod that was started is started again by the next daemon", NEVER, "local::node::(anonymous namespace)::Launcher::WasStarted"),
    ("the next daemon does not look after pods that run", FORGET, "local::node::PodKeeper::Recover"),
    ("what was deleted while no daemon ran stays", FORGET, "local::node::PodKeeper::SettleOrphan"),
    ("what was deleted while the agent's watch was cut runs on", FORGET, "local::node::PodKeeper::Miss"),
    ("a pod whose object is gone runs on", FORGET, "local::node::PodKeeper::Gone"),
    ("a pod's folder stays", FORGET, "local::node::PodKeeper::RemovePod"),
    ("a shim's end is not heard of", FORGET, "local::node::PodKeeper::OnShimEnd"),
    ("a shim's report is not read", FORGET, "local::node::PodKeeper::ReadReport"),
    ("what a lost shim has left is not ended", FORGET, "local::node::PodKeeper::Lose"),
    ("a pod is not asked to end", FORGET, "local::node::PodKeeper::Terminate"),
    ("a pod of a job that has ended runs on", FORGET, "local::node::PodKeeper::EndIfAsked"),
    ("the agent lets no pod's object go", FORGET, "local::node::StatusWriter::DeletePod"),
    ("a job that could not be worked on is not looked at again", FORGET, "controller::WorkQueue::AddWithBackoff"),
    ("a job that is to be looked at later is not", FORGET, "controller::WorkQueue::DelayLocked"),
    ("after a list the controller keeps pods that are gone", FORGET, "controller::JobWorker::KeepChildren"),
    ("after a list the controller keeps jobs that are gone", FORGET, "controller::JobWorker::KeepJobs"),
    ("the scheduler does not hear that something has changed", FORGET, "local::daemon::Scheduling::Changed"),
    ("watchers are not told", FORGET, "local::store::History::Publish"),
    ("a log does not say what it has lost on a full disk", FORGET, "local::node::LogWriter::CountLoss"),
]
