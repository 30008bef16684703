import { describe, expect, it } from 'vitest';
import { completedMs } from './deployment-completion.ts';

/** Unfinished devices, retries left, devices through, the limit: whether the deployment is over. */
const cells = [
  [false, false, 0, undefined, 'over'],
  [false, false, 0, 2, 'over'],
  [false, false, 1, 2, 'over'],
  [true, false, 0, undefined, 'open'],
  [false, true, 0, undefined, 'open'],
  [true, true, 0, undefined, 'open'],
  [true, false, 1, 2, 'open'],
  [false, true, 1, 2, 'open'],
  [true, false, 2, 2, 'over'],
  [false, true, 2, 2, 'over'],
  [true, true, 3, 2, 'over'],
] as const;

describe.each(cells)(
  'a deployment with unfinished devices %s, retries %s, %s through of at most %s',
  (hasUnfinished, hasRetries, devicesThrough, maxDevices, expected) => {
    const facts = { hasUnfinished, hasRetries, devicesThrough, maxDevices };

    it(`is ${expected}`, () => {
      expect(completedMs(facts, 90)).toBe(expected === 'over' ? 90 : undefined);
    });

    it(`is ${expected} after an end, whose time stays`, () => {
      const before = { ...facts, finishedMs: 50 };
      expect(completedMs(before, 90)).toBe(expected === 'over' ? 50 : undefined);
    });
  },
);
