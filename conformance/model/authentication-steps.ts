/** Steps by which a device gets a token and a user decides on it. Spec: States and transitions */
import { StartStateNotReached } from '../context/start-states.ts';
import { ExpectationFailure } from '../target/expectations.ts';
import { expectToken } from '../target/token-claims.ts';
import { type ExpectedDevice, type ExpectedState, nameOf } from './expected-state.ts';
import {
  checkTokenAccess,
  expectStatus,
  type ModelStep,
  type TargetSide,
  targetDevice,
} from './step.ts';

/** A device sends a valid authentication request. */
export function authenticateStep(index: number): ModelStep {
  return {
    title: `device ${nameOf(index)} authenticates`,
    isPossible: () => true,
    run: async (expectedState, targetSide) => {
      const expectedDevice = expectedState.device(index);
      const device = targetDevice(targetSide, index);
      const response = await device.authenticate();
      if (expectedDevice.status === 'accepted') {
        const reason = expectedDevice.isPreauthorized
          ? 'auth.preauthorized-gets-token'
          : 'auth.accepted-gets-token';
        expectStatus(response, [200], reason);
        device.token = readToken(() => expectToken(response));
        expectedDevice.token = 'valid';
        expectedDevice.isPreauthorized = false;
        return;
      }
      if (expectedDevice.status === 'unknown')
        expectStatus(response, [401], 'auth.first-contact-is-401');
      else if (expectedDevice.status === 'pending')
        expectStatus(response, [401], 'auth.undecided-is-401');
      else if (expectedDevice.status === 'rejected')
        expectStatus(response, [401, 403], 'auth.rejected-is-refused');
      else expectStatus(response, [401, 403], 'auth.undecided-is-401', 'auth.first-contact-is-401');
      if (expectedDevice.status === 'decommissioned')
        targetSide.recordObservation('a decommissioned device', `${response.status}`);
      const isRecorded = response.status === 401 && expectedDevice.status !== 'rejected';
      if (isRecorded) expectedDevice.status = 'pending';
    },
  };
}

/** A device sends an authentication request signed with another key. */
export function forgedSignatureStep(index: number): ModelStep {
  return {
    title: `someone without its key authenticates as device ${nameOf(index)}`,
    // The contract leaves open if such a request makes a device known.
    isPossible: (expectedState) =>
      !['unknown', 'decommissioned'].includes(expectedState.device(index).status),
    run: async (_, targetSide) => {
      const signedBy = await targetSide.context.newKey();
      const response = await targetDevice(targetSide, index).authenticate({ signedBy });
      expectStatus(response, [400, 401, 403], 'auth.signature-must-verify');
    },
  };
}

/** A user preauthorizes a device before its first contact. */
export function preauthorizeStep(index: number): ModelStep {
  return {
    title: `a user pre-authorizes device ${nameOf(index)}`,
    isPossible: (expectedState) => expectedState.device(index).status === 'unknown',
    run: async (expectedState, targetSide) => {
      const device = targetDevice(targetSide, index);
      device.known = true;
      device.id = await targetSide.context.admin.preauthorize(device.identity, device.key);
      setStatus(expectedState.device(index), 'accepted');
      expectedState.device(index).isPreauthorized = true;
    },
  };
}

/** A user accepts a pending or rejected device. */
export function acceptStep(index: number): ModelStep {
  return {
    title: `a user accepts device ${nameOf(index)}`,
    isPossible: (expectedState) =>
      ['pending', 'rejected'].includes(expectedState.device(index).status),
    run: async (expectedState, targetSide) => {
      await decide(targetSide, index, 'accepted');
      const expectedDevice = expectedState.device(index);
      setStatus(expectedDevice, 'accepted');
      expectedDevice.isPreauthorized = false;
      // The contract leaves open if an acceptance restores an older token.
      if (expectedDevice.token === 'revoked') expectedDevice.token = 'undetermined';
    },
  };
}

/** A user rejects a device. */
export function rejectStep(index: number): ModelStep {
  return {
    title: `a user rejects device ${nameOf(index)}`,
    // A key that was never used is removed, not rejected, which is another action.
    isPossible: (expectedState) => {
      const { status, isPreauthorized } = expectedState.device(index);
      return status === 'pending' || (status === 'accepted' && !isPreauthorized);
    },
    run: async (expectedState, targetSide) => {
      await decide(targetSide, index, 'rejected');
      setStatus(expectedState.device(index), 'rejected');
      expectedState.setUndetermined(index);
    },
  };
}

/** A user removes a device from the server. */
export function decommissionStep(index: number): ModelStep {
  return {
    title: `a user decommissions device ${nameOf(index)}`,
    isPossible: (expectedState) =>
      !['unknown', 'decommissioned'].includes(expectedState.device(index).status),
    run: async (expectedState, targetSide) => {
      const device = targetDevice(targetSide, index);
      await findDeviceId(targetSide, index);
      await targetSide.context.admin.decommission(device.id);
      device.id = '';
      setStatus(expectedState.device(index), 'decommissioned');
      expectedState.device(index).isPreauthorized = false;
      expectedState.forget(index);
    },
  };
}

/** A device calls with its newest token, or without one. */
export function callStep(index: number, withToken: boolean): ModelStep {
  const device = `device ${nameOf(index)}`;
  return {
    title: withToken ? `${device} calls with its token` : `${device} calls without a token`,
    isPossible: (expectedState) => !withToken || expectedState.device(index).canCall,
    run: async (expectedState, targetSide) => {
      if (!withToken) {
        const response = await targetSide.context.caller().call('get-configuration');
        expectStatus(response, [401], 'tokens.missing-is-401');
        return;
      }
      const response = await targetDevice(targetSide, index).call('get-configuration');
      if (checkTokenAccess(expectedState.device(index), response))
        expectStatus(response, [200, 404], 'tokens.renewal');
    },
  };
}

function setStatus(expectedDevice: ExpectedDevice, status: ExpectedDevice['status']): void {
  expectedDevice.status = status;
  if (status !== 'accepted' && expectedDevice.token !== 'none') expectedDevice.token = 'revoked';
}

async function decide(
  targetSide: TargetSide,
  index: number,
  status: 'accepted' | 'rejected',
): Promise<void> {
  await findDeviceId(targetSide, index);
  const { id, key } = targetDevice(targetSide, index);
  await targetSide.context.admin.decide(id, key, status);
}

/** Looks up the ID of a device as a user, unless it is known. Throws StartStateNotReached. */
async function findDeviceId(targetSide: TargetSide, index: number): Promise<void> {
  const device = targetDevice(targetSide, index);
  if (device.id !== '') return;
  const userDevice = await targetSide.eventually(
    () => targetSide.context.admin.findDevice(device.identity),
    (shown) => shown !== undefined,
  );
  if (!userDevice) throw new StartStateNotReached('a device that users see', 'no user sees it');
  device.id = userDevice.id;
}

function readToken(read: () => string): string {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof ExpectationFailure)) throw error;
    throw new ExpectationFailure(error.expected, error.actual, ['auth.token-is-plain-text']);
  }
}

/** Brings a sequence's devices into their start states. */
export async function arrangeStart(
  expectedState: ExpectedState,
  targetSide: TargetSide,
): Promise<void> {
  for (const [index, { status }] of expectedState.devices.entries()) {
    if (status !== 'accepted') continue;
    const device = targetDevice(targetSide, index);
    device.known = true;
    device.id = await targetSide.context.admin.preauthorize(device.identity, device.key);
    const response = await device.authenticate();
    if (response.status !== 200) {
      throw new StartStateNotReached(
        'an accepted device',
        `it was answered with ${response.status}`,
      );
    }
    device.token = expectToken(response);
  }
}
