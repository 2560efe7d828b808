"""A detector of three scales: a backbone, a pyramid, heads; decoded boxes in eval, losses or raw maps in training."""

from typing import Dict, List

import paddle
import paddle.nn.functional as F
from paddle import nn

__all__ = ["Detector", "YoloHead", "CSPNet"]


def register(registry):
    def decorate(cls):
        registry[cls.__name__] = cls
        return cls

    return decorate


MODULES: Dict[str, type] = {}


def autopad(k, p=None, d=1):
    """The padding that keeps an extent."""
    if d > 1:
        k = d * (k - 1) + 1 if isinstance(k, int) else [d * (x - 1) + 1 for x in k]
    return p if p is not None else (k // 2 if isinstance(k, int) else [x // 2 for x in k])


class ConvBN(nn.Layer):
    default_act = nn.Silu()

    def __init__(self, c1, c2, k=1, s=1, p=None, g=1, act=True):
        super().__init__()
        self.conv = nn.Conv2D(c1, c2, k, s, autopad(k, p), groups=g, bias_attr=False)
        self.bn = nn.BatchNorm2D(c2)
        self.act = self.default_act if act is True else act if isinstance(act, nn.Layer) else nn.Identity()

    def forward(self, x):
        return self.act(self.bn(self.conv(x)))


class Bottleneck(nn.Layer):
    def __init__(self, c1, c2, shortcut=True, e=0.5):
        super().__init__()
        c_ = int(c2 * e)
        self.cv1, self.cv2 = ConvBN(c1, c_, 3), ConvBN(c_, c2, 3)
        self.add = shortcut and c1 == c2

    def forward(self, x):
        return x + self.cv2(self.cv1(x)) if self.add else self.cv2(self.cv1(x))


class C2f(nn.Layer):
    def __init__(self, c1, c2, n=1, shortcut=False):
        super().__init__()
        self.c = c2 // 2
        self.cv1 = ConvBN(c1, 2 * self.c)
        self.cv2 = ConvBN((2 + n) * self.c, c2)
        self.m = nn.LayerList([Bottleneck(self.c, self.c, shortcut, e=1.0) for _ in range(n)])

    def forward(self, x):
        y = list(self.cv1(x).chunk(2, axis=1))
        y.extend(m(y[-1]) for m in self.m)
        return self.cv2(paddle.concat(y, axis=1))


class SPPF(nn.Layer):
    def __init__(self, c1, c2, k=5):
        super().__init__()
        self.cv1, self.cv2 = ConvBN(c1, c1 // 2), ConvBN(c1 // 2 * 4, c2)
        self.m = nn.MaxPool2D(kernel_size=k, stride=1, padding=k // 2)

    def forward(self, x):
        y = [self.cv1(x)]
        y.extend(self.m(y[-1]) for _ in range(3))
        return self.cv2(paddle.concat(y, 1))


@register(MODULES)
class CSPNet(nn.Layer):
    def __init__(self, width=4, return_idx=(1, 2, 3)):
        super().__init__()
        self.return_idx = return_idx
        self.stem = ConvBN(3, width, 3, 2)
        self.blocks, self._out_channels = [], []
        for i in range(4):
            c1, c2 = width * 2**i, width * 2 ** (i + 1)
            layers = [ConvBN(c1, c2, 3, 2), C2f(c2, c2, 1, True)] + ([SPPF(c2, c2)] if i == 3 else [])
            self.blocks.append(self.add_sublayer(f"layers{i + 2}.stage", nn.Sequential(*layers)))
            self._out_channels.append(c2)

    @property
    def out_channels(self):
        return [self._out_channels[i] for i in self.return_idx]

    def forward(self, inputs):
        x, outs = self.stem(inputs["image"]), []
        for idx, layer in enumerate(self.blocks):
            x = layer(x)
            if idx in self.return_idx:
                outs.append(x)
        return outs


@register(MODULES)
class PathPyramid(nn.Layer):
    def __init__(self, in_channels):
        super().__init__()
        self.in_channels = in_channels
        pairs = list(zip(in_channels[:-1], in_channels[1:]))
        self.top_down = nn.LayerList([C2f(small + large, small) for small, large in reversed(pairs)])
        self.downs = nn.LayerList([ConvBN(small, small, 3, 2) for small, _ in pairs])
        self.bottom_up = nn.LayerList([C2f(small + large, large) for small, large in pairs])

    def forward(self, feats: List[paddle.Tensor]):
        assert len(feats) == len(self.in_channels)
        inner = [feats[-1]]
        for idx in range(len(self.in_channels) - 1, 0, -1):
            low, high = feats[idx - 1], inner[0]
            up = F.interpolate(high, scale_factor=2.0, mode="nearest")
            inner.insert(0, self.top_down[len(self.in_channels) - 1 - idx](paddle.concat([up, low], 1)))
        outs = [inner[0]]
        for idx, (down, block) in enumerate(zip(self.downs, self.bottom_up)):
            outs.append(block(paddle.concat([down(outs[-1]), inner[idx + 1]], 1)))
        return tuple(outs)


def make_anchors(feats, strides, grid_cell_offset=0.5):
    """The centre of each cell and the stride of its map."""
    anchor_points, stride_tensor = [], []
    dtype = feats[0].dtype
    for i, stride in enumerate(strides):
        _, _, h, w = feats[i].shape
        sx = paddle.arange(end=w, dtype=dtype) + grid_cell_offset
        sy = paddle.arange(end=h, dtype=dtype) + grid_cell_offset
        sy, sx = paddle.meshgrid(sy, sx)
        anchor_points.append(paddle.stack((sx, sy), -1).reshape([-1, 2]))
        stride_tensor.append(paddle.full([h * w, 1], stride, dtype=dtype))
    return paddle.concat(anchor_points), paddle.concat(stride_tensor)


def dist2bbox(distance, anchor_points, xywh=True, axis=-1):
    lt, rb = distance.chunk(2, axis)
    x1y1, x2y2 = anchor_points - lt, anchor_points + rb
    if xywh:
        return paddle.concat([(x1y1 + x2y2) / 2, x2y2 - x1y1], axis)
    return paddle.concat((x1y1, x2y2), axis)


class DFL(nn.Layer):
    """Distances as the mean of a distribution over bins."""

    def __init__(self, reg_max):
        super().__init__()
        self.reg_max = reg_max
        self.register_buffer("project", paddle.arange(reg_max, dtype="float32").reshape([1, reg_max, 1, 1]))

    def forward(self, x):
        b, _, a = x.shape
        return (F.softmax(x.reshape([b, 4, self.reg_max, a]).transpose([0, 2, 1, 3]), axis=1) * self.project).sum(1)


class YoloHead(nn.Layer):
    export = False
    shape = None

    def __init__(self, in_channels, num_classes=3, reg_max=4, strides=(4, 8, 16)):
        super().__init__()
        self.nc, self.reg_max, self.nl = num_classes, reg_max, len(in_channels)
        self.no = num_classes + reg_max * 4
        self.stride = strides
        self.anchors = paddle.empty([0])
        self.strides_of_anchors = paddle.empty([0])
        c2 = max(in_channels[0] // 2, reg_max * 2)
        self.cv2 = nn.LayerList([nn.Sequential(ConvBN(c, c2, 3), nn.Conv2D(c2, 4 * reg_max, 1)) for c in in_channels])
        self.cv3 = nn.LayerList([nn.Sequential(ConvBN(c, c2, 3), nn.Conv2D(c2, num_classes, 1)) for c in in_channels])
        self.dfl = DFL(reg_max) if reg_max > 1 else nn.Identity()

    def forward(self, x):
        x = list(x)
        for i in range(self.nl):
            x[i] = paddle.concat((self.cv2[i](x[i]), self.cv3[i](x[i])), 1)
        if self.training:
            return {"maps": x, **self.get_loss(x)}
        shape = x[0].shape
        x_cat = paddle.concat([xi.reshape([shape[0], self.no, -1]) for xi in x], 2)
        if self.shape != shape:
            self.anchors, self.strides_of_anchors = (t.transpose([1, 0]) for t in make_anchors(x, self.stride))
            self.shape = shape
        box, cls = x_cat.split((self.reg_max * 4, self.nc), 1)
        dbox = dist2bbox(self.dfl(box), self.anchors.unsqueeze(0), axis=1) * self.strides_of_anchors
        y = paddle.concat((dbox, F.sigmoid(cls)), 1)
        return y if self.export else (y, x)

    def get_loss(self, maps):
        """Of cells, as if each had an object of its likeliest class in it."""
        losses = {"loss_cls": 0.0, "loss_dfl": 0.0}
        for m in maps:
            box, cls = m.split((self.reg_max * 4, self.nc), 1)
            wanted = F.one_hot(cls.argmax(1), self.nc).transpose([0, 3, 1, 2])
            losses["loss_cls"] += F.binary_cross_entropy_with_logits(cls, wanted)
            losses["loss_dfl"] += F.log_softmax(box, axis=1).mean().abs()
        return {**losses, "loss": sum(losses.values())}


class BatchedDecoder:
    """The best boxes of each image, as many for each; what follows is not for a graph."""

    def __init__(self, keep_top_k=5, score_threshold=0.0):
        self.keep_top_k, self.score_threshold = keep_top_k, score_threshold

    def __call__(self, prediction):
        boxes, scores = prediction.transpose([0, 2, 1]).split([4, prediction.shape[1] - 4], axis=-1)
        best, labels = scores.max(axis=-1), scores.argmax(axis=-1)
        best, order = paddle.topk(best, k=self.keep_top_k, axis=1)
        picked = paddle.take_along_axis(boxes, order.unsqueeze(-1).tile([1, 1, 4]), axis=1)
        kept = (best > self.score_threshold).astype("int32").sum(axis=1)
        return {"bbox": picked, "score": best, "label": paddle.take_along_axis(labels, order, axis=1), "bbox_num": kept}


class Detector(nn.Layer):
    """Parts by name, as they stand in a file of settings."""

    def __init__(self, backbone="CSPNet", neck="PathPyramid", post_process=None, **kwargs):
        super().__init__()
        self.backbone = MODULES[backbone]()
        self.neck = MODULES[neck](self.backbone.out_channels)
        self.head = YoloHead(self.backbone.out_channels, **kwargs)
        self.post_process = post_process

    def forward(self, inputs):
        self.inputs = {k: v for k, v in inputs.items() if k != "im_id"}
        feats = self.neck(self.backbone(self.inputs))
        out = self.get_loss(feats) if self.training else self.get_pred(feats)
        if "im_id" in inputs:
            out["im_id"] = inputs["im_id"]
        return out

    def get_loss(self, feats):
        return self.head(feats)

    def get_pred(self, feats):
        y, maps = self.head(feats)
        return {"pred": y, "maps": maps} if self.post_process is None else self.post_process(y)
