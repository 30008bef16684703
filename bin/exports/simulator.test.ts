import { afterAll, describe, expect, it } from 'vitest';
import { defineBehaviour } from '../../simulator/behaviours/behaviour.ts';
import { behaviours as catalogue } from '../../simulator/behaviours/catalogue.ts';
import { behaviours, type FleetPlan, renderFleet, runFleet } from './simulator.ts';
import { useTestbed } from './vitest.ts';

const { baseUrl: url, adminEmail: email, adminPassword: password } = await useTestbed();
const plan: FleetPlan = {
  url,
  devices: 2,
  keys: { ed25519: 1 },
  poll: '100ms',
  ramp: '0s',
  drain: '0s',
  acceptWith: { email, password },
};
let polls = 0;
const counting = defineBehaviour({
  name: 'counts-its-polls',
  description: 'A device that counts its polls.',
  expectedServerBehaviour: 'Treats it like any other.',
  parameters: { installMs: 1, rebootMs: 1 },
  hooks: {
    async eachCycle() {
      polls += 1;
    },
  },
});

// Other test files share the catalogue.
afterAll(() => (catalogue as Map<string, unknown>).delete(counting.name));

describe('a fleet that a program starts', () => {
  it('returns the outcome of every device, and reports its progress', async () => {
    const seen: number[] = [];
    const result = await runFleet(
      { ...plan, seed: 'two', iterations: 2 },
      { onProgress: ({ exchanges }) => seen.push(exchanges) },
    );
    expect(result).toMatchObject({ seed: 'two', ended: 'iterations' });
    expect(result.devices.map(({ index }) => index)).toEqual([0, 1]);
    expect(seen.at(-1)).toBeGreaterThan(seen[0] ?? 0);
    expect(renderFleet(result, 'junit')).toMatch(/^<\?xml/);
    expect(renderFleet(result, 'text')).toContain('Funnel');
    expect(() => renderFleet(result, 'pdf' as 'csv')).toThrow(
      'there is no format "pdf"; use one of text, json, junit, html, csv',
    );
  });

  it('runs behaviours that were written in code, also a second time', async () => {
    const own = { ...plan, behaviour: { 'counts-its-polls': 1 }, iterations: 1 };
    await runFleet(own, { behaviours: [counting] });
    await runFleet(own, { behaviours: [counting] });
    expect(polls).toBeGreaterThanOrEqual(4);
    const twin = { ...counting };
    await expect(runFleet(own, { behaviours: [twin] })).rejects.toThrow(
      'the behaviours of the run: another behaviour is already called counts-its-polls',
    );
  });

  it('ends when its signal aborts', async () => {
    const stop = new AbortController();
    const onEvent = () => stop.abort();
    const result = await runFleet({ ...plan, duration: '1h' }, { signal: stop.signal, onEvent });
    expect(result.ended).toBe('interrupted');
  });

  it.each([
    [{ devices: 0 }, 'devices must be'],
    [{ poll: 'often' }, 'poll must be'],
    [{ behaviour: { perfect: 1 } }, 'behaviour must be one of'],
    [{ pol: '1s' }, 'pol is unknown; the nearest fields are poll'],
  ])('rejects for the plan %j with a sentence that names the member', async (change, sentence) => {
    await expect(runFleet({ ...plan, ...change })).rejects.toThrow(sentence);
    await expect(runFleet({ ...plan, ...change })).rejects.toMatchObject({ name: 'PlanError' });
  });

  it('rejects when nothing listens at the URL', async () => {
    const nowhere = runFleet({ ...plan, url: 'http://127.0.0.1:9' });
    await expect(nowhere).rejects.toThrow('nothing listens at that address');
  });
});

it('the list of built-in behaviours has a sentence for each device', () => {
  expect(behaviours.map(({ name }) => name)).toContain('steady');
  for (const { description } of behaviours) expect(description).toMatch(/\.$/);
});
