/**
 * Renders a fleet's result as one self-contained page: everything is written into it at render
 * time, and a small script filters the devices. Text from a device or a server stays text.
 */
import { reportPage, selfContainedPage } from '../../fixtures/markup.ts';
import type { FleetResult } from '../result/result.ts';
import { endings, headline } from './headline.ts';
import { checkSection } from './html-checks.ts';
import { devicesSection, errorSection, groupSection } from './html-devices.ts';
import { element, type Html, mark } from './html-elements.ts';
import { backoffSection, latencySection, overTimeSection, updateSection } from './html-figures.ts';
import { balanceSection, generatorSection, planSection, thresholdSection } from './html-run.ts';

/** Renders the page. Throws when the page's script has not been built. */
export function fleetHtml(result: FleetResult): string {
  const { plan } = result;
  const { text } = headline(result);
  const page = reportPage(import.meta.url, 'simulator/report');
  const body = [
    element('a', { class: 'skip', href: '#main' }, 'Skip to the content'),
    head(result),
    element('main', { id: 'main', tabindex: -1 }, ...sectionsOf(result)),
  ];
  return selfContainedPage({
    title: `${text} (${plan.baseUrl})`,
    style: page.style,
    script: page.part('page.js').replace(/^export \{\};\n?/m, ''),
    body: body.join('\n'),
  });
}

function sectionsOf(result: FleetResult): readonly Html[] {
  return [
    updateSection(result),
    thresholdSection(result),
    ...checkSection(result),
    overTimeSection(result),
    ...backoffSection(result),
    latencySection(result),
    errorSection(result),
    groupSection(result),
    devicesSection(result),
    balanceSection(result),
    generatorSection(result),
    planSection(result),
  ];
}

function head(result: FleetResult): Html {
  const { ended, plan, startedAt, durationMs, validity, balance, thresholds } = result;
  const missed = thresholds.filter(({ verdict }) => verdict !== 'met').length;
  const words = [
    mark(`${validity} figures`, validity === 'valid' ? 'good' : 'bad'),
    balance.checked
      ? mark(balance.ok ? 'reconciled' : 'reconciliation differs', balance.ok ? 'good' : 'bad')
      : mark('not reconciled', 'warn'),
    ...(thresholds.length === 0
      ? []
      : [
          mark(
            `${thresholds.length - missed} of ${thresholds.length} thresholds met`,
            missed === 0 ? 'good' : 'bad',
          ),
        ]),
  ];
  return element(
    'header',
    {},
    element('h1', {}, headline(result).text),
    element('p', {}, plan.baseUrl),
    element(
      'p',
      { class: 'hint' },
      `Started ${startedAt}, ended after ${(durationMs / 1000).toFixed(1)} s (${endings[ended]}), seed "${result.seed}"`,
    ),
    element(
      'ul',
      { class: 'marks', 'aria-label': 'Summary' },
      ...words.map((word) => element('li', {}, word)),
    ),
  );
}
