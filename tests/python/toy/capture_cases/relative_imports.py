"""Relative imports: what they name is said by `__package__` and `__spec__` of the globals, which a program may change between calls."""

from observe import called_between, case, open_case

WORLD = """
import itertools
calls = itertools.count()
told = []
import email.mime.text, email.charset, importlib.machinery, sys, types
from importlib.machinery import ModuleSpec
__package__ = "email.mime"
__spec__ = None
charset = sys.modules["email.charset"]
other = types.ModuleType("email.charset")
other.Charset = "another"
def outcome(read):
    try:
        return read()
    except (ImportError, KeyError, TypeError, ValueError) as error:
        return type(error).__name__, str(error)
"""


def between(name, change, body, **decisions):
    build = called_between(name, WORLD, body, change, "__package__, __spec__", lambda made: ())
    case(**decisions)(build) if decisions else open_case(build)


ONE = {"graphs": 1, "captures": 1, "breaks": 0}
for _name, _body in {
    "a_submodule": "from . import text\nreturn text.__name__, x + 1",
    "of_a_submodule": "from .text import MIMEText, MIMENonMultipart as base\nreturn MIMEText.__name__, base.__name__, x + 1",
    "the_package_above": "from .. import mime, charset\nreturn mime.__name__, charset.__name__, x + 1",
    "of_a_module_above": "from ..charset import Charset\nreturn Charset.__name__, x + 1",
    "in_a_comprehension": "def read():\n    from .text import MIMEText\n    return MIMEText\nreturn [read().__name__ for _ in range(2)], x + 1",
}.items():
    between(f"a_relative_import_of_{_name}", "", _body, **ONE)

STATED = {"a_spec_that_stays_of_a_module": ONE, "a_spec_that_stays_of_a_package": ONE}
READ = "def read():\n    from . import __name__ as found\n    return found\n"
for _name, _change in {
    "a_package_that_changes": "__package__ = 'email' if n % 2 else 'email.mime'",
    "a_spec_that_stays_of_a_module": "__spec__ = __spec__ or ModuleSpec('email.mime.mine', None)",
    "a_spec_that_stays_of_a_package": "__spec__ = __spec__ or ModuleSpec('email.mime', None, is_package=True)",
    "a_spec_of_a_module": "__spec__ = ModuleSpec('email.mime.mine', None)",
    "a_spec_of_a_package": "__spec__ = ModuleSpec('email.mime', None, is_package=True)",
    "a_spec_that_says_another": "__spec__ = ModuleSpec('email.mine' if n % 2 else 'email.mime.mine', None)",
    "a_spec_that_becomes_a_package": "__spec__ = ModuleSpec('email.mime.mine', None, is_package=bool(n % 2))",
    "a_spec_that_is_renamed": "__spec__ = __spec__ or ModuleSpec('email.mime.mine', None)\n__spec__.name = 'email.mine' if n == 2 else 'email.mime.mine'",
    "a_spec_of_the_program": "__spec__ = types.SimpleNamespace(parent='email.mime' if n % 2 else 'email')",
    "a_spec_alone": "__package__ = None\n__spec__ = ModuleSpec('email.mime.mine', None)",
    "no_package": "__package__ = None if n % 2 else 'email.mime'",
    "an_empty_package": "__package__ = '' if n % 2 else 'email.mime'",
    "a_package_that_is_no_text": "__package__ = 5 if n % 2 else 'email.mime'",
    "a_package_that_is_not_there": "__package__ = 'email.unheard' if n % 2 else 'email.mime'",
}.items():
    between(f"a_relative_import_in_{_name}", _change, f"{READ}return outcome(read), x + 1", **STATED.get(_name, {}))

for _name, _import in {
    "beyond_the_top": "from ... import charset as found",
    "far_beyond_the_top": "from .....charset import Charset as found",
    "an_unheard_module": "from .unheard import found",
    "an_unheard_name": "from . import unheard as found",
    "an_unheard_name_of_a_module": "from .text import unheard as found",
}.items():
    between(f"a_relative_import_of_{_name}", "", f"def read():\n    {_import}\n    return found\nreturn outcome(read), x + 1")

between("a_relative_import_where_the_package_is_written", "__package__ = 'email.mime'", "globals()['__package__'] = 'email'\nfrom . import __name__ as found\nreturn found, x + 1")
between("a_relative_import_of_what_takes_a_modules_place", "sys.modules['email.charset'] = other if n % 2 else charset", "from ..charset import Charset\nsys.modules['email.charset'] = charset\nreturn str(Charset), x + 1")

for _name, _written in {"name": "__spec__.name = 'a.b'", "locations": "__spec__.submodule_search_locations = []"}.items():
    between(f"a_relative_import_where_the_{_name}_of_the_spec_is_written", "__spec__ = ModuleSpec('email.mime.mine', None)", f"{READ}{_written}\nreturn outcome(read), x + 1")
between(
    "a_relative_import_where_the_parent_of_specs_is_another",
    "__spec__ = __spec__ or ModuleSpec('email.mime.mine', None)",
    f"{READ}own = ModuleSpec.parent\nif n > 1:\n    ModuleSpec.parent = property(lambda spec: 'other')\nopaque(0)\ntry:\n    return outcome(read), x + 1\nfinally:\n    ModuleSpec.parent = own",
)
