/** A run as lines of JSON while it is going on: its start, each verdict, its end. */
import { printableJson } from '../../fixtures/printable.ts';
import type { RunStart } from '../result/result.ts';
import { type CaseVerdict, type ConformanceResult, conformanceSchema } from '../result/result.ts';

/** The first line: which run this is, and how many verdicts will come. */
export function startLine(start: RunStart, target: ConformanceResult['target']): string {
  return line({ type: 'start', schema: conformanceSchema, target, ...start });
}

/** A line as soon as a verdict is found. */
export function verdictNdjson(verdict: CaseVerdict): string {
  return line({ type: 'verdict', ...verdict });
}

/** The last line: the whole result except the verdicts, which were written before. */
export function endLine({ verdicts: _, ...result }: ConformanceResult): string {
  return line({ type: 'end', ...result });
}

/** JSON writes a line break inside a text as an escape, so that a line is always whole. */
function line(value: object): string {
  return `${printableJson(JSON.stringify(value))}\n`;
}
