"""What can be told of a result, as values that are compared."""

import paddle


def leaves(value):
    """Of tensors the numbers as bytes, shape, dtype and flag; of all else itself and its type."""
    if isinstance(value, paddle.Tensor):
        return [value.numpy().tobytes(), value.shape, str(value.dtype), value.stop_gradient]
    if isinstance(value, (list, tuple)):
        return [leaf for item in value for leaf in leaves(item)] + [type(value).__name__]
    return [value, type(value).__name__]
