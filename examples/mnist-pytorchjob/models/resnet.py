"""ResNet-18 for images of one channel (He et al., Deep Residual Learning for Image Recognition,
arXiv:1512.03385, table 1)."""
import torch.nn as nn
import torch.nn.functional as F

WIDTHS = (64, 128, 256, 512)
BLOCKS_OF_A_STAGE = 2


class Block(nn.Module):
    """Two 3 x 3 convolutions around which the input goes too; the first may halve the image."""

    def __init__(self, channels, width, stride):
        super().__init__()
        self.conv1 = nn.Conv2d(channels, width, 3, stride, padding=1, bias=False)
        self.norm1 = nn.BatchNorm2d(width)
        self.conv2 = nn.Conv2d(width, width, 3, padding=1, bias=False)
        self.norm2 = nn.BatchNorm2d(width)
        self.around = nn.Identity()
        if stride != 1 or channels != width:
            self.around = nn.Sequential(nn.Conv2d(channels, width, 1, stride, bias=False),
                                        nn.BatchNorm2d(width))

    def forward(self, features):
        inner = F.relu(self.norm1(self.conv1(features)))
        return F.relu(self.norm2(self.conv2(inner)) + self.around(features))


class ResNet18(nn.Module):
    def __init__(self, classes=10):
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(1, WIDTHS[0], 7, 2, padding=3, bias=False),
                                  nn.BatchNorm2d(WIDTHS[0]), nn.ReLU(),
                                  nn.MaxPool2d(3, 2, padding=1))
        blocks, channels = [], WIDTHS[0]
        for stage, width in enumerate(WIDTHS):
            for number in range(BLOCKS_OF_A_STAGE):
                blocks.append(Block(channels, width, stride=2 if stage and not number else 1))
                channels = width
        self.stages = nn.Sequential(*blocks)
        self.classify = nn.Linear(channels, classes)

    def forward(self, images):
        return self.classify(self.stages(self.stem(images)).mean(dim=(2, 3)))


def resnet18():
    return ResNet18()
