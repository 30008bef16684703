/** The whole page: the reasons for the outcome at the top, and tabs with different views. */
import { useLayoutEffect, useState } from 'preact/hooks';
import { countText } from '../../../fixtures/base/count-text.ts';
import { addressTarget, Report } from '../../../fixtures/page/report.tsx';
import { type Tab, Tabs } from '../../../fixtures/page/tabs.tsx';
import type { PageFacts } from '../page-facts.ts';
import { Cases } from './cases.tsx';
import { Changes } from './comparison.tsx';
import { Coverage } from './coverage.tsx';
import { Decision } from './decision.tsx';
import { noFilter } from './filters.tsx';
import { OpenPoints } from './open-points.tsx';
import { Run } from './run.tsx';
import { Timeline } from './timeline.tsx';

const tabs: readonly Tab[] = [
  { id: 'cases', title: 'Cases' },
  { id: 'timeline', title: 'Timeline' },
  { id: 'coverage', title: 'Coverage' },
  { id: 'open-points', title: 'Open points' },
  { id: 'run', title: 'Run' },
];

/** Renders the page. */
export function App({ facts }: { facts: PageFacts }) {
  const { target, startedAt, durationMs, verdicts, suite } = facts;
  const [tab, setTab] = useState('cases');
  const [filter, setFilter] = useState(noFilter);
  useAddress(facts, (address) => {
    const isTab = tabs.some(({ id }) => id === address);
    setTab(isTab ? address : 'cases');
    if (!isTab) setFilter(noFilter);
  });
  const choose = (id: string): void => {
    setTab(id);
    history.replaceState(null, '', `#${id}`);
  };
  return (
    <Report
      title={`Conformance of ${target.baseUrl}`}
      about={
        `${countText(verdicts.length, 'case')} in ${(durationMs / 1000).toFixed(1)} s, started ${startedAt}, ` +
        `${suite.name} ${suite.version}`
      }
      verdict={<Decision facts={facts} />}
    >
      <Changes facts={facts} />
      <Tabs label="Views" tabs={tabs} chosen={tab} onChoose={choose}>
        {tab === 'cases' && <Cases facts={facts} filter={filter} onFilter={setFilter} />}
        {tab === 'timeline' && <Timeline facts={facts} />}
        {tab === 'coverage' && <Coverage facts={facts} />}
        {tab === 'open-points' && <OpenPoints facts={facts} />}
        {tab === 'run' && <Run facts={facts} />}
      </Tabs>
    </Report>
  );
}

/** Calls `onTarget` when the URL fragment changes, which names a tab or a case to open. */
function useAddress({ verdicts }: PageFacts, onTarget: (address: string) => void): void {
  const [visit, setVisit] = useState({ address: '' });
  useLayoutEffect(() => {
    const follow = (): void => {
      const address = addressTarget();
      const isKnown =
        tabs.some(({ id }) => id === address) || verdicts.some(({ id }) => id === address);
      if (!isKnown) return;
      onTarget(address);
      setVisit({ address });
    };
    follow();
    addEventListener('hashchange', follow);
    return () => removeEventListener('hashchange', follow);
  }, []);
  useLayoutEffect(() => openCase(visit.address), [visit]);
}

/** Opens a case and the groups that contain it. */
function openCase(id: string): void {
  const line = document.getElementById(`case-${id}`);
  if (!(line instanceof HTMLDetailsElement)) return;
  for (const group of document.querySelectorAll<HTMLDetailsElement>('.kit-group')) {
    if (group.contains(line)) group.open = true;
  }
  line.open = true;
  line.scrollIntoView({ block: 'start' });
  line.querySelector('summary')?.focus();
}
