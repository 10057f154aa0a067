"""Tests of the notebook's side: OVERLAY=program python3 -m unittest discover python"""
import html
import os
import re
import sys
import unittest
from unittest import mock

import overlay_notebook

DEMO = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "testdata", "demo.json.gz")
HOTSPOTS = "select name, sum(critical_ns) as ns from events group by 1 order by 2 desc limit 2"


@unittest.skipUnless("OVERLAY" in os.environ, "the variable OVERLAY names no program")
class TestNotebook(unittest.TestCase):
    def test_page(self):
        shown = overlay_notebook.Report(DEMO)._repr_html_()
        page = html.unescape(re.fullmatch(r'<iframe srcdoc="([^"]*)" sandbox="allow-scripts" style="[^"]*"></iframe>', shown, re.S).group(1))
        self.assertIn("<h1>Bound by GPU compute</h1>", page)
        self.assertTrue(page.startswith("<!doctype html>"))

    def test_tables(self):
        report = overlay_notebook.Report(DEMO, "--step", "2")
        self.assertEqual(report.json["window"]["annotation"], "ProfilerStep#2")
        with mock.patch.dict(sys.modules, {"pandas": None}):
            rows = report.query(HOTSPOTS)
            self.assertEqual([sorted(row) for row in rows], [["name", "ns"]] * 2)
            self.assertEqual(len(report.table("hotspots")), 10)

        class pandas:
            DataFrame = staticmethod(lambda rows: ("frame", rows))
        with mock.patch.dict(sys.modules, {"pandas": pandas}):
            self.assertEqual(report.query(HOTSPOTS), ("frame", rows))
        with self.assertRaisesRegex(KeyError, "hotspots"):
            report.table("hotspot")

    def test_errors(self):
        with self.assertRaisesRegex(RuntimeError, "no file missing.json"):
            overlay_notebook.Report("missing.json").json
        with mock.patch.dict(os.environ, {"OVERLAY": "/nonexistent/overlay"}):
            with self.assertRaisesRegex(RuntimeError, "there is no program"):
                overlay_notebook.Report(DEMO).page


if __name__ == "__main__":
    unittest.main()
