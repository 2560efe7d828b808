"""What `explain` shows: a text that fits a screen, the rest on demand, and a page."""

import html.parser
import io
import pickle

import doors
import pytest
from toy_framework import toy

t = toy.tensor


def scaled(x, n):
    y = x * n
    doors.opaque(y)
    return y + 1 if n < 9 else y  # <- "escaped" & marked


def many(x):
    doors.opaque(x), doors.opaque(x), doors.opaque(x)
    x = x + 1
    doors.opaque(x), doors.opaque(x), doors.opaque(x)
    x = x + 1
    doors.opaque(x)
    return x


@pytest.fixture(autouse=True)
def fresh():
    toy.reset()
    yield
    toy.reset()


def report():
    return toy.explain(scaled)(t([1.0, 2.0]), 3)


def test_the_text_fits_a_screen():
    lines = str(report()).splitlines()
    assert lines[0].startswith("2 graphs, 1 breaks, ")
    assert lines[1].startswith("  graph 1: 2 operations, ")
    assert lines[3].startswith("  captured in ") and lines[3].endswith(" ms")
    assert lines[-1] == 'more: report.graphs, report.guards, report.code, report.save("report.html")'
    assert len(lines) <= 12


def test_many_breaks_are_counted():
    found = toy.explain(many)(t([1.0]))
    text = str(found)
    assert len(found.breaks) == 7 and text.count("break at ") == 5
    assert "\n  and 2 more: report.breaks\n" in text


def test_where_nothing_was_captured():
    g = toy.to_static(scaled)
    g(t([1.0, 2.0]), 3)
    assert "  found in the cache, nothing was captured" in str(toy.explain(g)(t([1.0, 2.0]), 3))


def test_the_rest_shows_itself():
    found = report()
    assert isinstance(found.guards, list) and isinstance(found.code, str) and isinstance(found.graphs, list)
    shown = repr(found.guards).splitlines()
    assert shown[0].endswith(" guards") and len(found.guards) >= 8
    assert 'locals["n"]' in shown and '  locals["n"] == 3' in shown
    assert len(shown) == 1 + len(found.guards) + len(found.guards.by_owner())
    assert repr(found.graphs) == "\n".join(graph.sir for graph in found.graphs)
    assert repr(found.graphs[0]).startswith("<sot.Graph: 2 operations, ")
    assert repr(found.breaks) == str(found.breaks[0])
    assert repr(found.code) == found.code and "CALL" in found.code
    assert repr(found.original_code) == found.original_code and "opaque" in found.original_code
    assert pickle.loads(pickle.dumps([found.guards, found.code])) == [found.guards, found.code]
    assert type(pickle.loads(pickle.dumps(found.guards))) is list


def test_the_state_of_the_framework_is_said_once():
    guards = toy.explain(many)(t([1.0])).guards
    assert len([guard for guard in guards if guard == "gradients are recorded"]) == 1


def test_colour_is_for_terminals(monkeypatch):
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    def shown(file, **options):
        found.show(file, **options)
        return file.getvalue()

    found = report()
    monkeypatch.delenv("NO_COLOR", raising=False)
    assert shown(io.StringIO()) == str(found)
    assert "\x1b[" in shown(Terminal()) and "\x1b[" in shown(io.StringIO(), color=True)
    assert shown(Terminal(), color=False) == str(found)
    monkeypatch.setenv("NO_COLOR", "1")
    assert shown(Terminal()) == str(found)


class Balanced(html.parser.HTMLParser):
    """Each tag is closed, in order; nothing is fetched from elsewhere."""

    def __init__(self, text):
        super().__init__()
        self.open, self.text = [], []
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag, attributes):
        assert tag not in ("script", "link", "img"), tag
        if tag != "meta":
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text.append(data)


def test_without_a_place_to_print_to(monkeypatch):
    monkeypatch.setattr("sys.stdout", None)
    assert report().show() is None


class Answering:
    """Says which attributes it is asked for."""

    def __init__(self):
        self.asked = []

    def __getattr__(self, name):
        self.asked.append(name)
        raise AttributeError(name)

    def go(self, x):
        return x + 1


def test_what_is_called_is_not_asked():
    plain, answering = Answering(), Answering()
    toy.to_static(plain.go)(t([1.0]))
    found = toy.explain(answering.go)(t([1.0]))
    assert answering.asked == plain.asked and "x" in found.original_code


def test_a_page(tmp_path):
    found = report()
    path = tmp_path / "report.html"
    assert found.save(path) is None
    page = path.read_text(encoding="utf-8")
    text = "".join(Balanced(page).text)
    assert '# <- "escaped" & marked' in text and "[disabled]" in text
    assert "StatementIR" in text and 'locals["n"] == 3' in text and "RETURN_VALUE" in text
    assert page.count('class="line break"') == 1
    found.save(str(path))
    assert Balanced(found._repr_html_()).text


def test_a_page_that_cannot_be_written(tmp_path):
    with pytest.raises(FileNotFoundError, match="the report could not be written to .*nowhere.r.html"):
        report().save(tmp_path / "nowhere" / "r.html")
    with pytest.raises(OSError):
        report().save(tmp_path)


def test_a_function_without_source():
    names = {}
    exec("def f(x):\n    return x + 1", names)
    assert "StatementIR" in toy.explain(names["f"])(t([1.0]))._repr_html_()
