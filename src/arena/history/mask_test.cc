#include "arena/history/mask.h"

#include <gtest/gtest.h>

namespace arena {
namespace {

TEST(Mask, KnowsTheJobsOwnSecrets) {
  const auto job = text::ParseJson(R"({"spec": {"containers": [{"env": [
      {"name": "HF_TOKEN", "value": "tiger-2"}, {"name": "HF_TOKEN_2", "value": "tiger-22"},
      {"name": "RANKS", "value": "eight"}, {"name": "MY_SECRET", "value": "1"}]}]},
      "metadata": {"annotations": {"db-password": "open sesame", "secretName": "shown"}}})");
  ASSERT_TRUE(job);
  Mask mask;
  mask.Learn(*job);
  EXPECT_EQ(mask.Of("tiger-2 tiger-22 eight 1 open sesame shown"), "*** *** eight 1 *** shown");
}

TEST(Mask, KnowsTheValueAfterASecretFlag) {
  const auto pod = text::ParseJson(R"({"args": ["--token", "tiger-2", "--max-tokens", "4096"]})");
  ASSERT_TRUE(pod);
  Mask mask;
  mask.Learn(*pod);
  EXPECT_EQ(mask.Of("tiger-2 4096"), "*** 4096");
  const std::pair<std::string, std::string> cases[] = {
      {"train.py --token abc --lr 0.1", "train.py --token *** --lr 0.1"},
      {"--db-password 'a b' c", "--db-password '***' c"},
      {"--token --verbose", "--token --verbose"},
      {"--use_auth_token True --num_image_token 1024",
       "--use_auth_token True --num_image_token 1024"},
      {"--password 20261127", "--password ***"},
      {"usage: a.py [--token TOKEN] [--lr LR]", "usage: a.py [--token ***] [--lr LR]"},
      {"--token ] --lr", "--token ] --lr"},
      {"run \\\n            --token \\\n            abc \\\n",
       "run \\\n            --token \\\n            *** \\\n"},
      {"--max_tokens 512 --tokenizer gpt2", "--max_tokens 512 --tokenizer gpt2"},
      {"the token is new", "the token is new"},
      {"pass --hf-token or log in", "pass --hf-token or log in"},
      {"print('--token ')\nb 'c'", "print('--token ')\nb 'c'"},
  };
  for (const auto& [text, shown] : cases) EXPECT_EQ(Mask().Of(text), shown);
}

TEST(Mask, LearnsNoSwitchAndNoCountAfterASecretFlag) {
  const auto pod = text::ParseJson(R"({"args": ["--use_auth_token", "True", "--hf-token",
      "--do_train", "--num_image_token", "1024", "--db-password", "20261127", "--token", 7]})");
  ASSERT_TRUE(pod);
  Mask mask;
  mask.Learn(*pod);
  EXPECT_EQ(mask.Of("True --do_train 1024 20261127 step 7"), "True --do_train 1024 *** step 7");
}

TEST(Mask, KnowsWhatLooksLikeASecret) {
  const std::string twenty = "abcdefghijklmnopqrst";
  const std::pair<std::string, std::string> cases[] = {
      {"git clone https://me:pa:ss@host/x.git", "git clone https://me:***@host/x.git"},
      {"https://host:8080/a@b:c", "https://host:8080/a@b:c"},
      {"token=hf_" + twenty + ", next", "token=hf_***, next"},
      {"ghp_short", "ghp_short"},
      {"xghp_" + twenty, "xghp_" + twenty},
      {"Authorization: Bearer " + twenty, "Authorization: Bearer ***"},
      {"AKIAABCDEFGHIJKLMNOP", "AKIA***"},
      {"xoxb-" + twenty, "xoxb-***"},
      {"xoxp-" + twenty, "xoxp-***"},
      {"xoxa-" + twenty + " xoxr-" + twenty + " xoxs-" + twenty, "xoxa-*** xoxr-*** xoxs-***"},
      {"xoxe.xoxp-1-" + twenty + " xoxe-1-" + twenty, "xoxe.*** xoxe-***"},
      {"xapp-1-" + twenty, "xapp-***"},
      {"ya29." + twenty, "ya29.***"},
      {"GOCSPX-" + twenty, "GOCSPX-***"},
      {"npm_" + twenty, "npm_***"},
      {"AIza" + twenty + twenty, "AIza***"},
      {"-----BEGIN RSA PRIVATE KEY-----\nabc\n-----END RSA PRIVATE KEY-----\nafter",
       "-----BEGIN RSA PRIVATE KEY-----***-----END RSA PRIVATE KEY-----\nafter"},
      {"-----BEGIN PRIVATE KEY-----\ncut", "-----BEGIN PRIVATE KEY-----***"},
      {"train --api-key=abc --lr=0.1 DB_PASSWORD=x;",
       "train --api-key=*** --lr=0.1 DB_PASSWORD=***;"},
      {"--token=\"a\\b c\" y", "--token=\"***\" y"},
      {R"({"command":"x --token=\"a b\" y"})", R"({"command":"x --token=\"***\" y"})"},
      {"API_TOKEN='x y' z TOKEN=\"\" end", "API_TOKEN='***' z TOKEN=\"\" end"},
      {R"(+DB_PASSWORD = "hunter2")", R"(+DB_PASSWORD = "***")"},
      {R"({"api_key": "plain", 'secret':'s'})", R"({"api_key": "***", 'secret':'***'})"},
      {R"(\"api_key\": \"plain\")", R"(\"api_key\": \"***\")"},
      {"db_password: yaml-secret-9\nnext: 1", "db_password: ***\nnext: 1"},
      {"password = plain\nx", "password = ***\nx"},
      {"token = os.environ[\"X\"]", "token = os.environ[\"X\"]"},
      {"token = read(path)", "token = read(path)"},
      {"def log_in(token: str, secret: Optional[str] = None):",
       "def log_in(token: str, secret: Optional[str] = None):"},
      {"  password: str\n", "  password: str\n"},
      {"if token == \"x\":", "if token == \"x\":"},
      {R"(build(max_tokens=max_tokens, tokenizer="gpt2", pad_token="<pad>"))",
       R"(build(max_tokens=max_tokens, tokenizer="gpt2", pad_token="<pad>"))"},
      {"https://b/o?X-Amz-Date=1&X-Amz-Signature=0a1b&x=1",
       "https://b/o?X-Amz-Date=1&X-Amz-Signature=***&x=1"},
      {"AccountName=a;AccountKey=abcd==;x", "AccountName=a;AccountKey=***;x"},
      {"    client-key-data: TFMwdExT\n", "    client-key-data: ***\n"},
      {"hf_token='x' authToken=y TOKEN_SECRET=z", "hf_token='***' authToken=*** TOKEN_SECRET=***"},
      {"", ""},
      {"://", "://"},
  };
  for (const auto& [text, shown] : cases) EXPECT_EQ(Mask().Of(text), shown);
}

TEST(Mask, KnowsHeadersThatSignIn) {
  const std::pair<std::string, std::string> cases[] = {
      {"> Authorization: Basic bWU6cGFzcw==\n> Accept: */*",
       "> Authorization: Basic ***\n> Accept: */*"},
      {"curl -H 'authorization: token abc' https://x",
       "curl -H 'authorization: token ***' https://x"},
      {R"({'Authorization': 'Basic bWU6cGFzcw==', 'Accept': '*/*'})",
       R"({'Authorization': 'Basic ***', 'Accept': '*/*'})"},
      {R"({\"Authorization\": \"Digest username=me\", \"A\": 1})",
       R"({\"Authorization\": \"Digest ***\", \"A\": 1})"},
      {R"(send: b'GET / HTTP/1.1\r\nCookie: id=a; s=b\r\nHost: x')",
       R"(send: b'GET / HTTP/1.1\r\nCookie: ***\r\nHost: x')"},
      {"Set-Cookie: id=abc; Path=/\nx", "Set-Cookie: ***\nx"},
      {"echo Cookie: a=b\\; c=d\\; e=f\nx", "echo Cookie: ***\nx"},
      {"Proxy-Authorization: Basic abc", "Proxy-Authorization: Basic ***"},
      {"Authorization: 0123456789abcdef\nx", "Authorization: ***\nx"},
      {"curl -H Authorization:0123456789abcdef https://x", "curl -H Authorization:*** https://x"},
      {R"({"Authorization": "0123456789abcdef", "A": 1})", R"({"Authorization": "***", "A": 1})"},
      {"{'Authorization': os.environ['TOKEN']}", "{'Authorization': os.environ['TOKEN']}"},
      {"Authorization: Token token=\"abc\", user='me'\nx", "Authorization: Token ***\nx"},
      {"Cookie: a=\"b c\"; sid=d\nx", "Cookie: ***\nx"},
      {R"(curl -H 'Cookie: a="b"; c=d' https://x)", "curl -H 'Cookie: ***' https://x"},
      {R"({"Authorization": "Digest username=\"me\", response=\"ab\"", "A": 1})",
       R"({"Authorization": "Digest ***", "A": 1})"},
      {"Cookie: none", "Cookie: none"},
      {"Cookie: the a=b of it", "Cookie: the a=b of it"},
      {"Authorization: failed for me", "Authorization: failed for me"},
      {"Basic training", "Basic training"},
      {"cookies: a=b", "cookies: a=b"},
      {"Authorization:", "Authorization:"},
      {"cookie", "cookie"},
  };
  for (const auto& [text, shown] : cases) EXPECT_EQ(Mask().Of(text), shown);
}

TEST(Mask, SecretNames) {
  for (const char* name : {"HF_TOKEN", "AWS_SECRET_ACCESS_KEY", "db-password", "WANDB_API_KEY",
                           "client-key-data", "AccountKey", "X-Amz-Signature"}) {
    EXPECT_TRUE(IsSecretName(name)) << name;
  }
  for (const char* name : {"RANK", "KEY", "PATH", ""}) EXPECT_FALSE(IsSecretName(name)) << name;
}

}  // namespace
}  // namespace arena
