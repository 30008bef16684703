import { describe, expect, it } from 'vitest';
import { type OperationId, operations } from '../../fixtures/contract/operations.ts';
import { allCases } from './all-cases.ts';
import { deviceCalls, tokenCalls, userCalls } from './authorization-calls.ts';
import {
  authorizationMatrix,
  type CallerKind,
  callerKinds,
  statusesOf,
} from './authorization-matrix.ts';

const kinds = Object.keys(callerKinds) as CallerKind[];
const rows = Object.entries(authorizationMatrix) as [
  OperationId,
  Record<CallerKind, number | string>,
][];
const ids = new Set(allCases.map(({ id }) => id));

/** The ids of the cases that decide a cell; other engineers of the suite decide the last two kinds. */
const decidedBy: Partial<Record<CallerKind, (id: OperationId, status: number) => string>> = {
  missing: (id, status) => `authorization/${id}-without-token-is-${status}`,
  malformed: (id, status) => `authorization/${id}-with-malformed-header-is-${status}`,
  invalid: (id, status) => `authorization/${id}-with-invalid-token-is-${status}`,
  otherKind: (id, status) =>
    `authorization/${id}-with-${id in userCalls ? 'device' : 'user'}-token-is-${status}`,
  rejected: (id, status) => `authorization/${id}-of-rejected-device-is-${status}`,
  decommissioned: (id, status) => `authorization/${id}-of-decommissioned-device-is-${status}`,
};

/** The cases of the kind `stranger`, whose ids say what belongs to another. */
const strangerCases: Readonly<Partial<Record<OperationId, string>>> = {
  'get-next-deployment': 'get-offers-nothing-of-another-device',
  'post-next-deployment': 'post-offers-nothing-of-another-device',
  'post-next-deployment-v2': 'v2-offers-nothing-of-another-device',
  'put-deployment-status': 'status-of-another-device-is-404',
  'put-deployment-log': 'log-of-another-device-is-404',
  'get-update-control-map': 'control-map-of-another-device-is-404',
  'get-configuration': 'get-configuration-is-of-no-other-device',
  'put-configuration': 'put-configuration-reaches-no-other-device',
  'patch-attributes': 'patch-attributes-reaches-no-other-device',
  'put-attributes': 'put-attributes-reaches-no-other-device',
  'post-alerts': 'post-alerts-reaches-no-other-device',
  'post-monitor-configuration': 'post-monitor-configuration-reaches-no-other-device',
};

describe('the authorisation matrix', () => {
  it('has a row for every operation of the contract, and no other', () => {
    expect(Object.keys(authorizationMatrix).toSorted()).toEqual(Object.keys(operations).toSorted());
  });

  it.each(rows)('has every cell of %s: a status, or a reason of several words', (_, row) => {
    expect(Object.keys(row).toSorted()).toEqual(kinds.toSorted());
    const cells = Object.values(row);
    const wordless = cells.filter((cell) => typeof cell === 'string' && cell.split(' ').length < 5);
    expect(wordless).toEqual([]);
  });

  it.each(rows)('lets nobody in without a token where %s needs one', (id, row) => {
    const { authorization } = operations[id];
    const needsToken = ['device', 'user', 'socket'].includes(authorization);
    for (const kind of ['missing', 'malformed', 'invalid', 'otherKind', 'expired'] as const) {
      expect([kind, typeof row[kind]]).toEqual([kind, needsToken ? 'number' : 'string']);
    }
    expect(typeof row.rejected).toBe(
      ['device', 'socket'].includes(authorization) ? 'number' : 'string',
    );
    expect(row.decommissioned === 401).toBe(row.rejected === 401);
  });

  it.each(rows)('tells of %s only statuses that the contract names', (id, row) => {
    const { success, refusals } = operations[id];
    const named = new Set([...Object.keys(success).map(Number), ...refusals, 401, 403]);
    const statuses = Object.values(row).filter((cell) => typeof cell === 'number');
    expect(statuses.filter((status) => !named.has(status))).toEqual([]);
  });

  it.each(rows)('says of %s whose id it takes', (id, row) => {
    const takesId = operations[id].path.includes('{id}') && !id.includes('artifact');
    if (takesId) expect([row.stranger, row.otherTenant]).toEqual([404, 404]);
    else expect(row.stranger).not.toBe(404);
  });

  it.each(Object.entries(decidedBy))('has a case for each cell of the kind %s', (kind, idOf) => {
    const wanted = statusesOf(kind as CallerKind).map(([id, status]) => idOf(id, status));
    expect(wanted.length).toBeGreaterThan(15);
    expect(wanted.filter((id) => !ids.has(id))).toEqual([]);
  });

  it('has a case for each operation by which a device could reach another', () => {
    expect(Object.keys(strangerCases).toSorted()).toEqual(
      statusesOf('stranger')
        .map(([id]) => id)
        .toSorted(),
    );
    const missing = Object.values(strangerCases).filter((id) => !ids.has(`authorization/${id}`));
    expect(missing).toEqual([]);
  });
});

describe('the requests of the matrix', () => {
  it.each(Object.keys(tokenCalls) as OperationId[])('%s is one that takes a token', (id) => {
    const kind = id in userCalls ? ['user'] : ['device', 'socket'];
    expect(kind).toContain(operations[id].authorization);
  });

  it('leave none out that takes one', () => {
    const taking = Object.values(operations).filter(({ authorization }) =>
      ['device', 'user', 'socket'].includes(authorization),
    );
    expect(Object.keys({ ...deviceCalls, ...userCalls }).toSorted()).toEqual(
      taking.map(({ id }) => id).toSorted(),
    );
  });
});
