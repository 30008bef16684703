/** The reasons why a run ends, as text for reports. */
import type { FleetResult } from '../result/result.ts';

/** The clause for each reason why a run ends. */
export const endings: Readonly<Record<FleetResult['ended'], string>> = {
  settled: 'every device finished its deployment',
  duration: 'the duration was over',
  stages: 'the last stage was over',
  iterations: 'every device made its iterations',
  interrupted: 'stopped by Ctrl-C',
  threshold: 'a threshold could no longer be met',
};
