#include "local/daemon/status_server.h"

#include <fmt/format.h>

#include <utility>
#include <vector>

#include "api/job/training_summary.h"
#include "api/object.h"
#include "api/resources.h"
#include "api/status_posts.h"
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

net::HttpResponse ToAnswer(const api::PostRefusal& refusal) {
  return server::JsonResponse(refusal.status, api::ToBody(refusal));
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
  const auto posted = api::JobOfStatusPost(request.method, request.target);
  if (!posted) return ToAnswer(api::kNoPostPath);
  const std::string_view token =
      api::BearerToken(net::FindHeader(request.headers, "Authorization"));
  const auto uid = node::JobOfStatusToken(key, token);
  if (!uid) return ToAnswer(api::kPostForbidden);
  const auto job = client.Get(api::kPyTorchJobs, posted->namespace_name, posted->name);
  if (!job && job.error().code == base::Code::kNotFound) return ToAnswer(api::kNoPostedJob);
  if (!job) return ToAnswer(api::kPostFailed);
  if (api::Uid(*job) != *uid) return ToAnswer(api::kPostForbidden);
  if (request.body.size() > runs::kMostPostBytes) return ToAnswer(api::kPostTooLarge);
  auto post = runs::ReadStatusPost(request.body);
  if (!post) return ToAnswer(api::InvalidPost(post.error().message));
  if (!post->IsEmpty() && !api::IsJobFinished(*job)) {
    files.Note(*uid, std::string(runs::kStatusPosts), runs::ToMillis(now), post->progress,
               post->percent);
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
