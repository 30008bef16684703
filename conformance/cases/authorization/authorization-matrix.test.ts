import { describe, expect, it } from 'vitest';
import { type OperationId, operations } from '../../../fixtures/contract/operations.ts';
import { deviceCalls, tokenCalls, userCalls } from '../../context/every-call.ts';
import { allCases } from '../all-cases.ts';
import { authorizationJudges } from './authorization-judges.ts';
import {
  authorizationMatrix,
  type CallerKind,
  callerKinds,
  statusesOf,
} from './authorization-matrix.ts';
import { namedResources } from './tenants.ts';

const kinds = Object.keys(callerKinds) as CallerKind[];
const rows = Object.entries(authorizationMatrix) as [
  OperationId,
  Record<CallerKind, number | string>,
][];
const cases = new Map(allCases.map((each) => [each.id, each]));

/** The operations that are called by cases which check many operations at once. */
const callsOf: Readonly<Record<string, readonly string[]>> = {
  'time/expired-token-is-refused': Object.keys(deviceCalls),
  'time/expired-user-token-is-refused': Object.keys(userCalls),
  'tenants/things-of-another-tenant-are-refused': Object.keys(namedResources),
  'tenants/artifacts-of-another-tenant-are-not-listed': ['list-artifacts'],
};

function coveredBy(covers: readonly string[] = []): readonly string[] {
  return covers.map((each) => each.split(' ')[0] ?? '');
}

describe('the authorisation matrix', () => {
  it('has a row for every operation of the contract, and no other', () => {
    expect(Object.keys(authorizationMatrix).toSorted()).toEqual(Object.keys(operations).toSorted());
  });

  it.each(rows)('has a status or a reason of at least five words in every cell of %s', (_, row) => {
    expect(Object.keys(row).toSorted()).toEqual(kinds.toSorted());
    const cells = Object.values(row);
    const wordless = cells.filter((cell) => typeof cell === 'string' && cell.split(' ').length < 5);
    expect(wordless).toEqual([]);
  });

  it.each(rows)('has a refusal for a missing or bad token where %s requires a token', (id, row) => {
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

  it.each(rows)('contains for %s only statuses that the contract names', (id, row) => {
    const { success, refusals } = operations[id];
    const namedStatuses = new Set([...Object.keys(success).map(Number), ...refusals, 401, 403]);
    const statuses = Object.values(row).filter((cell) => typeof cell === 'number');
    expect(statuses.filter((status) => !namedStatuses.has(status))).toEqual([]);
  });

  it.each(rows)('expects 404 for a foreign ID only if %s takes an ID', (id, row) => {
    const takesId = operations[id].path.includes('{id}') && !id.includes('artifact');
    if (takesId) expect([row.otherDevice, row.otherTenant]).toEqual([404, 404]);
    else expect(row.otherDevice).not.toBe(404);
  });

  it.each(kinds)('has a judging case for each status in the column %s, and no other', (kind) => {
    const judged = Object.entries(authorizationJudges).filter(([, row]) => row[kind]);
    expect(judged.map(([id]) => id).toSorted()).toEqual(
      statusesOf(kind)
        .map(([id]) => id)
        .toSorted(),
    );
  });

  it.each(rows)('assigns %s only to cases that exist and call the operation', (id, row) => {
    for (const [kind, caseId] of Object.entries(authorizationJudges[id] ?? {})) {
      const listing = cases.get(caseId);
      expect([caseId, listing?.id]).toEqual([caseId, caseId]);
      // A case that calls many operations, or reads what must be hidden, covers no single status.
      const called = callsOf[caseId] ?? coveredBy(listing?.covers);
      expect([caseId, kind, called.includes(id)]).toEqual([caseId, kind, true]);
      if (!(caseId in callsOf))
        expect(listing?.covers).toContain(`${id} ${row[kind as CallerKind]}`);
    }
  });

  it('assigns cases that call many operations to exactly these operations', () => {
    for (const [caseId, called] of Object.entries(callsOf)) {
      const judged = Object.entries(authorizationJudges).filter(([, row]) =>
        Object.values(row).includes(caseId),
      );
      expect(judged.map(([id]) => id).toSorted()).toEqual(called.toSorted());
    }
  });
});

describe('the requests for the authorisation matrix', () => {
  it.each(Object.keys(tokenCalls) as OperationId[])('call %s, which requires a token', (id) => {
    const kind = id in userCalls ? ['user'] : ['device', 'socket'];
    expect(kind).toContain(operations[id].authorization);
  });

  it('cover every operation that requires a token', () => {
    const taking = Object.values(operations).filter(({ authorization }) =>
      ['device', 'user', 'socket'].includes(authorization),
    );
    expect(Object.keys({ ...deviceCalls, ...userCalls }).toSorted()).toEqual(
      taking.map(({ id }) => id).toSorted(),
    );
  });
});
