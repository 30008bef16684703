/** Joins the judge of device clients to a server: a reader of what the server shows it. */
import { ClientJudge } from '../../../../conformance/clients/client-judge.ts';
import type { DutyVerdict } from '../../../../conformance/clients/client-verdict.ts';
import { duties } from '../../../../conformance/clients/duties/duties.ts';
import type { Duty } from '../../../../conformance/clients/duty.ts';
import type {
  ClientDuty,
  ClientFacts,
  ClientReader,
  JudgedDuty,
} from '../../../../server/clients/client-reader.ts';
import { nextOnServer } from './next-on-server.ts';

const unknownDevice: ClientFacts = { device: undefined, deployment: undefined };

const listed = duties.map((duty): ClientDuty => listedDuty(duty, unknownDevice));

/** Returns a judge of the clients of one tenant. */
export function clientReader(): ClientReader {
  const judge = new ClientJudge();
  return {
    duties: listed,
    observe: (event) => judge.see(event),
    repeats: (client, times) => judge.repeats(client, times),
    rename: (former, client) => judge.rename(former, client),
    forget: (client) => judge.forget(client),
    clients: function* () {
      for (const verdict of judge.verdicts()) {
        const { client, exchanges, dropped } = verdict;
        yield { client, exchanges, dropped, states: verdict.duties.map(({ state }) => state) };
      }
    },
    dutiesOf: (client, facts) =>
      judge.verdict(client)?.duties.map((verdict, at) => judgedDuty(verdict, duties[at], facts)),
  };
}

function listedDuty(
  { id, level, sentence, source, wayOut, scene }: Duty,
  facts: ClientFacts,
): ClientDuty {
  return { duty: id, level, sentence, source, wayOut, next: nextOnServer(scene, facts) };
}

function judgedDuty(
  { state, judged, violationCount, violations, openSinceMs, observation, next }: DutyVerdict,
  duty: Duty | undefined,
  facts: ClientFacts,
): JudgedDuty {
  if (duty === undefined) throw new Error('a verdict has more duties than the list');
  const { next: step, ...about } = listedDuty(duty, facts);
  return {
    ...{ ...about, state, judged, violationCount, violations },
    ...(openSinceMs !== undefined && { openSinceMs }),
    ...(observation !== undefined && { observation }),
    ...(next && step && { next: step }),
  };
}
