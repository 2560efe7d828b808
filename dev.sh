#!/bin/bash
# builds this clone and puts the library in ./lib
cd /tmp/wt/h3; export PYO3_PYTHON=/work/main/target/venv/3.11/bin/python
CARGO_TARGET_DIR=target/dpy3.11 cargo build -q -p sot-py -p toy-backend "$@" || exit 1
rm -rf lib; mkdir -p lib; cp -r sot-py/python/sot tests/toy/python/toy_backend lib/
cp target/dpy3.11/debug/lib*sot*.so lib/sot/_sot.so; cp target/dpy3.11/debug/libtoy_backend.so lib/toy_backend/toy_backend.so
