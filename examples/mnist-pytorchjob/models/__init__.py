"""The networks that the programs train, by name."""
from models.net import Net
from models.resnet import resnet18

MODELS = {"resnet18": resnet18, "net": Net}
