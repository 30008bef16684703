/** Formats a run as lines of JSON during the run: its start, each verdict, its end. */
import { printableJson } from '../../fixtures/base/printable.ts';
import type { RunStart } from '../result/result.ts';
import { type CaseVerdict, type ConformanceResult, conformanceSchema } from '../result/result.ts';

/** Returns the first line, which identifies the run and lists its cases. */
export function startLine(start: RunStart, target: ConformanceResult['target']): string {
  return line({ type: 'start', schema: conformanceSchema, target, ...start });
}

/** Returns the line for a verdict. */
export function verdictNdjson(verdict: CaseVerdict): string {
  return line({ type: 'verdict', ...verdict });
}

/** Returns the last line: the whole result except the verdicts, which were written before. */
export function endLine({ verdicts: _, ...result }: ConformanceResult): string {
  return line({ type: 'end', ...result });
}

/** Returns one line, since JSON escapes line breaks in strings. */
function line(value: object): string {
  return `${printableJson(JSON.stringify(value))}\n`;
}
