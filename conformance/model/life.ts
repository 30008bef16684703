/**
 * The model of the contract: what is known, after some steps, of the devices of one sequence, of
 * their deployments and of their stores. Spec: States and transitions
 */
import type { ReportableStatus } from '../../fixtures/contract/vocabulary.ts';
import { PossibleValues } from './possible-values.ts';

/** Configuration keys that the steps use. */
export const configurationKeys = ['colour', 'timezone', 'volume'] as const;
/** Inventory attributes that the steps use. */
export const attributeNames = ['load', 'modes', 'place'] as const;

/** What an attribute may hold. Spec: Attribute (inventory) */
export type AttributeValue = number | string | readonly number[] | readonly string[];

/** How a device stands to the server; `gone` when it was decommissioned. */
type IdentityState = 'unknown' | 'pending' | 'accepted' | 'rejected' | 'gone';

/** The newest token of a device: `unclear` where the contract does not tell whether it works. */
type TokenState = 'none' | 'good' | 'ended' | 'unclear';

/** Where a sequence finds a device. */
export type Start = 'unknown' | 'accepted';

/** One device as the contract lets it be. */
export class DeviceLife {
  readonly name: string;
  identity: IdentityState;
  token: TokenState;
  isPreauthorized = false;
  /** Whether something that a user set may still be on its way to the device. */
  awaitsUser = false;
  readonly configuration = new PossibleValues<string>(configurationKeys, 'configuration.own-store');
  readonly attributes = new PossibleValues<AttributeValue>(
    attributeNames,
    'inventory.own-attributes',
  );

  constructor(name: string, start: Start) {
    this.name = name;
    this.identity = start;
    this.token = start === 'accepted' ? 'good' : 'none';
  }

  /** Whether calls with its newest token have a known fate. */
  get canCall(): boolean {
    return this.token === 'good' || this.token === 'ended';
  }
}

/** One deployment for one device. */
export interface PartLife {
  /** Index of the device. */
  readonly device: number;
  /** `unsure` where the contract does not tell whether it is offered or may be spoken of. */
  offer: 'waiting' | 'offered' | 'unsure';
  /** How it ended for the device, if it did. */
  over?: 'finished' | 'aborted';
  status?: ReportableStatus;
  /** Which form of asking opened it. */
  openedBy?: string;
  /** Text of the newest log, and of an older one. */
  log?: string;
  olderLog?: string;
}

/** The whole model. */
export class Life {
  readonly devices: readonly DeviceLife[];
  readonly parts: PartLife[] = [];

  constructor(starts: readonly Start[]) {
    this.devices = starts.map((start, index) => new DeviceLife('AB'.charAt(index), start));
  }

  device(index: number): DeviceLife {
    const device = this.devices[index];
    if (!device) throw new Error(`the model has no device ${index}`);
    return device;
  }

  /** What the contract does not tell after a rejection: whether anything of the device stays. */
  doubt(index: number): void {
    const { configuration, attributes } = this.device(index);
    configuration.blur();
    attributes.blur();
    doubtParts(this.parts, index);
  }

  /** What the contract does not tell after a decommission: anything at all. */
  forget(index: number): void {
    const { configuration, attributes } = this.device(index);
    configuration.forget();
    attributes.forget();
    doubtParts(this.parts, index);
  }
}

function doubtParts(parts: readonly PartLife[], device: number): void {
  for (const part of parts) if (part.device === device) part.offer = 'unsure';
}
