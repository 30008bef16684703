/** The sizes of the covering arrays: how many requests combine the parameters of an operation. */
import type { OperationId } from '../../../fixtures/contract/operations.ts';
import { coveringArray } from '../../suite/covering.ts';
import { exportParameters } from '../audit-log/audit-export-combined.ts';
import { listParameters } from '../audit-log/audit-list-combined.ts';

/** The size of one covering array. */
export interface ArraySize {
  readonly operation: OperationId;
  /** The case that sends the requests. */
  readonly caseId: string;
  readonly parameters: number;
  readonly requests: number;
}

const arrays = [
  ['list-audit-logs', 'audit-log/parameters-apply-together', listParameters],
  ['export-audit-logs', 'audit-export/parameters-apply-together', exportParameters],
] as const;

/** Returns the size of each array. @param thorough true for triples of values in place of pairs */
export function arraySizes(thorough: boolean): readonly ArraySize[] {
  return arrays.map(([operation, caseId, values]) => ({
    operation,
    caseId,
    parameters: Object.keys(values).length,
    requests: coveringArray<Readonly<Record<string, readonly unknown[]>>>(values, thorough ? 3 : 2)
      .length,
  }));
}
