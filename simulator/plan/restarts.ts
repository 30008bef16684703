/**
 * Restarts of a device or of the server at a given time of a run in virtual time, in the notation
 * of users.
 */
import * as v from 'valibot';
import { durationText } from '../../fixtures/base/duration.ts';
import { readYaml } from '../../fixtures/base/yaml-text.ts';
import { PlanInputError } from './plan-input.ts';
import { duration, wholeNumber } from './plan-values.ts';

/** Default duration of a restart. */
const RESTART_LASTING_MS = 10_000;

const DEVICE_MAX = 1_000_000;

const restartInput = v.pipe(
  v.strictObject({
    name: v.optional(v.literal('server', 'must be server, or device with its index')),
    /** Index of the device; absent for the server. */
    device: v.optional(wholeNumber(0, DEVICE_MAX)),
    /** Time of the restart, measured from the start of the run. */
    at: duration(0),
    lasting: v.optional(duration(0)),
  }),
  v.check(
    ({ name, device }) => (name === undefined) !== (device === undefined),
    'must name either the server or one device',
  ),
  v.check(({ lasting }) => lasting !== 0, 'must last longer than 0s'),
  v.transform(
    ({ device, at, lasting = RESTART_LASTING_MS }): Restart => ({
      device,
      atMs: at,
      lastingMs: lasting,
    }),
  ),
);

/**
 * A restart: the server or a device stops at a given time, and starts again later with its stored
 * data.
 */
export interface Restart {
  /** Index of the device; undefined for the server. */
  readonly device: number | undefined;
  /** Milliseconds since the start of the run. */
  readonly atMs: number;
  readonly lastingMs: number;
}

/**
 * Parses a restart such as `server, at: 40m, lasting: 10s`.
 * @throws PlanInputError
 */
export function readRestart(text: string): Restart {
  const yamlText = /^\s*[\w-]+\s*(,|$)/.test(text) ? `name: ${text}` : text;
  const input = readYaml(`{ ${yamlText} }`, restartInput);
  if ('content' in input) return input.content;
  throw new PlanInputError([...new Set(input.problems.map(({ message }) => message))]);
}

/** Formats a restart as text that `readRestart` accepts. */
export function restartText({ device, atMs, lastingMs }: Restart): string {
  const whose = device === undefined ? 'server' : `device: ${device}`;
  return `${whose}, at: ${durationText(atMs)}, lasting: ${durationText(lastingMs)}`;
}
