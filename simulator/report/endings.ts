/** Why a run ended, for every report. */
import type { FleetResult } from '../result/result.ts';

/** Why a run ended, as a clause. */
export const endings: Readonly<Record<FleetResult['ended'], string>> = {
  settled: 'every device finished its deployment',
  duration: 'the duration was over',
  stages: 'the last stage was over',
  iterations: 'every device made its iterations',
  interrupted: 'stopped by Ctrl-C',
  threshold: 'a threshold could no longer be met',
};
