#include "dashboard/server.h"

#include <fmt/format.h>

#include <utility>

#include "api/object.h"
#include "arena/app/ownership.h"
#include "arena/jobs/jobs.h"
#include "base/strings.h"
#include "base/uid.h"
#include "dashboard/action.h"
#include "dashboard/answer.h"
#include "dashboard/assets.h"
#include "dashboard/documents.h"
#include "process/program_output.h"

namespace dashboard {
namespace {

using base::Code;
using base::Fail;
using Kind = Route::Kind;

// Letters and digits of each secret: about 190 bits.
constexpr size_t kSecretLength = 40;
// How many requests are with the cluster at the same time, and how many more may wait.
constexpr size_t kWorkers = 4;
constexpr size_t kMostWaiting = 64;
constexpr size_t kMostPosted = 4096;
constexpr int64_t kUsualRuns = 200;
constexpr int64_t kMostRuns = 5000;
constexpr int64_t kMostPoints = 1000;  // per curve: more than a screen has columns
constexpr std::string_view kMoreHeader = "Muster-More";
constexpr std::string_view kCommandHeader = "Muster-Command";

base::Result<int64_t> LimitOf(const net::Target& target) {
  const std::string_view text = target.Query("limit");
  if (text.empty()) return kUsualRuns;
  const auto limit = base::ParseInt(text);
  if (limit && *limit > 0 && *limit <= kMostRuns) return *limit;
  return Fail(Code::kInvalidArgument,
              fmt::format("limit \"{}\" is invalid: a number from 1 to {}", text, kMostRuns));
}

// Of a parameter that may be given several times.
std::vector<std::string> ValuesOf(const net::Target& target, std::string_view parameter) {
  std::vector<std::string> values;
  for (const auto& [name, value] : target.query) {
    if (name == parameter) values.push_back(value);
  }
  return values;
}

}  // namespace

Server::Server(cluster::Client& client, const arena::Context& context, const ServerOptions& options,
               std::string job_selector)
    : client_(client),
      context_(context),
      options_(options),
      link_(base::RandomName(kSecretLength)),
      live_(client, context,
            {options.all_namespaces ? "" : context.Namespace(), std::move(job_selector)}),
      shells_(client, context),
      workers_(kWorkers, kMostWaiting) {}

base::Result<std::unique_ptr<Server>> Server::Start(cluster::Client& client,
                                                    const arena::Context& context,
                                                    const ServerOptions& options) {
  TRY_ASSIGN(std::string selector, arena::VisibleSelector(client, context, ""));
  std::unique_ptr<Server> server(new Server(client, context, options, std::move(selector)));
  TRY_ASSIGN(server->http_,
             net::HttpServer::ListenTcp(
                 "127.0.0.1", options.port,
                 [self = server.get()](net::HttpRequest request, const Responder& responder) {
                   self->Handle(std::move(request), responder);
                 }));
  server->access_ = std::make_unique<Access>(
      server->http_->port(), Access::Secrets{server->link_, base::RandomName(kSecretLength)},
      context.clock.Steady());
  return server;
}

std::string Server::Link() const {
  return fmt::format("http://127.0.0.1:{}/#{}", http_->port(), link_);
}

void Server::Handle(net::HttpRequest request, const Responder& responder) {
  const auto route = RouteOf(request.method, request.target);
  const auto area = route && !route->is_data() ? Access::Area::kAssets : Access::Area::kData;
  if (const auto refusal = access_->Check(request, area)) {
    return responder->Send(ErrorAnswer(*refusal));
  }
  const base::Error nothing{Code::kNotFound, "there is nothing here", 0};
  if (!route) return responder->Send(ErrorAnswer(nothing));
  if (request.body.size() > kMostPosted) {
    return responder->Send(ErrorAnswer({Code::kInvalidArgument, "the request is too long", 0}));
  }
  switch (route->kind) {
    case Kind::kAsset: {
      const Asset* asset = FindAsset(route->rest);
      return responder->Send(asset == nullptr ? ErrorAnswer(nothing)
                                              : AssetAnswer(request, *asset));
    }
    case Kind::kSession:
      return OpenSession(request, responder);
    case Kind::kEvents:
      return OpenEvents(*route, responder);
    case Kind::kShell:
      return OpenShell(*route, responder);
    case Kind::kTyped: {
      const base::Status taken = shells_.Take(request.body);
      return responder->Send(taken ? JsonAnswer(text::Object()) : ErrorAnswer(taken.error()));
    }
    case Kind::kState:
      return responder->Send(JsonAnswer(State()));
    default:
      return Work(request, *route, responder);
  }
}

void Server::OpenSession(const net::HttpRequest& request, const Responder& responder) {
  const auto json = text::ParseJson(request.body);
  const std::string link(json ? text::GetString(*json, {"link"}) : "");
  const auto cookie = access_->Redeem(link, context_.clock.Steady());
  if (!cookie) return responder->Send(ErrorAnswer(cookie.error()));
  net::HttpResponse answer = JsonAnswer(State());
  answer.headers.emplace_back("Set-Cookie", *cookie);
  responder->Send(std::move(answer));
}

void Server::OpenEvents(const Route& route, const Responder& responder) {
  Live::Wish wish{std::string(route.target.Query("job")), std::nullopt};
  const size_t slash = wish.job_key.find('/');
  if (!wish.job_key.empty() && slash == std::string::npos) {
    return responder->Send(
        ErrorAnswer({Code::kInvalidArgument, "job is invalid: give NAMESPACE/NAME", 0}));
  }
  if (!wish.job_key.empty() && route.target.Query("log") == "1") {
    auto query = ParseLogQuery(route.target, wish.job_key.substr(slash + 1));
    if (!query) return responder->Send(ErrorAnswer(query.error()));
    wish.log = std::move(*query);
  }
  if (const base::Status added = live_.Add(responder, std::move(wish)); !added) {
    responder->Send(ErrorAnswer(added.error()));
  }
}

void Server::OpenShell(const Route& route, const Responder& responder) {
  auto wish = ParseShellWish(route.target, route.namespace_name, route.run);
  if (!wish) return responder->Send(ErrorAnswer(wish.error()));
  if (const base::Status opened = shells_.Open(responder, std::move(*wish)); !opened) {
    responder->Send(ErrorAnswer(opened.error()));
  }
}

void Server::Work(const net::HttpRequest& request, const Route& route, const Responder& responder) {
  const bool is_taken =
      workers_.Post([this, request, route, responder](const std::stop_token& workers_stop) {
        // A peer that has gone needs no answer.
        std::stop_source stop;
        const std::stop_callback ending(workers_stop, [stop]() mutable { stop.request_stop(); });
        responder->OnClose([stop]() mutable { stop.request_stop(); });
        if (!stop.stop_requested()) responder->Send(AnswerOf(request, route, stop.get_token()));
      });
  if (!is_taken) {
    responder->Send(ErrorAnswer({Code::kExhausted, "too many requests at once: try again", 0}));
  }
}

net::HttpResponse Server::AnswerOf(const net::HttpRequest& request, const Route& route,
                                   const std::stop_token& stop) {
  if (route.kind == Kind::kLogs) return LogsOf(route, stop);
  const auto document = route.kind == Kind::kAction ? Act(request) : DocumentOf(route);
  return document ? JsonAnswer(*document) : ErrorAnswer(document.error());
}

base::Result<text::Json> Server::DocumentOf(const Route& route) {
  const arena::Context in =
      route.namespace_name.empty() ? context_ : InNamespace(context_, route.namespace_name);
  switch (route.kind) {
    case Kind::kRun:
      return RunPage(client_, in, route.run);
    case Kind::kVerdict:
      return VerdictPage(client_, in, route.run);
    case Kind::kDiff:
      return DiffPage(client_, in, route.run);
    case Kind::kReport:
      return ReportPage(client_, in, route.run);
    case Kind::kProgress:
      return ProgressPage(client_, in, route.run, kMostPoints);
    case Kind::kStrip:
      return StripPage(client_, in, route.run, kMostStripColumns);
    case Kind::kRanks:
      return RanksPage(client_, in, route.run);
    case Kind::kHistory: {
      TRY_ASSIGN(const int64_t limit, LimitOf(route.target));
      return HistoryPage(client_, in, options_.all_namespaces ? "" : in.Namespace(), limit);
    }
    case Kind::kReports:
      return ReportsPage(client_, in, options_.all_namespaces ? "" : in.Namespace(),
                         std::string(route.target.Query("since")),
                         std::string(route.target.Query("by")));
    case Kind::kCompare:
      return ComparePage(client_, in, ValuesOf(route.target, "run"));
    case Kind::kStarts:
      return StartsPage(client_, in, ValuesOf(route.target, "job"));
    case Kind::kMachine:
      return MachinePage(client_, in);
    default:
      return Fail(Code::kNotFound, "there is nothing here");
  }
}

net::HttpResponse Server::LogsOf(const Route& route, const std::stop_token& stop) {
  const auto query = ParseLogQuery(route.target, route.run);
  if (!query) return ErrorAnswer(query.error());
  auto log = ReadLog(client_, InNamespace(context_, route.namespace_name), *query, stop);
  if (!log) return ErrorAnswer(log.error());
  net::Headers headers = DataHeaders("text/plain; charset=utf-8");
  headers.emplace_back(kMoreHeader, log->has_more ? "1" : "0");
  headers.emplace_back(kCommandHeader, CommandOf(*query, context_.program));
  return {200, std::move(headers), std::move(log->text)};
}

base::Result<text::Json> Server::Act(const net::HttpRequest& request) {
  TRY_ASSIGN(const Action action, ParseAction(request.body));
  if (!action.uid.empty()) {
    TRY_ASSIGN(const text::Json job,
               client_.Get(api::kPyTorchJobs, action.namespace_name, action.run));
    if (api::Uid(job) != action.uid) {
      return Fail(Code::kConflict,
                  fmt::format("{} is a different job by now: reload the page", action.run));
    }
  }
  const std::vector<std::string> words = WordsOf(action, context_.flags);
  std::vector<std::string> argv = {"/proc/self/exe"};
  argv.insert(argv.end(), words.begin(), words.end());
  TRY_ASSIGN(const process::ProgramOutput done, process::OutputOf(argv, context_.environment));
  return text::Object{{"command", CommandLine(context_.program, words)},
                      {"exitCode", done.exit_code},
                      {"out", done.out},
                      {"err", done.err}};
}

text::Json Server::State() const {
  return text::Object{{"version", MUSTER_VERSION},
                      {"program", context_.program},
                      {"thisMachine", context_.cluster_is_this_machine},
                      {"cluster", context_.cluster_server},
                      {"context", context_.flags.context},
                      {"namespace", options_.all_namespaces ? "" : context_.Namespace()}};
}

}  // namespace dashboard
