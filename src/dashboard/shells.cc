#include "dashboard/shells.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <optional>
#include <thread>
#include <utility>

#include "arena/streams/exec_place.h"
#include "base/strings.h"
#include "base/uid.h"
#include "cluster/exec/exec.h"
#include "dashboard/documents.h"
#include "dashboard/event_stream.h"
#include "text/json.h"

namespace dashboard {
namespace {

using base::Code;
using base::Fail;

constexpr size_t kIdLength = 20;
constexpr int kMostCells = 1000;  // of a line, and of a column
// Images may lack bash. The page draws what this TERM promises.
constexpr const char* kShell =
    "TERM=xterm-256color; export TERM; command -v bash >/dev/null 2>&1 && exec bash; exec sh";

std::optional<int> CellsIn(std::optional<int64_t> number) {
  if (!number || *number < 1 || *number > kMostCells) return std::nullopt;
  return static_cast<int>(*number);
}

}  // namespace

base::Result<ShellWish> ParseShellWish(const net::Target& target, std::string namespace_name,
                                       std::string run) {
  ShellWish wish;
  wish.namespace_name = std::move(namespace_name);
  wish.run = std::move(run);
  wish.instance = target.Query("instance");
  for (auto [name, cells] :
       {std::pair("columns", &wish.size.columns), std::pair("rows", &wish.size.rows)}) {
    const std::string_view text = target.Query(name);
    if (text.empty()) continue;
    const auto number = CellsIn(base::ParseInt(text));
    if (!number) {
      return Fail(Code::kInvalidArgument, fmt::format("{} \"{}\" is invalid: a number from 1 to {}",
                                                      name, text, kMostCells));
    }
    *cells = *number;
  }
  return wish;
}

// One thread carries what the command prints, one what is typed.
class Shells::Shell : public std::enable_shared_from_this<Shell> {
 public:
  Shell(cluster::Client& client, const arena::Context& context, ShellWish wish)
      : client_(client),
        context_(InNamespace(context, wish.namespace_name)),
        wish_(std::move(wish)) {}
  ~Shell() { End(); }

  const std::string& id() const { return id_; }
  bool has_closed() const { return stream_->IsClosed(); }
  // Nothing has to be waited for.
  bool is_over() const { return has_closed() && running_ == 0; }

  void Begin(std::shared_ptr<net::Responder> responder) {
    stream_ = EventStream::Begin(std::move(responder), [] {});
    Resize(wish_.size);
    writer_ = std::jthread([this](const std::stop_token& stop) {
      CarryInput(stop);
      --running_;
    });
    reader_ = std::jthread([this](const std::stop_token& stop) {
      CarryOutput(stop);
      --running_;
    });
    stream_->OnClose([weak = weak_from_this()] {
      if (const auto shell = weak.lock()) shell->End();
    });
  }

  base::Status Type(std::string_view text) {
    const std::lock_guard lock(mutex_);
    if (typed_.size() + text.size() > kMostTyped) {
      return Fail(Code::kExhausted, "the command does not read what is typed");
    }
    typed_ += text;
    changed_.notify_one();
    return {};
  }
  void Resize(ShellSize size) {
    const std::lock_guard lock(mutex_);
    size_ = size;
    changed_.notify_one();
  }

 private:
  // From any thread; does not wait for the others.
  void End() {
    reader_.request_stop();
    writer_.request_stop();
    const std::lock_guard lock(mutex_);
    if (command_) command_->Cancel();
  }

  void CarryOutput(const std::stop_token& stop) {
    const auto exit_code = RunShell(stop);
    {
      const std::lock_guard lock(mutex_);
      command_.reset();  // closes the connection, by which the cluster ends what still runs
    }
    if (stop.stop_requested()) return;
    stream_->Send("end", text::ToJson(text::Object{
                             {"error", exit_code ? "" : exit_code.error().message},
                             {"exitCode", exit_code ? text::Json(*exit_code) : nullptr}}));
  }

  base::Result<int> RunShell(const std::stop_token& stop) {
    TRY_ASSIGN(const arena::ExecPlace place,
               FindExecPlace(client_, context_, {wish_.run, "", wish_.instance}));
    TRY_ASSIGN(std::shared_ptr<cluster::ExecStream> command,
               client_.Exec(place.namespace_name, place.instance,
                            {place.container, {"sh", "-c", kShell}, true, true}));
    {
      const std::lock_guard lock(mutex_);
      if (stop.stop_requested()) return Fail(Code::kCancelled, "the page has closed it");
      command_ = command;
      changed_.notify_one();
    }
    stream_->Send("shell",
                  text::ToJson(text::Object{
                      {"id", id_},
                      {"instance", place.instance},
                      {"command", fmt::format("{} attach {} -i {} -- bash", context_.program,
                                              wish_.run, place.instance)}}));
    while (stream_->AwaitRead(stop)) {
      TRY_ASSIGN(const auto output, command->Read());
      if (!output) return command->result();
      stream_->Send("out",
                    text::ToJson(text::Object{{"bytes", base::Base64Encode(output->bytes)}}));
    }
    return Fail(Code::kCancelled, "the page has closed it");
  }

  // Ignores errors, because the thread that reads gets them.
  void CarryInput(const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    while (changed_.wait(lock, stop, [this] { return command_ && (size_ || !typed_.empty()); })) {
      const auto command = command_;
      const auto size = std::exchange(size_, std::nullopt);
      const std::string typed = std::exchange(typed_, "");
      lock.unlock();
      if (size) (void)command->Resize(size->columns, size->rows);
      if (!typed.empty()) (void)command->WriteStdin(typed);
      lock.lock();
      if (stop.stop_requested()) return;
    }
  }

  cluster::Client& client_;
  const arena::Context context_;
  const ShellWish wish_;
  const std::string id_ = base::RandomName(kIdLength);
  std::shared_ptr<EventStream> stream_;
  std::atomic<int> running_{2};  // threads
  std::mutex mutex_;             // guards what follows
  std::condition_variable_any changed_;
  std::shared_ptr<cluster::ExecStream> command_;  // while it runs
  std::string typed_;                             // not yet sent
  std::optional<ShellSize> size_;                 // the same
  std::jthread reader_, writer_;                  // the last members, because they use the others
};

Shells::Shells(cluster::Client& client, const arena::Context& context)
    : client_(client), context_(context) {}

Shells::~Shells() = default;

base::Status Shells::Open(std::shared_ptr<net::Responder> responder, ShellWish wish) {
  const std::lock_guard lock(mutex_);
  shells_.remove_if([](const auto& one) { return one->is_over(); });
  if (shells_.size() >= kMostShells) {
    return Fail(Code::kExhausted,
                fmt::format("{} shells are open already: close one", kMostShells));
  }
  shells_.push_back(std::make_shared<Shell>(client_, context_, std::move(wish)));
  shells_.back()->Begin(std::move(responder));
  return {};
}

base::Status Shells::Take(std::string_view json) {
  TRY_ASSIGN(const text::Json message, text::ParseJson(json));
  const std::string_view id = text::GetString(message, {"id"});
  const std::lock_guard lock(mutex_);
  const auto shell = std::find_if(shells_.begin(), shells_.end(),
                                  [id](const auto& one) { return one->id() == id; });
  if (shell == shells_.end() || (*shell)->has_closed()) {
    return Fail(Code::kNotFound, "this shell has ended");
  }
  const auto columns = CellsIn(text::GetInt(message, {"columns"}));
  const auto rows = CellsIn(text::GetInt(message, {"rows"}));
  if (columns && rows) (*shell)->Resize({*columns, *rows});
  return (*shell)->Type(text::GetString(message, {"input"}));
}

}  // namespace dashboard
