/** Faults of single exchanges on their way to a server in memory, as users write them. */
import * as v from 'valibot';
import { durationText } from '../../fixtures/duration.ts';
import { readYaml } from '../../fixtures/yaml-text.ts';
import { duration, filled, oneOf, wholeNumber } from './plan-values.ts';
import { PlanWordsError } from './plan-words.ts';

/**
 * `request-lost`: it never arrives; `answer-lost`: it arrives, and the answer does not;
 * `power-loss`: the same, and the device loses power for `lasting`; `server-restart`: it arrives,
 * but the server stops before it answers, and is down for `lasting`. Two are server bugs:
 * `ack-lost`: answered with success, and never delivered; `not-stored`: answered like any other,
 * and lost, with what comes after it, when the server restarts.
 */
const exchangeFaultNames = [
  'request-lost',
  'answer-lost',
  'power-loss',
  'server-restart',
  'ack-lost',
  'not-stored',
] as const;
const lastingNames: readonly string[] = ['power-loss', 'server-restart'];

const DEVICE_MAX = 1_000_000;
const EXCHANGE_MAX = 1_000_000_000;

const faultWords = v.pipe(
  v.strictObject({
    name: oneOf(exchangeFaultNames),
    /** Index of the device in the fleet. */
    device: wholeNumber(0, DEVICE_MAX),
    /**
     * Ordinal number of the exchange among those of the device (or of its operation, if given),
     * from 1.
     */
    exchange: wholeNumber(1, EXCHANGE_MAX),
    /** ID of the contract's operation, such as `put-deployment-status`. */
    operation: v.optional(filled),
    lasting: v.optional(duration(0)),
  }),
  v.check(
    ({ name, lasting }) => lasting === undefined || lastingNames.includes(name),
    'must not have lasting unless it is a power-loss or a server-restart',
  ),
);

export type ExchangeFault = v.InferOutput<typeof faultWords>;

/** Parses a fault such as `answer-lost, device: 0, exchange: 7`. @throws PlanWordsError */
export function readExchangeFault(text: string): ExchangeFault {
  const named = /^\s*[\w-]+\s*(,|$)/.test(text) ? `name: ${text}` : text;
  const read = readYaml(`{ ${named} }`, faultWords);
  if ('content' in read) return read.content;
  throw new PlanWordsError([...new Set(read.problems.map(({ message }) => message))]);
}

/** Writes a fault so that it can be read again. */
export function exchangeFaultText({ name, lasting, ...rest }: ExchangeFault): string {
  const given = Object.entries(rest).filter(([, value]) => value !== undefined);
  const words = given.map(([word, value]) => `${word}: ${value}`);
  const time = lasting === undefined ? [] : [`lasting: ${durationText(lasting)}`];
  return [name, ...words, ...time].join(', ');
}
