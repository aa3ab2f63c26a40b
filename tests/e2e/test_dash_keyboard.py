"""The page of `muster dash` without a pointer: keys as a person presses them, in a real browser."""
from test_dash import NAMELESS, dash, failed_job, page, script, show  # noqa: F401 (fixtures)

TAB, ENTER, ESCAPE, LEFT = "\ue004", "\ue007", "\ue00c", "\ue012"

# What Tab has to reach, and what has the focus: in one word each.
STOPS = """
const name = (e) => e.id || e.getAttribute('aria-label') || e.textContent.trim().slice(0, 40) || e.tagName;
const all = [...document.querySelectorAll('a[href], button, input, select, textarea, [tabindex]')]
  .filter((e) => e.tabIndex >= 0 && !e.disabled && e.checkVisibility() && !e.closest('dialog') && !e.classList.contains('skip'));
const now = document.activeElement;
const style = getComputedStyle(now);
const isShown = now.matches(':focus-visible') && style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) > 0;
"""


def focused(page):
    return page.evaluate(STOPS + "return now === document.body ? null : name(now)")


def tab_to(page, condition, most=60):
    """Presses Tab until `now` fulfils the condition."""
    for _ in range(most):
        page.type(TAB)
        if page.evaluate(STOPS + f"return Boolean({condition})"):
            return
    raise AssertionError(f"Tab does not reach {condition}; the focus is at {focused(page)}")


def test_tab_reaches_everything_and_is_seen(cluster, page):
    failed_job(cluster)
    for screen in ("jobs", "job/default/base", "history", "machine"):
        show(page, screen)
        page.wait("return document.querySelector('main').innerText.includes('base') || document.querySelector('.cards .card')")
        wanted = page.evaluate(STOPS + "for (const e of all) e.dataset.wanted = 1; return all.length")
        for _ in range(2 * wanted + 4):
            page.type(TAB)
            seen = page.evaluate(STOPS + "if (now !== document.body) now.dataset.reached = 1; return now === document.body || isShown || name(now)")
            assert seen is True, f"{screen}: the focus on {seen} is not seen"
        missed = page.evaluate(STOPS + "return all.filter((e) => e.dataset.wanted && !e.dataset.reached).map(name)")
        assert missed == [], screen
        assert page.evaluate(NAMELESS) == []


def test_the_content_is_skipped_to_on_the_same_screen(cluster, page):
    failed_job(cluster)
    show(page, "job/default/base")
    page.wait("return document.querySelector('.job-head')")
    page.evaluate("document.querySelector('.skip').focus()")
    page.type(ENTER)
    assert page.evaluate("return document.activeElement.id") == "main"
    assert page.evaluate("return location.hash") == "#/job/default/base"


def test_a_job_is_found_opened_and_left(cluster, page):
    failed_job(cluster)
    page.wait("return document.querySelector('tbody')?.innerText.includes('base')")
    tab_to(page, "now.matches('tbody tr')")
    page.type(ENTER)
    page.wait("return location.hash === '#/job/default/base'")
    # Its keys come with the job.
    page.wait("return document.querySelector('main').innerText.includes('Delete')")
    page.type("?")
    page.wait("return document.querySelector('dialog[open]')")
    keys = page.evaluate("return [...document.querySelectorAll('dialog kbd')].map((each) => each.textContent)")
    assert {"?", "u", "a", "d", "e", "r", "Esc", "arrows"} <= set(keys), keys
    page.type(ESCAPE)
    page.wait("return !document.querySelector('dialog[open]')")
    page.type(ESCAPE)
    page.wait("return location.hash === '#/jobs'")


def test_the_focus_stays_with_its_job_when_others_come(cluster, page):
    cluster.submit("first", "sleep 300")
    page.wait("return document.querySelector('tbody')?.innerText.includes('first')")
    tab_to(page, "now.matches('tbody tr')")
    cluster.submit("second", "sleep 300")
    page.wait("return document.querySelector('tbody').innerText.includes('second')")
    assert "first" in page.evaluate("return document.activeElement.innerText")
    assert page.evaluate("return document.activeElement.getAttribute('aria-selected')") == "true"


def test_a_question_keeps_the_focus_and_gives_it_back(cluster, page):
    cluster.submit("base", "sleep 300")
    cluster.wait("base", "RUNNING")
    page.wait("return document.querySelector('tbody')?.innerText.includes('base')")
    tab_to(page, "now.matches('tbody tr')")
    page.type("d")
    page.wait("return document.querySelector('dialog[open]')")
    for _ in range(6):
        page.type(TAB)
        assert page.evaluate("return document.activeElement === document.body || Boolean(document.activeElement.closest('dialog'))")
    page.type(ESCAPE)
    page.wait("return !document.querySelector('dialog[open]')")
    assert page.evaluate("return document.activeElement.matches('tbody tr')")
    assert cluster.get("base")["status"] == "RUNNING"


def test_what_was_deleted_is_undone_and_the_list_is_still_reached(cluster, page):
    for name in ("base", "other"):
        cluster.submit(name, "sleep 300")
    page.wait("return document.querySelectorAll('tbody tr[aria-selected]').length === 2")
    tab_to(page, "now.matches('tbody tr')")
    page.type("d")
    page.wait("return document.querySelector('dialog[open]')")
    page.type(ENTER)  # what the question is about has its focus
    page.wait("return document.querySelectorAll('tbody tr[aria-selected]').length === 1")
    page.wait("return document.getElementById('toasts').innerText.includes('is deleted')")
    tab_to(page, "now.matches('tbody tr')")
    page.type("u")
    page.wait("return document.querySelectorAll('tbody tr[aria-selected]').length === 2")


def test_a_curve_is_read(cluster, page):
    cluster.submit("learns", script(cluster, "learns.py", "for i in range(1, 9):\n    print(f'step {i} loss {2 / i}', flush=True)\n"))
    cluster.wait("learns", "SUCCEEDED")
    show(page, "job/default/learns")
    page.wait("return document.querySelector('[aria-label=Curves] canvas')?.getAttribute('aria-label')?.startsWith('loss')")
    tab_to(page, "now.matches('[aria-label=Curves] canvas')")
    says = "return document.querySelector('[aria-label=Curves] [role=status]').textContent"
    page.type(LEFT)
    before = page.evaluate(says)
    page.type(LEFT)
    after = page.evaluate(says)
    assert before == "step 8: 0.25" and int(after.split(":")[0].removeprefix("step ")) < 8, (before, after)


def test_a_line_that_was_found_is_read_on_from(cluster, page):
    cluster.submit("base", "for i in 1 2 3; do echo line $i; done; echo needle; echo behind")
    cluster.wait("base", "SUCCEEDED")
    show(page, "job/default/base")
    page.wait("return document.querySelector('.log-lines')?.innerText.includes('needle')")
    page.type("l")
    page.type("needle" + ENTER)
    page.wait("return document.querySelector('.log-line.found')?.checkVisibility()")
    tab_to(page, "now.matches('.log-line.found')")
    page.type(ENTER)
    page.wait("return document.querySelector('.log-lines').innerText.includes('behind')")
    assert page.evaluate("return document.activeElement.className") == "log-lines"
