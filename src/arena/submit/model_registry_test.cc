#include "arena/submit/model_registry.h"

#include <gtest/gtest.h>

#include "arena/testing/verb_test_base.h"

namespace arena {
namespace {

base::Environment Variables(std::map<std::string, std::string> values) {
  return base::Environment(std::move(values));
}

TEST(RegisterModel, RefusesAnAddressThatIsNoneAndKeepsItsPassword) {
  for (const char* uri : {"file:///x", "databricks", "http://tom:tiger@h:x", "http://h:99999",
                          "http:///x", "https://tom:tiger@:5000"}) {
    const auto version =
        RegisterModelVersion(Variables({{"MLFLOW_TRACKING_URI", uri}}), nullptr, {"m", "s", "d"});
    ASSERT_FALSE(version) << uri;
    EXPECT_EQ(version.error().message,
              "MLFLOW_TRACKING_URI: it should look like http://host:5000 or https://host");
  }
}

TEST(RegisterModel, NamesACertificateFileThatIsNotThere) {
  const auto version =
      RegisterModelVersion(Variables({{"MLFLOW_TRACKING_URI", "https://h"},
                                      {"MLFLOW_TRACKING_SERVER_CERT_PATH", "/no/such/file"}}),
                           nullptr, {"m", "s", "d"});
  ASSERT_FALSE(version);
  EXPECT_NE(version.error().message.find("/no/such/file"), std::string::npos)
      << version.error().message;
}

TEST(RegisterModel, SaysWhatIsMissing) {
  const auto version = RegisterModelVersion(base::Environment(), nullptr, {"m", "s", "d"});
  ASSERT_FALSE(version);
  EXPECT_NE(version.error().message.find("MLFLOW_TRACKING_URI is not set"), std::string::npos);
}

class ModelRegistryOfCluster : public VerbTest {
 protected:
  void PutMlflow() {
    cluster_->Put("/api/v1/namespaces/ml/services", Json(R"({
      "metadata": {"name": "mlflow", "namespace": "ml",
                   "labels": {"app.kubernetes.io/name": "mlflow"}},
      "spec": {"ports": [{"port": 5000}]}})"));
  }
  void AnswerAs(int status_of_model) {
    cluster_->on_service = [this, status_of_model](const net::HttpRequest& request) {
      asked_.push_back(request.target);
      const bool is_model = request.target.ends_with("registered-models/create");
      if (!is_model) return net::HttpResponse{200, {}, R"({"model_version": {"version": "3"}})"};
      return net::HttpResponse{
          status_of_model, {}, status_of_model == 200 ? "{}" : R"({"error_code":
            "RESOURCE_ALREADY_EXISTS", "message": "there is one"})"};
    };
  }
  std::vector<std::string> asked_;
};

TEST_F(ModelRegistryOfCluster, IsReachedThroughTheApiServer) {
  const auto ask = [this] { return RegisterModelVersion({}, client_.get(), {"m", "s", "d"}); };
  EXPECT_NE(ask().error().message.find("MLFLOW_TRACKING_URI is not set"), std::string::npos);
  PutMlflow();
  for (const int status : {200, 400}) {
    AnswerAs(status);
    const auto version = ask();
    ASSERT_TRUE(version) << version.error().message;
    EXPECT_EQ(*version, "3");
  }
  const std::string proxy = "/api/v1/namespaces/ml/services/http:mlflow:5000/proxy";
  EXPECT_EQ(asked_[0], proxy + "/api/2.0/mlflow/registered-models/create");
  EXPECT_EQ(asked_[1], proxy + "/api/2.0/mlflow/model-versions/create");
}

// Anybody who may create a service can label one.
TEST_F(ModelRegistryOfCluster, IsSearchedUnderArenasNameAloneAndNamed) {
  PutMlflow();
  AnswerAs(200);
  is_this_machine_ = false;
  const auto submit = [this](const std::string& name, const std::string& program) {
    return Run({"submit", "pytorch", "--name=" + name, "--image=i", "--model-name=m",
                "--model-source=s", "c"},
               program);
  };
  const Ended ours = submit("a", "muster");
  EXPECT_NE(ours.log.find("MLFLOW_TRACKING_URI is not set"), std::string::npos) << ours.log;
  EXPECT_TRUE(asked_.empty());
  const Ended arenas = submit("b", "arena");
  EXPECT_NE(arenas.log.find("is registered at /api/v1/namespaces/ml/services/http:mlflow:5000"),
            std::string::npos)
      << arenas.log;
  EXPECT_EQ(asked_.size(), 2u);
}

}  // namespace
}  // namespace arena
