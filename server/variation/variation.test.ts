import fc from 'fast-check';
import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { isObject } from '../../fixtures/base/json.ts';
import { managementOperations } from '../../fixtures/contract/management/index.ts';
import type { Operation } from '../../fixtures/contract/operation.ts';
import { operationsById } from '../../fixtures/contract/operation-ids.ts';
import { operations } from '../../fixtures/contract/operations.ts';
import { errorShape } from '../../fixtures/contract/resources.ts';
import { timestampMs } from '../../fixtures/contract/text.ts';
import { variationNames } from '../../fixtures/contract/variation-names.ts';
import { readId } from './ids.ts';
import { unknownName } from './links.ts';
import { changedAt, freeLists, pathsOf, withoutMember } from './paths.ts';
import type { PendingResponse } from './response.ts';
import { bodiesOf } from './testing/bodies-of.ts';
import { openVariation } from './variation.ts';
import { removable, variationRows } from './variations.ts';

const rows: readonly Operation[] = [
  ...Object.values(operations),
  ...Object.values(managementOperations),
];
const answered = rows.flatMap((operation) =>
  Object.entries(operation.success).flatMap(([status, { shape, mediaType }]) =>
    shape && mediaType === undefined ? [{ operation, status: Number(status), shape }] : [],
  ),
);
const RUNS = 40;
const requestId = '6f9d3f9e-6d37-4a43-9a6f-0d3e5a1c7b42';
const headers = [
  ['X-SVC-RequestID', requestId],
  ['Content-Type', 'application/json; charset=utf-8'],
  ['Link', '</a?page=1&per_page=20>; rel="first"'],
  ['Link', '</a?page=2&per_page=20>; rel="next"'],
  ['X-Total-Count', '40'],
] as const;

const seeds = fc.string({ maxLength: 6 });

/** Returns the meaning of a response, without everything that a variation may change. */
function meaning(
  body: unknown,
  response: Pick<PendingResponse, 'operation' | 'status'>,
  shape: v.GenericSchema,
) {
  const { open, timestamps } = pathsOf(shape);
  const id = response.operation?.id;
  let remaining = removable(response).reduce(withoutMember, body);
  for (const path of open) {
    remaining = changedAt(remaining, path, (object) =>
      isObject(object) ? withoutMember(object, unknownName) : object,
    );
  }
  for (const path of timestamps) {
    remaining = changedAt(remaining, path, (time) =>
      typeof time === 'string' ? timestampMs(time) : time,
    );
  }
  const link = response.operation?.response?.link;
  if (link !== undefined && response.status < 400) {
    remaining = changedAt(remaining, link, (uri) => (typeof uri === 'string' ? leadsTo(uri) : uri));
  }
  if (id === 'post-next-deployment-v2' || id === 'get-update-control-map') {
    for (const path of ['id', 'artifact.update_control_map.id', 'update_control_map.id']) {
      remaining = changedAt(remaining, path, (text) =>
        typeof text === 'string' ? readId(text) : text,
      );
    }
  }
  const lists = response.status < 400 ? freeLists(response.operation) : [];
  const deepFirst = lists.toSorted((one, other) => other.length - one.length);
  for (const path of deepFirst) {
    remaining = changedAt(remaining, path, (list) =>
      Array.isArray(list)
        ? list.toSorted((one, other) => compare(canonical(one), canonical(other)))
        : list,
    );
  }
  return canonical(remaining);
}

function leadsTo(uri: string): unknown {
  if (!/^https?:/i.test(uri)) return uri;
  const { origin, pathname, searchParams } = new URL(uri);
  searchParams.delete(unknownName);
  searchParams.sort();
  return [origin, decodeURIComponent(pathname), [...searchParams]];
}

function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  if (!isObject(value)) return JSON.stringify(value) ?? '';
  const members = Object.entries(value).toSorted(([one], [other]) => compare(one, other));
  const pairs = members.map(([name, member]) => `${JSON.stringify(name)}:${canonical(member)}`);
  return `{${pairs.join(',')}}`;
}

function compare(one: string, other: string): number {
  if (one === other) return 0;
  return one < other ? -1 : 1;
}

function canonicalHeaders(lines: readonly (readonly [string, string])[]) {
  return lines
    .flatMap(([name, value]) => value.split(', <').map((part) => [name, part] as const))
    .map(([name, value]) => `${name}: ${value}`.toLowerCase().replace(/[\s"<]/g, ''))
    .map((line) => line.replace(/^(content-type:application\/json).*$/, '$1'))
    .sort();
}

describe('a varied response', () => {
  it.each(answered)(
    'keeps its meaning and matches its shape for $operation.id',
    ({ operation, status, shape }) => {
      const property = fc.property(bodiesOf(shape), seeds, (original, seed) => {
        const body: unknown = JSON.parse(JSON.stringify(original));
        const response: PendingResponse = { operation, requestId, status, headers, body };
        const varied = openVariation(seed).vary(response);
        const read: unknown = JSON.parse(varied.text ?? '');
        expect(v.safeParse(shape, read).issues).toBeUndefined();
        expect(meaning(read, response, shape)).toBe(meaning(body, response, shape));
        expect(canonicalHeaders(varied.headers)).toEqual(canonicalHeaders(headers));
      });
      fc.assert(property, { numRuns: RUNS, seed: 4 });
    },
  );

  it('leads to the same place if it has a link', () => {
    const uris = fc.webUrl({ withQueryParameters: true, validSchemes: ['http', 'https'] });
    const operation = operations['get-artifact-link'];
    const property = fc.property(uris, fc.uuid(), seeds, (uri, id, seed) => {
      fc.pre(URL.canParse(uri) && !/[%+]/.test(uri));
      const [start, query = 'a=1'] = uri.split('?');
      const body = {
        uri: `${start}/${id}?${query}&x-svc-expire=2026-01-01T00%3A00%3A00.000Z`,
        expire: '2026-01-01T00:00:00.000Z',
      };
      const varied = openVariation(seed).vary({ operation, requestId, status: 200, headers, body });
      const read = JSON.parse(varied.text ?? '') as typeof body;
      expect(leadsTo(read.uri)).toEqual(leadsTo(body.uri));
    });
    fc.assert(property, { numRuns: 150, seed: 4 });
  });

  it('is an Error body with the same words if it is a refusal', () => {
    const errorBody = fc.record({ error: fc.string(), request_id: fc.constant(requestId) });
    const property = fc.property(errorBody, seeds, (body, seed) => {
      const varied = openVariation(seed).vary({ requestId, status: 404, headers, body });
      const read = v.parse(errorShape, JSON.parse(varied.text ?? ''));
      expect(read.error).toBe(body.error);
      expect([requestId, undefined]).toContain(read.request_id);
    });
    fc.assert(property, { numRuns: 300, seed: 4 });
  });

  it('stays without a body if it has none, and is never chunked', () => {
    const property = fc.property(seeds, (seed) => {
      const varied = openVariation(seed).vary({ requestId, status: 204, headers });
      expect(varied.text).toBeUndefined();
      expect(varied.chunked).toBe(false);
    });
    fc.assert(property, { numRuns: 100, seed: 4 });
  });

  it('keeps the order of the audit log and of explicitly sorted lists', () => {
    const times = ['2026-03-01', '2026-02-01', '2026-01-01'].map((day) => `${day}T00:00:00.000Z`);
    const entry = (time: string) => ({
      actor: { id: 'u', type: 'user' },
      time,
      action: 'create',
      object: { id: 'o', type: 'user' },
    });
    for (let seed = 0; seed < 100; seed += 1) {
      const varied = openVariation(String(seed)).vary({
        operation: operations['list-audit-logs'],
        requestId,
        status: 200,
        headers,
        body: times.map(entry),
      });
      const read = JSON.parse(varied.text ?? '') as { time: string }[];
      expect(read.map(({ time }) => timestampMs(time))).toEqual(times.map(timestampMs));
    }
  });

  it('never removes the link, the control map, or the object of an audit entry', () => {
    const body = {
      id: requestId,
      artifact: {
        artifact_name: 'a',
        source: { uri: 'http://a/b?c=d', expire: '2026-01-01T00:00:00Z' },
        device_types_compatible: ['x'],
        update_control_map: { id: requestId, priority: 1, states: {} },
      },
    };
    for (let seed = 0; seed < 100; seed += 1) {
      const operation = operations['post-next-deployment-v2'];
      const varied = openVariation(String(seed)).vary({
        operation,
        requestId,
        status: 200,
        headers,
        body,
      });
      const read = JSON.parse(varied.text ?? '') as typeof body;
      expect(read.artifact.source.uri).toBeDefined();
      expect(read.artifact.update_control_map).toMatchObject({ priority: 1, states: {} });
      expect(read.artifact.update_control_map.id).toBe(read.id);
    }
  });
});

describe('a variation seed', () => {
  const body = {
    uri: 'http://h/storage/artifacts/1?a=1&b=2&c=3',
    expire: '2026-01-01T00:00:00.000Z',
  };
  const response: PendingResponse = {
    operation: operations['get-artifact-link'],
    requestId,
    status: 200,
    headers,
    body,
  };
  const responsesOf = (seed: string) => {
    const { vary, newRequestId } = openVariation(seed);
    return Array.from({ length: 5 }, () => [vary(response), newRequestId(requestId)]);
  };

  it('produces the same responses to the same requests', () => {
    expect(responsesOf('one')).toEqual(responsesOf('one'));
  });

  it('produces other responses than another seed, different each time', () => {
    expect(responsesOf('one')).not.toEqual(responsesOf('two'));
    expect(new Set(responsesOf('one').map((given) => JSON.stringify(given))).size).toBe(5);
  });

  it('keeps the responses of one operation independent of others', () => {
    const disturbed = openVariation('one');
    disturbed.vary({ ...response, operation: operations['get-configuration'], body: {} });
    expect(disturbed.vary(response)).toEqual(openVariation('one').vary(response));
  });

  it('gives a deployment the same ID in each response', () => {
    const instructions = { id: requestId, artifact: {} };
    for (const seed of ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h']) {
      const { vary, readParameters } = openVariation(seed);
      const operation = operations['post-next-deployment-v2'];
      const ids = Array.from({ length: 5 }, () => {
        const { text } = vary({ operation, requestId, status: 200, headers, body: instructions });
        return (JSON.parse(text ?? '') as { id: string }).id;
      });
      expect(new Set(ids).size).toBe(1);
      const parameters = readParameters(operations['put-deployment-status'], { id: ids[0] ?? '' });
      expect(parameters).toEqual({ id: requestId });
    }
  });

  it('does not change IDs of other operations or in other formats', () => {
    const { readParameters } = openVariation('one');
    const upper = requestId.toUpperCase();
    expect(readParameters(operations['get-artifact'], { id: upper })).toEqual({ id: upper });
    for (const id of ['', 'nonsense', `${requestId}0`, '-'.repeat(22), 'é'.repeat(32)]) {
      expect(readParameters(operations['put-deployment-log'], { id })).toEqual({ id });
    }
  });

  it('creates distinct request IDs of printable characters only', () => {
    const { newRequestId } = openVariation('one');
    const requestIds = Array.from({ length: 50 }, (_, at) =>
      newRequestId(requestId.replace(/42$/, String(10 + at))),
    );
    expect(requestIds.every((id) => /^[\w~-]{20,40}$/.test(id))).toBe(true);
    expect(new Set(requestIds).size).toBe(50);
  });
});

describe('a choice of variations', () => {
  const operation = operations['list-artifacts'];
  const response = {
    operation,
    requestId,
    status: 200,
    headers,
    body: [{ id: 'one', name: 'two' }],
  };
  const appliedBy = (variation: ReturnType<typeof openVariation>): string[] =>
    variation.vary(response).applied.map(({ id }) => id);

  it.each([undefined, 'one'])(
    'is applied alone and to every response, with the seed %s',
    (seed) => {
      const variation = openVariation(seed, new Set(['chunked', 'header-case']));
      for (let round = 0; round < 5; round += 1) {
        expect(appliedBy(variation)).toEqual(['header-case', 'chunked']);
      }
      expect(variation.newRequestId(requestId)).toBe(requestId);
    },
  );

  it('leaves every response unchanged while it is empty, and without a seed', () => {
    const variation = openVariation(undefined);
    expect([variation.isOn, appliedBy(variation)]).toEqual([false, []]);
    const seeded = openVariation('one');
    seeded.choose(new Set());
    expect([seeded.isOn, appliedBy(seeded)]).toEqual([false, []]);
    seeded.choose(undefined);
    expect([seeded.isOn, seeded.has('chunked')]).toEqual([true, true]);
  });

  it('varies IDs of deployments whatever the seed, and reads them after it is switched off', () => {
    const next = operations['post-next-deployment-v2'];
    for (let seed = 0; seed < 8; seed += 1) {
      const variation = openVariation(String(seed), new Set(['deployment-ids']));
      const { text = '' } = variation.vary({
        operation: next,
        requestId,
        status: 200,
        headers,
        body: { id: requestId, artifact: {} },
      });
      const { id } = JSON.parse(text);
      expect(id).not.toBe(requestId);
      variation.choose(new Set());
      expect(variation.readParameters(operations['put-deployment-log'], { id })).toEqual({
        id: requestId,
      });
    }
  });

  it('does not read other formats of IDs where none were given', () => {
    const { readParameters } = openVariation(undefined);
    const id = requestId.toUpperCase();
    expect(readParameters(operations['put-deployment-log'], { id })).toBeUndefined();
  });
});

describe('the tables of allowed variations', () => {
  it('define the order of every list in a response', () => {
    for (const { operation, shape } of answered) {
      const decided = Object.keys(operation.response?.lists ?? {});
      const inMaps = decided.filter((path) => path.endsWith('artifact_depends.*'));
      const missing = pathsOf(shape).lists.filter(
        (path) => !decided.includes(path) && !path.includes('meta_data'),
      );
      expect([operation.id, missing]).toEqual([operation.id, []]);
      const strange = decided.filter(
        (path) => !pathsOf(shape).lists.includes(path) && !inMaps.includes(path),
      );
      expect([operation.id, strange]).toEqual([operation.id, []]);
    }
  });

  it('permit no removal of a member that a shape requires', () => {
    const rows = [...operationsById.values()].filter(({ response }) => response?.removable);
    expect(rows.length).toBeGreaterThan(5);
    for (const { id, response } of rows) {
      const paths = response?.removable ?? [];
      const { shape } = answered.find(({ operation }) => operation.id === id) ?? {};
      const optional = shape ? pathsOf(shape).optional : [];
      expect(paths.filter((path) => !optional.includes(path))).toEqual([]);
    }
    expect(pathsOf(errorShape).optional).toEqual(['error', 'request_id']);
  });

  it('name a rule for every variation: a contract heading or an RFC section', () => {
    expect(variationRows.map(({ id }) => id)).toEqual(variationNames);
    for (const { rule, varies } of variationRows) {
      expect(rule).toMatch(/^(Contract, [A-Z]|RFC \d{4}, section)/);
      expect(varies).not.toBe('');
    }
  });

  it('contain no row that never takes effect', () => {
    const seen = new Set<string>();
    const list = { operation: operations['list-artifacts'], requestId, status: 200, headers };
    const bodies = fc.sample(bodiesOf(pathsAllOf('list-artifacts')), { numRuns: 100, seed: 4 });
    const link = {
      uri: 'http://h/storage/artifacts/1?a=1&b=2&c=3',
      expire: '2026-01-01T00:00:00.000Z',
    };
    const v2 = operations['post-next-deployment-v2'];
    bodies.forEach((body, seed) => {
      const { vary } = openVariation(String(seed));
      const responses: PendingResponse[] = [
        { ...list, body, isRequestIdGenerated: true },
        { ...list, operation: operations['get-artifact-link'], body: link },
        { ...list, operation: v2, body: { id: requestId, artifact: {} } },
      ];
      for (const { id } of responses.flatMap((response) => vary(response).applied)) seen.add(id);
    });
    expect([...seen].sort()).toEqual(variationRows.map(({ id }) => id).sort());
  });
});

function pathsAllOf(id: string): v.GenericSchema {
  const shape = answered.find(({ operation }) => operation.id === id)?.shape;
  if (!shape) throw new Error(`${id} answers no JSON`);
  return shape;
}
