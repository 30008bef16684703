/**
 * Variation: sends responses in other ways that the rules allow, determined by a seed. Pure
 * except for the chosen variations, and the number of responses of each operation, on which the
 * result depends.
 */
import { type Random, seededRandom } from '../../fixtures/base/random.ts';
import type { Operation } from '../../fixtures/contract/operation.ts';
import type { VariationName } from '../../fixtures/contract/variation-names.ts';
import type { AppliedVariation } from '../http/exchange-record.ts';
import { idShapes, readParameters, requestIdFrom } from './ids.ts';
import { jsonText } from './json-text.ts';
import type { HeaderLine, PendingResponse, ResponseDraft, VariedResponse } from './response.ts';
import { type VariationChoices, variationRows } from './variations.ts';

/** The names of variations; undefined if the seed chooses them for each response. */
export type VariationChoice = ReadonlySet<VariationName> | undefined;

/** The variations of one seed. The n-th response of an operation always gets the same ones. */
export interface Variation {
  /** Undefined if the server was started without one. */
  readonly seed: string | undefined;
  /** True if responses may be varied. */
  readonly isOn: boolean;
  /** Returns true if responses may have this variation. */
  has(name: VariationName): boolean;
  /** Applies only these variations, to every response that they fit; undefined: as at the start. */
  choose(names: VariationChoice): void;
  /** Returns the response written differently with the same meaning. */
  vary(response: PendingResponse): VariedResponse;
  /** Returns an ID for a request that was sent without one, made from a new UUID. */
  newRequestId(uuid: string): string;
  /** Returns path parameters with IDs in the store's format; undefined if none are varied. */
  readParameters(
    operation: Operation,
    parameters: Readonly<Record<string, string>>,
  ): Record<string, string> | undefined;
}

/**
 * Creates the variation of a seed, which can be any text. With `names`, only these variations are
 * applied, to every response that they fit; without both, none until some are chosen.
 */
export function openVariation(seed: string | undefined, names?: VariationChoice): Variation {
  const random = seededRandom(`vary/${seed ?? ''}`);
  const atStart = names ?? (seed === undefined ? new Set<VariationName>() : undefined);
  let choice: VariationChoice = atStart;
  let wasOn = false;
  const counts = new Map<string, number>();
  // All responses use one format, because an ID that changes between two polls would be another
  // deployment.
  const seedShape = random.stream('ids').pick([undefined, ...idShapes]);
  const nextOf = (name: string): Random => {
    const count = (counts.get(name) ?? 0) + 1;
    counts.set(name, count);
    return random.stream(`${name}/${count}`);
  };
  const isOn = (): boolean => choice === undefined || choice.size > 0;
  const has = (name: VariationName): boolean => choice === undefined || choice.has(name);
  return {
    seed,
    get isOn() {
      return isOn();
    },
    has,
    choose: (wanted) => {
      wasOn ||= isOn();
      choice = wanted ?? atStart;
    },
    vary: (response) => {
      const [named] = idShapes;
      const idShape = choice ? (seedShape ?? named) : seedShape;
      return varyResponse(response, {
        random: nextOf(response.operation?.id ?? ''),
        idShape,
        chosen: choice,
      });
    },
    newRequestId: (uuid) =>
      has('request-ids') ? requestIdFrom(uuid, nextOf('request-ids')) : uuid,
    // A client may still use an ID that it got before the variation was switched off.
    readParameters: (operation, parameters) =>
      wasOn || isOn() ? readParameters(operation, parameters) : undefined,
  };
}

interface Choices extends VariationChoices {
  readonly chosen: VariationChoice;
}

function varyResponse(
  response: PendingResponse,
  { random, idShape, chosen }: Choices,
): VariedResponse {
  let draft: ResponseDraft = { ...response, jsonStyle: {}, chunked: false };
  let looks = looksOf(draft);
  const applied: AppliedVariation[] = [];
  for (const { id, rule, always, appliesTo, apply } of variationRows) {
    const chance = { random: random.stream(id), idShape };
    const isLikely = chance.random.integer(0, 1) === 1;
    const isWanted = chosen ? chosen.has(id) : always || isLikely;
    if (!isWanted || !appliesTo(draft)) continue;
    const next = apply(draft, chance);
    const nextLooks = looksOf(next);
    if (nextLooks === looks) continue;
    draft = next;
    looks = nextLooks;
    applied.push({ id, rule });
  }
  const { headers, chunked, body, jsonStyle } = draft;
  if (body === undefined) return { headers, chunked, applied };
  const text = jsonText(body, jsonStyle);
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
function looksOf({
  headers,
  chunked,
  body,
  jsonStyle,
  isRequestIdGenerated,
}: ResponseDraft): string {
  const text = body === undefined ? '' : jsonText(body, jsonStyle);
  return JSON.stringify([headers, chunked, isRequestIdGenerated, text]);
}
