/** Creates a test context for a stub server, for tests of the test context. */
import { type Clock, systemClock } from '../../fixtures/base/clock.ts';
import { seededRandom } from '../../fixtures/base/random.ts';
import { vendorNames } from '../../fixtures/contract/vendor-names.ts';
import { capabilityNames, operationsWith } from '../context/capabilities.ts';
import { noLedger } from '../context/cleanup-ledger.ts';
import { Keyring } from '../context/keyring.ts';
import { ManagementAdmin } from '../context/management-admin.ts';
import type { ModelOptions } from '../context/model-options.ts';
import { SharedArtifacts } from '../context/shared-artifacts.ts';
import { TestContext } from '../context/test-context.ts';
import { Target } from '../target/target.ts';

/** Returns a context with a user on the server at the base URL. */
export function contextOn(
  baseUrl: string,
  clock: Clock = systemClock,
  model: ModelOptions = {},
): TestContext {
  const target = new Target({ baseUrl, clock, requestTimeLimitMs: 5000 });
  const { signal } = new AbortController();
  const client = target.newClient({ signal });
  const random = seededRandom('a stage');
  const keyring = new Keyring();
  return new TestContext({
    client,
    admin: new ManagementAdmin(client, { token: 'user-token' }),
    control: undefined,
    operations: operationsWith(new Set(capabilityNames)),
    artifacts: new SharedArtifacts('cafe'),
    ledger: noLedger,
    caseId: 'example/one',
    keyFor: (keyType) => keyring.keyFor(keyType, random),
    names: vendorNames('X-SVC'),
    runId: 'cafe',
    clock,
    random,
    signal,
    maskSecret: () => undefined,
    model,
  });
}
