"""The example framework, when it is installed as a wheel: the extension module under its plain name."""

import sys

from . import arrays as _extension

sys.modules[__name__] = _extension
