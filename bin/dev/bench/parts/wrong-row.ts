/** Builds rows of the part `estimate`: the relative error of an estimate. */
import { type BenchRow, limitRow } from '../row.ts';

const WRONG_MAX_PERCENT = 20;

/** One figure as estimated and as measured, both in the same unit. */
export interface EstimatedFigure {
  /** The figure's name with its unit. */
  readonly title: string;
  readonly devices: number;
  readonly estimated: number;
  readonly measured: number;
}

/** Returns the row of an estimate. */
export function wrongRow({ title, devices, estimated, measured }: EstimatedFigure): BenchRow {
  return limitRow({
    title: `estimate of the ${title} of ${devices.toLocaleString('en-US')} devices`,
    unit: '% wrong',
    subject: {
      name: 'fleetbed',
      values: [(100 * Math.abs(estimated - measured)) / measured],
    },
    limit: WRONG_MAX_PERCENT,
    note: `estimated ${estimated.toPrecision(3)}, measured ${measured.toPrecision(3)}`,
  });
}
