/** Joins the client judge to a server: a reader of what the server shows it. */
import { ClientJudge } from '../../conformance/client-judge/client-judge.ts';
import type {
  ClientVerdict,
  DutyVerdict,
  NextStep,
} from '../../conformance/client-judge/client-verdict.ts';
import { duties } from '../../conformance/client-judge/duties/duties.ts';
import type { Duty } from '../../conformance/client-judge/duty.ts';
import type {
  ClientDuty,
  ClientFacts,
  ClientReader,
  JudgedDuty,
} from '../../server/client-feed/client-reader.ts';
import { nextOnServer } from './next-step-on-server.ts';

const unknownDevice: ClientFacts = { device: undefined, deployment: undefined };

const clientDuties = duties.map(({ id, level, sentence, source, remedy, scene }): ClientDuty => {
  const next = nextOnServer(scene, unknownDevice);
  return { duty: id, level, sentence, source, remedy, next };
});

/** Returns the client judge of one tenant. */
export function clientReader(): ClientReader {
  const judge = new ClientJudge();
  return {
    duties: clientDuties,
    observe: (event) => judge.judge(event),
    recordRepeat: (client, times) => judge.recordRepeat(client, times),
    rename: (former, client) => judge.rename(former, client),
    forget: (client) => judge.forget(client),
    *clients() {
      for (const name of judge.clients) {
        const { exchanges = 0, dropped = 0 } = judge.exchangeCounts(name) ?? {};
        yield { client: name, exchanges, dropped, states: judge.states(name) };
      }
    },
    client: (client, facts) => {
      const verdict = judge.verdict(client);
      if (verdict === undefined) return undefined;
      const { exchanges, dropped } = verdict;
      const duties = judgedDuties(verdict, ({ scene }) => nextOnServer(scene, facts));
      return { exchanges, dropped, duties };
    },
  };
}

/**
 * Returns the duties in a verdict, with all that a reader wants to know about each.
 * @param nextFor returns the next step for a duty that is not tested; by default its scene
 */
export function judgedDuties(
  verdict: ClientVerdict,
  nextFor: (duty: Duty) => ClientDuty['next'] = () => undefined,
): readonly JudgedDuty[] {
  const rows = new Map(verdict.duties.map((row) => [row.duty, row]));
  return duties.flatMap((duty) => {
    const row = rows.get(duty.id);
    return row ? [judgedDuty(row, duty, row.next && (nextFor(duty) ?? sceneOf(row.next)))] : [];
  });
}

function sceneOf({ text, command }: NextStep): NonNullable<ClientDuty['next']> {
  return { text, ...(command !== undefined && { command: `npx ${command}` }) };
}

function judgedDuty(
  { state, judged, violationCount, violations, openSinceMs, observation }: DutyVerdict,
  { id, level, sentence, source, remedy }: Duty,
  next: ClientDuty['next'],
): JudgedDuty {
  return {
    duty: id,
    level,
    sentence,
    source,
    remedy,
    state,
    judged,
    violationCount,
    violations,
    ...(openSinceMs !== undefined && { openSinceMs }),
    ...(observation !== undefined && { observation }),
    ...(next && { next }),
  };
}
