import { describe, expect, it } from 'vitest';
import { openPoints } from '../../fixtures/contract/open-points.ts';
import { type RequirementId, requirements } from '../../fixtures/contract/requirements/index.ts';
import type { Requirement } from '../../fixtures/contract/requirements/requirement.ts';
import { listCases } from '../conformance.ts';
import { conformanceReport } from '../report/text.ts';
import { resultOf, verdictOn } from '../testing/results.ts';
import { observationsOf } from './observations.ts';

const records: readonly Requirement[] = Object.values(requirements);
const linked = records.filter(({ openPoint }) => openPoint !== undefined);

/** The requirement that judges an open point, because contract or practice settles the point. */
interface Judged {
  readonly judgedBy: RequirementId;
}

const ofManagement = { reason: 'only operations of users show it, which the contract leaves out' };

/**
 * Open points that no requirement observes, with the requirement that judges them or the reason.
 */
const withoutReading: Readonly<Record<string, Judged | { readonly reason: string }>> = {
  'artifacts.release-name': { judgedBy: 'artifacts.list-selects-release' },
  'auth.authorization-header': { judgedBy: 'auth.authorization-is-ignored' },
  'auth.auto-accept': { judgedBy: 'auth.first-contact-is-401' },
  'auth.external-id': ofManagement,
  'auth.forbidden': { judgedBy: 'auth.forbidden-is-403' },
  'auth.new-key': { judgedBy: 'auth.new-key-waits' },
  'auth.places': { reason: 'telling it takes as many devices as a server has places' },
  'auth.same-identity': { judgedBy: 'auth.one-identity-one-device' },
  'auth.same-key': {
    reason: 'telling it takes one key in two texts; the suite writes each in one',
  },
  'configuration.download': { judgedBy: 'download.expired-is-403' },
  'configuration.whose-store': { judgedBy: 'configuration.set-by-user' },
  'connect.device-lost': ofManagement,
  'connect.missing-token': { judgedBy: 'tokens.missing-is-401' },
  'connect.too-large-for-device': ofManagement,
  'deltas.none-made': ofManagement,
  'next.artifact-id': { judgedBy: 'next.artifact-id-in-v2' },
  'deployments.unfit-ids': ofManagement,
  'deprecations.first-moment': ofManagement,
  'deprecations.headers': ofManagement,
  'deprecations.served': ofManagement,
  'groups.unknown-devices': ofManagement,
  'inventory.filter-statistics': ofManagement,
  'inventory.scope': { judgedBy: 'inventory.identity-is-safe' },
  'inventory.value-kinds': { judgedBy: 'inventory.value-kinds' },
  'limits.other-names': ofManagement,
  'next.conflict': { judgedBy: 'next.conflict-is-409' },
  'next.free-pairs': { judgedBy: 'next.depends' },
  'next.no-artifact': { judgedBy: 'next.compatible-types-only' },
  'releases.unfit-tags': ofManagement,
  'roles.in-use': ofManagement,
  'tokens.expired-is-401': { judgedBy: 'tokens.expired-is-refused' },
  'tokens.kinds-apart': { judgedBy: 'tokens.kinds-are-apart' },
  'tokens.revoked-twice': ofManagement,
  'tokens.role-based-403': { judgedBy: 'errors.role-forbidden-is-403' },
  'users.unknown-is-404': ofManagement,
};

describe('the links from requirements to open points', () => {
  it('lead only to existing open points', () => {
    const known = openPoints.map(({ id }) => id);
    const lost = linked.filter(({ openPoint = '' }) => !known.includes(openPoint));
    expect(lost.map(({ id }) => id)).toEqual([]);
  });

  it('omit only open points that a requirement judges or no run can show', () => {
    const observed = new Set(linked.map(({ openPoint }) => openPoint));
    const left = openPoints.map(({ id }) => id).filter((id) => !observed.has(id));
    expect(left.toSorted()).toEqual(Object.keys(withoutReading).toSorted());
    const judging = Object.values(withoutReading).flatMap((each) =>
      'judgedBy' in each ? requirements[each.judgedBy].level : [],
    );
    expect(judging).not.toContain('may');
  });

  it('start only at requirements of the level MAY', () => {
    expect(linked.filter(({ level }) => level !== 'may').map(({ id }) => id)).toEqual([]);
  });
});

describe('the observations of open points in a run', () => {
  const observing = listCases().filter(({ requirements: named }) =>
    linked.some(({ id }) => named.some((each) => each === id)),
  );
  const [firstCase] = observing;
  const openPoint = linked.find(({ id }) => firstCase?.requirements.some((each) => each === id));

  it('have an entry for each open point that a requirement observes', () => {
    const ids = new Set(linked.map((each) => each.openPoint));
    expect(
      observationsOf([])
        .map(({ id }) => id)
        .toSorted(),
    ).toEqual([...ids].toSorted());
    expect(observationsOf([]).flatMap(({ target }) => target)).toEqual([]);
  });

  it('show the behaviour of the target beside that of the reference server', () => {
    const verdict = verdictOn(firstCase?.id ?? '', {
      verdict: 'observed',
      observation: 'answered with 404',
    });
    const [reading] = observationsOf([verdict]).filter(({ target }) => target.length > 0);
    const point = openPoints.find(({ id }) => id === reading?.id);
    expect(reading).toMatchObject({ question: point?.question, reference: point?.choice });
    expect(reading?.target).toEqual([
      { caseId: firstCase?.id, verdict: 'observed', text: 'answered with 404' },
    ]);
    const text = conformanceReport(resultOf([verdict], { openPoints: observationsOf([verdict]) }));
    expect(text).toContain(`  ${point?.question} [${openPoint?.openPoint}]`);
    expect(text).toContain(`    reference server  ${point?.choice}`);
    expect(text).toContain(`    target            answered with 404 [${firstCase?.id}]`);
  });

  it('give the reason when nothing was observed', () => {
    const reason = { code: 'user', text: 'the target does not offer user' };
    const verdict = verdictOn(firstCase?.id ?? '', { verdict: 'skip', reason });
    const seen = observationsOf([verdict]).flatMap((reading) => reading.target);
    expect(seen).toEqual([{ caseId: firstCase?.id, verdict: 'skip', text: reason.text }]);
  });
});
