"""A tiny release of unrefined SugarCrepe: the same format as SugarCrepe."""

import importlib.util
from pathlib import Path

SPEC = importlib.util.spec_from_file_location("sugarcrepe_release", Path(__file__).with_name("sugarcrepe.py"))
REFINED = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(REFINED)
write = REFINED.write
