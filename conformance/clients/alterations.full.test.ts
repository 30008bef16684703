import { expect, it } from 'vitest';
import { type Random, seededRandom } from '../../fixtures/random.ts';
import { ClientJudge } from './client-judge.ts';
import { eventsOf, goodSteps, type Request, type Step } from './testing/good-life.ts';

const SEEDS = 300;
const NOTICED_MIN = 0.75;

/** Alterations of one request, whatever it is. Each returns false if the request has no such part. */
const changes: Readonly<Record<string, (step: Request, steps: Step[]) => boolean>> = {
  'leaves it out': (step, steps) => {
    steps.splice(steps.indexOf(step), 1);
    return true;
  },
  'repeats it five times at once': (step, steps) => {
    const copies = Array.from({ length: 5 }, () => ({ ...step, afterMs: 20 }));
    steps.splice(steps.indexOf(step) + 1, 0, ...copies);
    return true;
  },
  'sends it without its token': (step) => {
    const { Authorization: token, ...headers } = step.headers;
    step.headers = headers;
    return token !== undefined;
  },
  'cuts its body in half': (step) => {
    const text = typeof step.sent === 'string' ? step.sent : JSON.stringify(step.sent);
    step.sent = text?.slice(0, text.length / 2);
    return text !== undefined;
  },
  'sends a number for a string in its body': (step) => {
    const text = JSON.stringify(step.sent);
    if (typeof step.sent === 'string' || text === undefined) return false;
    step.sent = JSON.parse(text.replace(/:"[^"]*"/, ':7'));
    return JSON.stringify(step.sent) !== text;
  },
  'names another deployment': (step) => {
    if (step.id === undefined || step.target !== undefined) return false;
    Object.assign(step, { id: 'another', status: 404 });
    return true;
  },
  'sends its body as text': (step) => {
    step.headers['Content-Type'] = 'text/plain';
    return step.sent !== undefined;
  },
  'calls it by another path': (step) => {
    step.target = '/api/devices/v1/elsewhere';
    step.status = 404;
    return true;
  },
};

function picked<Item>(items: readonly Item[], random: Random): Item {
  return items[random.integer(0, items.length - 1)] as Item;
}

function brokenIn(steps: readonly Step[]): readonly string[] {
  const judge = new ClientJudge();
  for (const event of eventsOf(steps)) judge.see(event);
  const all = judge.verdict('device-1')?.duties ?? [];
  return all.filter(({ state }) => state === 'broken').map(({ duty }) => duty);
}

it('notices at least three of four random alterations of a good client, over 300 seeds', {
  timeout: 300_000,
}, () => {
  const unnoticed = new Map<string, number>();
  let altered = 0;
  let noticed = 0;
  for (let seed = 0; altered < SEEDS; seed += 1) {
    const random = seededRandom(`alterations-${seed}`);
    const steps = goodSteps();
    const requests = steps.filter((step) => step.kind === 'request');
    const name = picked(Object.keys(changes), random);
    const step = picked(requests, random);
    if (changes[name]?.(step, steps) !== true) continue;
    altered += 1;
    if (brokenIn(steps).length > 0) noticed += 1;
    else unnoticed.set(name, (unnoticed.get(name) ?? 0) + 1);
  }
  const share = noticed / altered;
  process.stdout.write(
    `noticed: ${noticed} of ${altered}; not: ${JSON.stringify([...unnoticed])}\n`,
  );
  expect(share).toBeGreaterThan(NOTICED_MIN);
});
