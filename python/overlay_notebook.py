"""overlay in a notebook: the page of a report inline, and tables as data frames.

    from overlay_notebook import Report

    Report("trace.json.gz")                                # the last line of a cell: the page, as overlay report --html writes it
    Report("trace.json.gz", "--step", "7")                 # flags as for overlay report
    Report("traces/")                                      # the ranks of a job
    r = Report("trace.json.gz")
    r.query("select name, sum(critical_ns) as ns from events group by 1 order by 2 desc limit 10")
    r.table("hotspots")                                    # a list of the report
    r.json["critical_path"]["bound_by"]

Needs the program `overlay` on PATH, or where the variable OVERLAY says. Tables are pandas.DataFrame where pandas can be imported, else lists
of dicts.
"""

import html
import json
import os
import subprocess
import tempfile

__all__ = ["Report"]


class Report:
    """The report of a trace, or of a folder with the traces of a job. Nothing is analysed before somebody looks."""

    def __init__(self, trace, *flags, height=900):
        self.trace, self.flags, self.height = os.fspath(trace), list(flags), height
        self._json = self._page = None

    @property
    def page(self):
        """The page, HTML."""
        if self._page is None:
            with tempfile.TemporaryDirectory() as folder:
                name = os.path.join(folder, "page.html")
                _overlay("report", self.trace, *self.flags, "--html", name)
                with open(name, encoding="utf-8") as f:
                    self._page = f.read()
        return self._page

    @property
    def json(self):
        """The report as docs/reference/report.schema.json describes it."""
        if self._json is None:
            self._json = json.loads(_overlay("report", self.trace, *self.flags, "--json"))
        return self._json

    def table(self, name):
        """A list of the report, such as hotspots or steps, as a data frame."""
        rows = self.json.get(name)
        if not isinstance(rows, list):
            lists = sorted(key for key, value in self.json.items() if isinstance(value, list))
            raise KeyError("%r is no list of the report: %s" % (name, ", ".join(lists)))
        return _frame(rows)

    def query(self, sql):
        """What `overlay query` answers, as a data frame; its tables: overlay query --schema."""
        return _frame(json.loads(_overlay("query", sql, self.trace, "--format", "json")))

    def _repr_html_(self):
        # A frame with an origin of its own: the page cannot reach into the notebook.
        return '<iframe srcdoc="%s" sandbox="allow-scripts" style="width:100%%;height:%dpx;border:0"></iframe>' % (html.escape(self.page), self.height)


def _frame(rows):
    try:
        import pandas
    except ImportError:
        return rows
    return pandas.DataFrame(rows)


def _overlay(*args):
    """What the program prints. What it says of a failure becomes the error."""
    program = os.environ.get("OVERLAY", "overlay")
    try:
        done = subprocess.run([program, *args, "--quiet"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, encoding="utf-8")
    except FileNotFoundError:
        raise RuntimeError("there is no program %r: put overlay on PATH, or its path into the variable OVERLAY" % program) from None
    if done.returncode:
        raise RuntimeError(done.stderr.strip())
    return done.stdout
