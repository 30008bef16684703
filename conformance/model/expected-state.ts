/**
 * The model of the contract: the expected state of the devices of one sequence, their deployments
 * and their stores, after the steps so far. Spec: States and transitions
 */
import type { ReportableStatus } from '../../fixtures/contract/vocabulary.ts';
import { PossibleValues } from './possible-values.ts';

/** Configuration keys that the steps use. */
export const configurationKeys = ['colour', 'timezone', 'volume'] as const;
/** Inventory attributes that the steps use. */
export const attributeNames = ['load', 'modes', 'place'] as const;

/** Values that an attribute may have. Spec: Attribute (inventory) */
export type ModelAttributeValue = number | string | readonly number[] | readonly string[];

/** Status of a device on the server; `unknown` before its first request. */
type DeviceStatus = 'unknown' | 'pending' | 'accepted' | 'rejected' | 'decommissioned';

/** The newest token of a device: `undetermined` where the contract does not say if it works. */
type TokenState = 'none' | 'valid' | 'revoked' | 'undetermined';

/** The number of devices in a sequence. */
export const DEVICES = 3;

/** Returns the name of a device as a step shows it, by its index. */
export function nameOf(index: number): string {
  return 'ABC'.charAt(index);
}

/** Start state of a device in a sequence. */
export type StartState = 'unknown' | 'accepted';

/** The expected state of one device. */
export class ExpectedDevice {
  status: DeviceStatus;
  token: TokenState;
  isPreauthorized = false;
  /** True when a user's change may not have reached the device yet. */
  isUserChangePending = false;
  readonly configuration = new PossibleValues<string>(configurationKeys, 'configuration.own-store');
  readonly attributes = new PossibleValues<ModelAttributeValue>(
    attributeNames,
    'inventory.own-attributes',
  );

  constructor(start: StartState) {
    this.status = start;
    this.token = start === 'accepted' ? 'valid' : 'none';
  }

  /** True when the outcome of calls with its newest token is known. */
  get canCall(): boolean {
    return this.token === 'valid' || this.token === 'revoked';
  }
}

/** One deployment for one device. */
export interface ExpectedDeployment {
  /** Index of the device in `ExpectedState.devices`, from 0. */
  readonly device: number;
  /** `undetermined`: the contract does not say if the deployment is offered or accepts reports. */
  offer: 'waiting' | 'offered' | 'undetermined';
  /** The end of the deployment for the device; absent while it has not ended. */
  end?: 'finished' | 'aborted';
  status?: ReportableStatus;
  /** The variant of the request by which the device was first offered the deployment. */
  offeredBy?: string;
  /** Text of the newest log, and of an older one. */
  log?: string;
  olderLog?: string;
}

/** All devices of one sequence of steps and their deployments, as the contract expects them. */
export class ExpectedState {
  readonly devices: readonly ExpectedDevice[];
  readonly deployments: ExpectedDeployment[] = [];

  constructor(starts: readonly StartState[]) {
    this.devices = starts.map((start) => new ExpectedDevice(start));
  }

  device(index: number): ExpectedDevice {
    const device = this.devices[index];
    if (!device) throw new Error(`the model has no device ${index}`);
    return device;
  }

  /** Marks the data of a rejected device as undetermined: the contract leaves open if it remains. */
  setUndetermined(index: number): void {
    const { configuration, attributes } = this.device(index);
    configuration.allowAbsence();
    attributes.allowAbsence();
    setDeploymentsUndetermined(this.deployments, index);
  }

  /** Marks everything about a decommissioned device as undetermined. */
  forget(index: number): void {
    const { configuration, attributes } = this.device(index);
    configuration.forget();
    attributes.forget();
    setDeploymentsUndetermined(this.deployments, index);
  }
}

function setDeploymentsUndetermined(
  deployments: readonly ExpectedDeployment[],
  device: number,
): void {
  for (const deployment of deployments)
    if (deployment.device === device) deployment.offer = 'undetermined';
}
