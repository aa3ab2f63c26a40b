#include "controller/operator/http.h"

#include <fmt/format.h>

#include <string_view>

#include "net/socket/tcp.h"

namespace controller {
namespace {

constexpr int kServiceUnavailable = 503;
constexpr std::string_view kNowhere = "0";

net::HttpResponse TextAnswer(int status, std::string body,
                             std::string type = "text/plain; charset=utf-8") {
  return {status, {{"Content-Type", std::move(type)}}, std::move(body)};
}

// The path without its query, for GET and HEAD; "" for other methods.
std::string_view ReadPath(const net::HttpRequest& request) {
  if (request.method != "GET" && request.method != "HEAD") return "";
  return std::string_view(request.target).substr(0, request.target.find('?'));
}

}  // namespace

void Readiness::Add(std::string name, Check check) {
  const std::lock_guard lock(mutex_);
  checks_.emplace_back(std::move(name), std::move(check));
}

void Readiness::AddNote(std::string name, Check check) {
  const std::lock_guard lock(mutex_);
  notes_.emplace_back(std::move(name), std::move(check));
}

std::string Readiness::Failing(const Checks& checks, std::string_view mark) {
  std::string lines;
  for (const auto& [name, check] : checks) {
    if (const base::Status status = check(); !status) {
      lines += fmt::format("{}{}: {}\n", mark, name, status.error().message);
    }
  }
  return lines;
}

net::HttpResponse Readiness::Answer() const {
  const std::lock_guard lock(mutex_);
  std::string missing = Failing(checks_, "[-]");
  const std::string noted = Failing(notes_, "[!]");
  if (!missing.empty()) return TextAnswer(kServiceUnavailable, missing + noted);
  return TextAnswer(200, noted.empty() ? "ok" : "ok\n" + noted);
}

base::Result<std::unique_ptr<OperatorServer>> OperatorServer::Start(const std::string& flag,
                                                                    const std::string& address,
                                                                    net::HttpHandler handler) {
  if (address.empty() || address == kNowhere) return std::unique_ptr<OperatorServer>();
  const auto parsed = net::ParseHostPort(address);
  if (!parsed) return base::Fail(parsed.error().Wrap("--" + flag));
  auto server = net::HttpServer::ListenTcp(parsed->host, parsed->port, std::move(handler));
  if (!server) return base::Fail(server.error().Wrap("--" + flag));
  return std::unique_ptr<OperatorServer>(new OperatorServer(std::move(*server)));
}

OperatorServer::OperatorServer(std::unique_ptr<net::HttpServer> server)
    : server_(std::move(server)), thread_([this] { server_->Run(); }) {}

OperatorServer::~OperatorServer() {
  server_->Stop();
  thread_.join();
}

net::HttpHandler ProbeHandler(const Readiness& readiness) {
  return [&readiness](const net::HttpRequest& request,
                      const std::shared_ptr<net::Responder>& responder) {
    const std::string_view path = ReadPath(request);
    if (path == "/healthz") return responder->Send(TextAnswer(200, "ok"));
    if (path == "/readyz") return responder->Send(readiness.Answer());
    responder->Send(TextAnswer(404, "not found; this server has /healthz and /readyz\n"));
  };
}

net::HttpHandler MetricsHandler(std::function<std::string()> metrics) {
  return [metrics = std::move(metrics)](const net::HttpRequest& request,
                                        const std::shared_ptr<net::Responder>& responder) {
    if (ReadPath(request) == "/metrics") {
      return responder->Send(
          TextAnswer(200, metrics(), "text/plain; version=0.0.4; charset=utf-8"));
    }
    responder->Send(TextAnswer(404, "not found; this server has /metrics\n"));
  };
}

}  // namespace controller
