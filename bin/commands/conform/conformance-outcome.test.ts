import { describe, expect, it } from 'vitest';
import type { CaseVerdict, ConformanceResult } from '../../../conformance/result/result.ts';
import { conformanceExitCode } from './conformance-outcome.ts';

describe('the exit code of a run that Ctrl-C ended', () => {
  const run = (...verdicts: readonly Partial<CaseVerdict>[]) =>
    ({ outcome: 'inconclusive', verdicts }) as unknown as ConformanceResult;

  it.each([
    { case: 'a failed case', verdicts: [{ verdict: 'fail' }, { verdict: 'pass' }], code: 1 },
    { case: 'no failed case', verdicts: [{ verdict: 'pass' }], code: 130 },
    {
      case: 'only a tolerated failure',
      verdicts: [{ verdict: 'fail', tolerated: true }],
      code: 130,
    },
  ] as const)('is $code after $case', ({ verdicts, code }) => {
    expect(conformanceExitCode(run(...verdicts), AbortSignal.abort())).toBe(code);
  });
});
