/**
 * Faults of single exchanges between a device and a server in the same process, in the notation of
 * users.
 */
import * as v from 'valibot';
import { durationText } from '../../fixtures/base/duration.ts';
import { readYaml } from '../../fixtures/base/yaml-text.ts';
import { PlanInputError } from './plan-input.ts';
import { duration, nonEmptyText, oneOf, wholeNumber, withoutUndefined } from './plan-values.ts';

/**
 * `request-lost`: the request does not reach the server. `response-lost`: the request arrives, but
 * its response is lost. `power-loss`: like `response-lost`, and the device also loses power for
 * `lasting`. `server-restart`: the request arrives, but the server stops before it responds, and is
 * down for `lasting`. The other two simulate server bugs. `ack-lost`: the device gets a success
 * response to a request that never reaches the server. `not-stored`: the server responds normally,
 * but loses this change and all later ones when it restarts.
 */
const exchangeFaultNames = [
  'request-lost',
  'response-lost',
  'power-loss',
  'server-restart',
  'ack-lost',
  'not-stored',
] as const;
const lastingNames: readonly string[] = ['power-loss', 'server-restart'];

const DEVICE_MAX = 1_000_000;
const EXCHANGE_MAX = 1_000_000_000;

const faultInput = v.pipe(
  v.strictObject({
    name: oneOf(exchangeFaultNames),
    /** Index of the device in the fleet. */
    device: wholeNumber(0, DEVICE_MAX),
    /**
     * Number of the exchange among the exchanges of the device, from 1; with `operation`, among its
     * exchanges of that operation.
     */
    exchange: wholeNumber(1, EXCHANGE_MAX),
    /** ID of the contract's operation, such as `put-deployment-status`. */
    operation: v.optional(nonEmptyText),
    lasting: v.optional(duration(0)),
  }),
  v.check(
    ({ name, lasting }) => lasting === undefined || lastingNames.includes(name),
    'must not have lasting unless it is a power-loss or a server-restart',
  ),
  v.transform(({ lasting, ...same }) => ({ ...same, ...withoutUndefined({ lastingMs: lasting }) })),
);

export type ExchangeFault = v.InferOutput<typeof faultInput>;

/**
 * Parses a fault such as `response-lost, device: 0, exchange: 7`.
 * @throws PlanInputError
 */
export function readExchangeFault(text: string): ExchangeFault {
  const yamlText = /^\s*[\w-]+\s*(,|$)/.test(text) ? `name: ${text}` : text;
  const input = readYaml(`{ ${yamlText} }`, faultInput);
  if ('content' in input) return input.content;
  throw new PlanInputError([...new Set(input.problems.map(({ message }) => message))]);
}

/** Formats a fault as text that `readExchangeFault` accepts. */
export function exchangeFaultText({ name, lastingMs, ...parameters }: ExchangeFault): string {
  const entries = Object.entries(parameters).filter(([, value]) => value !== undefined);
  const parts = entries.map(([word, value]) => `${word}: ${value}`);
  const time = lastingMs === undefined ? [] : [`lasting: ${durationText(lastingMs)}`];
  return [name, ...parts, ...time].join(', ');
}
