"""Calls that eager execution and a built graph must answer alike: (name, call), the call on tensors made here.

Each call is a function of a dict of tensors; `api` and `method` in `test_differential` decide how it is made.
"""

import numpy as np
import paddle


def tensors():
    rng = np.random.RandomState(0)

    def f(*shape):
        return paddle.to_tensor(rng.uniform(0.1, 0.9, shape).astype("float32"))

    return {
        "x": f(2, 3, 4),
        "y": f(2, 3, 4),
        "v": f(4),
        "m": f(3, 4),
        "n": f(4, 3),
        "s": f(3, 3),
        "b3": f(2, 4, 3),
        "img": f(2, 3, 8, 8),
        "seq": f(2, 3, 8),
        "vol": f(1, 2, 4, 4, 4),
        "w2": f(4, 3, 3, 3),
        "w1": f(4, 3, 3),
        "w3": f(4, 2, 3, 3, 3),
        "i": paddle.to_tensor(rng.randint(0, 3, (2, 3, 4)).astype("int64")),
        "j": paddle.to_tensor(rng.randint(1, 3, (2, 3, 4)).astype("int32")),
        "iv": paddle.to_tensor(np.array([2, 0, 1], "int64")),
        "lab": paddle.to_tensor(np.array([2, 0], "int64")),
        "mask": paddle.to_tensor(rng.rand(2, 3, 4) > 0.5),
        "d": paddle.to_tensor(rng.rand(2, 3, 4)),
        "c": paddle.to_tensor((rng.rand(2, 3) + 1j * rng.rand(2, 3)).astype("complex64")),
        "z": f(),
        "one": f(1),
        "spd": paddle.to_tensor((lambda a: a @ a.T + 3 * np.eye(3))(rng.rand(3, 3)).astype("float32")),
    }


UNARY = """abs acos acosh asin asinh atan atanh ceil cos cosh digamma erf erfinv exp expm1 floor frac i0 i0e i1 i1e lgamma
log log10 log1p log2 logit neg reciprocal round rsqrt sigmoid sign sgn sin sinh sqrt square stanh tan tanh trunc isfinite
isinf isnan isreal rad2deg deg2rad angle conj real imag nan_to_num gammaln sinc signbit positive isposinf isneginf""".split()
BINARY = """add subtract multiply divide floor_divide mod remainder floor_mod pow maximum minimum fmax fmin equal not_equal
less_than less_equal greater_than greater_equal logical_and logical_or logical_xor atan2 heaviside hypot copysign
nextafter logaddexp allclose isclose equal_all dist ldexp gammainc gammaincc less""".split()
INT_BINARY = "bitwise_and bitwise_or bitwise_xor gcd lcm bitwise_left_shift bitwise_right_shift".split()
REDUCE = """sum mean max min prod all any std var median nanmean nansum logsumexp amax amin argmax argmin cumsum cumprod
logcumsumexp nanmedian count_nonzero numel norm cummax cummin mode""".split()
ACTIVATION = """relu relu6 sigmoid tanh gelu silu swish mish elu celu selu softplus softsign softshrink hardshrink
hardsigmoid hardswish hardtanh leaky_relu log_sigmoid tanhshrink thresholded_relu log_softmax softmax glu""".split()

F = paddle.nn.functional


def cases():
    for name in UNARY:
        if hasattr(paddle, name):
            yield name, lambda t, n=name: (getattr(paddle, n), (t["x"],), {})
            yield name + "_int", lambda t, n=name: (getattr(paddle, n), (t["j"],), {})
    for name in BINARY:
        if hasattr(paddle, name):
            fn = getattr(paddle, name)
            yield name, lambda t, f=fn: (f, (t["x"], t["y"]), {})
            yield name + "_broadcast", lambda t, f=fn: (f, (t["x"], t["m"]), {})
            yield name + "_int", lambda t, f=fn: (f, (t["i"], t["i"]), {})
            yield name + "_mixed", lambda t, f=fn: (f, (t["x"], t["d"]), {})
            yield name + "_mixed_int", lambda t, f=fn: (f, (t["x"], t["j"]), {})
            yield name + "_int_int", lambda t, f=fn: (f, (t["i"], t["j"]), {})
            yield name + "_zero_d", lambda t, f=fn: (f, (t["z"], t["z"]), {})
            yield name + "_zero_d_int", lambda t, f=fn: (f, (t["i"], t["z"]), {})
            yield name + "_scalar", lambda t, f=fn: (f, (t["x"], 2.0), {})
    for name in INT_BINARY:
        yield name, lambda t, n=name: (getattr(paddle, n), (t["i"], t["i"]), {})
    for name in REDUCE:
        fn = getattr(paddle, name)
        yield name, lambda t, f=fn: (f, (t["x"],), {})
        yield name + "_int", lambda t, f=fn: (f, (t["i"],), {})
        yield name + "_bool", lambda t, f=fn: (f, (t["mask"],), {})
        yield name + "_zero_d", lambda t, f=fn: (f, (t["z"],), {})
        yield name + "_axis", lambda t, f=fn: (f, (t["x"],), {"axis": 1})
        yield name + "_axis_neg", lambda t, f=fn: (f, (t["x"],), {"axis": -1})
        yield name + "_keepdim", lambda t, f=fn: (f, (t["x"],), {"axis": 1, "keepdim": True})
        yield name + "_axes", lambda t, f=fn: (f, (t["x"],), {"axis": [0, 2]})
        yield name + "_dtype", lambda t, f=fn: (f, (t["x"],), {"dtype": "float64"})
    for name in ACTIVATION:
        fn = getattr(F, name)
        yield "F." + name, lambda t, f=fn: (f, (t["x"],), {})
        yield "F." + name + "_int", lambda t, f=fn: (f, (t["j"],), {})
    yield from plain()


def plain():
    def case(name, call):
        return name, call

    P = paddle
    table = {
        # creation
        "zeros": lambda t: (P.zeros, ([2, 3],), {}),
        "zeros_int": lambda t: (P.zeros, ([2, 3], "int64"), {}),
        "ones": lambda t: (P.ones, ([2, 3],), {"dtype": "float64"}),
        "full": lambda t: (P.full, ([2, 3], 3.5), {}),
        "full_int": lambda t: (P.full, ([2, 3], 3), {}),
        "full_bool": lambda t: (P.full, ([2, 3], True), {}),
        "full_tensor_value": lambda t: (P.full, ([2, 3], t["z"]), {}),
        "full_tensor_shape": lambda t: (P.full, (t["lab"], 1.0), {}),
        "zeros_like": lambda t: (P.zeros_like, (t["x"],), {}),
        "ones_like": lambda t: (P.ones_like, (t["i"],), {"dtype": "float32"}),
        "full_like": lambda t: (P.full_like, (t["x"], 2), {}),
        "empty_like_shape": lambda t: (P.zeros_like, (t["c"],), {}),
        "arange": lambda t: (P.arange, (5,), {}),
        "arange_float": lambda t: (P.arange, (0, 2.0, 0.5), {}),
        "arange_dtype": lambda t: (P.arange, (5,), {"dtype": "float32"}),
        "linspace": lambda t: (P.linspace, (0, 1, 5), {}),
        "logspace": lambda t: (P.logspace, (0, 1, 5), {}),
        "eye": lambda t: (P.eye, (3, 4), {}),
        "to_tensor_float": lambda t: (P.to_tensor, (2.5,), {}),
        "to_tensor_int": lambda t: (P.to_tensor, (2,), {}),
        "to_tensor_bool": lambda t: (P.to_tensor, (True,), {}),
        "to_tensor_list": lambda t: (P.to_tensor, ([1, 2, 3],), {}),
        "to_tensor_list2": lambda t: (P.to_tensor, ([[1.0, 2.0]],), {}),
        "to_tensor_complex": lambda t: (P.to_tensor, (1 + 2j,), {}),
        "to_tensor_numpy": lambda t: (P.to_tensor, (np.arange(3.0),), {}),
        "to_tensor_numpy32": lambda t: (P.to_tensor, (np.arange(3, dtype="int32"),), {}),
        "to_tensor_dtype": lambda t: (P.to_tensor, ([1, 2],), {"dtype": "float64"}),
        "to_tensor_tensor": lambda t: (P.to_tensor, (t["x"],), {}),
        "to_tensor_grad": lambda t: (P.to_tensor, ([1.0, 2.0],), {"stop_gradient": False}),
        "assign": lambda t: (P.assign, (t["x"],), {}),
        "assign_list": lambda t: (P.assign, ([1.0, 2.0],), {}),
        "clone": lambda t: (P.clone, (t["x"],), {}),
        "tril": lambda t: (P.tril, (t["x"],), {}),
        "triu": lambda t: (P.triu, (t["x"], 1), {}),
        "diag": lambda t: (P.diag, (t["v"],), {}),
        "diag2": lambda t: (P.diag, (t["s"],), {}),
        "diagflat": lambda t: (P.diagflat, (t["v"],), {}),
        "diag_embed": lambda t: (P.diag_embed, (t["m"],), {}),
        "diagonal": lambda t: (P.diagonal, (t["x"],), {}),
        "meshgrid": lambda t: (P.meshgrid, (t["v"], t["v"]), {}),
        "tril_indices": lambda t: (P.tril_indices, (3, 3, 0), {}),
        "complex": lambda t: (P.complex, (t["x"], t["y"]), {}),
        "polar": lambda t: (P.polar, (t["x"], t["y"]), {}),
        "as_real": lambda t: (P.as_real, (t["c"],), {}),
        "real_c": lambda t: (P.real, (t["c"],), {}),
        "imag_c": lambda t: (P.imag, (t["c"],), {}),
        "abs_c": lambda t: (P.abs, (t["c"],), {}),
        "conj_c": lambda t: (P.conj, (t["c"],), {}),
        "angle_c": lambda t: (P.angle, (t["c"],), {}),
        "is_empty": lambda t: (P.is_empty, (t["x"],), {}),
        # shape
        "reshape": lambda t: (P.reshape, (t["x"], [6, 4]), {}),
        "reshape_infer": lambda t: (P.reshape, (t["x"], [-1, 4]), {}),
        "reshape_zero": lambda t: (P.reshape, (t["x"], [0, -1]), {}),
        "reshape_tensor": lambda t: (P.reshape, (t["x"], [t["lab"][0] * 3, -1]), {}),
        "transpose": lambda t: (P.transpose, (t["x"], [1, 0, 2]), {}),
        "t": lambda t: (P.t, (t["m"],), {}),
        "moveaxis": lambda t: (P.moveaxis, (t["x"], 0, 2), {}),
        "swapaxes": lambda t: (P.swapaxes, (t["x"], 0, 1), {}),
        "flatten": lambda t: (P.flatten, (t["x"], 1), {}),
        "squeeze": lambda t: (P.squeeze, (t["one"],), {}),
        "unsqueeze": lambda t: (P.unsqueeze, (t["x"], 1), {}),
        "unsqueeze_list": lambda t: (P.unsqueeze, (t["x"], [0, 2]), {}),
        "split": lambda t: (P.split, (t["x"], 2), {"axis": 2}),
        "split_sections": lambda t: (P.split, (t["x"], [1, -1]), {"axis": 1}),
        "chunk": lambda t: (P.chunk, (t["x"], 2), {"axis": 2}),
        "unbind": lambda t: (P.unbind, (t["x"],), {"axis": 1}),
        "unstack": lambda t: (P.unstack, (t["x"],), {"axis": 1}),
        "tensor_split": lambda t: (P.tensor_split, (t["x"], 2), {"axis": 2}),
        "hsplit": lambda t: (P.hsplit, (t["m"], 2), {}),
        "stack": lambda t: (P.stack, ([t["x"], t["y"]],), {"axis": 1}),
        "concat": lambda t: (P.concat, ([t["x"], t["y"]],), {"axis": -1}),
        "concat_mixed": lambda t: (P.concat, ([t["x"], t["d"]],), {"axis": -1}),
        "hstack": lambda t: (P.hstack, ([t["x"], t["y"]],), {}),
        "vstack": lambda t: (P.vstack, ([t["x"], t["y"]],), {}),
        "column_stack": lambda t: (P.column_stack, ([t["x"], t["y"]],), {}),
        "atleast_2d": lambda t: (P.atleast_2d, (t["v"],), {}),
        "block_diag": lambda t: (P.block_diag, ([t["m"], t["n"]],), {}),
        "expand": lambda t: (P.expand, (t["m"], [2, 3, 4]), {}),
        "expand_as": lambda t: (P.expand_as, (t["m"], t["x"]), {}),
        "broadcast_to": lambda t: (P.broadcast_to, (t["m"], [2, 3, 4]), {}),
        "broadcast_tensors": lambda t: (P.broadcast_tensors, ([t["m"], t["v"]],), {}),
        "broadcast_shape": lambda t: (P.broadcast_shape, ([2, 1, 3], [1, 3]), {}),
        "tile": lambda t: (P.tile, (t["m"], [2, 1]), {}),
        "repeat_interleave": lambda t: (P.repeat_interleave, (t["x"], 2), {"axis": 1}),
        "flip": lambda t: (P.flip, (t["x"], [0, 1]), {}),
        "roll": lambda t: (P.roll, (t["x"], 1), {}),
        "rot90": lambda t: (P.rot90, (t["m"],), {}),
        "slice": lambda t: (P.slice, (t["x"], [0, 1], [0, 1], [1, 3]), {}),
        "strided_slice": lambda t: (P.strided_slice, (t["x"], [1], [0], [3], [2]), {}),
        "crop": lambda t: (P.crop, (t["x"], [1, 2, 2], [0, 1, 1]), {}),
        "as_strided": lambda t: (P.as_strided, (t["x"], [2, 2], [1, 2]), {}),
        "view": lambda t: (P.view, (t["x"], [6, 4]), {}),
        "view_dtype": lambda t: (P.view, (t["x"], "int32"), {}),
        "unfold": lambda t: (P.unfold, (t["v"], 0, 2, 1), {}),
        "unflatten": lambda t: (P.unflatten, (t["x"], 2, [2, 2]), {}),
        "numel": lambda t: (P.numel, (t["x"],), {}),
        "rank": lambda t: (P.rank, (t["x"],), {}),
        "shape": lambda t: (P.shape, (t["x"],), {}),
        "cast": lambda t: (P.cast, (t["x"], "float64"), {}),
        "cast_same": lambda t: (P.cast, (t["x"], "float32"), {}),
        "cast_int": lambda t: (P.cast, (t["x"], "int32"), {}),
        "pad": lambda t: (F.pad, (t["img"], [1, 1, 2, 2]), {}),
        "pad_reflect": lambda t: (F.pad, (t["img"], [1, 1, 2, 2]), {"mode": "reflect"}),
        "pad_all": lambda t: (F.pad, (t["x"], [1, 1, 0, 0, 2, 2]), {"value": 1.0}),
        "shard_index": lambda t: (P.shard_index, (t["lab"].reshape([2, 1]), 20, 2, 0), {}),
        # indexing
        "gather": lambda t: (P.gather, (t["m"], t["iv"]), {}),
        "gather_axis": lambda t: (P.gather, (t["x"], t["iv"]), {"axis": 1}),
        "gather_nd": lambda t: (P.gather_nd, (t["m"], t["iv"].reshape([3, 1])), {}),
        "index_select": lambda t: (P.index_select, (t["x"], t["iv"]), {"axis": 1}),
        "index_sample": lambda t: (P.index_sample, (t["m"], P.to_tensor([[0, 1], [1, 2], [0, 0]])), {}),
        "index_add": lambda t: (P.index_add, (t["s"], t["iv"], 0, t["s"]), {}),
        "index_fill": lambda t: (P.index_fill, (t["s"], t["iv"], 0, 1.0), {}),
        "index_put": lambda t: (P.index_put, (t["s"], (t["iv"],), t["s"]), {}),
        "take": lambda t: (P.take, (t["x"], t["iv"]), {}),
        "take_along_axis": lambda t: (P.take_along_axis, (t["x"], t["i"], 1), {}),
        "put_along_axis": lambda t: (P.put_along_axis, (t["x"], t["i"] * 0, 1.0, 1), {}),
        "scatter": lambda t: (P.scatter, (t["s"], t["iv"], t["s"]), {}),
        "scatter_nd_add": lambda t: (P.scatter_nd_add, (t["s"], t["iv"].reshape([3, 1]), t["s"]), {}),
        "scatter_nd": lambda t: (P.scatter_nd, (t["iv"].reshape([3, 1]), t["s"], [3, 3]), {}),
        "masked_select": lambda t: (P.masked_select, (t["x"], t["mask"]), {}),
        "masked_fill": lambda t: (P.masked_fill, (t["x"], t["mask"], 0.5), {}),
        "masked_scatter": lambda t: (P.masked_scatter, (t["x"], t["mask"], t["y"]), {}),
        "where": lambda t: (P.where, (t["mask"], t["x"], t["y"]), {}),
        "where_scalar": lambda t: (P.where, (t["mask"], t["x"], 0.0), {}),
        "where_one": lambda t: (P.where, (t["mask"],), {}),
        "nonzero": lambda t: (P.nonzero, (t["mask"],), {}),
        "nonzero_tuple": lambda t: (P.nonzero, (t["mask"],), {"as_tuple": True}),
        "unique": lambda t: (P.unique, (t["i"],), {}),
        "unique_all": lambda t: (P.unique, (t["i"],), {"return_index": True, "return_inverse": True, "return_counts": True}),
        "unique_consecutive": lambda t: (P.unique_consecutive, (t["iv"],), {}),
        "multiplex": lambda t: (P.multiplex, ([t["m"], t["m"]], P.zeros([3, 1], "int32")), {}),
        "searchsorted": lambda t: (P.searchsorted, (t["v"], t["v"]), {}),
        "bucketize": lambda t: (P.bucketize, (t["x"], t["v"]), {}),
        "topk": lambda t: (P.topk, (t["x"], 2), {}),
        "sort": lambda t: (P.sort, (t["x"],), {"descending": True}),
        "argsort": lambda t: (P.argsort, (t["x"],), {}),
        "kthvalue": lambda t: (P.kthvalue, (t["x"], 2), {}),
        "bincount": lambda t: (P.bincount, (t["iv"],), {}),
        "histogram": lambda t: (P.histogram, (t["x"],), {"bins": 4, "min": 0, "max": 1}),
        "isin": lambda t: (P.isin, (t["i"], t["iv"]), {}),
        "one_hot": lambda t: (F.one_hot, (t["lab"], 4), {}),
        "embedding": lambda t: (F.embedding, (t["i"], t["m"]), {}),
        "embedding_padding": lambda t: (F.embedding, (t["i"], t["m"]), {"padding_idx": 0}),
        "sequence_mask": lambda t: (F.sequence_mask, (t["lab"],), {"maxlen": 4}),
        "select_scatter": lambda t: (P.select_scatter, (t["x"], t["m"], 0, 1), {}),
        "slice_scatter": lambda t: (P.slice_scatter, (t["x"], t["x"][:, :1], [1], [0], [1], [1]), {}),
        "combinations": lambda t: (P.combinations, (t["v"],), {}),
        "cartesian_prod": lambda t: (P.cartesian_prod, ([t["v"], t["v"]],), {}),
        # math
        "clip": lambda t: (P.clip, (t["x"], 0.2, 0.8), {}),
        "clip_tensor": lambda t: (P.clip, (t["x"], t["z"], 0.9), {}),
        "clip_int": lambda t: (P.clip, (t["i"], 1, 2), {}),
        "scale": lambda t: (P.scale, (t["x"], 2.0, 1.0), {}),
        "scale_first": lambda t: (P.scale, (t["x"],), {"scale": 2.0, "bias": 1.0, "bias_after_scale": False}),
        "pow_scalar": lambda t: (P.pow, (t["x"], 2), {}),
        "pow_int": lambda t: (P.pow, (t["i"], 2), {}),
        "lerp": lambda t: (P.lerp, (t["x"], t["y"], 0.3), {}),
        "add_n": lambda t: (P.add_n, ([t["x"], t["y"]],), {}),
        "addmm": lambda t: (P.addmm, (t["s"], t["m"], t["n"]), {}),
        "inner": lambda t: (P.inner, (t["x"], t["v"]), {}),
        "outer": lambda t: (P.outer, (t["v"], t["v"]), {}),
        "dot": lambda t: (P.dot, (t["v"], t["v"]), {}),
        "cross": lambda t: (P.cross, (t["s"], t["s"]), {"axis": 1}),
        "kron": lambda t: (P.kron, (t["m"], t["m"]), {}),
        "trace": lambda t: (P.trace, (t["s"],), {}),
        "diff": lambda t: (P.diff, (t["x"],), {}),
        "cumulative_trapezoid": lambda t: (P.cumulative_trapezoid, (t["x"],), {}),
        "trapezoid": lambda t: (P.trapezoid, (t["x"],), {}),
        "vander": lambda t: (P.vander, (t["v"],), {}),
        "renorm": lambda t: (P.renorm, (t["x"], 1.0, 0, 1.0), {}),
        "quantile": lambda t: (P.quantile, (t["x"], 0.5), {}),
        "quantile_axis": lambda t: (P.quantile, (t["x"], [0.2, 0.5]), {"axis": 1}),
        "nanquantile": lambda t: (P.nanquantile, (t["x"], 0.5), {}),
        "frexp": lambda t: (P.frexp, (t["x"],), {}),
        "polygamma": lambda t: (P.polygamma, (t["x"], 1), {}),
        "multigammaln": lambda t: (P.multigammaln, (t["x"] + 3.0, 2), {}),
        "logical_not": lambda t: (P.logical_not, (t["mask"],), {}),
        "bitwise_not": lambda t: (P.bitwise_not, (t["i"],), {}),
        "increment": lambda t: (P.increment, (t["one"],), {}),
        "multiply_scalar": lambda t: (P.multiply, (t["x"], P.to_tensor(2.0)), {}),
        "reduce_as": lambda t: (P.reduce_as, (t["x"], t["m"]), {}),
        "corrcoef": lambda t: (P.linalg.corrcoef, (t["m"],), {}),
        "cov": lambda t: (P.linalg.cov, (t["m"],), {}),
        # linear algebra
        "matmul": lambda t: (P.matmul, (t["x"], t["n"]), {}),
        "matmul_transposed": lambda t: (P.matmul, (t["x"], t["m"]), {"transpose_y": True}),
        "matmul_vec": lambda t: (P.matmul, (t["x"], t["v"]), {}),
        "mm": lambda t: (P.mm, (t["m"], t["n"]), {}),
        "bmm": lambda t: (P.bmm, (t["x"], t["b3"]), {}),
        "mv": lambda t: (P.mv, (t["m"], t["v"]), {}),
        "einsum": lambda t: (P.einsum, ("bij,jk->bik", t["x"], t["n"]), {}),
        "einsum_trace": lambda t: (P.einsum, ("ii->i", t["s"]), {}),
        "tensordot": lambda t: (P.tensordot, (t["x"], t["n"], 1), {}),
        "norm_fro": lambda t: (P.linalg.norm, (t["x"],), {"p": "fro", "axis": [1, 2]}),
        "norm_2": lambda t: (P.linalg.norm, (t["x"], 2, -1), {}),
        "inv": lambda t: (P.linalg.inv, (t["spd"],), {}),
        "det": lambda t: (P.linalg.det, (t["spd"],), {}),
        "slogdet": lambda t: (P.linalg.slogdet, (t["spd"],), {}),
        "cholesky": lambda t: (P.linalg.cholesky, (t["spd"],), {}),
        "solve": lambda t: (P.linalg.solve, (t["spd"], t["s"]), {}),
        "triangular_solve": lambda t: (P.linalg.triangular_solve, (t["spd"], t["s"]), {}),
        "qr": lambda t: (P.linalg.qr, (t["spd"],), {}),
        "svd": lambda t: (P.linalg.svd, (t["spd"],), {}),
        "eigh": lambda t: (P.linalg.eigh, (t["spd"],), {}),
        "eigvalsh": lambda t: (P.linalg.eigvalsh, (t["spd"],), {}),
        "pinv": lambda t: (P.linalg.pinv, (t["spd"],), {}),
        "matrix_power": lambda t: (P.linalg.matrix_power, (t["s"], 3), {}),
        "matrix_rank": lambda t: (P.linalg.matrix_rank, (t["spd"],), {}),
        "lu": lambda t: (P.linalg.lu, (t["spd"],), {}),
        "lstsq": lambda t: (P.linalg.lstsq, (t["spd"], t["s"]), {}),
        "cond": lambda t: (P.linalg.cond, (t["spd"],), {}),
        "multi_dot": lambda t: (P.linalg.multi_dot, ([t["m"], t["n"], t["m"]],), {}),
        "cdist": lambda t: (P.cdist, (t["m"], t["m"] + 1.0), {}),
        "pdist": lambda t: (P.pdist, (t["m"],), {}),
        "householder_product": lambda t: (P.linalg.householder_product, (t["n"], t["iv"].astype("float32")), {}),
        # nn.functional
        "linear": lambda t: (F.linear, (t["x"], t["n"]), {}),
        "linear_bias": lambda t: (F.linear, (t["x"], t["n"], t["s"][0]), {}),
        "bilinear": lambda t: (F.bilinear, (t["m"], t["m"], P.ones([2, 4, 4])), {}),
        "conv2d": lambda t: (F.conv2d, (t["img"], t["w2"]), {"padding": 1}),
        "conv2d_same": lambda t: (F.conv2d, (t["img"], t["w2"]), {"padding": "SAME", "stride": 2}),
        "conv1d": lambda t: (F.conv1d, (t["seq"], t["w1"]), {}),
        "conv3d": lambda t: (F.conv3d, (t["vol"], t["w3"]), {}),
        "conv2d_transpose": lambda t: (F.conv2d_transpose, (t["img"], P.ones([3, 2, 3, 3])), {"stride": 2}),
        "conv2d_depthwise": lambda t: (F.conv2d, (t["img"], P.ones([3, 1, 3, 3])), {"groups": 3}),
        "max_pool2d": lambda t: (F.max_pool2d, (t["img"], 2), {}),
        "max_pool2d_mask": lambda t: (F.max_pool2d, (t["img"], 2), {"return_mask": True}),
        "max_pool2d_ceil": lambda t: (F.max_pool2d, (t["img"], 3), {"ceil_mode": True}),
        "avg_pool2d": lambda t: (F.avg_pool2d, (t["img"], 2), {}),
        "max_pool1d": lambda t: (F.max_pool1d, (t["seq"], 2), {}),
        "avg_pool1d": lambda t: (F.avg_pool1d, (t["seq"], 2), {}),
        "avg_pool3d": lambda t: (F.avg_pool3d, (t["vol"], 2), {}),
        "adaptive_avg_pool2d": lambda t: (F.adaptive_avg_pool2d, (t["img"], 3), {}),
        "adaptive_max_pool2d": lambda t: (F.adaptive_max_pool2d, (t["img"], 3), {}),
        "adaptive_avg_pool1d": lambda t: (F.adaptive_avg_pool1d, (t["seq"], 3), {}),
        "lp_pool2d": lambda t: (F.lp_pool2d, (t["img"], 2, 2), {}),
        "batch_norm_eval": lambda t: (F.batch_norm, (t["img"], P.zeros([3]), P.ones([3])), {}),
        "layer_norm": lambda t: (F.layer_norm, (t["x"], [4]), {}),
        "group_norm": lambda t: (F.group_norm, (t["img"], 3), {}),
        "instance_norm": lambda t: (F.instance_norm, (t["img"],), {}),
        "local_response_norm": lambda t: (F.local_response_norm, (t["img"], 3), {}),
        "normalize": lambda t: (F.normalize, (t["x"],), {}),
        "dropout_eval": lambda t: (F.dropout, (t["x"], 0.5), {"training": False}),
        "dropout_zero": lambda t: (F.dropout, (t["x"], 0.0), {}),
        "dropout_train": lambda t: (F.dropout, (t["x"], 0.5), {}),
        "dropout_down": lambda t: (F.dropout, (t["x"], 0.5), {"mode": "downscale_in_infer"}),
        "dropout_down_eval": lambda t: (F.dropout, (t["x"], 0.5), {"mode": "downscale_in_infer", "training": False}),
        "dropout_axis": lambda t: (F.dropout, (t["x"], 0.5), {"axis": 1}),
        "dropout2d": lambda t: (F.dropout2d, (t["img"], 0.5), {}),
        "alpha_dropout": lambda t: (F.alpha_dropout, (t["x"], 0.5), {}),
        "rrelu": lambda t: (F.rrelu, (t["x"],), {}),
        "gumbel_softmax": lambda t: (F.gumbel_softmax, (t["x"],), {}),
        "gumbel_softmax_hard": lambda t: (F.gumbel_softmax, (t["x"],), {"hard": True}),
        "prelu": lambda t: (F.prelu, (t["x"], t["one"]), {}),
        "maxout": lambda t: (F.maxout, (P.concat([t["x"]] * 2, 1).unsqueeze(-1), 2), {}),
        "softmax_axis": lambda t: (F.softmax, (t["x"], 1), {}),
        "softmax_dtype": lambda t: (F.softmax, (t["x"],), {"dtype": "float64"}),
        "gelu_tanh": lambda t: (F.gelu, (t["x"], True), {}),
        "interpolate": lambda t: (F.interpolate, (t["img"],), {"scale_factor": 2}),
        "interpolate_bilinear": lambda t: (F.interpolate, (t["img"], [4, 4]), {"mode": "bilinear"}),
        "upsample": lambda t: (F.upsample, (t["img"],), {"scale_factor": 2, "mode": "nearest"}),
        "grid_sample": lambda t: (F.grid_sample, (t["img"], P.zeros([2, 4, 4, 2])), {}),
        "affine_grid": lambda t: (F.affine_grid, (t["x"][:, :2, :3], [2, 3, 4, 4]), {}),
        "pixel_shuffle": lambda t: (F.pixel_shuffle, (P.ones([1, 4, 2, 2]), 2), {}),
        "pixel_unshuffle": lambda t: (F.pixel_unshuffle, (t["img"], 2), {}),
        "channel_shuffle": lambda t: (F.channel_shuffle, (t["img"], 3), {}),
        "unfold_nn": lambda t: (F.unfold, (t["img"], [3, 3]), {}),
        "fold": lambda t: (F.fold, (P.ones([1, 4, 4]), [3, 3], [2, 2]), {}),
        "cosine_similarity": lambda t: (F.cosine_similarity, (t["x"], t["y"]), {}),
        "pairwise_distance": lambda t: (F.pairwise_distance, (t["m"], t["m"] * 2), {}),
        "label_smooth": lambda t: (F.label_smooth, (t["m"],), {}),
        "zeropad2d": lambda t: (F.zeropad2d, (t["img"], [1, 1, 1, 1]), {}),
        "temporal_shift": lambda t: (F.temporal_shift, (t["img"], 2), {}),
        "cross_entropy": lambda t: (F.cross_entropy, (t["m"][:2], t["lab"]), {}),
        "cross_entropy_none": lambda t: (F.cross_entropy, (t["m"][:2], t["lab"]), {"reduction": "none"}),
        "cross_entropy_ignore": lambda t: (F.cross_entropy, (t["m"][:2], t["lab"]), {"ignore_index": 0}),
        "cross_entropy_soft": lambda t: (F.cross_entropy, (t["m"], F.softmax(t["m"])), {"soft_label": True}),
        "cross_entropy_weight": lambda t: (F.cross_entropy, (t["m"][:2], t["lab"]), {"weight": t["v"]}),
        "cross_entropy_smooth": lambda t: (F.cross_entropy, (t["m"][:2], t["lab"]), {"label_smoothing": 0.1}),
        "softmax_with_cross_entropy": lambda t: (F.softmax_with_cross_entropy, (t["m"][:2], t["lab"].reshape([2, 1])), {}),
        "nll_loss": lambda t: (F.nll_loss, (t["m"][:2], t["lab"]), {}),
        "mse_loss": lambda t: (F.mse_loss, (t["x"], t["y"]), {}),
        "l1_loss": lambda t: (F.l1_loss, (t["x"], t["y"]), {}),
        "smooth_l1_loss": lambda t: (F.smooth_l1_loss, (t["x"], t["y"]), {}),
        "huber": lambda t: (F.smooth_l1_loss, (t["x"], t["y"]), {"delta": 0.5, "reduction": "sum"}),
        "bce": lambda t: (F.binary_cross_entropy, (t["x"], t["y"]), {}),
        "bce_logits": lambda t: (F.binary_cross_entropy_with_logits, (t["x"], t["y"]), {}),
        "kl_div": lambda t: (F.kl_div, (t["x"], t["y"]), {}),
        "kl_div_batchmean": lambda t: (F.kl_div, (t["x"], t["y"]), {"reduction": "batchmean"}),
        "margin_ranking": lambda t: (F.margin_ranking_loss, (t["x"], t["y"], t["y"] * 0 + 1), {}),
        "hinge_embedding": lambda t: (F.hinge_embedding_loss, (t["x"], t["y"] * 0 + 1), {}),
        "cosine_embedding": lambda t: (F.cosine_embedding_loss, (t["m"], t["m"] * 2, P.ones([3], "int64")), {}),
        "triplet_margin": lambda t: (F.triplet_margin_loss, (t["m"], t["m"] * 2, t["m"] + 1), {}),
        "soft_margin": lambda t: (F.soft_margin_loss, (t["x"], t["y"]), {}),
        "multi_label_soft_margin": lambda t: (F.multi_label_soft_margin_loss, (t["m"], (t["m"] > 0.5).astype("float32")), {}),
        "multi_margin": lambda t: (F.multi_margin_loss, (t["m"][:2], t["lab"]), {}),
        "poisson_nll": lambda t: (F.poisson_nll_loss, (t["x"], t["y"]), {}),
        "gaussian_nll": lambda t: (F.gaussian_nll_loss, (t["x"], t["y"], t["y"] + 1), {}),
        "log_loss": lambda t: (F.log_loss, (t["m"], t["m"]), {}),
        "square_error_cost": lambda t: (F.square_error_cost, (t["x"], t["y"]), {}),
        "dice_loss": lambda t: (F.dice_loss, (F.softmax(t["x"]), t["i"][:, :, :1]), {}),
        "npair": lambda t: (F.npair_loss, (t["m"], t["m"], t["iv"].astype("float32")), {}),
        "sigmoid_focal": lambda t: (F.sigmoid_focal_loss, (t["x"], (t["y"] > 0.5).astype("float32")), {}),
        "ctc": lambda t: (
            F.ctc_loss,
            (t["x"].transpose([1, 0, 2]), P.ones([2, 2], "int32"), P.to_tensor([3, 3], "int64"), P.to_tensor([2, 1], "int64")),
            {},
        ),
        "sdpa": lambda t: (F.scaled_dot_product_attention, (P.ones([1, 3, 2, 4]), P.ones([1, 3, 2, 4]), P.ones([1, 3, 2, 4])), {}),
        "viterbi": lambda t: (P.text.viterbi_decode, (t["x"], t["v"].reshape([4, 1]) + t["v"], P.to_tensor([3, 3], "int64")), {}),
        # fft, signal
        "fft": lambda t: (P.fft.fft, (t["x"],), {}),
        "rfft": lambda t: (P.fft.rfft, (t["x"],), {}),
        "irfft": lambda t: (P.fft.irfft, (t["c"],), {}),
        "fft2": lambda t: (P.fft.fft2, (t["x"],), {}),
        "fftshift": lambda t: (P.fft.fftshift, (t["x"],), {}),
        "fftfreq": lambda t: (P.fft.fftfreq, (8,), {}),
        "stft": lambda t: (P.signal.stft, (P.ones([2, 16]),), {"n_fft": 8}),
        # random
        "rand": lambda t: (P.rand, ([2, 3],), {}),
        "randn": lambda t: (P.randn, ([2, 3],), {}),
        "uniform": lambda t: (P.uniform, ([2, 3],), {"min": -2.0, "max": 2.0}),
        "normal": lambda t: (P.normal, (1.0, 2.0, [2, 3]), {}),
        "normal_tensor": lambda t: (P.normal, (t["x"], 2.0), {}),
        "standard_normal": lambda t: (P.standard_normal, ([2, 3],), {}),
        "randint": lambda t: (P.randint, (0, 10, [3]), {}),
        "randint_like": lambda t: (P.randint_like, (t["x"], 0, 10), {}),
        "rand_like": lambda t: (P.rand_like, (t["x"],), {}),
        "randn_like": lambda t: (P.randn_like, (t["x"],), {}),
        "randperm": lambda t: (P.randperm, (5,), {}),
        "bernoulli": lambda t: (P.bernoulli, (t["x"],), {}),
        "multinomial": lambda t: (P.multinomial, (t["v"], 2), {}),
        "poisson": lambda t: (P.poisson, (t["x"],), {}),
        "binomial": lambda t: (P.binomial, (t["j"].astype("float32"), t["x"]), {}),
        "standard_gamma": lambda t: (P.standard_gamma, (t["x"],), {}),
        "log_normal": lambda t: (P.log_normal, (1.0, 2.0, [2, 3]), {}),
        # vision
        "nms": lambda t: (P.vision.ops.nms, (P.to_tensor([[0.0, 0, 1, 1], [0, 0, 2, 2]]), 0.3), {}),
        "roi_align": lambda t: (
            P.vision.ops.roi_align,
            (t["img"], P.to_tensor([[0.0, 0, 4, 4], [1, 1, 5, 5]]), P.to_tensor([1, 1], "int32"), 2),
            {},
        ),
        "deform_conv2d": lambda t: (P.vision.ops.deform_conv2d, (t["img"], P.zeros([2, 18, 6, 6]), t["w2"]), {}),
        # direct operations
        "_C_ops.add": lambda t: (P._C_ops.add, (t["x"], t["y"]), {}),
        "_C_ops.matmul": lambda t: (P._C_ops.matmul, (t["x"], t["n"], False, False), {}),
        "_C_ops.scale": lambda t: (P._C_ops.scale, (t["x"], 2.0, 1.0, True), {}),
    }
    for name, call in table.items():
        yield case(name, call)
