import { describe, expect, it } from 'vitest';
import { type OperationId, operations } from '../../../fixtures/contract/operations.ts';
import type { ProxiedRequest, ProxiedResponse } from '../defect.ts';
import { requestFor } from '../requests.ts';
import { type Alteration, alteredAt, withoutMember } from './alteration.ts';
import { alterationsOf, randomDefects } from './draw.ts';

const ids = Object.keys(operations) as OperationId[];
const titles = (count: number, seed: string) =>
  randomDefects(count, seed).map(({ id, title }) => `${id} ${title}`);

function responseOf(body: unknown, status = 200): ProxiedResponse {
  const headers = { 'content-type': 'application/json', 'x-svc-requestid': 'r-1' };
  return { status, headers, body: Buffer.from(JSON.stringify(body)) };
}

function alteration(id: OperationId, says: string): Alteration {
  const found = alterationsOf(id).find((each) => each.says === says);
  if (!found) throw new Error(`nothing ${says}`);
  return found;
}

function altered(
  id: OperationId,
  says: string,
  response: ProxiedResponse,
  request?: ProxiedRequest,
) {
  const made = alteration(id, says).change(response, request ?? requestFor(id));
  return { ...made, body: made.body.toString('utf8') };
}

describe('the randomly drawn defects', () => {
  it('are the same for the same seed, and differ for another seed', () => {
    expect(titles(50, 'a')).toEqual(titles(50, 'a'));
    expect(titles(50, 'a')).not.toEqual(titles(50, 'b'));
  });

  it('begin with the same defects when more are drawn', () => {
    expect(titles(80, 'a').slice(0, 50)).toEqual(titles(50, 'a'));
  });

  it('include every operation and every kind of alteration', () => {
    const drawn = randomDefects(4000, 'all');
    expect(new Set(drawn.map(({ operation }) => operation))).toEqual(new Set(ids));
    const kinds = new Set(ids.flatMap((id) => alterationsOf(id).map(({ kind }) => kind)));
    expect(new Set(drawn.map(({ kind }) => kind))).toEqual(kinds);
  });

  it('alter every third matching response, starting with the first', async () => {
    const defect = randomDefects(2000, 'a').find(
      ({ title }) => title.endsWith('every third time.') && title.includes('/error'),
    );
    const alteration = defect?.alter();
    const status = Number(/answers (\d+)/.exec(defect?.title ?? '')?.[1]);
    const request = requestFor(defect?.operation ?? 'connect');
    const isAltered: boolean[] = [];
    for (let index = 0; index < 6; index += 1) {
      const response = responseOf({ error: 'no', request_id: 'r-1' }, status);
      const send = Object.assign(() => Promise.reject(new Error('sent')), { userToken: '' });
      isAltered.push((await alteration?.response?.(response, request, send)) !== response);
    }
    expect(isAltered).toEqual([true, false, false, true, false, false]);
  });
});

describe('an alteration of a response', () => {
  const list = [{ a: { b: 1, c: 2 } }, { a: { b: 3 } }];

  it.each([
    ['first', [{ a: { c: 2 } }, { a: { b: 3 } }]],
    ['last', [{ a: { b: 1, c: 2 } }, { a: {} }]],
    ['every', [{ a: { c: 2 } }, { a: {} }]],
  ] as const)('changes the %s place that its path matches', (pick, expected) => {
    expect(alteredAt(list, ['*', 'a', 'b'], pick, withoutMember)).toEqual(expected);
  });

  it('changes one place and leaves all others unchanged', () => {
    const body = { id: 'd-1', artifact: { artifact_name: 'release-1', source: {} } };
    const made = altered(
      'get-next-deployment',
      'with an empty string as /artifact/artifact_name',
      responseOf(body),
    );
    expect(JSON.parse(made.body)).toEqual({
      id: 'd-1',
      artifact: { artifact_name: '', source: {} },
    });
  });

  it('returns a response unchanged when the place is absent', () => {
    for (const id of ids) {
      for (const { change, says } of alterationsOf(id)) {
        const otherResponse = responseOf({}, 503);
        const isOfAll = says.includes('date') || says.includes('header') || says.includes('link');
        if (!isOfAll)
          expect(change(otherResponse, requestFor(id)), `${id} ${says}`).toBe(otherResponse);
      }
    }
  });

  it.each<[OperationId, string, Alteration['violatedLevel']]>([
    ['get-artifact', 'without /name', 'must'],
    ['get-artifact', 'without /description', 'nothing'],
    ['get-artifact', 'with the entries in reverse order in /device_types_compatible', 'nothing'],
    ['get-artifact', '404 instead of 400', 'nothing'],
    ['get-artifact-link', 'with a time far in the future as /expire', 'nothing'],
    ['get-artifact-link', 'with a time long ago as /expire', 'must'],
    ['list-audit-logs', '200 with the entries in reverse order', 'must'],
    ['list-artifacts', '200 with the entries in reverse order', 'nothing'],
    ['put-configuration', '400 with other words in /error', 'nothing'],
    ['put-configuration', '400 without /error', 'should'],
    ['put-configuration', '422 instead of 400', 'must'],
    ['put-deployment-status', '204 instead of 409', 'must'],
    ['post-next-deployment', '400 instead of 409', 'should'],
  ])('violates, for %s with "%s", a requirement of the level: %s', (id, says, violatedLevel) => {
    const wanted = alterationsOf(id).filter((each) => each.says === says);
    const entries = alterationsOf(id).filter((each) => each.says.startsWith(`${says} (`));
    expect([...wanted, ...entries].map((each) => each.violatedLevel)).toContain(violatedLevel);
  });

  it('affects only requests with an ID of the caller if it alters that ID', () => {
    const says = "400 with a request ID other than the caller's";
    const response = responseOf({ error: 'no', request_id: 'mine' }, 400);
    const request = requestFor('put-configuration');
    const named = { ...request, headers: { 'x-svc-requestid': 'mine' } };
    expect(alteration('put-configuration', says).change(response, request)).toBe(response);
    const made = altered('put-configuration', says, response, named);
    expect(made.headers).toMatchObject({ 'x-svc-requestid': 'fuzz' });
    expect(JSON.parse(made.body)).toEqual({ error: 'no', request_id: 'fuzz' });
  });

  it('does not affect refusals that a gateway may send', () => {
    const response = responseOf({ error: 'no' }, 400);
    const request = { ...requestFor('get-artifact'), path: '/api/devices/v1/%E0%A4%A' };
    const { change } = alteration('get-artifact', '400 without a body');
    expect(change(response, request)).toBe(response);
    expect(change(response, requestFor('get-artifact'))).not.toBe(response);
  });
});
