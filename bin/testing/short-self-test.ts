/**
 * The short self-test: each defect against the cases of its own requirements, and a sample of
 * others.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type CaseListing, listCases } from '../../conformance/conformance.ts';
import type { Defect } from '../../conformance/self-test/defect.ts';
import { isSound } from '../../conformance/self-test/judgement.ts';
import { sampleOf } from '../../conformance/self-test/matrix.ts';
import {
  type Baseline,
  casesTouched,
  type GoodTarget,
  playBaseline,
  playDefect,
  type SelfTestOptions,
} from '../../conformance/self-test/self-test.ts';
import { seededRandom } from '../../fixtures/random.ts';
import { openOwnServer, selfTestOn } from '../self-test/good-targets.ts';

/** One in this many of the cases that a defect affects without their naming what it breaks. */
const OTHERS_SHARE = 20;
const BASELINE_MAX_MS = 600_000;
const DEFECT_MAX_MS = 60_000;

const cases = new Map(listCases().map((listing) => [listing.id, listing]));

/** Declares the tests of these defects. */
export function describeShortSelfTest(defects: readonly Defect[]): void {
  let target: GoodTarget;
  let options: SelfTestOptions;
  let baseline: Baseline;

  // One server for all: cases create their own devices, and leftovers of a defect harm none.
  beforeAll(async () => {
    target = await openOwnServer();
    options = selfTestOn(target);
    baseline = await playBaseline(defects, options);
  }, BASELINE_MAX_MS);

  afterAll(() => target.close());

  describe('through a faithful proxy', () => {
    it('no case fails', () => expect(baseline.faults).toEqual([]));
  });

  describe('a planted defect is caught by who names it, and by nobody else:', () => {
    it.each(defects.map((defect) => [defect.id, defect] as const))(
      '%s',
      async (_, defect) => {
        const ids = shortSelection(defect, casesTouched(defect, baseline.affectedCases));
        const result = await playDefect(defect, ids, options);
        expect(result).toSatisfy(isSound);
      },
      DEFECT_MAX_MS,
    );
  });
}

/** Always the same cases for a defect, but different ones for each. */
function shortSelection(defect: Defect, touched: ReadonlySet<string>): ReadonlySet<string> {
  if (defect.sample !== undefined) return sampleOf(defect, touched);
  const random = seededRandom('short self-test').stream(defect.id);
  const chosen = [...touched].filter((id) => {
    const isChosen = random.integer(1, OTHERS_SHARE) === 1;
    return isChosen || names(cases.get(id), defect);
  });
  return new Set(chosen);
}

function names(listing: CaseListing | undefined, { breaks }: Defect): boolean {
  return breaks.some((id) => listing?.requirements.includes(id));
}
