/**
 * Formats the result of an examination as one self-contained HTML page. The page contains the result
 * as data, which the script of `page/` displays.
 */
import { reportPage } from '../../../fixtures/base/markup.ts';
import type { Examination } from './examination.ts';

/** Returns the page. @throws Error when the page was not built */
export function examinationHtml(examination: Examination): string {
  return reportPage({
    module: import.meta.url,
    folder: 'conformance/clients/report',
    title: `Examination of a device client: ${examination.outcome}`,
    facts: examination,
  });
}
