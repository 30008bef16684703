/**
 * The whole page: the verdict at the top, the broken duties with their evidence, and the rest
 * below.
 */
import { countText } from '../../../../fixtures/base/count-text.ts';
import { Badge, type Tone, Verdict } from '../../../../fixtures/page/badge.tsx';
import { Card } from '../../../../fixtures/page/card.tsx';
import { Facts } from '../../../../fixtures/page/facts.tsx';
import { Report } from '../../../../fixtures/page/report.tsx';
import { Table } from '../../../../fixtures/page/table.tsx';
import { isListed } from '../../duty-state.ts';
import type { ClientTestResult, TestedDuty } from '../client-test-result.ts';
import { BrokenDuty } from './broken-duty.tsx';

const tones: Readonly<Record<ClientTestResult['outcome'], Tone>> = {
  broken: 'negative',
  inconclusive: 'pending',
  met: 'positive',
  'no-request': 'pending',
  interrupted: 'pending',
};

const stateLabels: readonly (readonly [TestedDuty['state'], string])[] = [
  ['open', 'Open at the end'],
  ['not-tested', 'Not tested'],
  ['not-judged', 'Not judged'],
  ['observed', 'Observed'],
  ['met', 'Met'],
  ['not-observable', 'Not observable'],
  ['not-applicable', 'Not applicable: parts of the API that the client does not use'],
];

/** Renders the page. */
export function App({ testResult }: { testResult: ClientTestResult }) {
  const { scenes, cuts, intervalMs, seed } = testResult;
  const duties = testResult.duties.filter(isListed);
  const brokenDuties = duties.filter(({ state }) => state === 'broken');
  const runScenes = scenes.filter(({ outcome }) => outcome !== 'skipped');
  const interval = intervalMs === undefined ? '' : `, a poll every ${seconds(intervalMs)}`;
  return (
    <Report
      title="Test of a device client"
      about={`${countText(runScenes.length, 'scene')} run${interval}, seed ${seed}`}
      verdict={<Decision testResult={testResult} broken={brokenDuties} />}
    >
      {brokenDuties.length > 0 && (
        <Card title="Broken duties">
          {brokenDuties.map((duty) => (
            <BrokenDuty key={duty.duty} duty={duty} testResult={testResult} />
          ))}
        </Card>
      )}
      {cuts.length > 0 && <Cuts testResult={testResult} />}
      {stateLabels.map(([state, title]) => (
        <Duties key={state} title={title} duties={duties.filter((duty) => duty.state === state)} />
      ))}
      <Scenes testResult={testResult} />
      <Run testResult={testResult} />
    </Report>
  );
}

function Decision({
  testResult,
  broken,
}: {
  testResult: ClientTestResult;
  broken: readonly TestedDuty[];
}) {
  const { headline, outcome, problems } = testResult;
  const duties = testResult.duties.filter(isListed);
  const states = [...new Set(duties.map(({ state }) => state))];
  return (
    <Verdict tone={tones[outcome]} title={headline}>
      {broken.length > 0 && (
        <ul>
          {broken.map(({ duty, level, sentence, waiver }) => (
            <li key={duty}>
              <a href={`#${duty}`}>{duty}</a> {waiver ? '(waived)' : `(${level})`}: {sentence}
            </li>
          ))}
        </ul>
      )}
      {problems.map((problem) => (
        <p key={problem}>{problem}</p>
      ))}
      <ul class="totals">
        {states.map((state) => (
          <li key={state}>
            {duties.filter((duty) => duty.state === state).length} {state}
          </li>
        ))}
      </ul>
    </Verdict>
  );
}

function Cuts({ testResult: { cuts, cutBy } }: { testResult: ClientTestResult }) {
  const yesOrNo = (isSo: boolean) => (
    <Badge tone={isSo ? 'positive' : 'negative'}>{isSo ? 'yes' : 'no'}</Badge>
  );
  return (
    <Card title={`After each cut (${cutBy})`}>
      <Table
        caption="What the client did after each cut"
        isCaptionHidden
        rows={cuts}
        keyOf={({ point }) => point}
        columns={[
          { title: 'Cut at', cell: ({ point }) => point },
          { title: 'Sent a request', cell: ({ sentRequestAgain }) => yesOrNo(sentRequestAgain) },
          {
            title: 'Final status',
            cell: ({ finalStatuses, reportedFalseSuccess }) => (
              <>
                {finalStatuses.length === 0 ? (
                  <Badge tone="negative">none</Badge>
                ) : (
                  finalStatuses.join(' and ')
                )}{' '}
                {reportedFalseSuccess && <Badge tone="negative">false</Badge>}
              </>
            ),
          },
          { title: 'Polled again', cell: ({ polledAgain }) => yesOrNo(polledAgain) },
        ]}
      />
    </Card>
  );
}

function Duties({ title, duties }: { title: string; duties: readonly TestedDuty[] }) {
  if (duties.length === 0) return null;
  return (
    <Card title={`${title} (${duties.length})`}>
      <Table
        caption={title}
        isCaptionHidden
        rows={duties}
        keyOf={({ duty }) => duty}
        columns={[
          { title: 'Duty', cell: ({ duty }) => <code>{duty}</code> },
          { title: 'Level', cell: ({ level }) => level },
          { title: 'The duty', cell: ({ sentence }) => sentence },
          { title: 'Why', cell: reasonOf },
        ]}
      />
    </Card>
  );
}

function reasonOf({ observation, reason, next, scenes }: TestedDuty): string {
  if (observation !== undefined) return observation;
  if (reason === undefined) return countText(scenes.length, 'scene');
  return next?.scene === undefined ? reason : `${reason}; scene ${next.scene}: ${next.text}`;
}

function Scenes({ testResult: { scenes } }: { testResult: ClientTestResult }) {
  return (
    <Card title={`Scenes (${scenes.length})`}>
      <Table
        caption="Scenes"
        isCaptionHidden
        rows={scenes}
        keyOf={({ scene }) => scene}
        columns={[
          { title: 'Scene', cell: ({ scene }) => <code>{scene}</code> },
          {
            title: 'Outcome',
            cell: ({ outcome }) => (
              <Badge tone={outcome === 'completed' ? 'positive' : 'plain'}>{outcome}</Badge>
            ),
          },
          { title: 'Time', cell: ({ durationMs }) => seconds(durationMs) },
          { title: 'Why', cell: ({ reason = '' }) => reason },
        ]}
      />
    </Card>
  );
}

function Run({ testResult }: { testResult: ClientTestResult }) {
  const { command, seed, capabilities, failOn, waivers } = testResult;
  return (
    <Card title="Run">
      <Facts
        rows={[
          ['command', command],
          ['seed', seed],
          ['capabilities', capabilities.join(', ')],
          ['fails on', failOn],
          ...waivers.map(
            ({ duty, state, reason, owner, expires }) =>
              [`waiver of ${duty}`, `${state}: ${reason} (${owner}, until ${expires})`] as const,
          ),
        ]}
      />
    </Card>
  );
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`;
}
