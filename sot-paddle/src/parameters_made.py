# Parameters that a captured function makes: what stands for the framework's own function while that is simulated, the operation that a
# graph records instead, and what is known of its result. `parameters_made.rs` says what is kept.


def create_parameter(self, attr, shape, dtype=None, is_bias=False, default_initializer=None, stop_gradient=False, type=None, device=None):
    if stop_gradient is not False or type is not None or device is not None or class_of(self) not in HELPERS:
        refused()
    if LAZY._state or INITIALIZERS._global_weight_initializer_ is not None or INITIALIZERS._global_bias_initializer_ is not None:
        refused()
    attr = ParamAttr._to_attr(attr)
    if not attr:
        return None
    if class_of(attr) is not ParamAttr:
        refused()
    if not dtype:
        dtype = get_default_dtype()
    rest = (attr.trainable, attr.do_model_average, attr.need_clip)
    # The framework copies an attribute with its parts.
    said = (attr.name, described(attr.initializer), attr.learning_rate, described(attr.regularizer), *rest)
    names = (NAMES.generator, NAMES.dygraph_parameter_name_checker)
    return parameter(names[0], names[1], self.name, said, shape, dtype, is_bias, described(default_initializer))


def generate(self, key):
    # What the operation counts is not known while it has not run.
    if class_of(key) is str and (key == "_eager_param_base" or key.endswith((".w", ".b"))):
        refused()
    return GENERATE(self, key)


def check_name(self, name):
    refused()


def default_dtype(cls):
    # The attribute of the class is what it was before the function, which may have set another one.
    return get_default_dtype()


def described(part):
    if part is None:
        return None
    if class_of(part) not in SIMPLE:
        refused()
    return (class_of(part).__name__, tuple(part.__dict__.items()))


def refused():
    raise NotImplementedError("only eager makes such a parameter")


# What parameters are given that say nothing.
DEFAULTS = ("XavierUniform", "XavierInitializer", "Constant", "ConstantInitializer")
WRITTEN = {part: (part.__call__, getattr(part, "forward", None)) for part in SIMPLE}


# What the framework's own function calls beside them.
RELIED_ON = tuple(
    (owner, name, vars(owner)[name])
    for owner, names in (
        (EagerParamBase, ("__init__", "__new__")),
        (Block, ("create_parameter",)),
        (NAMES, ("generate",)),
        (class_of(NAMES.generator), ("__call__", "generate")),
        (class_of(NAMES.dygraph_parameter_name_checker), ("__call__",)),
        (ParamAttr, tuple(vars(ParamAttr))),
        (Helper, ("__init__", "create_parameter", "get_default_dtype")),
        (HOME, ("copy", "default_main_program", "unique_name", "ParamAttr")),
        (COPY, ("copy", "deepcopy")),
        (OPERATIONS, ("full_", "gaussian", "truncated_gaussian_random", "uniform")),
    )
    for name in names
    if name in vars(owner) and (callable(vars(owner)[name]) or class_of(vars(owner)[name]) in (staticmethod, classmethod, class_of(COPY)))
)


def are_as_written(*names):
    for owner, name, written in RELIED_ON:
        if vars(owner).get(name) is not written:
            raise RuntimeError(name)
    # Of a class to which the program has given other methods only eager knows what they do.
    for part in map(BY_NAME.get, names):
        if WRITTEN[part] != (part.__call__, getattr(part, "forward", None)):
            raise RuntimeError(part.__name__)


def made_part(description):
    if description is None:
        return None
    are_as_written(description[0])
    made = object.__new__(BY_NAME[description[0]])
    made.__dict__.update(description[1])
    return made


def parameter(generator, checker, name, said, shape, dtype, is_bias, default_initializer, added=()):
    if NAMES.generator is not generator or NAMES.dygraph_parameter_name_checker is not checker:
        raise RuntimeError("names of parameters are made otherwise by now")
    if LAZY._state or INITIALIZERS._global_weight_initializer_ is not None or INITIALIZERS._global_bias_initializer_ is not None:
        raise RuntimeError("parameters are made otherwise by now")
    if default_main_program().random_seed != 0:
        raise RuntimeError("initializers take a note of it")
    are_as_written(*DEFAULTS)
    attr = ParamAttr(said[0], made_part(said[1]), said[2], made_part(said[3]), *said[4:])
    log, ids, used = LOGS.get(get_ident()), generator.ids, checker._name_set
    if log is not None:
        key = ".".join([name, "b" if is_bias else "w"])
        full_name = said[0] or generator.prefix + "_".join([key, str(ids.get(key, 0))])
        before = [(counted, ids.get(counted)) for counted in (*added, key, "_eager_param_base")]
        log.append((ids, before, used, None if full_name in used else full_name))
    for counted in added:
        ids.setdefault(counted, 0)
    return CREATE(Helper(name, name), attr, shape, dtype, is_bias, made_part(default_initializer))


def begun():
    log = LOGS[get_ident()] = []
    return log


def taken_back(log):
    while log:
        ids, before, used, name = log.pop()
        for key, count in before:
            if count is None:
                ids.pop(key, None)
            else:
                ids[key] = count
        used.discard(name)


def told(generator, checker, name, said, shape, dtype, is_bias, default_initializer, added=()):
    extents = [int(extent) for extent in shape if isinstance(extent, Integral) and extent >= 0]
    are_as_written(*DEFAULTS)
    for description in (said[1], said[3], default_initializer):
        made_part(description)
        if description is not None and not all(isinstance(value, (bool, int, float, str, class_of(None))) for _, value in description[1]):
            raise TypeError(description[0])
    if len(extents) != len(shape) or class_of(is_bias) is not bool:
        raise ValueError("a shape")
    return extents, DTYPES[dtype], bool(said[4])
