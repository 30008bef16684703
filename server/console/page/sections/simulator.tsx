/** Starts a small simulated fleet against this server. */
import { useState } from 'preact/hooks';
import { Link } from 'wouter-preact';
import { Badge } from '../../../../fixtures/page/badge.tsx';
import { Card } from '../../../../fixtures/page/card.tsx';
import { Empty } from '../../../../fixtures/page/states.tsx';
import { TextBlock } from '../../../../fixtures/page/text-block.tsx';
import { exitText, type RunView, startRun, stopRun, useLog, useRuns } from '../api/runs.ts';
import { ActionButton } from '../parts/action.tsx';
import { dayAndTime } from '../parts/texts.ts';
import { View } from '../parts/view.tsx';

const LINES_SHOWN = 30;

interface NumberInput {
  readonly value: string;
  readonly max: number;
  readonly set: (value: string) => void;
}

export default function SimulatorSection() {
  const [devices, setDevices] = useState('20');
  const [seconds, setSeconds] = useState('60');
  const loaded = useRuns();
  const start = async (): Promise<void> => {
    await startRun({ kind: 'simulation', devices: Number(devices), seconds: Number(seconds) });
    loaded.reload();
  };
  const field = (label: string, input: NumberInput) => (
    <label class="kit-field">
      {label}
      <input
        type="number"
        min="1"
        max={input.max}
        value={input.value}
        onInput={(event) => input.set(event.currentTarget.value)}
      />
    </label>
  );
  return (
    <>
      <h1>Simulator</h1>
      <View subject="the runs" loaded={loaded}>
        {({ available, runs }) => {
          const run = runs.find(({ request }) => request.kind === 'simulation');
          const isBusy = runs.some(({ state }) => state === 'running');
          return (
            <>
              <Card title="Start a small fleet">
                <p class="muted">
                  Its devices are accepted, connect and poll. For everything else there is{' '}
                  <code>fleetbed simulate</code>.
                </p>
                <div class="filters">
                  {field('Devices', { value: devices, max: 1000, set: setDevices })}
                  {field('Seconds', { value: seconds, max: 3600, set: setSeconds })}
                  <ActionButton
                    kind="main"
                    work={start}
                    done="The fleet has started."
                    isDisabled={!available || isBusy}
                  >
                    Start
                  </ActionButton>
                </div>
                {!available && (
                  <p>Only a server of fleetbed serve or fleetbed demo can start a fleet.</p>
                )}
              </Card>
              {run ? (
                <Fleet run={run} reload={loaded.reload} />
              ) : (
                <Empty title="No fleet has been started yet" />
              )}
            </>
          );
        }}
      </View>
    </>
  );
}

function Fleet({ run, reload }: { run: RunView; reload: () => void }) {
  const { lines, exit } = useLog(run.id);
  const isRunning = run.state === 'running';
  const stop = async (): Promise<void> => {
    await stopRun(run.id);
    reload();
  };
  return (
    <Card
      title={`Fleet of ${dayAndTime(run.startedAt)}`}
      aside={<State run={run} exitCode={exit?.exitCode} />}
    >
      <div class="stack">
        <TextBlock text={lines.slice(-LINES_SHOWN).join('\n')} />
        {exit && <p>{exitText(exit)}</p>}
        <div class="actions">
          <Link href="/devices">Show its devices</Link>
          {isRunning && (
            <ActionButton kind="danger" work={stop} done="The fleet was stopped.">
              Stop
            </ActionButton>
          )}
        </div>
      </div>
    </Card>
  );
}

/** Exit codes of a fleet that ran to its end or was stopped. */
const endedExitCodes: readonly unknown[] = [0, null, 130, undefined];

/** The state of a run as a badge. The exit code is undefined until it is known. */
function State({ run, exitCode }: { run: RunView; exitCode: number | null | undefined }) {
  if (run.state === 'running') return <Badge tone="pending">running</Badge>;
  if (endedExitCodes.includes(exitCode)) return <Badge tone="plain">ended</Badge>;
  return <Badge tone="negative">failed</Badge>;
}
