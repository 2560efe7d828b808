"""Every struct offset the Rust side uses equals the one in the interpreter's own headers."""

import os
import shutil
import subprocess
import sysconfig

import pytest

HEADERS = """
#define Py_BUILD_CORE 1
#include <Python.h>
#include <frameobject.h>
#include <stddef.h>
#include <stdio.h>
#if PY_VERSION_HEX < 0x03090000
#include <internal/pycore_pystate.h>
#else
#include <internal/pycore_interp.h>
#endif
#if PY_VERSION_HEX >= 0x030B0000
#include <internal/pycore_frame.h>
#include <internal/pycore_code.h>
#include <internal/pycore_dict.h>
#endif
#if PY_VERSION_HEX >= 0x030C0000
#include <internal/pycore_list.h>
#include <internal/pycore_tuple.h>
#include <internal/pycore_range.h>
#endif
"""


def test_offsets_equal_the_headers(sot, tmp_path):
    include = sysconfig.get_paths()["include"]
    compiler = shutil.which("cc")
    if compiler is None or not os.path.exists(os.path.join(include, "internal")):
        pytest.skip("needs a C compiler and CPython's headers")
    ours = sot._offsets()
    assert len(ours) > 40
    body = "\n".join(
        '  printf("%s %zu\\n", "{0}", offsetof({1}, {2}));'.format(name, *name.split(".", 1))
        for name, _ in ours
    )
    source = tmp_path / "offsets.c"
    source.write_text(HEADERS + "int main(void) {\n" + body + "\n  return 0;\n}\n")
    program = tmp_path / "offsets"
    subprocess.run(
        [
            compiler,
            "-w",
            "-I" + include,
            "-I" + os.path.join(include, "internal"),
            "-o",
            str(program),
            str(source),
        ],
        check=True,
    )
    printed = subprocess.run([str(program)], check=True, stdout=subprocess.PIPE).stdout.decode()
    theirs = {}
    for line in printed.splitlines():
        name, offset = line.rsplit(" ", 1)
        theirs[name] = int(offset)
    wrong = {name: (offset, theirs[name]) for name, offset in ours if theirs[name] != offset}
    assert wrong == {}, "(ours, header)"
