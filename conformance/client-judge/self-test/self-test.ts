/**
 * The client judge, judged: a good client on which it must not report anything, defective ones
 * of which it must name exactly the duty that each breaks, and random alterations of the good one.
 */
import { type Random, seededRandom } from '../../../fixtures/base/random.ts';
import { ClientJudge } from '../client-judge.ts';
import { duties } from '../duties/duties.ts';
import type { DefectiveClient } from './alter.ts';
import { defectiveClients } from './defective-clients.ts';
import { goodSteps } from './good-client.ts';
import { randomChanges } from './random-changes.ts';
import { eventsOf, type Request, type Step } from './steps.ts';

/** A defective client. */
interface DefectiveClientRow {
  /** The duty that it breaks, and what it does. */
  readonly id: string;
  readonly does: string;
  readonly isKilled: boolean;
  /** Duties that the judge names although the client meets them. */
  readonly falseViolations: readonly string[];
}

/** The result of the self-test. */
export interface ClientSelfTest {
  /** Duties that the judge names although the good client meets them. */
  readonly falseOnGood: readonly string[];
  readonly rows: readonly DefectiveClientRow[];
  /** Duties that can be broken, and that no defective client breaks. */
  readonly untestedDuties: readonly string[];
}

/** Random alterations of the good client, and the outcome of each. */
export interface AlteredClients {
  /** Number of alterations that break a duty, and of those that were killed. */
  readonly altered: number;
  readonly killed: number;
  /** The alterations that survived, by what they do. */
  readonly survived: Readonly<Record<string, readonly string[]>>;
  /** Number of alterations that break no duty, and those that the judge failed. */
  readonly conforming: number;
  readonly falseFailures: readonly string[];
}

/** Runs the good client and the defective ones of these duties. */
export function selfTestOfClients(
  selected: readonly DefectiveClient[] = defectiveClients,
): ClientSelfTest {
  const tested = new Set(defectiveClients.map(({ duty }) => duty));
  return {
    falseOnGood: brokenBy(goodSteps()),
    rows: selected.map(({ duty, description, alter, consequences = [] }) => {
      const brokenDuties = brokenBy(alter(goodSteps()));
      const expected = [duty, ...consequences];
      return {
        id: duty,
        does: description,
        isKilled: brokenDuties.includes(duty),
        falseViolations: brokenDuties.filter((each) => !expected.includes(each)),
      };
    }),
    untestedDuties: duties
      .filter(({ id, level }) => level !== 'observed' && !tested.has(id))
      .map(({ id }) => id),
  };
}

/** Alters one request of the good client at random, until so many alterations break a duty. */
export function alteredClients(count: number, seed: string): AlteredClients {
  const survived: Record<string, string[]> = {};
  const falseFailures: string[] = [];
  const counts = { altered: 0, killed: 0, conforming: 0 };
  for (let draw = 0; counts.altered < count; draw += 1) {
    const random = seededRandom(`${seed}/${draw}`);
    const steps = goodSteps();
    const [description, { alter, conforming = [] }] = pick(Object.entries(randomChanges), random);
    const step = pick(steps.filter(isRequest), random);
    const { label } = step;
    if (!alter(step, steps)) continue;
    const brokenDuties = brokenBy(steps);
    if (conforming.some(([labels]) => labels.test(label))) {
      counts.conforming += 1;
      if (brokenDuties.length > 0)
        falseFailures.push(`${description} (${label}): ${brokenDuties.join(', ')}`);
      continue;
    }
    counts.altered += 1;
    if (brokenDuties.length > 0) counts.killed += 1;
    else survived[description] = [...(survived[description] ?? []), label];
  }
  return { ...counts, survived, falseFailures };
}

/** Returns the duties that a client breaks. */
function brokenBy(steps: readonly Step[]): readonly string[] {
  const judge = new ClientJudge();
  for (const event of eventsOf(steps)) judge.judge(event);
  const all = judge.verdict('device-1')?.duties ?? [];
  return all.filter(({ state }) => state === 'broken').map(({ duty }) => duty);
}

function isRequest(step: Step): step is Request {
  return step.kind === 'request';
}

function pick<Item>(items: readonly Item[], random: Random): Item {
  const [picked, ...rest] = items.slice(random.integer(0, items.length - 1));
  if (picked === undefined) throw new Error(`nothing to pick from ${rest.length} items`);
  return picked;
}
