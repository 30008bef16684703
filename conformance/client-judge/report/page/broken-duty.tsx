/** A broken duty: what it says, each violation with its exchanges, and the session around them. */
import { shellWord } from '../../../../fixtures/formats/shell-word.ts';
import { Badge } from '../../../../fixtures/page/badge.tsx';
import { CopyButton } from '../../../../fixtures/page/copy-button.tsx';
import { Group } from '../../../../fixtures/page/group.tsx';
import { TextBlock } from '../../../../fixtures/page/text-block.tsx';
import type {
  ClientTestResult,
  SceneResult,
  ShownExchange,
  TestedDuty,
} from '../client-test-result.ts';
import { sessionLine } from '../session-line.ts';
import { SequenceDiagram } from './sequence-diagram.tsx';

type Violation = TestedDuty['violations'][number];

/** A scrolling element must be reachable by keyboard. */
const reachable = { tabIndex: 0 };

/** Renders a line that opens. */
export function BrokenDuty({
  duty,
  testResult,
}: {
  duty: TestedDuty;
  testResult: ClientTestResult;
}) {
  const { level, sentence, source, remedy, waiver, violations, violationCount } = duty;
  const more = violationCount - violations.length;
  return (
    <Group
      id={duty.duty}
      isOpen={waiver === undefined}
      summary={
        <>
          <Badge tone={level === 'must' ? 'negative' : 'pending'}>{level}</Badge>{' '}
          {waiver && <Badge>waived</Badge>} <strong>{sentence}</strong> <code>{duty.duty}</code>
        </>
      }
    >
      <div class="inside">
        {waiver && (
          <p>
            Waived until {waiver.expires} by {waiver.owner}: {waiver.reason}
          </p>
        )}
        <p>
          Remedy: {remedy} <span class="report-hint">({source})</span>
        </p>
        {violations.map((violation) => (
          <Shown
            key={`${violation.scene} ${violation.journalEntry} ${violation.message}`}
            violation={violation}
            testResult={testResult}
          />
        ))}
        {more > 0 && <p class="report-hint">And {more} more of the same.</p>}
      </div>
    </Group>
  );
}

function Shown({ violation, testResult }: { violation: Violation; testResult: ClientTestResult }) {
  const { scene, journalEntry, contradicts = 0, message, exchanges } = violation;
  const sceneResult = testResult.scenes.find((each) => each.scene === scene);
  // The number 0 stands for a request that was not sent, which no step shows.
  const marked = [journalEntry, contradicts].filter((each) => each > 0);
  return (
    <>
      <div class="report-row">
        <span>
          Scene <code>{scene}</code>
          {journalEntry > 0 && `, exchange ${journalEntry}`}: {message}
        </span>
        <CopyButton label="Copy command" text={commandFor(scene, testResult)} />
      </div>
      {exchanges.map((exchange) => (
        <Exchange key={exchange.sequence} exchange={exchange} />
      ))}
      {sceneResult?.session && (
        <>
          <SequenceDiagram session={sceneResult.session} marked={marked} />
          <Session scene={sceneResult} marked={marked} />
        </>
      )}
    </>
  );
}

function Exchange({ exchange }: { exchange: ShownExchange }) {
  const { line, method, url, requestHeaders, requestBody, status, responseBody } = exchange;
  const headers = requestHeaders.map(([name, value]) => `${name}: ${value}`);
  return (
    <Group kind="plain" summary={<code>{line}</code>}>
      <TextBlock text={[`${method} ${url}`, ...headers, '', requestBody].join('\n').trimEnd()} />
      <TextBlock text={`${status || 'no response'}\n\n${responseBody}`.trimEnd()} />
    </Group>
  );
}

function Session({ scene, marked }: { scene: SceneResult; marked: readonly number[] }) {
  const { session = [] } = scene;
  return (
    <Group kind="plain" summary={`What happened in the scene (${session.length} lines)`}>
      <pre class="session" {...reachable}>
        {session.map((step, index) => {
          const line = `${sessionLine(step)}\n`;
          return marked.includes(step.sequence ?? 0) ? (
            <mark key={`${index} ${line}`}>{line}</mark>
          ) : (
            line
          );
        })}
      </pre>
    </Group>
  );
}

function commandFor(scene: string, { seed, command }: ClientTestResult): string {
  const client = command === undefined ? ['--wait'] : ['--command', shellWord(command)];
  const isCut = scene.startsWith('cut ');
  const part = isCut ? ['--scene', 'update', '--cuts'] : ['--scene', shellWord(scene)];
  return ['npx fleetbed conform client', ...part, '--seed', shellWord(seed), ...client].join(' ');
}
