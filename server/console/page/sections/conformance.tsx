/**
 * Runs the conformance suite against this server, and shows verdicts as they arrive and their
 * coverage.
 */
import { useMemo, useState } from 'preact/hooks';
import { Badge, type Tone, Verdict } from '../../../../fixtures/page/badge.tsx';
import { Card } from '../../../../fixtures/page/card.tsx';
import { Choice, FilterField } from '../../../../fixtures/page/field.tsx';
import { Empty } from '../../../../fixtures/page/states.tsx';
import { Table } from '../../../../fixtures/page/table.tsx';
import {
  exitText,
  type RunLog,
  type RunView,
  startRun,
  stopRun,
  useLog,
  useRuns,
} from '../api/runs.ts';
import { ActionButton } from '../parts/action.tsx';
import { type LongColumn, LongTable } from '../parts/long-table.tsx';
import { View } from '../parts/view.tsx';
import { type CaseVerdict, type RunOutput, readRun } from './run-facts.ts';

const tones: Readonly<Record<string, Tone>> = {
  pass: 'positive',
  fail: 'negative',
  error: 'negative',
  inconclusive: 'pending',
  observed: 'info',
  skip: 'plain',
};

export default function ConformanceSection() {
  const [cases, setCases] = useState('');
  const loaded = useRuns();
  const start = async (): Promise<void> => {
    await startRun({ kind: 'conformance', cases: cases.trim() });
    loaded.reload();
  };
  return (
    <>
      <h1>Conformance</h1>
      <View subject="the runs" loaded={loaded}>
        {({ available, runs }) => {
          const run = runs.find(({ request }) => request.kind === 'conformance');
          const isBusy = runs.some(({ state }) => state === 'running');
          return (
            <>
              <Card title="Run the suite against this server">
                <p class="muted">
                  It creates devices, deployments and artifacts in the first tenant, and removes
                  what can be removed.
                </p>
                <div class="filters">
                  <FilterField
                    label="First characters of the case IDs (empty: all)"
                    value={cases}
                    onInput={setCases}
                    placeholder="inventory/"
                  />
                  <ActionButton
                    kind="main"
                    work={start}
                    done="The suite has started."
                    isDisabled={!available || isBusy}
                  >
                    Run
                  </ActionButton>
                </div>
                {!available && (
                  <p>Only a server of fleetbed serve or fleetbed demo can run the suite.</p>
                )}
              </Card>
              {run ? (
                <Run run={run} reload={loaded.reload} />
              ) : (
                <Empty title="The suite has not run yet" />
              )}
            </>
          );
        }}
      </View>
    </>
  );
}

function Run({ run, reload }: { run: RunView; reload: () => void }) {
  const { lines, exit } = useLog(run.id);
  const facts = useMemo(() => readRun(lines), [lines]);
  const stop = async (): Promise<void> => {
    await stopRun(run.id);
    reload();
  };
  return (
    <>
      <Outcome facts={facts} exit={exit} />
      {!exit && (
        <div class="actions">
          <ActionButton kind="danger" work={stop} done="The run was stopped.">
            Stop
          </ActionButton>
        </div>
      )}
      {(!exit || facts.verdicts.length > 0) && <Verdicts verdicts={facts.verdicts} />}
      {facts.end && <Coverage facts={facts} />}
    </>
  );
}

function Outcome({ facts, exit }: { facts: RunOutput; exit: RunLog['exit'] }) {
  const { end, total, verdicts, texts } = facts;
  const counts = new Map<string, number>();
  for (const { verdict } of verdicts) counts.set(verdict, (counts.get(verdict) ?? 0) + 1);
  const summary = [...counts].map(([verdict, count]) => `${count} ${verdict}`).join(', ');
  if (!exit) {
    return (
      <Verdict tone="pending" title={`Running: ${verdicts.length} of ${total || '?'} cases`}>
        {summary}
      </Verdict>
    );
  }
  if (!end) {
    return (
      <Verdict tone="negative" title="The run ended without a result">
        <p>{exitText(exit)}</p>
        <pre>{texts.slice(-10).join('\n')}</pre>
      </Verdict>
    );
  }
  return (
    <Verdict tone={tones[end.outcome] ?? 'plain'} title={`Outcome: ${end.outcome}`}>
      {summary}. {end.musts.decided} of {end.musts.decided + end.musts.undecided} MUSTs of the
      contract were decided. {exitText(exit)}
    </Verdict>
  );
}

const columns: readonly LongColumn<CaseVerdict>[] = [
  {
    title: 'Verdict',
    width: '8rem',
    cell: ({ verdict }) => <Badge tone={tones[verdict] ?? 'plain'}>{verdict}</Badge>,
  },
  { title: 'Case', width: '40%', cell: ({ id }) => id },
  { title: 'Level', width: '5rem', isMinor: true, cell: ({ level }) => level },
  {
    title: 'What it checks',
    isMinor: true,
    cell: ({ title, reason }) => reason || title,
  },
];

function Verdicts({ verdicts }: { verdicts: readonly CaseVerdict[] }) {
  const [verdict, setVerdict] = useState('');
  const filteredVerdicts = verdicts.filter((each) => verdict === '' || each.verdict === verdict);
  return (
    <>
      <search class="filters">
        <Choice
          label="Verdict"
          value={verdict}
          choices={[['', 'all verdicts'], ...Object.keys(tones)]}
          onChoose={setVerdict}
        />
      </search>
      {filteredVerdicts.length === 0 ? (
        <Empty
          title={
            verdict === '' ? 'No case has a verdict yet' : `No case has the verdict ${verdict}`
          }
        />
      ) : (
        <LongTable
          caption="Verdicts, newest first"
          columns={columns}
          rows={filteredVerdicts.toReversed()}
          keyOf={({ id }) => id}
        />
      )}
    </>
  );
}

/** Shows how many requirements of each area of the contract were tested. */
function Coverage({ facts: { verdicts, end } }: { facts: RunOutput }) {
  const areas = new Map<string, { decided: Set<string>; undecided: number }>();
  const areaOf = (requirement: string) => {
    const name = requirement.split('.')[0] ?? '';
    const area = areas.get(name) ?? { decided: new Set<string>(), undecided: 0 };
    areas.set(name, area);
    return area;
  };
  for (const { requirements, verdict } of verdicts) {
    if (verdict === 'skip') continue;
    for (const requirement of requirements) areaOf(requirement).decided.add(requirement);
  }
  for (const { id } of end?.musts.undecidedMusts ?? []) areaOf(id).undecided += 1;
  return (
    <Card title="Coverage of the contract">
      <Table
        caption="Requirements by area"
        isCaptionHidden
        rows={[...areas].sort()}
        keyOf={([name]) => name}
        columns={[
          { title: 'Area', cell: ([name]) => name },
          { title: 'Requirements tested', cell: ([, { decided }]) => decided.size },
          {
            title: 'Undecided MUSTs',
            cell: ([, { undecided }]) => (
              <Badge tone={undecided === 0 ? 'positive' : 'pending'}>{undecided}</Badge>
            ),
          },
        ]}
      />
    </Card>
  );
}
