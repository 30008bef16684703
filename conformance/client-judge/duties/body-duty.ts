/** The form of duties that the shape of a body in the contract decides. */
import * as v from 'valibot';
import type { Violation } from '../../passive/check.ts';
import { describeValue } from '../../target/expectations.ts';
import { knownRows } from '../../target/operation-at.ts';
import type { Duty } from '../duty.ts';
import { doubledName } from '../json-names.ts';

interface BodyDuty extends Pick<Duty, 'id' | 'level' | 'sentence' | 'source' | 'remedy' | 'scene'> {
  readonly operations: readonly string[];
  /** The member that the duty is about; every member when absent. */
  readonly at?: string;
  /** Returns true for a body that another duty is about. */
  readonly isExempt?: (sent: unknown) => boolean;
  /** True if the body has free names, of which none may appear twice. */
  readonly namesOnce?: boolean;
  /** A check beyond the shape. */
  readonly further?: (sent: unknown) => Violation | undefined;
}

/** Returns the duty to send bodies of the contract's shape. */
export function bodyDuty({ at, isExempt, namesOnce, further, ...row }: BodyDuty): Duty {
  return {
    ...row,
    evidence: at === undefined ? 'the body' : `the member ${at} in the body`,
    applies: ({ requestJson }) => requestJson !== undefined && isExempt?.(requestJson) !== true,
    violation: ({ operation: { id }, requestJson }, { event }) => {
      const shape = knownRows.find((each) => each.id === id)?.body;
      const { issues = [] } = shape ? v.safeParse(shape, requestJson) : {};
      const issue = issues.find(
        ({ path }) => at === undefined || keyOf(path, -1) === at || isElement(path, at),
      );
      const isRead = namesOnce && event.isVerbatim !== false;
      const twice = isRead ? doubledName(event.requestBody) : undefined;
      if (twice !== undefined) {
        return {
          part: 'each name',
          expected: 'appear once',
          actual: `${describeValue(twice)} twice`,
        };
      }
      if (issue === undefined) return further?.(requestJson);
      const part = v.getDotPath(issue) ?? 'the body';
      return { part, expected: 'match the contract', actual: issue.received };
    },
  };
}

type Path = v.BaseIssue<unknown>['path'];

function keyOf(path: Path, position: number): unknown {
  return path?.at(position)?.key;
}

/** An array of values reports the position of the wrong one. */
function isElement(path: Path, at: string): boolean {
  return path?.some(({ key }) => key === at) ?? false;
}
