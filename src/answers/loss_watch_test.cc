#include "answers/loss_watch.h"

#include <gtest/gtest.h>

namespace answers {
namespace {

TEST(LossWatch, KnowsALostLoss) {
  for (const char* line : {"step 2 loss nan", "train_loss=inf", "{'loss': nan, 'grad_norm': nan}",
                           "{'loss': 'nan', 'epoch': '0.1'}", "Epoch 3 val/loss: -inf", "loss NaN",
                           "loss: tensor(nan, device='cuda:0')", "{\"loss\": NaN}", "lossB=nan,"}) {
    EXPECT_TRUE(HasLostLoss(line)) << line;
  }
  for (const char* line :
       {"step 2 loss 0.5", "accuracy nan", "info: loss 0.1", "nan loss", "loss nanometer",
        "the loss is nan", "best_loss: inf", "best val loss: inf", "min_loss inf",
        "{'loss': 0.5, 'grad_norm': nan}", "loss is finite"}) {
    EXPECT_FALSE(HasLostLoss(line)) << line;
  }
}

TEST(LossWatch, ALineMayComeInPartsAndABarOverwritesItself) {
  LossWatch watch;
  EXPECT_FALSE(watch.Add("step 1 loss 0.5\nstep 2 lo"));
  EXPECT_FALSE(watch.Add("ss n"));
  EXPECT_EQ(watch.Add("an\nstep 3 loss nan\n"), "step 2 loss nan");
  EXPECT_EQ(watch.Add("3% loss=inf\r"), "3% loss=inf");
  EXPECT_FALSE(watch.Add(std::string(100'000, 'x') + " loss nan\n"));
  EXPECT_TRUE(watch.Add("loss nan\n"));
}

}  // namespace
}  // namespace answers
