#include "runs/progress/line.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace runs {
namespace {

// "step 10/100 epoch 3/5 left 15 bar=Training loss=1.2": what was read, in few words.
std::string Read(std::string_view line) {
  const auto progress = ProgressIn(line);
  if (!progress) return "-";
  std::string text;
  const auto add = [&text](const std::string& more) { text += (text.empty() ? "" : " ") + more; };
  if (progress->step) add(fmt::format("step {}", *progress->step));
  if (progress->steps) text += fmt::format("/{}", *progress->steps);
  if (progress->epoch) add(fmt::format("epoch {}", *progress->epoch));
  if (progress->epochs) text += fmt::format("/{}", *progress->epochs);
  if (progress->seconds_left) add(fmt::format("left {}", *progress->seconds_left));
  if (progress->is_bar) add(fmt::format("bar={}", progress->title));
  for (const auto& [name, value] : progress->scalars) add(fmt::format("{}={}", name, value));
  return text;
}

TEST(ProgressIn, ReadsWhatTrainingsPrint) {
  struct Case {
    const char* line;
    const char* read;
  };
  const Case cases[] = {
      {"step 10 loss 1.2", "step 10 loss=1.2"},
      {"step 10/100 loss=1.2 lr=3e-4", "step 10/100 loss=1.2 lr=0.0003"},
      {"global_step=500, loss: nan", "step 500 loss=nan"},
      {"epoch 3/10", "epoch 3/10"},
      {"Epoch 3/10, loss 0.5", "epoch 3/10 loss=0.5"},
      {"Epoch [1/10], Step [100/600], Loss: 0.2345", "step 100/600 epoch 1/10 Loss=0.2345"},
      // PyTorch's MNIST example, torchvision's references, timm.
      {"Train Epoch: 1 [640/60000 (1%)]\tLoss: 2.29", "step 640/60000 epoch 1 Loss=2.29"},
      {"Epoch: [0]  [  10/1000]  eta: 0:10:12  lr: 0.1  loss: 7.0",
       "step 10/1000 epoch 0 "
       "lr=0.1 loss=7"},
      {"Train: 0 [  50/1251 (  4%)]  Loss: 6.9", "step 50/1251 Train=0 Loss=6.9"},
      // nanoGPT, Megatron-LM.
      {"iter 100: loss 2.5, time 200.10ms, mfu 3.10%", "step 100 loss=2.5 mfu=3.1"},
      {" iteration       10/     100 | learning rate: 1.0E-4 | lm loss: 6.9E+00 |",
       "step 10/100 rate=0.0001 loss=6.9"},
      // Hugging Face: as Python prints it, and its numbers as texts since transformers 5.
      {"{'loss': 0.5, 'grad_norm': 1.5, 'learning_rate': 5e-05, 'epoch': 0.1}",
       "epoch 0.1 loss=0.5 grad_norm=1.5 learning_rate=5e-05"},
      {"{'loss': '0.5', 'learning_rate': '5e-05', 'epoch': '0.25'}",
       "epoch 0.25 loss=0.5 learning_rate=5e-05"},
      {"{'loss': nan, 'epoch': 1.0}", "epoch 1 loss=nan"},
      {R"({"step": 7, "total_steps": 70, "loss": 1.5, "phase": "train"})", "step 7/70 loss=1.5"},
      {R"({"train/global_step": 7, "train/loss": 1.5})", "step 7 train/loss=1.5"},
      // tqdm, Lightning.
      {"  40%|####      | 40/100 [00:10<00:15,  3.92it/s]", "step 40/100 left 15 bar="},
      {"Training:  40%|####      | 40/100 [00:10<01:02:03,  3.9it/s, loss=0.3]",
       "step 40/100 left 3723 bar=Training loss=0.3"},
      {"Epoch 3:  50%|#####     | 5/10 [00:01<00:01,  4.2it/s, v_num=0, train_loss=0.3]",
       "step 5/10 epoch 3 left 1 bar=Epoch 3 train_loss=0.3"},
      {"  0%|          | 0/100 [00:00<?, ?it/s]", "step 0/100 bar="},
      {"loss 0.5", "loss=0.5"},
      {"[2026-07-30 10:00:00] INFO step=12 loss=0.25", "step 12 loss=0.25"},
      // Lines without progress.
      {"", "-"},
      {"Using 4 workers, batch size 32", "-"},
      {"accuracy 0.9", "-"},
      {"  File \"train.py\", line 5, in step 3", "-"},
      {"downstep 4", "-"},
      {"one step at a time", "-"},
      {"{'a': {'b': 1}}", "-"},
      {"100%|", "-"},
  };
  for (const Case& one : cases) EXPECT_EQ(Read(one.line), one.read) << one.line;
}

TEST(ProgressIn, ALineThatIsTooLongSaysNothing) {
  EXPECT_EQ(Read("step 1 " + std::string(70'000, 'x')), "-");
}

TEST(IsOfTraining, BarsOfOtherThingsAreNot) {
  const auto is = [](std::string_view line) { return IsOfTraining(*ProgressIn(line)); };
  EXPECT_TRUE(is(" 10%|#  | 10/100 [00:10<00:15, 1it/s]"));
  EXPECT_TRUE(is("Epoch 1: 10%|#  | 10/100 [00:10<00:15, 1it/s]"));
  EXPECT_FALSE(is("Downloading: 10%|#  | 10/100 [00:10<00:15, 1it/s]"));
  EXPECT_FALSE(is("Loading checkpoint shards: 10%|#  | 10/100 [00:10<00:15, 1it/s]"));
  EXPECT_TRUE(is("step 10"));
}

}  // namespace
}  // namespace runs
