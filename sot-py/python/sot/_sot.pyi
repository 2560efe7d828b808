"""The engine behind `sot`: what is captured, why not, and how to look at it."""

from os import PathLike
from types import CodeType, ModuleType
from typing import Any, Callable, Dict, Iterable, List, NamedTuple, Optional, Sequence, Tuple, TypeVar, Union, final, overload

_F = TypeVar("_F", bound=Callable[..., Any])

__version__: str
_psdb: ModuleType

class CustomCode(NamedTuple):
    """What a callback of `set_eval_frame` answers for one frame.

    | code | disable_eval_frame | what happens |
    |---|---|---|
    | None | True | the frame runs as it is, and the hook is off while it runs |
    | a code object | True | the code runs in place of the frame's, and the hook is off while it runs |
    | a code object | False | the code runs in place of the frame's, and frames that it calls reach the hook |
    | None | False | the frame runs as it is, and frames that it calls reach the hook |

    The code takes the same arguments and has the same free variables as the frame's own. An answer that does not fit
    never disturbs the program: the frame runs as it is, with one `RuntimeWarning` for each kind of misfit.
    """

    code: Optional[CodeType]
    disable_eval_frame: bool

@final
class Graph:
    """One captured graph."""

    @property
    def sir(self) -> str:
        """Its StatementIR, as text."""
    @property
    def op_count(self) -> int:
        """Operations in the framework's own graph."""
    @property
    def executor(self) -> str:
        """Who runs it: `compiled`, `replay`, `measuring` while both are being timed, `closed` where it
        failed for good, or `original` where the original code turned out faster and serves the calls."""
    @property
    def replay_only(self) -> Optional[str]:
        """Why only running the operations one by one is exact, if so."""
    @property
    def program(self) -> str:
        """The framework's own text of the graph."""

@final
class Break:
    """A place where a graph ended before the function did."""

    @property
    def code(self) -> str:
        """The reason's stable code, as `branch-on-tensor`; `reasons` explains each."""
    @property
    def reason(self) -> str:
        """What happened, in words."""
    @property
    def file(self) -> str:
        """Your file."""
    @property
    def line(self) -> int:
        """The line in it."""
    @property
    def function(self) -> str:
        """The function in which it is."""
    @property
    def family(self) -> str:
        """DDCF, UNSPS, CDBL or UNIMP: the families of the PaddleSOT design."""
    @property
    def fallback(self) -> bool:
        """The whole frame ran as plain Python."""
    @property
    def source(self) -> str:
        """The line as it is in the file, without indentation; empty if it cannot be read."""
    @property
    def cure(self) -> str:
        """What to write instead, or that nothing needs to be done."""
    @property
    def cause(self) -> Optional[str]:
        """What the framework raised when it was asked for the operation while the graph was built: class and text."""

@final
class Report:
    """What one call looked like to the translator.

    `str(report)` fits a screen: counts, graphs, times, why the call was captured again, and breaks with their lines and cures. The
    rest is on demand: `graphs`, `breaks`, `guards` and `code` show themselves readably where an interpreter shows values, a notebook
    shows the report as HTML, and `save` writes all of it as a page.
    """

    @property
    def graphs(self) -> List[Graph]:
        """The graphs, in the order in which they run."""
    @property
    def breaks(self) -> List[Break]:
        """Why there is more than one graph, or none."""
    @property
    def guards(self) -> List[str]:
        """What is checked before the capture is used again; shown by what it speaks of."""
    @property
    def code(self) -> str:
        """The bytecode that runs in place of the function's, as text."""
    @property
    def original_code(self) -> str:
        """The bytecode of the function itself, as text."""
    @property
    def missed(self) -> List[str]:
        """Why the call was captured though others had been: for each entry the first guard that failed, and what was found."""
    @property
    def resume_functions(self) -> str:
        """The resume functions (`__resume_fn_k`) that run where a continuation is not captured, as bytecode."""
    @property
    def result(self) -> Any:
        """What the call returned."""
    @property
    def capture_ms(self) -> float:
        """Time spent capturing, in milliseconds; 0 if everything was cached."""
    def show(self, file: Optional[Any] = None, color: Optional[bool] = None) -> None:
        """Prints the report: to `file`, or stdout, and in colour where that is a terminal, unless `color` says otherwise or the
        environment variable NO_COLOR is set."""
    def save(self, path: Union[str, "PathLike[str]"]) -> None:
        """Writes the report as one HTML page that needs nothing else: the source with its breaks marked, graphs, guards, bytecode
        before and after. An existing file is replaced."""
    def _repr_html_(self) -> str: ...

@overload
def to_static(function: _F, full_graph: bool = False, input_spec: Optional[Sequence[Any]] = None) -> _F:
    """Runs a function or a layer as graphs.

    A function is returned as a callable that behaves like it; a layer is returned as itself, with its `forward`
    captured. Also a decorator, with or without arguments. What cannot be captured (a C function, a class, a coroutine
    function) is returned unchanged, and `stats` counts it with the reason.

    full_graph: raise instead of breaking the graph.
    input_spec: a description of each argument that is a tensor, in their order: `paddle.static.InputSpec([None, 3], "float32")`,
        or anything with a `shape` and a `dtype`. An extent of None or -1 varies: one capture serves all of at least 2, from the
        first call on. A call with a tensor that is otherwise is a ValueError which shows both.
    """

@overload
def to_static(
    function: None = None, full_graph: bool = False, input_spec: Optional[Sequence[Any]] = None
) -> Callable[[_F], _F]: ...
def symbolic_translate(function: _F, train: Optional[bool] = None, **options: Any) -> _F:
    """`to_static` under the name that PaddleSOT gives it."""

def install() -> None:
    """Makes `paddle.jit.to_static(full_graph=False)` use this engine."""

def uninstall() -> None:
    """Undoes `install`."""

def explain(function: Callable[..., Any]) -> Callable[..., Report]:
    """`explain(f)(*args)` calls `f` once and tells what was captured, and why something was not."""

def stats() -> Dict[str, Any]:
    """Counters since the last `reset`.

    At least `captures`, `graphs`, `breaks`, `fallbacks`, `hits`, `misses` and `unguarded`, all of them integers. Of the
    hits, `unguarded` are those that need no guards: where measuring has shown that the original code is faster than every
    capture, or than captures and their guards all in all, it serves most calls without a look at them. `reasons`: how often each reason stopped a capture, by its code.
    `registries`: how many entries each table of the process has now, by what is in it. `missed`: what guards speak of that
    were the first to fail when calls were captured again, as `cfg.name` or `tensor(x)`, and how often; the most frequent first.
    `memory`: of `entries` (captures of functions), `continuations` (captures of what is behind breaks) and `graphs` each the `count` and
    the `bytes` that sot holds for them, without objects of the program and what the framework has made of a graph.
    `verified`: calls beside which plain Python ran (`SOT_VERIFY=1`), and `differences`: those that came to something else.
    """

def set_logs(*topics: str) -> None:
    """Writes about these things from now on, and about nothing else; without arguments about nothing.

    Topics: `breaks` (each graph break and fallback), `recompiles` (why a call was captured again), `guards`, `graphs`, `code` (the
    rewritten bytecode), `timing`; `all`. Each is a logger of Python's `logging` named `sot.<topic>`, written to at level INFO; if the
    program has not set up logging, lines go to stderr. The environment variable `SOT_LOG` says the same, with commas between them.
    """

def reset() -> None:
    """Forgets every capture and sets the counters to zero."""

def disable(function: _F) -> _F:
    """Marks a function to be run as plain Python: a call of it breaks the graph."""

def not_to_static(function: Optional[_F] = None) -> _F:
    """`disable` under the name that Paddle gives it; also as `@not_to_static()`. `paddle.jit.not_to_static` is honoured as well."""

def graph_break() -> None:
    """Breaks the graph where it is called, and does nothing else."""

def add_break_apis(apis: Union[Callable[..., Any], Iterable[Callable[..., Any]]]) -> None:
    """Breaks the graph at each call of one of these functions, builtins or classes, from the next capture on."""

def mark_dynamic(
    tensor: Any, dim: Union[int, Sequence[int]], min: Optional[int] = None, max: Optional[int] = None
) -> None:
    """Extents of this tensor along these axes vary from call to call.

    The first capture with the tensor serves all extents from `min` (2 at least) to `max`; nobody needs it, since what varies is
    found out at the second call, but it saves that capture. 0 and 1 are captured by themselves; what is out of the bounds
    is captured again. Where the framework needs the extent each has its capture, and a warning to the logger `sot` says why.
    `paddle.jit.marker.dynamic_dims` is honoured as well.
    """

def mark_static(tensor: Any, dim: Union[int, Sequence[int], None] = None) -> None:
    """Each extent of this tensor along these axes, or along any, has a capture of its own, however often it varies: for
    functions that are faster, or have fewer breaks, with extents that are known."""

def ignore_module(modules: Union[ModuleType, Iterable[ModuleType]]) -> None:
    """Runs the functions of these modules, and of modules below them, as plain Python from the next capture on: calls of them
    break the graph. `paddle.jit.ignore_module` is honoured as well."""

def reasons() -> Dict[str, Tuple[str, str]]:
    """Every code that a break can have, with its family and one line of help."""

@final
class _Frame:
    """A frame that is about to run: what a callback of `set_eval_frame` gets to see."""

    @property
    def f_code(self) -> CodeType: ...
    @property
    def f_globals(self) -> Dict[str, Any]: ...
    @property
    def f_builtins(self) -> Any: ...
    @property
    def f_locals(self) -> Dict[str, Any]:
        """Bound arguments, and the contents of free variables."""
    @property
    def f_lasti(self) -> int:
        """-1: the frame has not started."""
    @property
    def f_func(self) -> Optional[Callable[..., Any]]:
        """The function, where known (3.11 and later)."""

_Callback = Callable[[_Frame], Optional[CustomCode]]

def set_eval_frame(callback: Optional[_Callback], /) -> Optional[_Callback]:
    """Calls `callback(frame)` before each function that this thread calls from now on; None removes it.

    The callback answers a `CustomCode`, or None for `CustomCode(None, False)`. Returns the callback that was set before.
    """
