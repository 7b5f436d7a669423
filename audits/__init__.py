"""Run, compare and report audits: does this benchmark need the image?"""

__version__ = "0.1.0"
