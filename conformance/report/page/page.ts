/** The page of a report: what came of it on top, one tab for each way to look at it. */
import { byId, element, verdictMark } from './element.ts';
import { embeddedFacts, type PageFacts } from './facts.ts';
import { showCoverage, showOpenPoints, showRun } from './tables.ts';
import { showTimeline } from './timeline.ts';
import { openCase, showVerdicts } from './verdicts.ts';

function showHead(facts: PageFacts): void {
  const { outcome, headline, totals, musts, target, startedAt, durationMs, verdicts } = facts;
  const counts = Object.entries(totals).map(([name, count]) =>
    element('li', {}, verdictMark(name), ` ${count}`),
  );
  byId('head', HTMLElement).replaceChildren(
    element('h1', {}, 'Conformance: ', verdictMark(outcome)),
    element('p', {}, headline),
    element('p', {}, target.baseUrl ?? ''),
    element(
      'p',
      { class: 'hint' },
      `${verdicts.length} cases in ${(durationMs / 1000).toFixed(1)} s, started ${startedAt}; ` +
        `${musts.decided} of ${musts.decided + musts.undecided} MUSTs of the contract tested`,
    ),
    element('ul', { class: 'counts', 'aria-label': 'Verdicts' }, ...counts),
  );
}

/** One panel at a time; the arrow keys go from tab to tab, as readers of tabs expect. */
function startTabs(): void {
  const tabs = [...document.querySelectorAll<HTMLButtonElement>('[role="tab"]')];
  const select = (chosen: HTMLButtonElement): void => {
    for (const tab of tabs) {
      const isChosen = tab === chosen;
      tab.setAttribute('aria-selected', String(isChosen));
      tab.tabIndex = isChosen ? 0 : -1;
      byId(tab.getAttribute('aria-controls') ?? '', HTMLElement).hidden = !isChosen;
    }
  };
  const step = (from: number, key: string): HTMLButtonElement | undefined => {
    const last = tabs.length - 1;
    const targets: Readonly<Record<string, number>> = {
      ArrowRight: from === last ? 0 : from + 1,
      ArrowLeft: from === 0 ? last : from - 1,
      Home: 0,
      End: last,
    };
    return tabs[targets[key] ?? -1];
  };
  for (const [index, tab] of tabs.entries()) {
    tab.addEventListener('click', () => select(tab));
    tab.addEventListener('keydown', (event) => {
      const next = step(index, event.key);
      if (!next) return;
      event.preventDefault();
      select(next);
      next.focus();
    });
  }
}

const facts = embeddedFacts();
showHead(facts);
showVerdicts(facts);
showTimeline(facts);
showCoverage(facts);
showOpenPoints(facts);
showRun(facts);
startTabs();
// A link to one case: the id stands behind the hash.
openCase(decodeURIComponent(location.hash.slice(1)));
