/** Finds devices by the names that users type: an ID, or a value of the identity. */
import { nearestOf } from '../../fixtures/base/nearest.ts';
import { printable } from '../../fixtures/base/printable.ts';
import type { Device } from '../../fixtures/contract/management/devices.ts';
import { CommandError } from '../output/command-error.ts';
import { exitCodes } from '../output/exit-codes.ts';

const LISTED_MAX = 5;
const NAME_MAX_CHARACTERS = 100;

/**
 * Returns the named devices without duplicates.
 * @throws CommandError when a name matches no device (the message lists the nearest names) or
 * several
 */
export function namedDevices(devices: readonly Device[], names: readonly string[]): Device[] {
  return [...new Set(names.map((name) => namedDevice(devices, name)))];
}

function namedDevice(devices: readonly Device[], name: string): Device {
  const [deviceById, ...otherDevices] = devices.filter(({ id }) => id === name);
  const byValue = deviceById
    ? [deviceById, ...otherDevices]
    : devices.filter((each) => valuesOf(each).includes(name));
  const [only, ...more] = byValue;
  const shownName = printable(name, NAME_MAX_CHARACTERS);
  if (only && more.length === 0) return only;
  if (only) {
    const ids = byValue.slice(0, LISTED_MAX).map(({ id }) => printable(id));
    throw new CommandError(
      `${byValue.length} devices have the identity value ${shownName}; name one by its ID: ${ids.join(', ')}.`,
      exitCodes.failed,
    );
  }
  const nearest = nearestOf(
    name,
    devices.flatMap((device) => [device.id, ...valuesOf(device)]),
  ).map((each) => printable(each, NAME_MAX_CHARACTERS));
  const sentence =
    nearest.length === 0 ? 'the server has no devices' : `nearest: ${nearest.join(', ')}`;
  throw new CommandError(
    `no device has the ID or identity value ${shownName}; ${sentence}.`,
    exitCodes.failed,
  );
}

/** Returns the identity on one line, safe for a terminal. */
export function shownIdentity({ identity_data }: Device): string {
  const pairs = Object.entries(identity_data).map(([name, value]) => `${name}=${textOf(value)}`);
  return printable(pairs.join(' '), NAME_MAX_CHARACTERS);
}

function valuesOf({ identity_data }: Device): string[] {
  return Object.values(identity_data).map(textOf);
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
