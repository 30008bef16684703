/** Thresholds as a field of a plan. */
import * as v from 'valibot';
import { ThresholdError, thresholdOf } from './thresholds-parser.ts';

const THRESHOLDS_MAX = 50;

const thresholdShape = v.pipe(
  v.string('must be a text'),
  v.rawCheck(({ dataset, addIssue }) => {
    if (!dataset.typed) return;
    try {
      thresholdOf(dataset.value);
    } catch (error) {
      if (!(error instanceof ThresholdError)) throw error;
      addIssue({ message: `must be a threshold (${error.because})` });
    }
  }),
);

/** The list of them. */
export const thresholdsShape = v.pipe(
  v.array(thresholdShape, 'must be a list of thresholds'),
  v.maxLength(THRESHOLDS_MAX, `must hold at most ${THRESHOLDS_MAX}`),
);
