// The one door to state: the Kubernetes REST API. Behind it is a real API server or the embedded
// one; nothing above asks which.
#pragma once

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
#include "text/json.h"

namespace cluster {

// An object from its text, or the part of it that its reader has a use for.
using ObjectReader = std::function<base::Result<text::Json>(std::string_view object)>;

struct ListOptions {
  std::string namespace_name{};  // "" is all
  std::string label_selector{};
  std::string field_selector{};
  std::string resource_version{};
  int64_t limit = 0;            // objects a page; List follows to the last page
  int64_t timeout_seconds = 0;  // of a watch: the server ends it after this; 0 is its own choice
  // Takes out of an object what its reader has no use for, page by page and event by event, so that
  // a long list never lies in memory whole. List and Reflector call it.
  std::function<void(text::Json& object)> trim{};
  // How List and watches read an object's text, where the reader has no use for the whole: nothing
  // is ParseJson. What it leaves out is never in memory at all.
  ObjectReader read{};
  // The same of List alone. It may take what it wants of an object and return null.
  ObjectReader read_listed{};
  // A form of muster's own (api::kSummaryForm) that List asks for. Only the embedded server knows
  // it: `read` gets whole objects from others.
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

// One watch; ends when the server ends it. Next from one thread, Cancel from any.
class Watch {
 public:
  explicit Watch(std::unique_ptr<net::BodyStream> body, ObjectReader read = {})
      : body_(std::move(body)), read_(std::move(read)) {}
  // nullopt at the end of the stream: resume from the last resourceVersion. kExpired: list again.
  base::Result<std::optional<WatchEvent>> Next();
  void Cancel() { body_->Cancel(); }

 private:
  base::Status ReadMore();

  std::unique_ptr<net::BodyStream> body_;
  const ObjectReader read_;
  std::string buffer_;    // events not yet given out
  size_t next_ = 0;       // where the first of them begins
  size_t scanned_ = 0;    // no newline lies between next_ and here
  bool is_over_ = false;  // the stream is
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
  // Of a pod that is gone, and that the embedded cluster remembers; "" is the pod of that name.
  std::string pod_uid{};
};

enum class PatchType { kMerge, kJson, kStrategicMerge, kApply };
enum class Propagation { kBackground, kForeground, kOrphan };

struct DeleteOptions {
  std::string uid{};  // precondition; "" is none
  std::optional<int64_t> grace_period_seconds{};
  Propagation propagation = Propagation::kBackground;
};

// One write of a batch.
struct BatchWrite {
  // kCreateWithOwned is the embedded server's alone: `object` is a List whose first item owns the
  // others, of its namespace. All are made or none; the answer is the first.
  enum class Verb { kCreate, kCreateWithOwned, kUpdate, kUpdateStatus, kPatch, kDelete, kBind };
  Verb verb = Verb::kCreate;
  const api::Resource* resource = nullptr;
  std::string namespace_name{};
  std::string name{};   // not for kCreate*
  text::Json object{};  // kCreate*, kUpdate*; kPatch: the merge patch; kBind: the pod's Binding
  DeleteOptions delete_options{};
  // How its answer is read; nothing is ParseJson.
  base::Result<text::Json> (*read)(std::string_view answer) = nullptr;
};

// A table as a Kubernetes server renders it (meta.k8s.io/v1 Table).
struct Table {
  struct Column {
    std::string name;
    int64_t priority = 0;  // 0 is always shown, above only in wide output
  };
  std::vector<Column> columns;
  std::vector<std::vector<text::Json>> rows;
  std::string resource_version;
};

// Thread safe.
class Client {
 public:
  // Called with each `Warning:` header's text that the server sends.
  using WarningSink = std::function<void(std::string_view)>;

  explicit Client(std::unique_ptr<Transport> transport, WarningSink warnings = {})
      : transport_(std::move(transport)), warnings_(std::move(warnings)) {}

  base::Result<text::Json> Get(const api::Resource& resource, std::string_view namespace_name,
                               std::string_view name);
  base::Result<ObjectList> List(const api::Resource& resource, const ListOptions& options);
  base::Result<Table> GetTable(const api::Resource& resource, const ListOptions& options);
  base::Result<text::Json> Create(const api::Resource& resource, std::string_view namespace_name,
                                  const text::Json& object, bool dry_run = false);
  // kConflict when metadata.resourceVersion is set and stale.
  base::Result<text::Json> Update(const api::Resource& resource, const text::Json& object);
  base::Result<text::Json> UpdateStatus(const api::Resource& resource, const text::Json& object);
  base::Result<text::Json> Patch(const api::Resource& resource, std::string_view namespace_name,
                                 std::string_view name, PatchType type, const text::Json& patch,
                                 std::string_view subresource = "");
  // Server-side apply: creates the object, or changes the fields in it that are `field_manager`'s
  // to set. kConflict naming the fields that are somebody else's, unless `force` takes them.
  // `field_validation`: Strict, Warn or Ignore fields that are given twice; "" is the server's
  // choice.
  base::Result<text::Json> Apply(const api::Resource& resource, const text::Json& object,
                                 std::string_view field_manager, bool force = false,
                                 bool dry_run = false, std::string_view field_validation = "");
  base::Status Delete(const api::Resource& resource, std::string_view namespace_name,
                      std::string_view name, const DeleteOptions& options = {});
  // At once; results in order. Deletes answer with the Status or last object.
  std::vector<base::Result<text::Json>> Batch(const std::vector<BatchWrite>& writes);
  // From options.resource_version ("" : a list of what exists comes first, as ADDED).
  base::Result<std::unique_ptr<Watch>> OpenWatch(const api::Resource& resource,
                                                 const ListOptions& options);
  base::Result<std::unique_ptr<net::BodyStream>> Logs(std::string_view namespace_name,
                                                      std::string_view pod,
                                                      const LogOptions& options);
  // Runs a command in a container. The server's refusals are errors; that the command could not be
  // started comes from the stream's end.
  base::Result<std::unique_ptr<ExecStream>> Exec(std::string_view namespace_name,
                                                 std::string_view pod, const ExecOptions& options);
  // A path of muster's own on the embedded cluster (local/server/routing/records.h).
  base::Result<text::Json> Ask(std::string_view method, std::string path);
  // A connection to a port of a pod. That nobody listens there comes from its Read.
  base::Result<std::unique_ptr<PortStream>> OpenPort(std::string_view namespace_name,
                                                     std::string_view pod, uint16_t port);
  // A path outside the resources, e.g. "/version"; the body of a 200.
  base::Result<std::string> Raw(std::string_view method, std::string_view path,
                                std::string_view body = "");

 private:
  // A success, once the warnings are given out.
  base::Result<net::HttpResponse> Check(const net::HttpRequest& request,
                                        base::Result<net::HttpResponse> response);
  // The body of a success.
  base::Result<text::Json> ParseAnswer(const net::HttpRequest& request,
                                       base::Result<net::HttpResponse> response,
                                       const ObjectReader& read);
  // A page of a list whose items are read one by one, as they come: all of it but the items.
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
