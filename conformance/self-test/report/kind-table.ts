/** What became of the generated defects, by kind and operation. */
import type { MatrixRow } from '../matrix.ts';

/** Defects of a kind on an operation. */
interface KindCell {
  readonly planted: number;
  readonly killed: number;
}

/** The table; a cell is undefined where the operation cannot have the kind. */
export interface KindTable {
  readonly kinds: readonly string[];
  readonly operations: readonly {
    readonly operation: string;
    /** In the order of the kinds. */
    readonly cells: readonly (KindCell | undefined)[];
  }[];
}

/** What the table takes of a defect. */
export type KindRow = Pick<MatrixRow, 'kind' | 'operation' | 'outcome'>;

/** The table of these defects; without kinds when none of them is generated. */
export function kindTable({ rows }: { readonly rows: readonly KindRow[] }): KindTable {
  const kinds = [...new Set(rows.flatMap(({ kind }) => kind ?? []))];
  const operations = [...new Set(rows.flatMap(({ operation }) => operation ?? []))];
  return {
    kinds,
    operations: operations.map((operation) => ({
      operation,
      cells: kinds.map((kind) => {
        const own = rows.filter((row) => row.kind === kind && row.operation === operation);
        if (own.length === 0) return undefined;
        const killed = own.filter(({ outcome }) => outcome === 'killed').length;
        return { planted: own.length, killed };
      }),
    })),
  };
}
