"""Run, compare and report audits: does this benchmark need the image?"""
