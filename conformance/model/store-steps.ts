/** Steps that write and read device data: configuration, attributes, alerts. */
import type { RequirementId } from '../../fixtures/contract/requirements/index.ts';
import { describeValue } from '../target/expectations.ts';
import type { HttpResponse } from '../target/response.ts';
import { type ExpectedState, type ModelAttributeValue, nameOf } from './expected-state.ts';
import type { ImpossibleValue } from './possible-values.ts';
import {
  checkTokenAccess,
  expectStatus,
  failWith,
  type ModelStep,
  type TargetSide,
  targetDevice,
} from './step.ts';

/** Requirements that a wrong value of a pair may violate, besides the one by which it was set. */
export const valueRequirements = [
  'configuration.own-store',
  'configuration.written-is-read',
  'configuration.read-all',
  'configuration.read-strings',
] as const satisfies readonly RequirementId[];

/**
 * Requirements that a wrong value of an attribute may violate, besides the one by which it was set.
 */
export const attributeRequirements = [
  'inventory.own-attributes',
  'inventory.patch-upserts',
  'inventory.patch-adds',
  'inventory.patch-keeps',
  'inventory.put-assigns',
  'inventory.put-replaces',
  'inventory.number',
  'inventory.numbers',
  'inventory.string',
  'inventory.strings',
  'inventory.value-kinds',
] as const satisfies readonly RequirementId[];

type ConfigurationPairs = Readonly<Record<string, string>>;
type AttributeValues = Readonly<Record<string, ModelAttributeValue>>;

/** A device sets pairs of its configuration; an empty value removes its key. */
export function configureStep(index: number, pairs: ConfigurationPairs): ModelStep {
  return {
    title: `device ${nameOf(index)} sets ${JSON.stringify(pairs)}`,
    isPossible: (expectedState) => expectedState.device(index).canCall,
    run: async (expectedState, targetSide) => {
      const expectedDevice = expectedState.device(index);
      const response = await targetDevice(targetSide, index).call('put-configuration', {
        body: pairs,
      });
      if (!checkTokenAccess(expectedDevice, response)) return;
      const isRemoval = Object.values(pairs).every((value) => value === '');
      expectStatus(
        response,
        [204],
        isRemoval ? 'configuration.remove-unknown' : 'configuration.write',
      );
      const { configuration } = expectedDevice;
      configuration.allowAbsence(Object.keys(pairs));
      for (const [name, value] of Object.entries(pairs)) {
        if (value === '') configuration.set(name, undefined, 'configuration.empty-removes');
        else if (configuration.has(name)) configuration.set(name, value, 'configuration.update');
        else configuration.set(name, value, 'configuration.written-is-read');
      }
    },
  };
}

/** A device sets a value that is not a string, which changes nothing. */
export function configureInvalidValueStep(index: number, name: string, value: unknown): ModelStep {
  const body = { [name]: value };
  return {
    title: `device ${nameOf(index)} sets ${JSON.stringify(body)}`,
    isPossible: (expectedState) => expectedState.device(index).canCall,
    run: async (expectedState, targetSide) => {
      const response = await targetDevice(targetSide, index).call('put-configuration', { body });
      if (checkTokenAccess(expectedState.device(index), response)) {
        expectStatus(response, [400], 'configuration.values-are-strings');
      }
    },
  };
}

/** A user sets the configuration of a device. */
export function configureByUserStep(index: number, pairs: ConfigurationPairs): ModelStep {
  return {
    title: `a user sets ${JSON.stringify(pairs)} for device ${nameOf(index)}`,
    isPossible: (expectedState) => expectedState.device(index).token === 'valid',
    run: async (expectedState, targetSide) => {
      await targetSide.context.admin.configure(targetDevice(targetSide, index).id, pairs);
      const { configuration } = expectedState.device(index);
      configuration.allowAbsence();
      expectedState.device(index).isUserChangePending = true;
      for (const [name, value] of Object.entries(pairs)) {
        configuration.set(name, value, 'configuration.set-by-user');
      }
    },
  };
}

/** A device reads its configuration. */
export function readConfigurationStep(index: number): ModelStep {
  return {
    title: `device ${nameOf(index)} reads its configuration`,
    isPossible: (expectedState) => expectedState.device(index).canCall,
    run: async (expectedState, targetSide) => {
      const expectedDevice = expectedState.device(index);
      const { configuration } = expectedDevice;
      const { response, pairs } = await targetSide.eventually(
        async () => {
          const configurationResponse = await targetDevice(targetSide, index).call(
            'get-configuration',
          );
          return { response: configurationResponse, pairs: pairsOf(configurationResponse) };
        },
        ({ pairs: read }) =>
          !expectedDevice.isUserChangePending ||
          (read !== undefined && !configuration.firstImpossible(read)),
      );
      if (!checkTokenAccess(expectedDevice, response)) return;
      expectStatus(response, configuration.mayBeEmpty() ? [200, 404] : [200], 'configuration.read');
      if (response.status === 404) return;
      if (!pairs) failWith('a map of strings', describeValue(response.text), 'configuration.read');
      const firstImpossible = configuration.firstImpossible(pairs);
      if (firstImpossible) failWithValue(firstImpossible, valueRequirements);
      configuration.adopt(pairs);
      expectedDevice.isUserChangePending = false;
    },
  };
}

/** A device writes attributes: PATCH adds to what it has, PUT replaces it. */
export function writeAttributesStep(
  index: number,
  method: 'PATCH' | 'PUT',
  attributes: AttributeValues,
): ModelStep {
  const isPatch = method === 'PATCH';
  return {
    title: `device ${nameOf(index)} writes attributes by ${method} ${JSON.stringify(attributes)}`,
    isPossible: (expectedState) => expectedState.device(index).canCall,
    run: async (expectedState, targetSide) => {
      const expectedDevice = expectedState.device(index);
      const body = Object.entries(attributes).map(([name, value]) => ({ name, value }));
      const operation = isPatch ? 'patch-attributes' : 'put-attributes';
      const response = await targetDevice(targetSide, index).call(operation, { body });
      if (!checkTokenAccess(expectedDevice, response)) return;
      expectStatus(response, [200], isPatch ? 'inventory.patch-is-200' : 'inventory.put-is-200');
      const reason = isPatch ? 'inventory.patch-upserts' : 'inventory.put-replaces';
      for (const [name, value] of Object.entries({
        ...(isPatch ? {} : noAttributes),
        ...attributes,
      })) {
        expectedDevice.attributes.set(name, value, reason);
      }
    },
  };
}

const noAttributes = { load: undefined, modes: undefined, place: undefined };

/** A device writes an attribute of an invalid kind, which changes nothing. */
export function writeInvalidAttributeStep(
  index: number,
  method: 'PATCH' | 'PUT',
  value: unknown,
): ModelStep {
  return {
    title: `device ${nameOf(index)} writes attributes by ${method} load=${JSON.stringify(value)}`,
    isPossible: (expectedState) => expectedState.device(index).canCall,
    run: async (expectedState, targetSide) => {
      const operation = method === 'PATCH' ? 'patch-attributes' : 'put-attributes';
      const body = [{ name: 'load', value }];
      const response = await targetDevice(targetSide, index).call(operation, { body });
      if (checkTokenAccess(expectedState.device(index), response)) {
        expectStatus(response, [400], kindRequirement(value));
      }
    },
  };
}

/** Returns the requirement by which a server must refuse the value. */
function kindRequirement(value: unknown): RequirementId {
  if (value === null) return 'inventory.value';
  const isMixed = Array.isArray(value) && value.some((entry) => typeof entry === 'string');
  return isMixed ? 'inventory.mixed-arrays-are-400' : 'inventory.other-kinds-are-400';
}

/** A user reads the attributes of a device. */
export function readDeviceStep(index: number): ModelStep {
  return {
    title: `a user reads the attributes of device ${nameOf(index)}`,
    isPossible: (expectedState) => expectedState.device(index).status === 'accepted',
    run: async (expectedState, targetSide) => {
      const { attributes } = expectedState.device(index);
      const { id } = targetDevice(targetSide, index);
      const shownValue = await targetSide.eventually(
        async () => {
          const deviceAttributes = await targetSide.context.admin.attributes(id);
          return Object.fromEntries(
            deviceAttributes.map(({ name, value }) => [name, value as ModelAttributeValue]),
          );
        },
        (read) => attributes.firstImpossible(read) === undefined,
      );
      const firstImpossible = attributes.firstImpossible(shownValue);
      if (firstImpossible) failWithValue(firstImpossible, attributeRequirements);
      attributes.adopt(shownValue);
    },
  };
}

/** A device sends an alert. */
export function sendAlertStep(index: number, level: string): ModelStep {
  const subject = { name: 'disk', type: 'df', status: 'full' };
  const body = [{ name: 'disk', level, subject, timestamp: '2026-01-01T00:00:00Z' }];
  const isValid = level === 'OK' || level === 'CRITICAL';
  return {
    title: `device ${nameOf(index)} sends an alert of level ${level}`,
    isPossible: (expectedState) => expectedState.device(index).canCall,
    run: async (expectedState: ExpectedState, targetSide: TargetSide) => {
      const response = await targetDevice(targetSide, index).call('post-alerts', { body });
      if (!checkTokenAccess(expectedState.device(index), response)) return;
      const levelRequirement = level === 'OK' ? 'alerts.level-ok' : 'alerts.level-critical';
      if (isValid) expectStatus(response, [204], 'alerts.are-accepted', levelRequirement);
      else expectStatus(response, [400], 'alerts.levels');
    },
  };
}

/**
 * Throws an ExpectationFailure for a wrong value. It names the requirement that set the value and
 * the general `requirements`, since the cause may be missing persistence or a mix-up of devices.
 */
function failWithValue(
  { name, allowed, found, reason }: ImpossibleValue,
  requirements: readonly RequirementId[],
): never {
  const values = allowed.map((value) => (value === undefined ? 'no value' : describeValue(value)));
  const violated = [...new Set([reason, ...requirements])];
  failWith(
    `${values.join(' or ')} for ${name}`,
    found === undefined ? 'none' : describeValue(found),
    ...violated,
  );
}

function pairsOf({ status, text }: HttpResponse): Readonly<Record<string, string>> | undefined {
  if (status !== 200) return status === 404 ? {} : undefined;
  try {
    const parsed: unknown = JSON.parse(text);
    const isMap = typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed);
    return isMap ? (parsed as Readonly<Record<string, string>>) : undefined;
  } catch {
    return undefined;
  }
}
