"""Modules that are imported while every frame is captured: the frames of the import system hold its locks."""

import subprocess
import sys


def test_a_module_is_imported_with_paddle_loaded(tmp_path):
    (tmp_path / "imported_captured.py").write_text("value = 3\n")
    program = tmp_path / "program.py"
    program.write_text("import paddle\nimport imported_captured\nprint(imported_captured.value)\n")
    for command in ([str(program)], ["-m", "sot", str(program)]):
        ran = subprocess.run([sys.executable, *command], cwd=tmp_path, capture_output=True, text=True, timeout=120)
        assert (ran.returncode, ran.stdout) == (0, "3\n"), ran.stderr
