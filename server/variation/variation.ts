/**
 * Legal variation: sends responses in other forms that the rules allow, determined by a seed. Pure
 * except for the number of responses of each operation, on which the forms depend.
 */
import type { Operation } from '../../fixtures/contract/operation.ts';
import { type Random, seededRandom } from '../../fixtures/random.ts';
import type { AppliedVariation } from '../http/exchange-record.ts';
import type { Answer, Draft, HeaderLine, VariedAnswer } from './answer.ts';
import { idShapes, readParameters, requestIdFrom } from './ids.ts';
import { jsonText } from './json-text.ts';
import { type Chance, legalVariations } from './variations.ts';

/** The variations of one seed. The n-th response of an operation always gets the same ones. */
export interface Variation {
  /** Returns the response in another form with the same meaning. */
  vary(answer: Answer): VariedAnswer;
  /** Returns an id for a request that was sent without one, made from a new UUID. */
  newRequestId(uuid: string): string;
  /** Returns path parameters with ids in the store's format. */
  readParameters(
    operation: Operation,
    parameters: Readonly<Record<string, string>>,
  ): Record<string, string>;
}

/** Creates the variation of a seed, which can be any text. */
export function openVariation(seed: string): Variation {
  const random = seededRandom(`vary/${seed}`);
  const counted = new Map<string, number>();
  // All responses use one format, because an id that changes between two polls would be another
  // deployment.
  const idShape = [undefined, ...idShapes][random.stream('ids').integer(0, idShapes.length)];
  const nextOf = (name: string): Random => {
    const count = (counted.get(name) ?? 0) + 1;
    counted.set(name, count);
    return random.stream(`${name}/${count}`);
  };
  return {
    vary: (answer) => varied(answer, nextOf(answer.operation?.id ?? ''), idShape),
    newRequestId: (uuid) => requestIdFrom(uuid, nextOf('request-ids')),
    readParameters,
  };
}

function varied(answer: Answer, random: Random, idShape: Chance['idShape']): VariedAnswer {
  let draft: Draft = { ...answer, form: {}, chunked: false };
  let looks = looksOf(draft);
  const applied: AppliedVariation[] = [];
  for (const { id, rule, always, appliesTo, apply } of legalVariations) {
    const chance = { random: random.stream(id), idShape };
    const chosen = always ?? chance.random.integer(0, 1) === 1;
    if (!chosen || !appliesTo(draft)) continue;
    const next = apply(draft, chance);
    const nextLooks = looksOf(next);
    if (nextLooks === looks) continue;
    draft = next;
    looks = nextLooks;
    applied.push({ id, rule });
  }
  const { headers, chunked, body, form } = draft;
  if (body === undefined) return { headers, chunked, applied };
  const text = jsonText(body, form);
  const length = chunked ? undefined : Buffer.byteLength(text);
  return { headers: withLength(headers, length), text, chunked, applied };
}

function withLength(headers: readonly HeaderLine[], length: number | undefined): HeaderLine[] {
  return headers.flatMap(([name, value]): HeaderLine[] => {
    if (name.toLowerCase() !== 'content-length') return [[name, value]];
    return length === undefined ? [] : [[name, String(length)]];
  });
}

/** Returns everything that a variation can change as one text, for comparison. */
function looksOf({ headers, chunked, body, form, ownRequestId }: Draft): string {
  const text = body === undefined ? '' : jsonText(body, form);
  return JSON.stringify([headers, chunked, ownRequestId, text]);
}
