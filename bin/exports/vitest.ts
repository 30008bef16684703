/**
 * `import { useTestbed } from 'fleetbed/vitest'`: a reference server for the tests of a file, or for
 * one test, that closes itself, and matchers for what a device did. The import adds the matchers to
 * `expect`.
 */
import { afterAll, expect, onTestFinished, type TestContext, TestRunner } from 'vitest';
import type { ReportableStatus } from '../../fixtures/contract/vocabulary.ts';
import {
  type ExpectedRequests,
  JournalAssertionError,
  startTestbed,
  type Testbed,
  type TestbedDevice,
  type TestbedOptions,
} from './testbed.ts';

export type { ExpectedRequests, Testbed, TestbedDevice, TestbedOptions };

/** The options of the server, and the test that it is for. */
export interface UseTestbedOptions extends TestbedOptions {
  /**
   * The context of the test after which the server closes. A test that runs beside others needs it,
   * because Vitest cannot tell which of them calls; each other test is found without it.
   */
  readonly test?: Pick<TestContext, 'onTestFinished'>;
}

/**
 * Starts a server on free loopback ports, and closes it by itself: after the test when a test calls
 * it, else after the tests of the file or of the `describe` that calls it.
 * @throws SettingError for a wrong option, as `startTestbed` does
 */
export function useTestbed({ test, ...options }: UseTestbedOptions = {}): Promise<Testbed> {
  const starting = startTestbed(options);
  const close = (): Promise<void> => starting.then((testbed) => testbed.close(), noop);
  if (test) test.onTestFinished(close);
  else if (TestRunner.getCurrentTest()) onTestFinished(close);
  else afterAll(close);
  return starting;
}

/** A server that did not start needs no closing. */
const noop = (): void => {};

/** Matchers for a device of a testbed: `expect(testbed.device('A-1')).toHaveReported('success')`. */
export interface DeviceMatchers<Result> {
  /**
   * The device reported these statuses in this order, and the server accepted each; other reports may
   * lie between them.
   */
  toHaveReported(...statuses: readonly ReportableStatus[]): Result;
  /** The device requested an operation, such as `get-next-deployment`. */
  toHaveRequested(operation: string, expected?: ExpectedRequests): Result;
}

declare module 'vitest' {
  interface Matchers<T> extends DeviceMatchers<T> {}
}

/** Returns the outcome of a matcher; a failed assertion of the testbed brings its sentence. */
function outcomeOf(claim: string, assertion: () => void) {
  try {
    assertion();
    return { pass: true, message: () => `${claim}, and was not to` };
  } catch (error) {
    if (!(error instanceof JournalAssertionError)) throw error;
    return { pass: false, message: () => error.message };
  }
}

expect.extend({
  toHaveReported: (device: TestbedDevice, ...statuses: readonly ReportableStatus[]) =>
    outcomeOf(`device ${device.name} reported ${statuses.join(', then ')}`, () =>
      device.assertReported(...statuses),
    ),
  toHaveRequested: (device: TestbedDevice, operation: string, expected?: ExpectedRequests) =>
    outcomeOf(`device ${device.name} requested ${operation}`, () =>
      device.assertRequested(operation, expected),
    ),
});
