import { describe, expect, it } from 'vitest';
import { type CaseVerdict, listCases, renderConformance, runConformance } from './conformance.ts';
import { useTestbed } from './vitest.ts';

const testbed = await useTestbed();
const { baseUrl: url, adminEmail: email, adminPassword: password } = testbed;
const one = { url, user: { email, password }, selection: ['authentication/first-contact-is-401'] };

describe('a conformance run that a program starts', () => {
  it('returns the verdicts of the selected cases, and reports each as it comes', async () => {
    const seen: CaseVerdict[] = [];
    const result = await runConformance({ ...one, onVerdict: (verdict) => seen.push(verdict) });
    expect(result.outcome).toBe('pass');
    expect(result.verdicts.map(({ id }) => id)).toEqual(one.selection);
    expect(seen.map(({ id }) => id)).toEqual(one.selection);
    expect(renderConformance(result, 'junit')).toMatch(/^<\?xml/);
    expect(renderConformance(result, 'html')).toMatch(/^<!doctype html>/i);
    expect(renderConformance(result, 'text')).toContain('1 pass');
  });

  it('fails by a broken server, and names the requirement', async () => {
    testbed.faults.add({
      rules: [
        {
          id: 'wrong-status',
          match: { operation: 'patch-attributes' },
          act: { kind: 'respond', status: 403 },
          times: 'until-cleared',
        },
      ],
    });
    const selection = ['inventory/patch-is-200'];
    const { outcome, verdicts } = await runConformance({ ...one, selection });
    testbed.faults.clear();
    expect([outcome, verdicts[0]?.verdict]).toEqual(['fail', 'fail']);
    expect(verdicts[0]?.requirements.length).toBeGreaterThan(0);
  });

  it.each([
    [{ url: 'http://127.0.0.1:9' }, 'UnreachableError', '127.0.0.1:9'],
    [{ url: 'nowhere' }, 'BaseUrlError', 'nowhere'],
    [
      { user: { email, password: 'wrong-password' } },
      'LoginRefusedError',
      'the management API refuses',
    ],
    [{ selection: ['authentification/'] }, 'UnknownIdError', 'authentification/'],
    [{ selections: [] }, 'TypeError', 'runConformance: selections: is unknown; the nearest'],
    [{ jobs: Number.NaN }, 'RangeError', 'runConformance: jobs: '],
    [{ failOn: 'may' as 'must' }, 'RangeError', 'runConformance: failOn: '],
    [
      { waivers: [{ id: 'none', reason: 'a', owner: 'b', expires: '2030-01-01' }] },
      'UnknownIdError',
      'none',
    ],
  ])('rejects for %j with %s', async (change, name, sentence) => {
    const run = runConformance({ ...one, ...change });
    await expect(run).rejects.toMatchObject({ name, message: expect.stringContaining(sentence) });
  });
});

it('the list of cases has those of a selection, each with its requirements', () => {
  const cases = listCases(['authentication/']);
  expect(cases.length).toBeGreaterThan(10);
  expect(listCases().length).toBeGreaterThan(cases.length);
  for (const { id, requirements } of cases) {
    expect(id).toMatch(/^authentication\//);
    expect(requirements.length).toBeGreaterThan(0);
  }
});
