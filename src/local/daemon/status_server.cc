#include "local/daemon/status_server.h"

#include <fmt/format.h>

#include <utility>
#include <vector>

#include "api/job/training_summary.h"
#include "api/object.h"
#include "api/resources.h"
#include "base/file.h"
#include "base/log.h"
#include "base/strings.h"
#include "local/server/request/api_error.h"
#include "net/tls/certificate.h"
#include "runs/progress/status_post.h"

namespace local::daemon {
namespace {

constexpr size_t kStatusKeyBytes = 32;
constexpr size_t kMostPosters = 256;  // connections at once
constexpr size_t kMostAddressBytes = 64;

net::HttpResponse RefusePost(int status, std::string reason, std::string message) {
  return server::ToResponse({status, std::move(reason), std::move(message), {}});
}

struct PostedJob {
  std::string namespace_name;
  std::string name;
};

std::optional<PostedJob> JobOfTarget(const net::HttpRequest& request) {
  const auto target = net::ParseTarget(request.target);
  if (!target || request.method != "POST") return std::nullopt;
  const std::vector<std::string>& parts = target->segments;
  const bool is_status = parts.size() == 8 && parts[0] == "apis" &&
                         parts[1] == "trainer.kubeflow.org" && parts[2] == "v1alpha1" &&
                         parts[3] == "namespaces" && parts[5] == "trainjobs" &&
                         parts[7] == "status";
  if (!is_status) return std::nullopt;
  return PostedJob{parts[4], parts[6]};
}

base::Result<std::string> EnsureStatusKey(const std::string& path) {
  if (auto key = base::ReadFile(path); key && !key->empty()) return key;
  TRY_ASSIGN(std::string key, net::RandomToken(kStatusKeyBytes));
  TRY(base::WriteFileAtomic(path, key, 0600, base::Durability::kSync));
  return key;
}

uint16_t LastPort(const std::string& path) {
  const auto address = base::ReadFile(path, kMostAddressBytes);
  if (!address) return 0;
  const std::string_view text = base::Trim(*address);
  const auto port = base::ParseInt(text.substr(std::min(text.rfind(':') + 1, text.size())));
  return port && *port > 0 && *port <= 65'535 ? static_cast<uint16_t>(*port) : uint16_t{0};
}

}  // namespace

net::HttpResponse AnswerStatusPost(cluster::Client& client, ProgressFiles& files,
                                   std::string_view key, base::Time now,
                                   const net::HttpRequest& request) {
  constexpr std::string_view kScheme = "Bearer ";
  const auto posted = JobOfTarget(request);
  if (!posted) return RefusePost(404, "NotFound", "Not found");
  std::string_view token = net::FindHeader(request.headers, "Authorization");
  const bool has_scheme = token.starts_with(kScheme);
  if (has_scheme) token.remove_prefix(kScheme.size());
  const auto uid = has_scheme ? node::JobOfStatusToken(key, token) : std::nullopt;
  if (!uid) return RefusePost(403, "Forbidden", "Forbidden");
  const auto job = client.Get(api::kPyTorchJobs, posted->namespace_name, posted->name);
  if (!job && job.error().code == base::Code::kNotFound) {
    return RefusePost(404, "NotFound", "Train job not found");
  }
  if (!job) return RefusePost(500, "InternalError", "Internal error");
  if (api::Uid(*job) != *uid) return RefusePost(403, "Forbidden", "Forbidden");
  if (request.body.size() > runs::kMostPostBytes) {
    return RefusePost(413, "RequestEntityTooLarge", "Payload too large");
  }
  auto post = runs::ReadStatusPost(request.body);
  if (!post) return RefusePost(422, "Invalid", post.error().message);
  const bool tells = post->percent || post->progress.step || post->progress.epoch ||
                     post->progress.seconds_left || !post->progress.scalars.empty();
  if (tells && !api::IsJobFinished(*job)) {
    const auto at = std::chrono::floor<std::chrono::milliseconds>(now).time_since_epoch().count();
    files.Note(*uid, std::string(kStatusPosts), at, post->progress, post->percent);
  }
  return server::JsonResponse(200, std::move(post->answer));
}

base::Result<std::unique_ptr<StatusServer>> StatusServer::Listen(const std::string& state) {
  const std::string folder = state + "/status";
  TRY(base::MakeDirs(folder, 0700));
  std::unique_ptr<StatusServer> made(new StatusServer);
  TRY_ASSIGN(made->endpoint_.key, EnsureStatusKey(folder + "/key"));
  const net::HttpHandler handler = [self = made.get()](
                                       const net::HttpRequest& request,
                                       const std::shared_ptr<net::Responder>& responder) {
    responder->Send(self->answer_(request));
  };
  net::HttpServerOptions options;
  options.max_connections = kMostPosters;
  const uint16_t last = LastPort(folder + "/address");
  auto server = net::HttpServer::ListenTcp("127.0.0.1", last, handler, options);
  if (!server && last != 0) server = net::HttpServer::ListenTcp("127.0.0.1", 0, handler, options);
  if (!server) return base::Fail(std::move(server.error()));
  made->server_ = std::move(*server);
  made->endpoint_.address = fmt::format("127.0.0.1:{}", made->server_->port());
  TRY(base::WriteFileAtomic(folder + "/address", made->endpoint_.address + "\n", 0600,
                            base::Durability::kNone));
  return made;
}

void StatusServer::Serve(cluster::Client& client, ProgressFiles& files, base::Clock& clock) {
  answer_ = [&client, &files, &clock, this](const net::HttpRequest& request) {
    return AnswerStatusPost(client, files, endpoint_.key, clock.Now(), request);
  };
  thread_ = std::thread([this] { server_->Run(); });
}

StatusServer::~StatusServer() {
  if (!thread_.joinable()) return;
  server_->Stop();
  thread_.join();
}

}  // namespace local::daemon
