/** Counts the generated defects and the killed ones, by kind and operation. */
import type { MatrixRow } from '../matrix.ts';

/** Number of defects of one kind on one operation. */
interface KindCell {
  readonly planted: number;
  readonly killed: number;
}

/** The counts; a cell is undefined if the operation cannot have the kind of defect. */
export interface KindTable {
  readonly kinds: readonly string[];
  readonly operations: readonly {
    readonly operation: string;
    /** One cell for each kind, in the order of `kinds`. */
    readonly cells: readonly (KindCell | undefined)[];
  }[];
}

/** The members of a row that the table uses. */
export type DefectKindRow = Pick<MatrixRow, 'kind' | 'operation' | 'outcome'>;

/** Returns the table of these defects; without kinds if none of them is generated. */
export function kindTable({ rows }: { readonly rows: readonly DefectKindRow[] }): KindTable {
  const kinds = [...new Set(rows.flatMap(({ kind }) => kind ?? []))];
  const operations = [...new Set(rows.flatMap(({ operation }) => operation ?? []))];
  return {
    kinds,
    operations: operations.map((operation) => ({
      operation,
      cells: kinds.map((kind) => {
        const cellRows = rows.filter((row) => row.kind === kind && row.operation === operation);
        if (cellRows.length === 0) return undefined;
        const killed = cellRows.filter(({ outcome }) => outcome === 'killed').length;
        return { planted: cellRows.length, killed };
      }),
    })),
  };
}
