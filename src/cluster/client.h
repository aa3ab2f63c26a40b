// The only way to the state: the Kubernetes REST API, of a real API server or of the embedded one.
// Nothing above this class needs to know which.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/resources.h"
#include "base/result.h"
#include "cluster/exec/exec.h"
#include "cluster/exec/port_stream.h"
#include "cluster/transport.h"
#include "text/document.h"
#include "text/json.h"

namespace cluster {

// Reads an object, or the part of it that its caller uses.
using ObjectReader = std::function<base::Result<text::Json>(const text::Document& object)>;

struct ListOptions {
  std::string namespace_name{};  // "" for all
  std::string label_selector{};
  std::string field_selector{};
  std::string resource_version{};
  int64_t limit = 0;            // objects per page; List reads all pages
  int64_t timeout_seconds = 0;  // when the server is to end a watch; 0 leaves it to the server
  // Removes from an object what its caller does not use, page by page and event by event, so that a
  // long list is never in memory whole. List and Reflector call it.
  std::function<void(text::Json& object)> trim{};
  // Reads objects for List and watches in place of Document::Whole. What it leaves out is never in
  // memory.
  ObjectReader read{};
  // The same for List only. It may keep what it needs from an object, and return null.
  ObjectReader read_listed{};
  // A format of muster's own (api::kSummaryForm) that List asks for. Only the embedded server knows
  // it; from other servers `read` gets whole objects.
  std::string form{};
};

struct ObjectList {
  std::vector<text::Json> items;  // each with apiVersion and kind
  std::string resource_version;
};

struct WatchEvent {
  enum class Type { kAdded, kModified, kDeleted, kBookmark };
  Type type = Type::kAdded;
  text::Json object;
};

class QueryString;

// One watch, which lasts until the server ends it. Next from one thread, Cancel from any.
class Watch {
 public:
  explicit Watch(std::unique_ptr<net::BodyStream> body, ObjectReader read = {})
      : body_(std::move(body)), read_(std::move(read)) {}
  // nullopt at the end of the stream: go on from the last resourceVersion. kExpired: list again.
  base::Result<std::optional<WatchEvent>> Next();
  void Cancel() { body_->Cancel(); }

 private:
  base::Status ReadMore();
  // The value of the object in the line at this offset of the buffer; null if it is not known.
  net::Parsed TakeParsed(size_t offset);

  std::unique_ptr<net::BodyStream> body_;
  const ObjectReader read_;
  std::string buffer_;                  // events not yet returned
  uint64_t gone_ = 0;                   // bytes before them
  std::deque<net::ParsedLine> parsed_;  // of lines in the buffer, or yet to come
  size_t next_ = 0;                     // where the first of them begins
  size_t scanned_ = 0;                  // there is no newline between next_ and here
  bool is_over_ = false;                // the stream has ended
};

struct LogOptions {
  std::string container{};
  bool follow = false;
  bool timestamps = false;
  bool previous = false;
  std::optional<int64_t> tail_lines{};
  std::optional<int64_t> since_seconds{};
  std::string since_time{};  // RFC 3339
  std::optional<int64_t> limit_bytes{};
  // A deleted pod that the embedded cluster remembers; "" for the existing pod of that name.
  std::string pod_uid{};
};

enum class PatchType { kMerge, kJson, kStrategicMerge, kApply };
enum class Propagation { kBackground, kForeground, kOrphan };

struct DeleteOptions {
  std::string uid{};  // precondition; "" for none
  std::optional<int64_t> grace_period_seconds{};
  Propagation propagation = Propagation::kBackground;
};

// One write of a batch.
struct BatchWrite {
  // Only the embedded server has kCreateWithOwned: `object` is a List whose first item owns the
  // others, all of one namespace. Creates all or none, and answers with the first.
  enum class Verb { kCreate, kCreateWithOwned, kUpdate, kUpdateStatus, kPatch, kDelete, kBind };
  Verb verb = Verb::kCreate;
  const api::Resource* resource = nullptr;
  std::string namespace_name{};
  std::string name{};   // not for kCreate*
  text::Json object{};  // kCreate*, kUpdate*; kPatch: the merge patch; kBind: the pod's Binding
  DeleteOptions delete_options{};
  bool dry_run = false;  // kCreate: the server checks it, and changes nothing
  // Reads the answer in place of Document::Whole.
  base::Result<text::Json> (*read)(const text::Document& answer) = nullptr;
};

// For BatchWrite::read, where the server's version of the object is not needed.
inline base::Result<text::Json> PassOver(const text::Document&) { return text::Json(); }

// A table as a Kubernetes server renders it (meta.k8s.io/v1 Table).
struct Table {
  struct Column {
    std::string name;
    int64_t priority = 0;  // 0: always shown; higher: in wide output only
  };
  std::vector<Column> columns;
  std::vector<std::vector<text::Json>> rows;
  std::string resource_version;
};

// Thread safe.
class Client {
 public:
  // Called with the text of each `Warning:` header from the server.
  using WarningSink = std::function<void(std::string_view)>;

  explicit Client(std::unique_ptr<Transport> transport, WarningSink warnings = {})
      : transport_(std::move(transport)), warnings_(std::move(warnings)) {}

  base::Result<text::Json> Get(const api::Resource& resource, std::string_view namespace_name,
                               std::string_view name);
  base::Result<ObjectList> List(const api::Resource& resource, const ListOptions& options);
  base::Result<Table> GetTable(const api::Resource& resource, const ListOptions& options);
  base::Result<text::Json> Create(const api::Resource& resource, std::string_view namespace_name,
                                  const text::Json& object, bool dry_run = false);
  // kConflict if metadata.resourceVersion is set and out of date.
  base::Result<text::Json> Update(const api::Resource& resource, const text::Json& object);
  base::Result<text::Json> UpdateStatus(const api::Resource& resource, const text::Json& object);
  base::Result<text::Json> Patch(const api::Resource& resource, std::string_view namespace_name,
                                 std::string_view name, PatchType type, const text::Json& patch,
                                 std::string_view subresource = "");
  // Server-side apply: creates the object, or changes the fields that `field_manager` owns.
  // kConflict names fields with another owner, unless `force` takes them over. `field_validation`:
  // Strict, Warn or Ignore for duplicate fields; "" leaves it to the server.
  base::Result<text::Json> Apply(const api::Resource& resource, const text::Json& object,
                                 std::string_view field_manager, bool force = false,
                                 bool dry_run = false, std::string_view field_validation = "");
  base::Status Delete(const api::Resource& resource, std::string_view namespace_name,
                      std::string_view name, const DeleteOptions& options = {});
  // Sends them together; results are in their order. Deletions return the Status or last object.
  std::vector<base::Result<text::Json>> Batch(const std::vector<BatchWrite>& writes);
  // Starts at options.resource_version; with "", existing objects come first, as ADDED.
  base::Result<std::unique_ptr<Watch>> OpenWatch(const api::Resource& resource,
                                                 const ListOptions& options);
  base::Result<std::unique_ptr<net::BodyStream>> Logs(std::string_view namespace_name,
                                                      std::string_view pod,
                                                      const LogOptions& options);
  // Runs a command in a container. An error if the server refuses; if the command cannot be
  // started, the stream's end says so.
  base::Result<std::unique_ptr<ExecStream>> Exec(std::string_view namespace_name,
                                                 std::string_view pod, const ExecOptions& options);
  // A path of muster's own on the embedded cluster (local/server/backend/records.h).
  base::Result<text::Json> Ask(std::string_view method, std::string path);
  // Connects to a port of a pod. If nobody listens there, its Read fails.
  base::Result<std::unique_ptr<PortStream>> OpenPort(std::string_view namespace_name,
                                                     std::string_view pod, uint16_t port);
  // Reads a path outside the resources, e.g. "/version"; returns the body of a 200.
  base::Result<std::string> Raw(std::string_view method, std::string_view path,
                                std::string_view body = "");

 private:
  // Passes the warnings on, and returns the answer if it is a success.
  base::Result<net::HttpResponse> Check(const net::HttpRequest& request,
                                        base::Result<net::HttpResponse> response);
  // Returns the body of a success.
  base::Result<text::Json> ParseAnswer(const net::HttpRequest& request,
                                       base::Result<net::HttpResponse> response,
                                       const ObjectReader& read);
  // Reads a page item by item as it comes, and returns the rest of the page.
  base::Result<text::Json> ReadPage(const api::Resource& resource, const ListOptions& options,
                                    const net::HttpRequest& request, ObjectList& list);
  // The answer to a page's request.
  using FetchPage = std::function<base::Result<text::Json>(const net::HttpRequest& request)>;
  void Warn(const net::Headers& headers);
  base::Result<text::Json> SendJson(base::Result<net::HttpRequest> request);
  base::Result<std::unique_ptr<net::BodyStream>> OpenStream(const net::HttpRequest& request);
  base::Status ForEachPage(const api::Resource& resource, const ListOptions& options,
                           std::string_view accept, const QueryString& query,
                           const FetchPage& fetch,
                           const std::function<base::Status(text::Json&)>& take);

  std::unique_ptr<Transport> transport_;
  WarningSink warnings_;
};

}  // namespace cluster
