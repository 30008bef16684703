/** A device of a tenant for tests: what it reported and requested, as the journal recorded it. */
import { systemClock } from '../../../fixtures/base/clock.ts';
import type { ReportableStatus } from '../../../fixtures/contract/vocabulary.ts';
import type { EntryFilter } from '../../journal/filter.ts';
import { AwaitTimeout, type EntryAwaitOptions, type TestbedJournal } from './journal.ts';

/**
 * The filter that requests of a device must match; `times` is how many must, at least one if
 * absent.
 */
export interface ExpectedRequests extends Pick<EntryFilter, 'status' | 'method' | 'text'> {
  readonly times?: number;
}

/** A device of a tenant. It need not exist yet: it is looked up in the journal at each call. */
export interface TestbedDevice {
  /** The device's ID, the text of its identity, or the value of a member of its identity. */
  readonly name: string;
  /**
   * Checks that the device reported these statuses in this order, and that the server accepted each
   * report; other reports may lie between them.
   * @throws JournalAssertionError with what the device did instead
   */
  assertReported(...statuses: readonly ReportableStatus[]): void;
  /**
   * Checks that the device requested an operation, such as `get-next-deployment`.
   * @throws JournalAssertionError with what the device did instead
   */
  assertRequested(operation: string, expected?: ExpectedRequests): void;
  /**
   * Resolves when the device has reported the status, now or later, and the server accepted it.
   * Waits ten seconds by default.
   * @throws JournalAssertionError with what the device did instead
   */
  untilReported(status: ReportableStatus, patience?: EntryAwaitOptions): Promise<void>;
}

const TIMEOUT_SECONDS = 10;

/** Creates the test interface of a device of a tenant. */
export function testbedDevice(name: string, journal: TestbedJournal): TestbedDevice {
  const assertReported: TestbedDevice['assertReported'] = (...statuses) =>
    journal.assert({ device: name, happened: statuses.map((report) => ({ report })) });
  const untilReported: TestbedDevice['untilReported'] = async (
    status,
    { after = 0, timeoutSeconds = TIMEOUT_SECONDS } = {},
  ) => {
    const filter = { device: name, operation: 'put-deployment-status', status: '2xx' };
    const endMs = systemClock.monotonicMs() + timeoutSeconds * 1000;
    let last = after;
    for (;;) {
      const leftSeconds = Math.max(0, endMs - systemClock.monotonicMs()) / 1000;
      const entry = await journal.await(filter, { after: last, timeoutSeconds: leftSeconds });
      if (entry.report === status) return;
      last = entry.sequence;
    }
  };
  return {
    name,
    assertReported,
    assertRequested: (operation, { times, ...request } = {}) =>
      journal.assert({ device: name, happened: [{ operation, ...request }], times }),
    untilReported: (status, patience) =>
      untilReported(status, patience).catch((error: unknown) => {
        // The sentence of the assertion says what the device did instead.
        if (error instanceof AwaitTimeout) assertReported(status);
        throw error;
      }),
  };
}
