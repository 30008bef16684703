/**
 * Cases: hostile bodies. Authentication requests are signed again after the change, so that they
 * pass the signature check and are parsed. Spec: Errors
 */
import type { RequirementId } from '../../fixtures/contract/requirements/index.ts';
import { acceptedDevice, activeDeployment, factoryProvides } from '../context/start-states.ts';
import type { SuiteDevice } from '../context/suite-device.ts';
import type { TestContext } from '../context/test-context.ts';
import { defineScenario, type JudgingCase } from '../suite/case.ts';
import { describeValue, ExpectationFailure, responseSummary } from '../target/expectations.ts';
import type { HttpResponse } from '../target/response.ts';
import { type HostileBody, hostileBody, strictJson } from './hostile-bodies.ts';

const BODIES = 60;
const BODIES_OF_AN_OPERATION = 25;

/** Asserts that a body which is certainly invalid is refused, with an Error body. */
function expectRefusal(
  { change, bytes }: HostileBody,
  response: HttpResponse,
  requirement: RequirementId,
): void {
  const sentBody = `a body ${change}: ${describeValue(bytes.toString('latin1'))}`;
  if (response.status < 400 || response.status >= 500) {
    throw new ExpectationFailure(`a refusal of ${sentBody}`, responseSummary(response), [
      requirement,
    ]);
  }
  const error = strictJson(response.bytes);
  if (typeof error === 'object' && error !== null && !Array.isArray(error)) return;
  throw new ExpectationFailure(`an Error body for ${sentBody}`, responseSummary(response), [
    'errors.body-is-error',
  ]);
}

/**
 * Returns the requirement that an authentication request violates; undefined if it may be valid.
 */
function violatedRequirement(bytes: Buffer): RequirementId | undefined {
  const value = strictJson(bytes);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return 'auth.malformed-is-400';
  }
  const { id_data: idData, pubkey }: Readonly<Record<string, unknown>> = { ...value };
  if (typeof idData !== 'string') return 'auth.id-data-is-required';
  if (typeof pubkey !== 'string') return 'auth.pubkey-is-required';
  return undefined;
}

const authenticationCase: JudgingCase<SuiteDevice> = {
  id: 'hostile-authentication-requests-are-refused',
  title: 'Malformed but signed authentication requests are refused with an Error body.',
  requirements: [
    'auth.malformed-is-400',
    'auth.id-data-is-required',
    'auth.pubkey-is-required',
    'errors.body-is-error',
  ],
  run: async (device, context) => {
    const random = context.random.stream('hostile');
    for (let count = 0; count < BODIES; count += 1) {
      const body = hostileBody(Buffer.from(device.authRequest()), random);
      const requirement = violatedRequirement(body.bytes);
      // A valid one might create another device, which would never be removed.
      if (requirement === undefined) continue;
      const signature = device.key.sign(body.bytes).toString('base64');
      const response = await context.caller().call('post-auth-request', {
        raw: body.bytes,
        headers: { [context.names.signature.toLowerCase()]: signature },
      });
      expectRefusal(body, response, requirement);
    }
  },
};

/**
 * A body that an operation accepts, and the requirement by which one that is not JSON is refused.
 */
interface BodyOperation<Arranged> {
  readonly slug: string;
  readonly requirement: RequirementId;
  readonly body: unknown;
  readonly send: (arranged: Arranged, raw: Buffer) => Promise<HttpResponse>;
}

interface DeviceAndDeployment {
  readonly device: SuiteDevice;
  readonly id: string;
}

const alert = {
  name: 'disk',
  level: 'OK',
  subject: { name: 'disk', type: 'df', status: 'full' },
  timestamp: '2026-01-01T00:00:00Z',
};

const bodyOperations: readonly BodyOperation<SuiteDevice>[] = [
  {
    slug: 'configuration',
    requirement: 'configuration.malformed-is-400',
    body: { timezone: 'UTC', colour: 'größer' },
    send: (device, raw) => device.call('put-configuration', { raw }),
  },
  {
    slug: 'inventory',
    requirement: 'inventory.malformed-is-400',
    body: [{ name: 'load', value: [1, 2] }],
    send: (device, raw) => device.call('patch-attributes', { raw }),
  },
  {
    slug: 'whole-inventory',
    requirement: 'inventory.malformed-is-400',
    body: [{ name: 'place', value: ['north', 'süd'] }],
    send: (device, raw) => device.call('put-attributes', { raw }),
  },
  {
    slug: 'next-deployment',
    requirement: 'next.post-body',
    body: factoryProvides,
    send: (device, raw) => device.call('post-next-deployment', { raw }),
  },
  {
    slug: 'next-deployment-v2',
    requirement: 'next.v2-body',
    body: { device_provides: factoryProvides, update_control_map: false },
    send: (device, raw) => device.call('post-next-deployment-v2', { raw }),
  },
  {
    slug: 'alert',
    requirement: 'alerts.malformed-is-400',
    body: [alert],
    send: (device, raw) => device.call('post-alerts', { raw }),
  },
  {
    slug: 'monitor',
    requirement: 'monitor.malformed-is-400',
    body: [{ name: 'disk', status: 'on', type: 'df' }],
    send: (device, raw) => device.call('post-monitor-configuration', { raw }),
  },
];

const reportOperations: readonly BodyOperation<DeviceAndDeployment>[] = [
  {
    slug: 'status',
    requirement: 'status.malformed-is-400',
    body: { status: 'installing', substate: 'größer' },
    send: ({ device, id }, raw) => device.call('put-deployment-status', { path: { id }, raw }),
  },
  {
    slug: 'log',
    requirement: 'log.malformed-is-400',
    body: {
      messages: [{ timestamp: '2026-01-31T12:00:00Z', level: 'info', message: 'größer' }],
    },
    send: ({ device, id }, raw) => device.call('put-deployment-log', { path: { id }, raw }),
  },
];

function operationCase<Arranged>({
  slug,
  requirement,
  body,
  send,
}: BodyOperation<Arranged>): JudgingCase<Arranged> {
  return {
    id: `hostile-${slug}-bodies-are-refused`,
    title: `Bodies for the ${slug} that are no longer JSON are refused with an Error body.`,
    requirements: [requirement, 'errors.body-is-error'],
    run: async (arranged, context: TestContext) => {
      const random = context.random.stream('hostile');
      for (let count = 0; count < BODIES_OF_AN_OPERATION; count += 1) {
        const hostile = hostileBody(Buffer.from(JSON.stringify(body)), random);
        // Zero bytes are an absent body, which some operations accept.
        if (hostile.bytes.length === 0 || strictJson(hostile.bytes) !== undefined) continue;
        expectRefusal(hostile, await send(arranged, hostile.bytes), requirement);
      }
    },
  };
}

const deviceCases = defineScenario({
  area: 'model',
  name: 'Hostile bodies',
  start: 'an accepted device',
  effect: 'write',
  needs: ['user'],
  arrange: acceptedDevice,
  cases: [authenticationCase, ...bodyOperations.map(operationCase)],
});

const deploymentCases = defineScenario<DeviceAndDeployment>({
  area: 'model',
  name: 'Hostile reports',
  start: 'a device that was offered a deployment',
  effect: 'write',
  needs: ['user'],
  arrange: activeDeployment,
  cases: reportOperations.map(operationCase),
});

/** Spec: Errors; Device authentication; Device deployments v1, v2; Device inventory */
export const hostileCases = [...deviceCases, ...deploymentCases];
