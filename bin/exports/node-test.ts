/**
 * `import { useTestbed } from 'fleetbed/node-test'`: a reference server for the tests of a file, or
 * for one test of `node:test`, that closes itself.
 */
import { after, type TestContext } from 'node:test';
import { startTestbed, type Testbed, type TestbedOptions } from './testbed.ts';

export type { ExpectedRequests, Testbed, TestbedDevice } from './testbed.ts';
export type { TestbedOptions };

/** The options of the server, and the test that it is for. */
export interface UseTestbedOptions extends TestbedOptions {
  /** The context of the test after which the server closes; the whole file when absent. */
  readonly test?: Pick<TestContext, 'after'>;
}

/**
 * Starts a server on free loopback ports, and closes it by itself: after the test of `test`, else
 * after the tests of the file.
 * @throws SettingError for a wrong option, as `startTestbed` does
 */
export function useTestbed({ test, ...options }: UseTestbedOptions = {}): Promise<Testbed> {
  const starting = startTestbed(options);
  // A server that did not start needs no closing.
  const close = (): Promise<void> =>
    starting.then(
      (testbed) => testbed.close(),
      () => {},
    );
  if (test) test.after(close);
  else after(close);
  return starting;
}
