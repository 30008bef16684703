/**
 * The report page: the verdict at the top, then progress, charts, devices and the other sections.
 */
import { Badge, Verdict } from '../../../fixtures/page/badge.tsx';
import { Card } from '../../../fixtures/page/card.tsx';
import { Facts } from '../../../fixtures/page/facts.tsx';
import { Report } from '../../../fixtures/page/report.tsx';
import type { FleetFacts } from '../page-facts.ts';
import { RunTimeline } from './course.tsx';
import { Devices } from './devices.tsx';
import { Section } from './section.tsx';

/** Renders the report. */
export function App({ facts }: { facts: FleetFacts }) {
  const { title, about, verdict, course, devices, sections } = facts;
  return (
    <Report title={title} about={about} verdict={<Decision verdict={verdict} />}>
      <Progress progress={facts.progress} />
      <RunTimeline course={course} />
      <Devices devices={devices} />
      {sections.map((section) => (
        <Section key={section.id} section={section} />
      ))}
    </Report>
  );
}

const toneLabels = {
  positive: 'ok',
  negative: 'failed',
  pending: 'open',
  info: 'note',
  plain: 'not checked',
};

function Decision({ verdict: { tone, title, reason } }: Pick<FleetFacts, 'verdict'>) {
  return (
    <Verdict tone={tone} title={title}>
      <ul class="report-list" id="reason">
        {reason.map(({ tone: each, text }) => (
          <li key={text}>
            <Badge tone={each}>{toneLabels[each]}</Badge> {text}
          </li>
        ))}
      </ul>
    </Verdict>
  );
}

function Progress({ progress: { devices, rows, times } }: Pick<FleetFacts, 'progress'>) {
  const shareOf = (count: number): number => (devices > 0 ? (100 * count) / devices : 0);
  return (
    <div id="progress">
      <Card title={`Progress of ${devices.toLocaleString('en')} devices`}>
        <ul class="progress">
          {rows.map(([name, count, tone]) => (
            <li key={name}>
              <span>{name}</span>
              <span class="track">
                <span class="bar" data-tone={tone} style={{ width: `${shareOf(count)}%` }} />
              </span>
              <span class="count">
                {count.toLocaleString('en')} ({shareOf(count).toFixed(1)} %)
              </span>
            </li>
          ))}
        </ul>
        <Facts rows={times} />
      </Card>
    </div>
  );
}
