/**
 * Renders a result as one self-contained page. The facts are embedded as data, which the script in
 * `page/` displays. Text from a device or a server is never interpreted as markup.
 */
import { countText } from '../../fixtures/base/count-text.ts';
import { reportPage } from '../../fixtures/base/markup.ts';
import { outcomeOf } from '../result/outcome.ts';
import type { FleetResult } from '../result/result.ts';
import { endings } from './endings.ts';
import { checkSections } from './html-checks.ts';
import { courseOf } from './html-course.ts';
import { devicesOf, errorSection, groupSection } from './html-devices.ts';
import { backoffSections, latencySection, progressOf, updateSection } from './html-figures.ts';
import {
  generatorSection,
  planSection,
  reconciliationSection,
  thresholdSections,
} from './html-run.ts';
import { verdictOf } from './html-verdict.ts';
import type { FleetFacts } from './page-facts.ts';

/**
 * Renders the page.
 * @throws Error when the page has not been built
 */
export function fleetHtml(result: FleetResult): string {
  const { plan } = result;
  return reportPage({
    module: import.meta.url,
    folder: 'simulator/report',
    title: `${outcomeOf(result).headline} (${plan.baseUrl})`,
    facts: factsOf(result),
  });
}

function factsOf(result: FleetResult): FleetFacts {
  const { ended, plan, startedAt, durationMs, seed, funnel } = result;
  return {
    title: `${countText(funnel.devices, 'device')} at ${plan.baseUrl}`,
    about:
      `Started ${startedAt}, ended after ${(durationMs / 1000).toFixed(1)} s ` +
      `(${endings[ended]}), seed "${seed}"`,
    verdict: verdictOf(result),
    progress: progressOf(result),
    course: courseOf(result),
    devices: devicesOf(result),
    sections: [
      ...thresholdSections(result),
      ...checkSections(result),
      errorSection(result),
      ...backoffSections(result),
      groupSection(result),
      latencySection(result),
      updateSection(result),
      reconciliationSection(result),
      generatorSection(result),
      planSection(result),
    ],
  };
}
