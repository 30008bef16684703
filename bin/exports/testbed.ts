/**
 * The package's main export: the server embedded in tests, which also judges the device clients
 * that talk to it. `import { startTestbed } from 'fleetbed'`.
 */
import {
  startTestbed as startServerTestbed,
  type Testbed,
  type TestbedOptions,
} from '../../server/testbed.ts';

export {
  AdminRefusal,
  AwaitTimeout,
  ClientViolationsError,
  type ExpectedRequests,
  FaultPlanError,
  JournalAssertionError,
  type NewTenantOptions,
  type Testbed,
  type TestbedDevice,
  type TestbedOptions,
  type TestbedTenant,
  type TestbedTenants,
  UnfiredFaultsError,
} from '../../server/testbed.ts';

/**
 * Starts a server on free loopback ports, silent by default. Several may run in one process.
 * Rejects with the system's error (such as EADDRINUSE) when a port cannot be used, SettingError for
 * an invalid setting, and WorldFileError when `world` cannot be loaded.
 */
export function startTestbed(options: TestbedOptions = {}): Promise<Testbed> {
  return startServerTestbed({ judge: loadClientReader, ...options });
}

/** Loads the judge, which the first request of a device needs. */
async function loadClientReader() {
  const { clientReader } = await import('../client-test/client-reader.ts');
  return clientReader;
}
