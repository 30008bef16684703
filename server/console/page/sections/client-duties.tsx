/** Shows the duties of one device client: evidence, what to change, and what to test next. */
import { useState } from 'preact/hooks';
import { Link, useParams } from 'wouter-preact';
import type { ResponseOf } from '../../../../fixtures/control/operations.ts';
import { Badge, Verdict } from '../../../../fixtures/page/badge.tsx';
import { Card } from '../../../../fixtures/page/card.tsx';
import { Choice } from '../../../../fixtures/page/field.tsx';
import { Empty } from '../../../../fixtures/page/states.tsx';
import { request, requestJson } from '../api/client.ts';
import { useLoaded } from '../api/loaded.ts';
import { ActionButton } from '../parts/action.tsx';
import { Paged } from '../parts/paged.tsx';
import { deviceName } from '../parts/texts.ts';
import { View } from '../parts/view.tsx';
import { byImportance, dutyLabel, dutyTone, stateChoicesOf } from './duty-states.ts';

type Client = ResponseOf<'GET /clients/{device}'>;
type Duty = Client['duties'][number];
type Next = NonNullable<Duty['next']>;

const PAUSE_TICKS = 2;

export default function ClientSection() {
  const { client: named = '' } = useParams<{ client: string }>();
  const device = decodeURIComponent(named);
  const load = () => requestJson('GET /clients/{device}', { parameters: { device } });
  const loaded = useLoaded(load, `client ${device}`, { isLive: true, pauseTicks: PAUSE_TICKS });
  const title = deviceName(loaded.data?.identity) || device;
  return (
    <>
      <p>
        <Link href="/clients">All clients</Link>
      </p>
      <h1>{title}</h1>
      <View subject="the client" loaded={loaded}>
        {(client) => <Duties client={client} reload={loaded.reload} />}
      </View>
    </>
  );
}

function Duties({ client, reload }: { client: Client; reload: () => void }) {
  const [state, setState] = useState('');
  const { duties, exchanges, dropped, counts, status } = client;
  // A duty that is only observed is shown once something was.
  const relevantDuties = duties.filter(
    (duty) => duty.level !== 'observed' || duty.state === 'observed',
  );
  const brokenDuties = duties.filter((duty) => duty.state === 'broken');
  const hasBrokenMust = brokenDuties.some(({ level }) => level === 'must');
  const filteredDuties = relevantDuties.filter((duty) => state === '' || duty.state === state);
  const tone = hasBrokenMust ? 'negative' : brokenDuties.length > 0 ? 'pending' : 'positive';
  return (
    <>
      <Verdict
        tone={tone}
        title={hasBrokenMust ? 'This client breaks a MUST' : 'No MUST is broken'}
      >
        {counts.met ?? 0} met, {counts.broken ?? 0} broken, {counts.open ?? 0} open,{' '}
        {counts['not-tested'] ?? 0} not tested yet, by {exchanges} requests
        {dropped > 0 && `; ${dropped} events were lost`}.
      </Verdict>
      {status && (
        <p>
          <Link href={`/devices/${client.client}`}>The device</Link>
        </p>
      )}
      <search class="filters">
        <Choice
          label="State"
          value={state}
          choices={stateChoicesOf(relevantDuties)}
          onChoose={setState}
        />
      </search>
      {filteredDuties.length === 0 ? (
        <Empty title="No duty is in this state now" />
      ) : (
        <Paged subject="duties" rows={byImportance(filteredDuties)}>
          {(rows) => rows.map((duty) => <DutyCard key={duty.duty} duty={duty} reload={reload} />)}
        </Paged>
      )}
    </>
  );
}

function DutyCard({ duty, reload }: { duty: Duty; reload: () => void }) {
  const { level, sentence, source, remedy, state, violations, violationCount, next } = duty;
  const badge = <Badge tone={dutyTone(state)}>{dutyLabel(state)}</Badge>;
  const more = violationCount - violations.length;
  return (
    <Card title={duty.duty} aside={badge}>
      <div class="duty">
        <p>
          {sentence}{' '}
          <span class="muted">
            ({level}; {source})
          </span>
        </p>
        {duty.openSeconds !== undefined && <p>Open for {duty.openSeconds} s.</p>}
        {duty.observation !== undefined && <p>Observed: {duty.observation}</p>}
        {violations.length > 0 && (
          <ul>
            {violations.map((violation) => (
              <li key={`${violation.journalEntry} ${violation.message}`}>
                {violation.message}
                <Evidence violation={violation} />
              </li>
            ))}
            {more > 0 && <li>and {more} more</li>}
          </ul>
        )}
        {state === 'broken' && (
          <p>
            <strong>Remedy:</strong> {remedy}
          </p>
        )}
        {next && <NextStep next={next} reload={reload} />}
      </div>
    </Card>
  );
}

function Evidence({ violation }: { violation: Duty['violations'][number] }) {
  const { journalEntry, contradicts, request } = violation;
  if (journalEntry === 0) return null;
  return (
    <div class="muted">
      <Link href={`/journal/${journalEntry}`}>Entry {journalEntry}</Link>
      {request !== undefined && (
        <>
          {': '}
          <code>{request}</code>
        </>
      )}
      {contradicts !== undefined && contradicts > 0 && (
        <>
          {' '}
          after <Link href={`/journal/${contradicts}`}>entry {contradicts}</Link>
        </>
      )}
    </div>
  );
}

function NextStep({ next, reload }: { next: Next; reload: () => void }) {
  const { text, command, call } = next;
  const work = async (): Promise<void> => {
    if (call)
      await (call.operation === 'POST /clock'
        ? request(call.operation, call)
        : request(call.operation, call));
    reload();
  };
  const isClock = call?.operation === 'POST /clock';
  return (
    <>
      <p>
        <strong>Next:</strong> {text}
      </p>
      {command !== undefined && <pre>{command}</pre>}
      {call && (
        <div class="actions">
          <ActionButton
            kind="small"
            work={work}
            done={isClock ? 'The clock was moved.' : 'The faults are planned.'}
            {...(isClock && {
              asks: {
                title: 'Move the clock?',
                text: 'This affects every device of the tenant: tokens and links expire.',
                action: 'Move',
              },
            })}
          >
            {isClock ? 'Move the clock' : 'Plan the faults'}
          </ActionButton>
        </div>
      )}
    </>
  );
}
