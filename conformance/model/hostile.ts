/**
 * Cases: hostile bodies. Those of authentication requests are signed again after the mutation, so
 * that they reach what reads them. Spec: Errors
 */
import type { RequirementId } from '../../fixtures/contract/requirements/index.ts';
import { defineScenario, type JudgingCase } from '../case.ts';
import { ExpectationFailure, shown, shownAnswer } from '../expectations.ts';
import type { Stage } from '../stage/stage.ts';
import { acceptedDevice } from '../stage/start-states.ts';
import type { SuiteDevice } from '../stage/suite-device.ts';
import type { Answer } from '../target/target.ts';
import { type Mutated, mutated, strictJson } from './mutations.ts';

const BODIES = 60;
const BODIES_OF_AN_OPERATION = 25;

/** Holds when a body that no reading allows is refused, and with an Error body. */
function expectRefusal({ words, bytes }: Mutated, answer: Answer, missed: RequirementId): void {
  const sent = `a body ${words}: ${shown(bytes.toString('latin1'))}`;
  if (answer.status < 400 || answer.status >= 500) {
    throw new ExpectationFailure(`a refusal of ${sent}`, shownAnswer(answer), [missed]);
  }
  const error = strictJson(answer.bytes);
  if (typeof error === 'object' && error !== null && !Array.isArray(error)) return;
  throw new ExpectationFailure(`an Error body for ${sent}`, shownAnswer(answer), [
    'errors.body-is-error',
  ]);
}

/** The rule by which an authentication request is refused; undefined where it may be legal. */
function brokenRule(bytes: Buffer): RequirementId | undefined {
  const value = strictJson(bytes);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return 'auth.malformed-is-400';
  }
  const { id_data: idData, pubkey }: Readonly<Record<string, unknown>> = { ...value };
  if (typeof idData !== 'string') return 'auth.id-data-is-required';
  if (typeof pubkey !== 'string') return 'auth.pubkey-is-required';
  return undefined;
}

const authentication: JudgingCase<SuiteDevice> = {
  id: 'hostile-authentication-requests-are-refused',
  title: 'Authentication requests that are broken and then signed are refused with an Error body.',
  requirements: [
    'auth.malformed-is-400',
    'auth.id-data-is-required',
    'auth.pubkey-is-required',
    'errors.body-is-error',
  ],
  run: async (device, stage) => {
    const random = stage.random.stream('hostile');
    for (let count = 0; count < BODIES; count += 1) {
      const body = mutated(Buffer.from(device.authRequest()), random);
      const rule = brokenRule(body.bytes);
      // One that may be legal might make another device known, which nobody would remove.
      if (rule === undefined) continue;
      const signature = device.key.sign(body.bytes).toString('base64');
      const answer = await stage.caller().call('post-auth-request', {
        raw: body.bytes,
        headers: { [stage.names.signature.toLowerCase()]: signature },
      });
      expectRefusal(body, answer, rule);
    }
  },
};

/** A body that an operation takes, and the rule by which one that is no JSON is refused. */
interface Operation {
  readonly slug: string;
  readonly rule: RequirementId;
  readonly body: unknown;
  readonly send: (device: SuiteDevice, raw: Buffer) => Promise<Answer>;
}

const alert = {
  name: 'disk',
  level: 'OK',
  subject: { name: 'disk', type: 'df', status: 'full' },
  timestamp: '2026-01-01T00:00:00Z',
};

const operations: readonly Operation[] = [
  {
    slug: 'configuration',
    rule: 'configuration.malformed-is-400',
    body: { timezone: 'UTC', colour: 'größer' },
    send: (device, raw) => device.call('put-configuration', { raw }),
  },
  {
    slug: 'inventory',
    rule: 'inventory.malformed-is-400',
    body: [{ name: 'load', value: [1, 2] }],
    send: (device, raw) => device.call('patch-attributes', { raw }),
  },
  {
    slug: 'alert',
    rule: 'alerts.malformed-is-400',
    body: [alert],
    send: (device, raw) => device.call('post-alerts', { raw }),
  },
  {
    slug: 'monitor',
    rule: 'monitor.malformed-is-400',
    body: [{ name: 'disk', status: 'on', type: 'df' }],
    send: (device, raw) => device.call('post-monitor-configuration', { raw }),
  },
];

function operationCase({ slug, rule, body, send }: Operation): JudgingCase<SuiteDevice> {
  return {
    id: `hostile-${slug}-bodies-are-refused`,
    title: `Bodies for the ${slug} that are no JSON any more are refused with an Error body.`,
    requirements: [rule, 'errors.body-is-error'],
    run: async (device, stage: Stage) => {
      const random = stage.random.stream('hostile');
      for (let count = 0; count < BODIES_OF_AN_OPERATION; count += 1) {
        const hostile = mutated(Buffer.from(JSON.stringify(body)), random);
        // A body of no bytes is none, which some operations take.
        if (hostile.bytes.length === 0 || strictJson(hostile.bytes) !== undefined) continue;
        expectRefusal(hostile, await send(device, hostile.bytes), rule);
      }
    },
  };
}

/** Spec: Errors; Device authentication */
export const hostileCases = defineScenario({
  area: 'model',
  name: 'Hostile bodies',
  start: 'an accepted device',
  risk: 'write',
  needs: ['operator'],
  arrange: acceptedDevice,
  cases: [authentication, ...operations.map(operationCase)],
});
