/**
 * Formats the result of a client test as one self-contained HTML page. The page contains the result
 * as data, which the script of `page/` displays.
 */
import { reportPage } from '../../../fixtures/base/markup.ts';
import type { ClientTestResult } from './client-test-result.ts';

/** Returns the page. @throws Error when the page was not built */
export function clientTestHtml(testResult: ClientTestResult): string {
  return reportPage({
    module: import.meta.url,
    folder: 'conformance/client-judge/report',
    title: `Test of a device client: ${testResult.outcome}`,
    facts: testResult,
  });
}
