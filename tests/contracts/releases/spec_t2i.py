"""A tiny release of SPEC: the same files, the other direction."""

import importlib.util
from pathlib import Path

SPEC = importlib.util.spec_from_file_location("spec_i2t_release", Path(__file__).with_name("spec_i2t.py"))
OTHER = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(OTHER)
write = OTHER.write
